/*
 * A program that computes without knowing of tracers: copies, fills, launches, events and fences. It
 * prints the results.
 *
 * usage: work LAUNCHES
 */
#include "ze.h"

#include <stdint.h>

enum { BYTES = 4096 };

static ze_command_queue_handle_t queue;

static ze_command_list_handle_t new_list(void)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    done(zeCommandListCreate(context, device, &desc, &list), "a list");
    return list;
}

static void execute(ze_command_list_handle_t list, ze_fence_handle_t fence)
{
    done(zeCommandListClose(list), "to close");
    done(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence), "to execute");
}

static unsigned char *new_memory(void)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    done(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, &memory), "memory");
    return memory;
}

static ze_kernel_handle_t new_kernel(void)
{
    static const uint8_t code[] = {1};
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .inputSize = sizeof code,
                                    .pInputModule = code};
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "kernel"};
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    done(zeModuleCreate(context, device, &module_desc, &module, NULL), "a module");
    done(zeKernelCreate(module, &desc, &kernel), "a kernel");
    done(zeKernelSetGroupSize(kernel, 8, 1, 1), "a group");
    return kernel;
}

/* The fill waits for the host, the copy for the fill. */
static void copy_and_fill(void)
{
    unsigned char *from = new_memory(), *to = new_memory();
    static const unsigned char pattern[] = {1, 2, 3, 4};
    ze_event_handle_t go = new_event(), filled = new_event();
    ze_command_list_handle_t list = new_list();
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    unsigned sum = 0;
    done(zeFenceCreate(queue, &desc, &fence), "a fence");
    done(zeCommandListAppendMemoryFill(list, from, pattern, sizeof pattern, BYTES, filled, 1, &go),
         "to fill");
    done(zeCommandListAppendMemoryCopy(list, to, from, BYTES, NULL, 1, &filled), "to copy");
    execute(list, fence);
    printf("before: fence %s\n", zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY ? "low" : "up");
    done(zeEventHostSignal(go), "to signal");
    done(zeFenceHostSynchronize(fence, UINT64_MAX), "the fence");
    for (int i = 0; i < BYTES; i++)
        sum = sum * 31 + to[i];
    printf("after: sum %08x\n", sum);
    done(zeMemFree(context, from), "to free");
    done(zeMemFree(context, to), "to free");
    done(zeCommandListDestroy(list), "to destroy");
}

static void launch(int launches)
{
    ze_kernel_handle_t kernel = new_kernel();
    ze_command_list_handle_t list = new_list();
    ze_group_count_t groups = {1, 1, 1};
    ze_event_handle_t last = new_event();
    for (int i = 0; i < launches; i++)
        done(zeCommandListAppendLaunchKernel(list, kernel, &groups, i + 1 < launches ? NULL : last,
                                             0, NULL),
             "to launch");
    execute(list, NULL);
    done(zeEventHostSynchronize(last, UINT64_MAX), "the last launch");
    done(zeCommandQueueSynchronize(queue, UINT64_MAX), "the queue");
    printf("launched: %d\n", launches);
    done(zeCommandListDestroy(list), "to destroy");
}

int main(int count, char **words)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    must(count == 2, "a number of launches");
    open_device();
    done(zeCommandQueueCreate(context, device, &desc, &queue), "a queue");
    copy_and_fill();
    launch(atoi(words[1]));
    say("images", zeDeviceGetImageProperties(device, &(ze_device_image_properties_t){0}));
    return 0;
}
