//! Command queues.

use super::fence::Fence;
use super::is_device;
use super::list::CommandList;
use crate::object::{answer, create, destroy, get, not_null, ready};
use crate::queue::Queue;
use gapii_ze_api::types::*;

/// A queue as programs have it.
pub struct CommandQueue {
    queue: Queue,
    is_synchronous: bool,
}

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
        let is_synchronous = desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
        create(phCommandQueue, CommandQueue { queue: Queue::start()?, is_synchronous })
    })
}

pub unsafe extern "C" fn zeCommandQueueDestroy(
    hCommandQueue: ze_command_queue_handle_t,
) -> ze_result_t {
    answer(|| destroy::<CommandQueue, _>(hCommandQueue))
}

pub unsafe extern "C" fn zeCommandQueueExecuteCommandLists(
    hCommandQueue: ze_command_queue_handle_t,
    numCommandLists: u32,
    phCommandLists: *mut ze_command_list_handle_t,
    hFence: ze_fence_handle_t,
) -> ze_result_t {
    answer(|| {
        let CommandQueue { queue, is_synchronous } = get(hCommandQueue)?;
        if phCommandLists.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        let mut steps = Vec::new();
        for handle in std::slice::from_raw_parts(phCommandLists, numCommandLists as usize) {
            steps.extend(get::<CommandList, _>(*handle)?.steps()?);
        }
        let fence =
            if hFence.is_null() { Fence::default() } else { get::<Fence, _>(hFence)?.clone() };
        queue.submit(steps, fence)?;
        if *is_synchronous {
            queue.synchronize(u64::MAX)?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn zeCommandQueueSynchronize(
    hCommandQueue: ze_command_queue_handle_t,
    timeout: u64,
) -> ze_result_t {
    answer(|| ready(get::<CommandQueue, _>(hCommandQueue)?.queue.synchronize(timeout)?))
}
