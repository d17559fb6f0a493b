/*
 * A program that makes many queries and waits in every way: a replay must get the same answers.
 */
#include "ze.h"

#include <stdint.h>

enum { BYTES = 4096 };

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;
static unsigned char *shared, *host, *on_device;

static void ask_for_properties(void)
{
    uint32_t count = 0;
    ze_driver_properties_t of_driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_device_properties_t of_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_api_version_t version;
    done(zeDriverGetApiVersion(driver, &version), "a version");
    done(zeDriverGetProperties(driver, &of_driver), "properties of the driver");
    done(zeDeviceGetProperties(device, &of_device), "properties of the device");
    done(zeDeviceGetComputeProperties(device, &compute), "properties of groups");
    done(zeDeviceGetCommandQueueGroupProperties(device, &count, NULL), "a number of groups");
    ze_command_queue_group_properties_t groups[8] = {
        {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES}};
    count = count > 8 ? 8 : count;
    done(zeDeviceGetCommandQueueGroupProperties(device, &count, groups), "groups");
    printf("%s, %u groups\n", of_device.name, count);
}

static void allocate(void)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner;
    void *base;
    size_t size;
    done(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, (void **)&shared),
         "shared memory");
    done(zeMemAllocHost(context, &host_desc, BYTES, 64, (void **)&host), "host memory");
    done(zeMemAllocDevice(context, &device_desc, BYTES, 64, device, (void **)&on_device),
         "device memory");
    done(zeMemGetAllocProperties(context, shared + 5, &properties, &owner), "its properties");
    must(owner == device && properties.type == ZE_MEMORY_TYPE_SHARED, "shared memory of the device");
    done(zeMemGetAddressRange(context, on_device + 7, &base, &size), "its range");
    must(base == on_device && size == BYTES, "the range that was asked for");
    /* Invalid calls, which return an error. */
    must(zeMemAllocDevice(context, &device_desc, 0, 0, device, &base) != ZE_RESULT_SUCCESS,
         "no memory of no bytes");
}

static ze_kernel_handle_t make_kernel(void)
{
    ze_kernel_handle_t kernel = any_kernel();
    uint32_t x, y, z;
    struct {
        void *data;
        uint64_t length;
    } argument = {on_device + 16, 3};
    done(zeKernelSuggestGroupSize(kernel, 64, 1, 1, &x, &y, &z), "a size of groups");
    done(zeKernelSetGroupSize(kernel, x, y, z), "a group");
    done(zeKernelSetArgumentValue(kernel, 0, sizeof shared, &shared), "an address");
    done(zeKernelSetArgumentValue(kernel, 1, sizeof argument, &argument), "a structure");
    done(zeKernelSetArgumentValue(kernel, 2, 64, NULL), "local memory");
    return kernel;
}

static void submit(ze_fence_handle_t fence)
{
    done(zeCommandListClose(list), "to close");
    done(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence), "to execute");
}

/* Two rows of four bytes, into every second row of the program's memory. */
static void copy_rows(void)
{
    ze_copy_region_t from = {0, 1, 0, 4, 2, 1}, to = {2, 0, 0, 4, 2, 1};
    static unsigned char rows[64];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (unsigned char)i;
    memset(shared, 'r', BYTES);
    done(zeCommandListAppendMemoryCopyRegion(list, rows, &to, 32, 0, shared, &from, 16, 0, NULL, 0,
                                             NULL),
         "to copy rows");
    submit(NULL);
    done(zeCommandQueueSynchronize(queue, UINT64_MAX), "the queue");
    must(rows[1] == 1 && rows[2] == 'r' && rows[6] == 6 && rows[34] == 'r', "two rows");
    done(zeCommandListReset(list), "to reset");
}

/* Each way to learn that submitted work is done. */
static void wait_in_every_way(ze_kernel_handle_t kernel)
{
    ze_group_count_t groups = {1, 1, 1};
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    ze_event_handle_t event = new_event();
    static const uint32_t pattern = 0x01020304;
    static unsigned char copied[BYTES];
    must(zeEventQueryStatus(event) == ZE_RESULT_NOT_READY, "nothing to be done yet");
    must(zeEventHostSynchronize(event, 1000) == ZE_RESULT_NOT_READY, "to wait in vain");
    done(zeFenceCreate(queue, &fence_desc, &fence), "a fence");
    done(zeCommandListAppendMemoryFill(list, on_device, &pattern, sizeof pattern, BYTES, NULL, 0,
                                       NULL),
         "to fill");
    done(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), "to launch");
    done(zeCommandListAppendMemoryCopy(list, host, on_device, BYTES, NULL, 0, NULL), "to copy");
    done(zeCommandListAppendMemoryCopy(list, copied + 1, shared, BYTES - 1, event, 0, NULL),
         "to copy");
    memset(shared, 'a', BYTES);
    submit(fence);
    while (zeEventQueryStatus(event) != ZE_RESULT_SUCCESS)
        sched_yield();
    done(zeFenceHostSynchronize(fence, UINT64_MAX), "the fence");
    done(zeFenceReset(fence), "to reset");
    done(zeCommandListReset(list), "to reset");
    done(zeEventHostReset(event), "to reset");
    shared[9] = 'b';
    done(zeCommandListAppendMemoryCopy(list, copied, shared, BYTES, NULL, 0, NULL), "to copy");
    submit(fence);
    while (zeFenceQueryStatus(fence) != ZE_RESULT_SUCCESS)
        sched_yield();
    must(copied[9] == 'b' && copied[8] == 'a' && host[0] == 4, "what was copied");
    done(zeCommandListReset(list), "to reset");
    done(zeFenceDestroy(fence), "no fence");
}

int main(void)
{
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    open_device();
    ask_for_properties();
    allocate();
    done(zeCommandQueueCreate(context, device, &queue_desc, &queue), "a queue");
    done(zeCommandListCreate(context, device, &list_desc, &list), "a list");
    wait_in_every_way(make_kernel());
    copy_rows();
    /* Memory that is freed and allocated again may have the same address. */
    done(zeMemFree(context, host), "to free");
    done(zeMemFree(context, shared), "to free");
    allocate();
    wait_in_every_way(make_kernel());
    done(zeMemFree(context, shared), "to free");
    done(zeCommandListDestroy(list), "no list");
    done(zeCommandQueueDestroy(queue), "no queue");
    done(zeContextDestroy(context), "no context");
    puts("done");
    return 0;
}
