/*
 * A program of a thousand kernels, copies and events. It copies from its own memory, from shared
 * memory and from the device's, and prints the results.
 *
 * usage: pipeline STEPS            does them and ends
 *        pipeline STEPS immediate  the same with an immediate list
 *        pipeline STEPS synchronous  and with a queue that needs no waiting for
 *        pipeline 0                prints its process id after the third step, and continues until it is killed
 */
#include "ze.h"

#include <stdint.h>
#include <unistd.h>

enum { BYTES = 2048 };

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;
static ze_kernel_handle_t kernel;
static ze_event_handle_t copied, finished;
static unsigned char *shared, *on_device;
static unsigned char source[BYTES], target[BYTES];
static int is_immediate, is_synchronous;

static void set_up(void)
{
    static const uint8_t code[] = {7, 7, 7, 7};
    uint32_t ids[] = {3};
    uint64_t value = 9;
    const void *values[] = {&value};
    ze_module_constants_t constants = {1, ids, values};
    ze_command_queue_desc_t queue_desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode = is_synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_DEFAULT};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_relaxed_allocation_limits_exp_desc_t relaxed = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                              .pNext = &relaxed};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_NATIVE,
                                    .inputSize = sizeof code,
                                    .pInputModule = code,
                                    .pBuildFlags = "-fast",
                                    .pConstants = &constants};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "twice"};
    ze_module_handle_t module;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    done(zeDeviceGetProperties(device, &properties), "properties");
    done(zeCommandQueueCreate(context, device, &queue_desc, &queue), "a queue");
    if (is_immediate)
        done(zeCommandListCreateImmediate(context, device, &queue_desc, &list), "a list");
    else
        done(zeCommandListCreate(context, device, &list_desc, &list), "a list");
    done(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, (void **)&shared),
         "shared memory");
    done(zeMemAllocDevice(context, &device_desc, BYTES, 64, device, (void **)&on_device),
         "device memory");
    done(zeModuleCreate(context, device, &module_desc, &module, NULL), "a module");
    done(zeKernelCreate(module, &kernel_desc, &kernel), "a kernel");
    copied = new_event();
    finished = new_event();
}

/* From the program's memory to the device, on to shared memory, and back into the program's. */
static void step(int number)
{
    ze_group_count_t groups = {1, 2, 3};
    memset(source, number, BYTES / 2);
    shared[0] = (unsigned char)number;
    done(zeKernelSetGroupSize(kernel, 8, 1, 1), "a group");
    done(zeKernelSetArgumentValue(kernel, 0, sizeof number, &number), "an argument");
    done(zeCommandListAppendMemoryCopy(list, on_device, source, BYTES, copied, 0, NULL), "to copy");
    done(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 1, &copied), "to launch");
    done(zeCommandListAppendMemoryCopy(list, shared + 1, on_device, BYTES - 1, NULL, 0, NULL),
         "to copy");
    done(zeCommandListAppendMemoryCopy(list, target, shared, BYTES, NULL, 0, NULL), "to copy");
    done(zeCommandListAppendEventReset(list, copied), "to reset");
    if (!is_immediate) {
        done(zeCommandListClose(list), "to close");
        done(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "to execute");
        if (!is_synchronous)
            done(zeCommandQueueSynchronize(queue, UINT64_MAX), "the queue");
        done(zeCommandListReset(list), "to reset");
    } else {
        done(zeCommandListAppendSignalEvent(list, finished), "to signal");
        done(zeEventHostSynchronize(finished, UINT64_MAX), "the event");
        done(zeEventHostReset(finished), "to reset");
    }
}

int main(int count, char **words)
{
    unsigned sum = 0;
    must(count >= 2, "a number of steps");
    is_immediate = count > 2 && strcmp(words[2], "immediate") == 0;
    is_synchronous = count > 2 && strcmp(words[2], "synchronous") == 0;
    int steps = atoi(words[1]);
    open_device();
    set_up();
    for (int number = 1; steps == 0 || number <= steps; number++) {
        step(number);
        if (steps == 0 && number == 3) {
            printf("%d\n", (int)getpid());
            fflush(stdout);
        }
        for (int i = 0; i < BYTES; i++)
            sum = sum * 31 + target[i];
    }
    printf("sum %08x\n", sum);
    return 0;
}
