//! What finds the functions of a driver.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use gapii_commands::Api;

use super::libraries::Interceptor;

/// Finds functions of the APIs.
///
/// # Safety
///
/// Each function that is found has the signature that its API gives its name, may be called from
/// any thread, and stays for as long as the process does.
pub unsafe trait Loader {
    /// The driver's function of that name, if there is one.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;

    /// Why nothing of an API can be found here, if that is so.
    fn lacks(&self, api: Api) -> Option<String> {
        let _ = api;
        None
    }

    /// What stands before the driver and hears what programs call.
    fn interceptor(&self) -> Option<Interceptor> {
        None
    }
}
