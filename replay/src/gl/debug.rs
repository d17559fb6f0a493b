//! Debug output: the program's callback is not here, so there is none.

use std::ffi::c_void;

use crate::call::Call;
use crate::skip::Outcome;

pub fn glDebugMessageCallback(call: &mut Call<'_, '_>) -> Outcome {
    let driver: unsafe extern "C" fn(*const c_void, *const c_void) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(std::ptr::null(), std::ptr::null()) };
    call.returned(None);
    Ok(())
}
