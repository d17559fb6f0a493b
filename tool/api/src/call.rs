//! What callbacks get, and what names a tracer.

use core::ffi::c_void;

/// A call that is on its way. Callbacks get its address, which is good until they return and in their
/// thread only.
pub struct gapii_call {
    _opaque: [u8; 0],
}

/// What a `gapii_tracer` points at.
pub struct gapii_tracer_object {
    _opaque: [u8; 0],
}

/// A tracer: callbacks for commands, which run while it is enabled. Null is none; a destroyed tracer's is
/// never given again.
pub type gapii_tracer = *mut gapii_tracer_object;

/// A prologue or an epilogue, called in the thread that makes the call.
///
/// `user_data` is what the tracer was created with. `instance` is a place of this call and this tracer
/// alone, which is null in its prologue and holds in its epilogue what the prologue left there.
///
/// Commands that a callback makes itself have no callbacks, of no tracer. A callback must return; it must not
/// throw, nor jump out.
pub type gapii_callback = Option<
    unsafe extern "C" fn(call: *mut gapii_call, user_data: *mut c_void, instance: *mut *mut c_void),
>;
