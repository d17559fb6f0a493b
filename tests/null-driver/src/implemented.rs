//! The functions that are implemented, by id. The casts make sure that each has the right type.

use gapii_ze_api::functions::*;

use crate::functions::{context, device, driver, event, fence, list, memory, module, queue};

pub fn implemented(function: usize) -> Option<*const ()> {
    let code = match function {
        ZE_INIT => driver::zeInit as ze_pfnInit_t as *const (),
        ZE_INIT_DRIVERS => driver::zeInitDrivers as ze_pfnInitDrivers_t as *const (),
        ZE_DRIVER_GET => driver::zeDriverGet as ze_pfnDriverGet_t as *const (),
        ZE_DRIVER_GET_API_VERSION => {
            driver::zeDriverGetApiVersion as ze_pfnDriverGetApiVersion_t as *const ()
        }
        ZE_DRIVER_GET_PROPERTIES => {
            driver::zeDriverGetProperties as ze_pfnDriverGetProperties_t as *const ()
        }
        ZE_DRIVER_GET_EXTENSION_PROPERTIES => {
            driver::zeDriverGetExtensionProperties as ze_pfnDriverGetExtensionProperties_t
                as *const ()
        }
        ZE_DEVICE_GET => device::zeDeviceGet as ze_pfnDeviceGet_t as *const (),
        ZE_DEVICE_GET_SUB_DEVICES => {
            device::zeDeviceGetSubDevices as ze_pfnDeviceGetSubDevices_t as *const ()
        }
        ZE_DEVICE_GET_PROPERTIES => {
            device::zeDeviceGetProperties as ze_pfnDeviceGetProperties_t as *const ()
        }
        ZE_DEVICE_GET_COMPUTE_PROPERTIES => {
            device::zeDeviceGetComputeProperties as ze_pfnDeviceGetComputeProperties_t as *const ()
        }
        ZE_DEVICE_GET_COMMAND_QUEUE_GROUP_PROPERTIES => {
            device::zeDeviceGetCommandQueueGroupProperties
                as ze_pfnDeviceGetCommandQueueGroupProperties_t as *const ()
        }
        ZE_DEVICE_GET_MEMORY_PROPERTIES => {
            device::zeDeviceGetMemoryProperties as ze_pfnDeviceGetMemoryProperties_t as *const ()
        }
        ZE_CONTEXT_CREATE => context::zeContextCreate as ze_pfnContextCreate_t as *const (),
        ZE_CONTEXT_DESTROY => context::zeContextDestroy as ze_pfnContextDestroy_t as *const (),
        ZE_CONTEXT_GET_STATUS => {
            context::zeContextGetStatus as ze_pfnContextGetStatus_t as *const ()
        }
        ZE_MEM_ALLOC_SHARED => memory::zeMemAllocShared as ze_pfnMemAllocShared_t as *const (),
        ZE_MEM_ALLOC_DEVICE => memory::zeMemAllocDevice as ze_pfnMemAllocDevice_t as *const (),
        ZE_MEM_ALLOC_HOST => memory::zeMemAllocHost as ze_pfnMemAllocHost_t as *const (),
        ZE_MEM_FREE => memory::zeMemFree as ze_pfnMemFree_t as *const (),
        ZE_MEM_GET_ALLOC_PROPERTIES => {
            memory::zeMemGetAllocProperties as ze_pfnMemGetAllocProperties_t as *const ()
        }
        ZE_MEM_GET_ADDRESS_RANGE => {
            memory::zeMemGetAddressRange as ze_pfnMemGetAddressRange_t as *const ()
        }
        ZE_COMMAND_QUEUE_CREATE => {
            queue::zeCommandQueueCreate as ze_pfnCommandQueueCreate_t as *const ()
        }
        ZE_COMMAND_QUEUE_DESTROY => {
            queue::zeCommandQueueDestroy as ze_pfnCommandQueueDestroy_t as *const ()
        }
        ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS => {
            queue::zeCommandQueueExecuteCommandLists as ze_pfnCommandQueueExecuteCommandLists_t
                as *const ()
        }
        ZE_COMMAND_QUEUE_SYNCHRONIZE => {
            queue::zeCommandQueueSynchronize as ze_pfnCommandQueueSynchronize_t as *const ()
        }
        ZE_COMMAND_LIST_CREATE => {
            list::zeCommandListCreate as ze_pfnCommandListCreate_t as *const ()
        }
        ZE_COMMAND_LIST_CREATE_IMMEDIATE => {
            list::zeCommandListCreateImmediate as ze_pfnCommandListCreateImmediate_t as *const ()
        }
        ZE_COMMAND_LIST_DESTROY => {
            list::zeCommandListDestroy as ze_pfnCommandListDestroy_t as *const ()
        }
        ZE_COMMAND_LIST_CLOSE => list::zeCommandListClose as ze_pfnCommandListClose_t as *const (),
        ZE_COMMAND_LIST_RESET => list::zeCommandListReset as ze_pfnCommandListReset_t as *const (),
        ZE_COMMAND_LIST_HOST_SYNCHRONIZE => {
            list::zeCommandListHostSynchronize as ze_pfnCommandListHostSynchronize_t as *const ()
        }
        ZE_COMMAND_LIST_APPEND_BARRIER => {
            list::zeCommandListAppendBarrier as ze_pfnCommandListAppendBarrier_t as *const ()
        }
        ZE_COMMAND_LIST_APPEND_MEMORY_COPY => {
            list::zeCommandListAppendMemoryCopy as ze_pfnCommandListAppendMemoryCopy_t as *const ()
        }
        ZE_COMMAND_LIST_APPEND_MEMORY_COPY_REGION => {
            list::zeCommandListAppendMemoryCopyRegion as ze_pfnCommandListAppendMemoryCopyRegion_t
                as *const ()
        }
        ZE_COMMAND_LIST_APPEND_MEMORY_FILL => {
            list::zeCommandListAppendMemoryFill as ze_pfnCommandListAppendMemoryFill_t as *const ()
        }
        ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL => {
            list::zeCommandListAppendLaunchKernel as ze_pfnCommandListAppendLaunchKernel_t
                as *const ()
        }
        ZE_COMMAND_LIST_APPEND_SIGNAL_EVENT => {
            list::zeCommandListAppendSignalEvent as ze_pfnCommandListAppendSignalEvent_t
                as *const ()
        }
        ZE_COMMAND_LIST_APPEND_EVENT_RESET => {
            list::zeCommandListAppendEventReset as ze_pfnCommandListAppendEventReset_t as *const ()
        }
        ZE_COMMAND_LIST_APPEND_WAIT_ON_EVENTS => {
            list::zeCommandListAppendWaitOnEvents as ze_pfnCommandListAppendWaitOnEvents_t
                as *const ()
        }
        ZE_EVENT_POOL_CREATE => event::zeEventPoolCreate as ze_pfnEventPoolCreate_t as *const (),
        ZE_EVENT_POOL_DESTROY => event::zeEventPoolDestroy as ze_pfnEventPoolDestroy_t as *const (),
        ZE_EVENT_CREATE => event::zeEventCreate as ze_pfnEventCreate_t as *const (),
        ZE_EVENT_DESTROY => event::zeEventDestroy as ze_pfnEventDestroy_t as *const (),
        ZE_EVENT_HOST_SIGNAL => event::zeEventHostSignal as ze_pfnEventHostSignal_t as *const (),
        ZE_EVENT_HOST_RESET => event::zeEventHostReset as ze_pfnEventHostReset_t as *const (),
        ZE_EVENT_HOST_SYNCHRONIZE => {
            event::zeEventHostSynchronize as ze_pfnEventHostSynchronize_t as *const ()
        }
        ZE_EVENT_QUERY_STATUS => event::zeEventQueryStatus as ze_pfnEventQueryStatus_t as *const (),
        ZE_FENCE_CREATE => fence::zeFenceCreate as ze_pfnFenceCreate_t as *const (),
        ZE_FENCE_DESTROY => fence::zeFenceDestroy as ze_pfnFenceDestroy_t as *const (),
        ZE_FENCE_HOST_SYNCHRONIZE => {
            fence::zeFenceHostSynchronize as ze_pfnFenceHostSynchronize_t as *const ()
        }
        ZE_FENCE_QUERY_STATUS => fence::zeFenceQueryStatus as ze_pfnFenceQueryStatus_t as *const (),
        ZE_FENCE_RESET => fence::zeFenceReset as ze_pfnFenceReset_t as *const (),
        ZE_MODULE_CREATE => module::zeModuleCreate as ze_pfnModuleCreate_t as *const (),
        ZE_MODULE_DESTROY => module::zeModuleDestroy as ze_pfnModuleDestroy_t as *const (),
        ZE_KERNEL_CREATE => module::zeKernelCreate as ze_pfnKernelCreate_t as *const (),
        ZE_KERNEL_DESTROY => module::zeKernelDestroy as ze_pfnKernelDestroy_t as *const (),
        ZE_KERNEL_SET_GROUP_SIZE => {
            module::zeKernelSetGroupSize as ze_pfnKernelSetGroupSize_t as *const ()
        }
        ZE_KERNEL_SUGGEST_GROUP_SIZE => {
            module::zeKernelSuggestGroupSize as ze_pfnKernelSuggestGroupSize_t as *const ()
        }
        ZE_KERNEL_SET_ARGUMENT_VALUE => {
            module::zeKernelSetArgumentValue as ze_pfnKernelSetArgumentValue_t as *const ()
        }
        _ => return None,
    };
    Some(code)
}
