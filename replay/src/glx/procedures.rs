//! glXGetProcAddress: the driver is asked for functions of OpenGL.

use crate::call::Call;
use crate::egl;
use crate::skip::Outcome;

/// glXGetProcAddress, glXGetProcAddressARB. EGL has no functions of GLX.
pub fn address(call: &mut Call<'_, '_>) -> Outcome {
    match call.observed(0).is_some_and(|name| name.starts_with(b"glX")) {
        true => Ok(()),
        false => egl::questions::proc_address(call),
    }
}
