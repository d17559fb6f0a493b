//! Lookup of driver functions by name.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use gapii_commands::Api;

use super::libraries::Interceptor;

/// Finds functions of the APIs by name.
///
/// # Safety
///
/// Each function that is found has the signature that its API gives the name, may be called from
/// any thread, and stays valid until the process ends.
pub unsafe trait Loader {
    /// The driver's function of that name, if the driver has it.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;

    /// Why no function of an API can be found here; `None` if functions can be found.
    fn lacks(&self, api: Api) -> Option<String> {
        let _ = api;
        None
    }

    /// The interceptor between programs and the driver, if there is one.
    fn interceptor(&self) -> Option<Interceptor> {
        None
    }
}
