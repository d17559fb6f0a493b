//! Stand-ins for functions for which the loader offers no callee. They answer `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`, an
//! identifier of all bits set, or a null handle, by the type of the result.
//!
//! They take no parameters: in the calling conventions of all systems that Level Zero supports, the caller removes
//! the arguments.

use std::ptr;

use gapii_ze_api::for_each_function;
use gapii_ze_api::functions::COUNT;
use gapii_ze_api::types::{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ze_result_t};

use crate::code::Code;

/// Chooses the stand-in for functions with this result.
macro_rules! stand_in {
    (ze_result_t) => {
        unsupported
    };
    (u32) => {
        no_identifier
    };
    ($handle:ident) => {
        no_handle
    };
}

macro_rules! define {
    ($($constant:ident since $since:tt: $name:ident($($param:ident: $ty:ty),*) -> $result:ident,
       $registration:ident;)*) => {
        /// The stand-ins, by id of the function.
        pub static MISSING: [Code; COUNT] = [$(Code(stand_in!($result) as *const ())),*];
    };
}
for_each_function!(define);

/// Answers that the function is not supported.
unsafe extern "C" fn unsupported() -> ze_result_t {
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

/// Returns `u32::MAX`, which is no identifier.
unsafe extern "C" fn no_identifier() -> u32 {
    u32::MAX
}

/// Returns a null handle.
unsafe extern "C" fn no_handle() -> *mut () {
    ptr::null_mut()
}
