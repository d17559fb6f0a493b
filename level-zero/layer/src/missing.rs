//! What answers for functions that the loader has no callee for.
//!
//! Without parameters: whoever calls clears the arguments away, in the calling conventions of all
//! systems that Level Zero is on.

use std::ptr;

use gapii_ze_api::types::{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ze_result_t};

pub unsafe extern "C" fn unsupported() -> ze_result_t {
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

pub unsafe extern "C" fn no_identifier() -> u32 {
    u32::MAX
}

pub unsafe extern "C" fn no_handle() -> *mut () {
    ptr::null_mut()
}
