//! The types of callbacks, calls and tracers. A call is valid in its thread until the callback returns; the number of a
//! destroyed tracer is never reused.

use core::ffi::c_void;

/// A traced call. Callbacks get its address, which is valid in their thread, until they return.
pub struct gapii_call {
    _opaque: [u8; 0],
}

/// The opaque target of a `gapii_tracer`.
pub struct gapii_tracer_object {
    _opaque: [u8; 0],
}

/// A tracer: callbacks for commands, which run while it is enabled. Null is no tracer. The value of a destroyed tracer
/// is never reused.
pub type gapii_tracer = *mut gapii_tracer_object;

/// A prologue or an epilogue, called in the thread that makes the call.
///
/// `user_data` is the pointer that `gapii_tracer_create` received. `*instance` is a pointer for this call and this
/// tracer: it is null in the prologue, and the epilogue finds the value that the prologue stored.
///
/// Commands that a callback calls are not traced. A callback must return; it must not throw an exception or leave
/// through `longjmp`.
pub type gapii_callback = Option<
    unsafe extern "C" fn(call: *mut gapii_call, user_data: *mut c_void, instance: *mut *mut c_void),
>;
