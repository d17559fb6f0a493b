//! Hooks of GLX commands: like those of EGL, contexts and their currents are noted, and swaps end frames. A swap of GLX
//! has no answer: it ends a frame whenever it returns.

#![expect(non_snake_case, reason = "named like the commands")]

use core::ffi::c_char;

use gapii_commands::constants::{
    EGL_OPENGL_API, GLX_CONTEXT_ES2_PROFILE_BIT_EXT, GLX_CONTEXT_MAJOR_VERSION_ARB,
    GLX_CONTEXT_PROFILE_MASK_ARB,
};
use gapii_recorder::Call;

use super::{
    Handle, Scope, attribute, current_enter_flags, current_leave_flags, destroyed_context,
    entry_point, made_context, made_current, swap_ends, swap_flags, swapped,
};
use crate::contexts::OPENGL_ES_API;
use crate::driver_calls::Of;
use crate::frames;
use crate::generated::ids;

/// The attribute that ends a list of GLX.
const LIST_END: i32 = 0;

/// Flags of the enter record.
pub fn glXMakeCurrent_enter_flags(_display: Handle, _drawable: Handle, context: Handle) -> u16 {
    current_enter_flags(context)
}

/// Flags of the leave record.
pub fn glXMakeCurrent_leave_flags(
    _display: Handle,
    _drawable: Handle,
    context: Handle,
    _result: u32,
) -> u16 {
    current_leave_flags(context)
}

/// Notes the thread's new current context.
pub fn glXMakeCurrent(
    _scope: &Scope,
    _display: Handle,
    _drawable: Handle,
    context: Handle,
    result: u32,
) -> u32 {
    made_current(context, result != 0);
    result
}

/// Flags of the enter record.
pub fn glXMakeContextCurrent_enter_flags(
    _display: Handle,
    _draw: Handle,
    _read: Handle,
    context: Handle,
) -> u16 {
    current_enter_flags(context)
}

/// Flags of the leave record.
pub fn glXMakeContextCurrent_leave_flags(
    _display: Handle,
    _draw: Handle,
    _read: Handle,
    context: Handle,
    _result: u32,
) -> u16 {
    current_leave_flags(context)
}

/// Notes the thread's new current context.
pub fn glXMakeContextCurrent(
    _scope: &Scope,
    _display: Handle,
    _draw: Handle,
    _read: Handle,
    context: Handle,
    result: u32,
) -> u32 {
    made_current(context, result != 0);
    result
}

pub use glXMakeContextCurrent as glXMakeCurrentReadSGI;
pub use glXMakeContextCurrent_enter_flags as glXMakeCurrentReadSGI_enter_flags;
pub use glXMakeContextCurrent_leave_flags as glXMakeCurrentReadSGI_leave_flags;

/// Flags of the enter record.
pub fn glXMakeAssociatedContextCurrentAMD_enter_flags(context: Handle) -> u16 {
    current_enter_flags(context)
}

/// Flags of the leave record.
pub fn glXMakeAssociatedContextCurrentAMD_leave_flags(context: Handle, _result: u32) -> u16 {
    current_leave_flags(context)
}

/// Notes the thread's new current context.
pub fn glXMakeAssociatedContextCurrentAMD(_scope: &Scope, context: Handle, result: u32) -> u32 {
    made_current(context, result != 0);
    result
}

/// Remembers the new context, which is one of desktop OpenGL.
pub fn glXCreateContext(
    _scope: &Scope,
    _display: Handle,
    _visual: Handle,
    _share: Handle,
    _direct: u32,
    result: Handle,
) -> Handle {
    made_context(result, EGL_OPENGL_API, 1);
    result
}

/// Remembers the new context, which is one of desktop OpenGL.
pub fn glXCreateNewContext(
    _scope: &Scope,
    _display: Handle,
    _config: Handle,
    _kind: i32,
    _share: Handle,
    _direct: u32,
    result: Handle,
) -> Handle {
    made_context(result, EGL_OPENGL_API, 1);
    result
}

pub use glXCreateNewContext as glXCreateContextWithConfigSGIX;

/// Remembers the API and the requested major version of the new context.
///
/// # Safety
/// `attributes` is null or ends with 0.
pub unsafe fn glXCreateContextAttribsARB(
    _scope: &Scope,
    _display: Handle,
    _config: Handle,
    _share: Handle,
    _direct: u32,
    attributes: *const i32,
    result: Handle,
) -> Handle {
    // SAFETY: the caller's duty.
    let (api, version) = unsafe { requested(attributes, result) };
    made_context(result, api, version);
    result
}

