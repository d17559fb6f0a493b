//! `TracedCall`: runs callbacks, with their types restored, around a call.

use std::ffi::c_void;

use gapii_tracers::{Call, Callback, Tracers};
use gapii_ze_api::types::{ze_context_handle_t, ze_device_handle_t, ze_result_t};

use crate::recorder::{InCallbacks, Listener, listener};

/// The structure that a callback gets: a pointer to each parameter of the call, in order.
pub type Params = *mut *mut c_void;

/// A callback of a function with the result `R`.
type Typed<R> = unsafe extern "C" fn(Params, R, *mut c_void, *mut *mut c_void);

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
pub struct TracedCall {
    call: Call<'static>,
    listener: Option<&'static Listener>,
}

impl TracedCall {
    /// Begins a call of a function. `None` if no enabled tracer has callbacks for it.
    #[inline(always)]
    pub fn begin(tracers: &'static Tracers, function: usize) -> Option<Self> {
        let call = tracers.begin(function)?;
        Some(Self { call, listener: listener() })
    }

    /// Returns who hears of changed parameters; `None` if nobody does.
    #[inline(always)]
    pub fn listener(&self) -> Option<&'static Listener> {
        self.listener
    }

    /// Runs the prologues.
    ///
    /// # Safety
    /// `params` point at the parameters of the function that the call was begun with, and `R` is its result.
    pub unsafe fn prologues<R: Outcome>(&mut self, params: Params) {
        let _own = self.listener.map(InCallbacks::begin);
        self.call.prologues(|callback, user_data, instance| {
            // SAFETY: the caller's duty.
            unsafe { run(callback, params, R::NONE, user_data, instance) };
        });
    }

    /// Runs the epilogues.
    ///
    /// # Safety
    /// As for [`TracedCall::prologues`].
    pub unsafe fn epilogues<R: Outcome>(&mut self, params: Params, result: R) {
        let _own = self.listener.map(InCallbacks::begin);
        self.call.epilogues(|callback, user_data, instance| {
            // SAFETY: the caller's duty.
            unsafe { run(callback, params, result, user_data, instance) };
        });
    }
}

/// # Safety
/// `callback` was registered for a function with these parameters and the result `R`.
unsafe fn run<R>(
    callback: Callback,
    params: Params,
    result: R,
    user_data: *mut c_void,
    instance: &mut *mut c_void,
) {
    // SAFETY: registered as this type; see `registrars`.
    let callback = unsafe { std::mem::transmute::<Callback, Typed<R>>(callback) };
    // SAFETY: a tool's callback, with the arguments that the API promises it.
    unsafe { callback(params, result, user_data, instance) };
}
