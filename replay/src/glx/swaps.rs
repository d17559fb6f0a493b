//! Swaps of GLX, which are those of EGL: both have the display and the surface in front.

use crate::call::Call;
use crate::egl;
use crate::skip::Outcome;

/// glXSwapBuffers. An X server refuses a drawable that no command of GLX has made or made current; the error is an event.
pub fn swap(call: &mut Call<'_, '_>) -> Outcome {
    match call.parts.egl.surfaces.contains_key(&(call.command.process, call.u64(1))) {
        true => egl::swaps::swap(call),
        false => Ok(()),
    }
}

/// glXSwapBuffersMscOML, which returns -1 if it fails.
pub fn swap_at(call: &mut Call<'_, '_>) -> Outcome {
    match call.recorded_result() {
        Some(u64::MAX) => Ok(()),
        _ => egl::swaps::swap(call),
    }
}

/// glXCopySubBufferMESA, which shows a part of a drawable.
pub fn show(call: &mut Call<'_, '_>) -> Outcome {
    egl::swaps::show(call)
}

/// glXWaitGL.
pub fn wait(call: &mut Call<'_, '_>) -> Outcome {
    egl::swaps::wait_client(call)
}

/// glXSwapIntervalMESA, glXSwapIntervalSGI, which return 0 if they succeed.
pub fn set_interval(call: &mut Call<'_, '_>) -> Outcome {
    match call.recorded_result() {
        None | Some(0) => egl::contexts::set_swap_interval(call, call.i32(0)),
        Some(_) => Ok(()),
    }
}

/// glXSwapIntervalEXT.
pub fn set_interval_of(call: &mut Call<'_, '_>) -> Outcome {
    egl::contexts::set_swap_interval(call, call.i32(2))
}