/// Returns the API and the major version in a list for a new context; null for none.
///
/// # Safety
/// `attributes` is null or ends with 0, if there is a context.
unsafe fn requested(attributes: *const i32, context: Handle) -> (u32, u32) {
    let value = |key: u32| match context.is_null() {
        true => None,
        // SAFETY: the driver has read the list to its end.
        false => unsafe { attribute(attributes, LIST_END, key as i32) },
    };
    let profile = value(GLX_CONTEXT_PROFILE_MASK_ARB).unwrap_or(0) as u32;
    let version = value(GLX_CONTEXT_MAJOR_VERSION_ARB).unwrap_or(1) as u32;
    match profile & GLX_CONTEXT_ES2_PROFILE_BIT_EXT {
        0 => (EGL_OPENGL_API, version),
        _ => (OPENGL_ES_API, version),
    }
}

/// Remembers the context of another process.
pub fn glXImportContextEXT(
    _scope: &Scope,
    _display: Handle,
    _id: Handle,
    result: Handle,
) -> Handle {
    made_context(result, EGL_OPENGL_API, 1);
    result
}

/// Remembers the new context of one of several GPUs.
pub fn glXCreateAssociatedContextAMD(
    _scope: &Scope,
    _id: u32,
    _share: Handle,
    result: Handle,
) -> Handle {
    made_context(result, EGL_OPENGL_API, 1);
    result
}

/// Remembers the new context of one of several GPUs.
///
/// # Safety
/// `attributes` is null or ends with 0.
pub unsafe fn glXCreateAssociatedContextAttribsAMD(
    _scope: &Scope,
    _id: u32,
    _share: Handle,
    attributes: *const i32,
    result: Handle,
) -> Handle {
    // SAFETY: the caller's duty.
    let (api, version) = unsafe { requested(attributes, result) };
    made_context(result, api, version);
    result
}

/// Counts the context as destroyed.
pub fn glXDestroyContext(_scope: &Scope, _display: Handle, context: Handle) {
    destroyed_context(context, true);
}

pub use glXDestroyContext as glXFreeContextEXT;

/// Counts the context as destroyed.
pub fn glXDeleteAssociatedContextAMD(_scope: &Scope, context: Handle, result: u32) -> u32 {
    destroyed_context(context, result != 0);
    result
}

/// Reads the frame's pixels back before the swap, if this frame is to be observed.
pub fn glXSwapBuffers_before(call: &mut Call, display: Handle, drawable: Handle) {
    if swap_ends(&[ids::GLX_SWAP_BUFFERS], true) {
        frames::observe(call.recorder(), Of::Glx, display, drawable);
    }
}

/// Flags of the leave record; counts the frame.
pub fn glXSwapBuffers_leave_flags(_display: Handle, _drawable: Handle) -> u16 {
    swap_flags(&[ids::GLX_SWAP_BUFFERS], true)
}

/// Ends the frame, at a safe point.
pub fn glXSwapBuffers(_scope: &Scope, display: Handle, drawable: Handle) {
    swapped(&[ids::GLX_SWAP_BUFFERS], (Of::Glx, display, drawable), true);
}

/// Reads the frame's pixels back before the swap, if this frame is to be observed.
pub fn glXSwapBuffersMscOML_before(
    call: &mut Call,
    display: Handle,
    drawable: Handle,
    _target: i64,
    _divisor: i64,
    _remainder: i64,
) {
    if swap_ends(&[ids::GLX_SWAP_BUFFERS_MSC_OML], true) {
        frames::observe(call.recorder(), Of::Glx, display, drawable);
    }
}

/// Flags of the leave record; counts the frame.
pub fn glXSwapBuffersMscOML_leave_flags(
    _display: Handle,
    _drawable: Handle,
    _target: i64,
    _divisor: i64,
    _remainder: i64,
    result: i64,
) -> u16 {
    swap_flags(&[ids::GLX_SWAP_BUFFERS_MSC_OML], result >= 0)
}

/// Ends the frame, at a safe point.
pub fn glXSwapBuffersMscOML(
    _scope: &Scope,
    display: Handle,
    drawable: Handle,
    _target: i64,
    _divisor: i64,
    _remainder: i64,
    result: i64,
) -> i64 {
    let ids = [ids::GLX_SWAP_BUFFERS_MSC_OML];
    swapped(&ids, (Of::Glx, display, drawable), result >= 0);
    result
}

/// Returns the shim's entry point, if there is one.
///
/// # Safety
/// `name` is null or a NUL-terminated string.
pub unsafe fn glXGetProcAddress(_scope: &Scope, name: *const u8, result: Handle) -> Handle {
    // SAFETY: the caller's duty.
    unsafe { entry_point(name.cast::<c_char>(), result) }
}

pub use glXGetProcAddress as glXGetProcAddressARB;
