/*
 * A program whose lists take the device's time. It prints the results, which depend on all that the lists did.
 *
 * usage: gpu_times plain    executes a list twice and empties it, and copies at once with an immediate list
 *        gpu_times again    executes a list again before the device has finished it, against the rules, and once more
 *        gpu_times waits    a copy that waits until the host signals an event
 *        gpu_times forever  executes a list that it has filled at the beginning, and copies at once, until it is killed
 */
#include "ze.h"

#include <stdint.h>
#include <time.h>

enum { BYTES = 1 << 20, MIXED = 4096 };

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list, immediate;
static ze_kernel_handle_t kernel;
static unsigned char *memory[2];

static void set_up(void)
{
    static const uint8_t code[] = {3};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_NATIVE,
                                    .inputSize = sizeof code,
                                    .pInputModule = code};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "mix"};
    ze_module_handle_t module;
    uint32_t bytes = MIXED;
    uint8_t addend = 7;
    open_device();
    done(zeCommandQueueCreate(context, device, &queue_desc, &queue), "a queue");
    done(zeCommandListCreate(context, device, &list_desc, &list), "a list");
    done(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate), "a list");
    for (int i = 0; i < 2; i++)
        done(zeMemAllocHost(context, &host_desc, BYTES, 64, (void **)&memory[i]), "memory");
    done(zeModuleCreate(context, device, &module_desc, &module, NULL), "a module");
    done(zeKernelCreate(module, &kernel_desc, &kernel), "a kernel");
    done(zeKernelSetArgumentValue(kernel, 0, sizeof memory[1], &memory[1]), "an argument");
    done(zeKernelSetArgumentValue(kernel, 1, sizeof bytes, &bytes), "an argument");
    done(zeKernelSetArgumentValue(kernel, 2, sizeof addend, &addend), "an argument");
}

/* A fill, a copy, and a kernel that changes what it finds. */
static void fill_list(unsigned char pattern)
{
    ze_group_count_t groups = {2, 1, 1};
    done(zeCommandListAppendMemoryFill(list, memory[0], &pattern, 1, BYTES, NULL, 0, NULL),
         "to fill");
    done(zeCommandListAppendMemoryCopy(list, memory[1] + MIXED, memory[0], BYTES - MIXED, NULL, 0,
                                       NULL),
         "to copy");
    done(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), "to launch");
    done(zeCommandListClose(list), "to close");
}

static void execute(void)
{
    done(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "to execute");
}

static void wait_for_queue(void)
{
    done(zeCommandQueueSynchronize(queue, UINT64_MAX), "the queue");
}

static void copy_at_once(void)
{
    ze_event_handle_t copied = new_event();
    done(zeCommandListAppendMemoryCopy(immediate, memory[0], memory[1], BYTES, copied, 0, NULL),
         "to copy");
    done(zeEventHostSynchronize(copied, UINT64_MAX), "the event");
}

static void print_sum(void)
{
    unsigned sum = 0;
    for (int i = 0; i < BYTES; i++)
        sum = sum * 31 + memory[0][i] * 3 + memory[1][i];
    printf("sum %08x\n", sum);
}

static void plain(void)
{
    fill_list(5);
    execute();
    wait_for_queue();
    execute();
    wait_for_queue();
    print_sum();
    done(zeCommandListReset(list), "to reset");
    fill_list(9);
    copy_at_once();
    execute();
    wait_for_queue();
    print_sum();
    done(zeCommandListDestroy(list), "to destroy");
    copy_at_once();
    print_sum();
    done(zeCommandListDestroy(immediate), "to destroy");
}

static void again(void)
{
    ze_event_handle_t go = new_event();
    done(zeCommandListAppendWaitOnEvents(list, 1, &go), "to wait");
    fill_list(5);
    execute();
    execute();
    done(zeEventHostSignal(go), "to signal");
    wait_for_queue();
    execute();
    wait_for_queue();
    print_sum();
}

static void waits(void)
{
    ze_event_handle_t go = new_event();
    struct timespec while_it_waits = {.tv_nsec = 50 * 1000 * 1000};
    done(zeCommandListAppendMemoryCopy(list, memory[1], memory[0], 64, NULL, 1, &go), "to copy");
    done(zeCommandListClose(list), "to close");
    execute();
    nanosleep(&while_it_waits, NULL);
    done(zeEventHostSignal(go), "to signal");
    wait_for_queue();
    print_sum();
}

static void forever(void)
{
    fill_list(5);
    for (;;) {
        execute();
        wait_for_queue();
        copy_at_once();
    }
}

int main(int count, char **words)
{
    static const struct test_case cases[] = {
        {"plain", plain}, {"again", again}, {"waits", waits}, {"forever", forever}};
    must(count == 2, "a case");
    set_up();
    return run_case(cases, LENGTH(cases), words[1]);
}
