//! Debug output. The program's callback does not exist here, so the driver gets null.

use std::ffi::c_void;

use crate::call::Call;
use crate::skip::Outcome;

/// Plays `glDebugMessageCallback` and its extension's form, without a callback.
pub fn glDebugMessageCallback(call: &mut Call<'_, '_>) -> Outcome {
    let driver: unsafe extern "C" fn(*const c_void, *const c_void) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(std::ptr::null(), std::ptr::null()) };
    call.returned(None);
    Ok(())
}
