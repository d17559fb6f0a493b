//! Events: flags.

use std::sync::Arc;

use crate::flag::Flag;
use crate::object::{answer, create, destroy, get, not_null, ready};
use gapii_ze_api::types::*;

pub type Event = Arc<Flag>;

struct EventPool {
    count: u32,
}

pub unsafe extern "C" fn zeEventPoolCreate(
    hContext: ze_context_handle_t,
    desc: *const ze_event_pool_desc_t,
    _numDevices: u32,
    _phDevices: *mut ze_device_handle_t,
    phEventPool: *mut ze_event_pool_handle_t,
) -> ze_result_t {
    answer(|| {
        not_null(hContext)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        create(phEventPool, EventPool { count: desc.count })
    })
}

pub unsafe extern "C" fn zeEventPoolDestroy(hEventPool: ze_event_pool_handle_t) -> ze_result_t {
    answer(|| destroy::<EventPool, _>(hEventPool))
}

pub unsafe extern "C" fn zeEventCreate(
    hEventPool: ze_event_pool_handle_t,
    desc: *const ze_event_desc_t,
    phEvent: *mut ze_event_handle_t,
) -> ze_result_t {
    answer(|| {
        let pool = get::<EventPool, _>(hEventPool)?;
        let desc = desc.as_ref().ok_or(ZE_RESULT_ERROR_INVALID_NULL_POINTER)?;
        if desc.index >= pool.count {
            return Err(ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        create(phEvent, Event::default())
    })
}

pub unsafe extern "C" fn zeEventDestroy(hEvent: ze_event_handle_t) -> ze_result_t {
    answer(|| destroy::<Event, _>(hEvent))
}

pub unsafe extern "C" fn zeEventHostSignal(hEvent: ze_event_handle_t) -> ze_result_t {
    answer(|| get::<Event, _>(hEvent).map(|event| event.set(true)))
}

pub unsafe extern "C" fn zeEventHostReset(hEvent: ze_event_handle_t) -> ze_result_t {
    answer(|| get::<Event, _>(hEvent).map(|event| event.set(false)))
}

pub unsafe extern "C" fn zeEventHostSynchronize(
    hEvent: ze_event_handle_t,
    timeout: u64,
) -> ze_result_t {
    answer(|| ready(get::<Event, _>(hEvent)?.wait(timeout)))
}

pub unsafe extern "C" fn zeEventQueryStatus(hEvent: ze_event_handle_t) -> ze_result_t {
    answer(|| ready(get::<Event, _>(hEvent)?.is_raised()))
}
