//! Contexts, which have no state.

use super::is_driver;
use crate::object::{Bare, answer, create, destroy, not_null};
use gapii_ze_api::types::*;

pub unsafe extern "C" fn zeContextCreate(
    hDriver: ze_driver_handle_t,
    desc: *const ze_context_desc_t,
    phContext: *mut ze_context_handle_t,
) -> ze_result_t {
    answer(|| {
        is_driver(hDriver)?;
        if desc.is_null() {
            return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        }
        create(phContext, Bare::default())
    })
}

pub unsafe extern "C" fn zeContextDestroy(hContext: ze_context_handle_t) -> ze_result_t {
    answer(|| destroy::<Bare, _>(hContext))
}

pub unsafe extern "C" fn zeContextGetStatus(hContext: ze_context_handle_t) -> ze_result_t {
    answer(|| not_null(hContext))
}
