//! The functions that are implemented, by id.

use gapii_ze_api::functions::{self, *};

use crate::functions::{context, device, driver, event, fence, image, list, memory, module, queue};

macro_rules! implemented {
    ($($constant:ident => $module:ident::$name:ident,)*) => {
        /// Returns the code of a function; `None` if it is not implemented.
        pub fn implemented(function: usize) -> Option<*const ()> {
            match function {
                // The cast to the function's type makes sure that the code has it.
                $($constant => Some($module::$name as functions::$name as *const ()),)*
                _ => None,
            }
        }
    };
}
implemented! {
    ZE_INIT => driver::zeInit,
    ZE_INIT_DRIVERS => driver::zeInitDrivers,
    ZE_DRIVER_GET => driver::zeDriverGet,
    ZE_DRIVER_GET_API_VERSION => driver::zeDriverGetApiVersion,
    ZE_DRIVER_GET_PROPERTIES => driver::zeDriverGetProperties,
    ZE_DRIVER_GET_EXTENSION_PROPERTIES => driver::zeDriverGetExtensionProperties,
    ZE_DEVICE_GET => device::zeDeviceGet,
    ZE_DEVICE_GET_SUB_DEVICES => device::zeDeviceGetSubDevices,
    ZE_DEVICE_GET_PROPERTIES => device::zeDeviceGetProperties,
    ZE_DEVICE_GET_GLOBAL_TIMESTAMPS => device::zeDeviceGetGlobalTimestamps,
    ZE_DEVICE_GET_COMPUTE_PROPERTIES => device::zeDeviceGetComputeProperties,
    ZE_DEVICE_GET_COMMAND_QUEUE_GROUP_PROPERTIES => device::zeDeviceGetCommandQueueGroupProperties,
    ZE_DEVICE_GET_MEMORY_PROPERTIES => device::zeDeviceGetMemoryProperties,
    ZE_CONTEXT_CREATE => context::zeContextCreate,
    ZE_CONTEXT_DESTROY => context::zeContextDestroy,
    ZE_CONTEXT_GET_STATUS => context::zeContextGetStatus,
    ZE_MEM_ALLOC_SHARED => memory::zeMemAllocShared,
    ZE_MEM_ALLOC_DEVICE => memory::zeMemAllocDevice,
    ZE_MEM_ALLOC_HOST => memory::zeMemAllocHost,
    ZE_MEM_FREE => memory::zeMemFree,
    ZE_MEM_GET_ALLOC_PROPERTIES => memory::zeMemGetAllocProperties,
    ZE_MEM_GET_ADDRESS_RANGE => memory::zeMemGetAddressRange,
    ZE_COMMAND_QUEUE_CREATE => queue::zeCommandQueueCreate,
    ZE_COMMAND_QUEUE_DESTROY => queue::zeCommandQueueDestroy,
    ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS => queue::zeCommandQueueExecuteCommandLists,
    ZE_COMMAND_QUEUE_SYNCHRONIZE => queue::zeCommandQueueSynchronize,
    ZE_COMMAND_LIST_CREATE => list::zeCommandListCreate,
    ZE_COMMAND_LIST_CREATE_IMMEDIATE => list::zeCommandListCreateImmediate,
    ZE_COMMAND_LIST_DESTROY => list::zeCommandListDestroy,
    ZE_COMMAND_LIST_CLOSE => list::zeCommandListClose,
    ZE_COMMAND_LIST_RESET => list::zeCommandListReset,
    ZE_COMMAND_LIST_HOST_SYNCHRONIZE => list::zeCommandListHostSynchronize,
    ZE_COMMAND_LIST_APPEND_BARRIER => list::zeCommandListAppendBarrier,
    ZE_COMMAND_LIST_APPEND_WRITE_GLOBAL_TIMESTAMP =>
        list::zeCommandListAppendWriteGlobalTimestamp,
    ZE_COMMAND_LIST_APPEND_MEMORY_COPY => list::zeCommandListAppendMemoryCopy,
    ZE_COMMAND_LIST_APPEND_MEMORY_COPY_REGION => list::zeCommandListAppendMemoryCopyRegion,
    ZE_COMMAND_LIST_APPEND_MEMORY_FILL => list::zeCommandListAppendMemoryFill,
    ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL => list::zeCommandListAppendLaunchKernel,
    ZE_COMMAND_LIST_APPEND_SIGNAL_EVENT => list::zeCommandListAppendSignalEvent,
    ZE_COMMAND_LIST_APPEND_EVENT_RESET => list::zeCommandListAppendEventReset,
    ZE_COMMAND_LIST_APPEND_WAIT_ON_EVENTS => list::zeCommandListAppendWaitOnEvents,
    ZE_COMMAND_LIST_APPEND_IMAGE_COPY_TO_MEMORY => image::zeCommandListAppendImageCopyToMemory,
    ZE_COMMAND_LIST_APPEND_IMAGE_COPY_FROM_MEMORY => image::zeCommandListAppendImageCopyFromMemory,
    ZE_IMAGE_CREATE => image::zeImageCreate,
    ZE_IMAGE_DESTROY => image::zeImageDestroy,
    ZE_EVENT_POOL_CREATE => event::zeEventPoolCreate,
    ZE_EVENT_POOL_DESTROY => event::zeEventPoolDestroy,
    ZE_EVENT_CREATE => event::zeEventCreate,
    ZE_EVENT_DESTROY => event::zeEventDestroy,
    ZE_EVENT_HOST_SIGNAL => event::zeEventHostSignal,
    ZE_EVENT_HOST_RESET => event::zeEventHostReset,
    ZE_EVENT_HOST_SYNCHRONIZE => event::zeEventHostSynchronize,
    ZE_EVENT_QUERY_STATUS => event::zeEventQueryStatus,
    ZE_FENCE_CREATE => fence::zeFenceCreate,
    ZE_FENCE_DESTROY => fence::zeFenceDestroy,
    ZE_FENCE_HOST_SYNCHRONIZE => fence::zeFenceHostSynchronize,
    ZE_FENCE_QUERY_STATUS => fence::zeFenceQueryStatus,
    ZE_FENCE_RESET => fence::zeFenceReset,
    ZE_MODULE_CREATE => module::zeModuleCreate,
    ZE_MODULE_DESTROY => module::zeModuleDestroy,
    ZE_MODULE_GET_GLOBAL_POINTER => module::zeModuleGetGlobalPointer,
    ZE_KERNEL_CREATE => module::zeKernelCreate,
    ZE_KERNEL_DESTROY => module::zeKernelDestroy,
    ZE_KERNEL_SET_GROUP_SIZE => module::zeKernelSetGroupSize,
    ZE_KERNEL_SUGGEST_GROUP_SIZE => module::zeKernelSuggestGroupSize,
    ZE_KERNEL_SET_ARGUMENT_VALUE => module::zeKernelSetArgumentValue,
    ZE_KERNEL_SET_INDIRECT_ACCESS => module::zeKernelSetIndirectAccess,
}
