//! Stand-ins for functions for which the loader offers no callee.
//!
//! They take no parameters: in the calling conventions of all systems that Level Zero supports, the caller removes
//! the arguments.

use std::ptr;

use gapii_ze_api::types::{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ze_result_t};

/// Answers that the function is not supported.
pub unsafe extern "C" fn unsupported() -> ze_result_t {
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

/// Returns `u32::MAX`, which is no identifier.
pub unsafe extern "C" fn no_identifier() -> u32 {
    u32::MAX
}

/// Returns a null handle.
pub unsafe extern "C" fn no_handle() -> *mut () {
    ptr::null_mut()
}
