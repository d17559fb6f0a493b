//! `TracedCall`: runs callbacks, with their types restored, around a call.

use std::ffi::c_void;

use gapii_tracers::{Call, Callback};
use gapii_ze_api::types::{ze_context_handle_t, ze_device_handle_t, ze_result_t};

use crate::TRACERS;

/// A callback of a function with parameters `P` and result `R`.
type Typed<P, R> = unsafe extern "C" fn(*mut P, R, *mut c_void, *mut *mut c_void);

/// A type of results, with the value that prologues get for it.
pub trait Outcome: Copy {
    /// The value that prologues get.
    const NONE: Self;
}

/// Result codes, and identifiers, which have the same type.
impl Outcome for ze_result_t {
    const NONE: Self = 0;
}

impl Outcome for ze_context_handle_t {
    const NONE: Self = std::ptr::null_mut();
}

impl Outcome for ze_device_handle_t {
    const NONE: Self = std::ptr::null_mut();
}

/// A call that runs callbacks.
pub struct TracedCall(Call<'static>);

impl TracedCall {
    /// Begins a call of a function. `None` if no enabled tracer has callbacks for it.
    #[inline(always)]
    pub fn begin(function: usize) -> Option<Self> {
        TRACERS.begin(function).map(Self)
    }

    /// Runs the prologues.
    ///
    /// # Safety
    /// `params` are those of the function that the call was begun with, and `R` is its result.
    pub unsafe fn prologues<P, R: Outcome>(&mut self, params: *mut P) {
        self.0.prologues(|callback, user_data, instance| {
            // SAFETY: the caller's duty.
            unsafe { run(callback, params, R::NONE, user_data, instance) };
        });
    }

    /// Runs the epilogues.
    ///
    /// # Safety
    /// As for [`TracedCall::prologues`].
    pub unsafe fn epilogues<P, R: Outcome>(&mut self, params: *mut P, result: R) {
        self.0.epilogues(|callback, user_data, instance| {
            // SAFETY: the caller's duty.
            unsafe { run(callback, params, result, user_data, instance) };
        });
    }
}

/// # Safety
/// `callback` was registered for a function with parameters `P` and result `R`.
unsafe fn run<P, R>(
    callback: Callback,
    params: *mut P,
    result: R,
    user_data: *mut c_void,
    instance: &mut *mut c_void,
) {
    // SAFETY: registered as this type; see `registrar`.
    let callback = unsafe { std::mem::transmute::<Callback, Typed<P, R>>(callback) };
    // SAFETY: a tool's callback, with the arguments that the API promises it.
    unsafe { callback(params, result, user_data, instance) };
}
