//! Fences, which are flags like events.

use std::sync::Arc;

use crate::flag::Flag;
use crate::object::{answer, create, destroy, get, not_null, ready};
use gapii_ze_api::types::*;

pub type Fence = Arc<Flag>;

pub unsafe extern "C" fn zeFenceCreate(
    hCommandQueue: ze_command_queue_handle_t,
    desc: *const ze_fence_desc_t,
    phFence: *mut ze_fence_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hCommandQueue)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        let fence = Fence::default();
        fence.set(desc.flags & ZE_FENCE_FLAG_SIGNALED != 0);
        create(phFence, fence)
    })
}

pub unsafe extern "C" fn zeFenceDestroy(hFence: ze_fence_handle_t) -> ze_result_t {
    answer(|| destroy::<Fence, _>(hFence))
}

pub unsafe extern "C" fn zeFenceHostSynchronize(
    hFence: ze_fence_handle_t,
    timeout: u64,
) -> ze_result_t {
    answer(|| ready(get::<Fence, _>(hFence)?.wait(timeout)))
}

pub unsafe extern "C" fn zeFenceQueryStatus(hFence: ze_fence_handle_t) -> ze_result_t {
    answer(|| ready(get::<Fence, _>(hFence)?.is_raised()))
}

pub unsafe extern "C" fn zeFenceReset(hFence: ze_fence_handle_t) -> ze_result_t {
    answer(|| get::<Fence, _>(hFence).map(|fence| fence.set(false)))
}
