//! Command queues.

use super::fence::Fence;
use super::is_device;
use super::list::CommandList;
use crate::object::{answer, create, destroy, get, not_null, ready};
use crate::queue::Queue;
use gapii_ze_api::types::*;

pub unsafe extern "C" fn zeCommandQueueCreate(
    hContext: ze_context_handle_t,
    hDevice: ze_device_handle_t,
    desc: *const ze_command_queue_desc_t,
    phCommandQueue: *mut ze_command_queue_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        is_device(hDevice)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        create(phCommandQueue, Queue::start(desc)?)
    })
}

pub unsafe extern "C" fn zeCommandQueueDestroy(
    hCommandQueue: ze_command_queue_handle_t,
) -> ze_result_t {
    answer(|| destroy::<Queue, _>(hCommandQueue))
}

pub unsafe extern "C" fn zeCommandQueueExecuteCommandLists(
    hCommandQueue: ze_command_queue_handle_t,
    numCommandLists: u32,
    phCommandLists: *mut ze_command_list_handle_t,
    hFence: ze_fence_handle_t,
) -> ze_result_t {
    answer(|| {
        let queue = get::<Queue, _>(hCommandQueue)?;
        if phCommandLists.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        let mut steps = Vec::new();
        for handle in std::slice::from_raw_parts(phCommandLists, numCommandLists as usize) {
            steps.extend(get::<CommandList, _>(*handle)?.steps()?);
        }
        let fence =
            if hFence.is_null() { Fence::default() } else { get::<Fence, _>(hFence)?.clone() };
        queue.submit(steps, fence)
    })
}

pub unsafe extern "C" fn zeCommandQueueSynchronize(
    hCommandQueue: ze_command_queue_handle_t,
    timeout: u64,
) -> ze_result_t {
    answer(|| ready(get::<Queue, _>(hCommandQueue)?.synchronize(timeout)?))
}
