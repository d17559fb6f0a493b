//! The functions `gapii_…` that tools call; `gapii.h` is generated from this file. Every function accepts null
//! arguments and tracers in any state, and returns a code for them: `GAPII_ENABLED` or `GAPII_DRAINING` if the tracer
//! is in a state that forbids the operation, `GAPII_TOO_LATE` for a skip in an epilogue, `GAPII_SECURE_EXECUTION` for
//! enabling in a set-uid program. A function that returns another code than `GAPII_OK` has changed nothing.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use gapii_tool_api::{
    GAPII_DRAINING, GAPII_ENABLED, GAPII_NO_SUCH_COMMAND, GAPII_NO_SUCH_TRACER, GAPII_NULL_HANDLE,
    GAPII_NULL_POINTER, GAPII_OK, GAPII_SECURE_EXECUTION, GAPII_TOO_LATE, gapii_call,
    gapii_callback, gapii_result, gapii_tracer,
};
use gapii_tracers::{Callback, Moment, Refusal, TracerId};

use crate::environment;
use crate::generated::names::NAMES;
use crate::traced::{Passing, TRACERS};

/// Creates a tracer, which is disabled and has no callbacks, and stores it at `out`.
///
/// May be called at any time, from any thread, also before the first command of the process.
///
/// Every callback of the tracer receives `user_data`; gapii does not use it otherwise.
///
/// Returns `GAPII_OK`, or `GAPII_NULL_POINTER` if `out` is null.
///
/// # Safety
/// `out` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_tracer_create(
    user_data: *mut c_void,
    out: *mut gapii_tracer,
) -> gapii_result {
    if out.is_null() {
        return GAPII_NULL_POINTER;
    }
    let tracer = TRACERS.create(user_data);
    // SAFETY: the caller's duty.
    unsafe { out.write(ptr::without_provenance_mut(tracer.number())) };
    GAPII_OK
}

/// Sets the prologue of a command, such as `"glClear"`: while the tracer is enabled, `callback` runs before each
/// call of the command. Null removes the prologue.
///
/// May be called from any thread. Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NULL_POINTER` if `command` is null,
/// `GAPII_NO_SUCH_TRACER`, or `GAPII_NO_SUCH_COMMAND`. Returns `GAPII_ENABLED` or `GAPII_DRAINING` if the tracer is in
/// that state. If the function returns anything but `GAPII_OK`, it has changed nothing.
///
/// # Safety
/// `command` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_tracer_register_prologue(
    tracer: gapii_tracer,
    command: *const c_char,
    callback: gapii_callback,
) -> gapii_result {
    // SAFETY: the caller's duty.
    unsafe { register(tracer, command, Moment::Prologue, callback) }
}

/// Sets the epilogue of a command: while the tracer is enabled, `callback` runs after each call of the command. Null
/// removes the epilogue.
///
/// May be called from any thread. Returns the same codes as `gapii_tracer_register_prologue`.
///
/// # Safety
/// `command` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_tracer_register_epilogue(
    tracer: gapii_tracer,
    command: *const c_char,
    callback: gapii_callback,
) -> gapii_result {
    // SAFETY: the caller's duty.
    unsafe { register(tracer, command, Moment::Epilogue, callback) }
}

/// Removes all callbacks of a tracer.
///
/// May be called from any thread. Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, `GAPII_ENABLED` or
/// `GAPII_DRAINING`.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_reset(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.reset(tracer))
}

/// Enables a tracer. Calls that begin from now on run its callbacks, in all threads, after the callbacks of the tracers
/// that were enabled before. A tracer that is already enabled keeps its place in this order.
///
/// May be called from any thread, also in callbacks. Commands for which no enabled tracer has callbacks cost as much
/// as without tracers.
///
/// Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, or `GAPII_DRAINING`. In a set-uid program, or another
/// one whose rights are not its caller's (`AT_SECURE`), returns `GAPII_SECURE_EXECUTION` and enables nothing.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_enable(tracer: gapii_tracer) -> gapii_result {
    if environment::is_secure() {
        return GAPII_SECURE_EXECUTION;
    }
    with(tracer, |tracer| TRACERS.set_enabled(tracer, true))
}

/// Disables a tracer. Calls that begin from now on run none of its callbacks. Calls that have run its prologue still
/// run its epilogue; the tracer is draining until the last of them has ended.
///
/// May be called from any thread, also in callbacks. Never waits. Returns `GAPII_OK`, also if the tracer is already
/// disabled; `GAPII_NULL_HANDLE`; `GAPII_NO_SUCH_TRACER`; or `GAPII_DRAINING` if the tracer is already draining.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_disable(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.set_enabled(tracer, false))
}

/// Destroys a tracer that is not enabled. After this function has returned, no callback of the tracer runs, with one
/// exception.
///
/// The function waits for calls that run callbacks of this tracer, and for no other calls. The exception: in a
/// callback, it does not wait for the call that the callback belongs to, nor for calls whose callbacks are themselves
/// waiting in this function. The epilogues of these calls run afterwards.
///
/// May be called from any thread, also in callbacks. Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, or
/// `GAPII_ENABLED`.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_destroy(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.destroy(tracer))
}

/// Returns the parameters of a call: a `struct gapii_…_params` of its command, as declared in `gapii_commands.h`.
/// Null if the command has no parameters or the call is null.
///
/// The parameters are copies. Later prologues, the driver and epilogues see what a prologue writes there. Memory that
/// a parameter points at belongs to the program. Call this function in callbacks only.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_params(call: *mut gapii_call) -> *mut c_void {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.map_or(ptr::null_mut(), |passing| passing.params().cast())
}

/// Returns the address of a call's result, whose type is in `gapii_commands.h`. Null if the command has no result or
/// the call is null.
///
/// In prologues all bits of the result are zero at first. In epilogues the result is what the driver returned or, if
/// the call is skipped, what the prologues wrote. The program gets what the callbacks leave there. Call this function
/// in callbacks only.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_result(call: *mut gapii_call) -> *mut c_void {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.map_or(ptr::null_mut(), |passing| passing.result().cast())
}

/// Skips a call: it does not reach the driver. All other callbacks still run, and the program gets the result that
/// they leave. Call this function in prologues only.
///
/// Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, or `GAPII_TOO_LATE` in an epilogue.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_skip(call: *mut gapii_call) -> gapii_result {
    // SAFETY: the caller's duty.
    match unsafe { passing(call) } {
        None => GAPII_NULL_HANDLE,
        Some(passing) if passing.moment == Moment::Epilogue => GAPII_TOO_LATE,
        Some(passing) => {
            passing.is_skipped = true;
            GAPII_OK
        }
    }
}

/// Returns whether a prologue has skipped the call; false for null. Call this function in callbacks only.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_is_skipped(call: *mut gapii_call) -> bool {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.is_some_and(|passing| passing.is_skipped)
}

/// Returns the name of the command, such as `"glClear"`. The string is never freed. Null for null. Call this function
/// in callbacks only.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_name(call: *mut gapii_call) -> *const c_char {
    // SAFETY: the caller's duty.
    let passing = unsafe { passing(call) };
    let name = passing.and_then(|passing| NAMES.get(usize::from(passing.signature.id)));
    name.map_or(ptr::null(), |name| name.as_ptr())
}

/// Returns the meaning of a result code, as an English sentence without a full stop. The string is never freed. May be
/// called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_result_text(result: gapii_result) -> *const c_char {
    let text = match result {
        GAPII_OK => c"it is done",
        GAPII_NULL_HANDLE => c"the tracer or the call is null",
        GAPII_NULL_POINTER => c"a pointer that must lead somewhere is null",
        GAPII_NO_SUCH_TRACER => c"there is no such tracer",
        GAPII_NO_SUCH_COMMAND => c"no command has that name",
        GAPII_ENABLED => c"the tracer is enabled",
        GAPII_DRAINING => c"calls that began while the tracer was enabled have not ended",
        GAPII_SECURE_EXECUTION => {
            c"the program runs with other rights than its caller has, so tracers stay disabled"
        }
        GAPII_TOO_LATE => c"the call has been made; only a prologue may have it skipped",
        _ => c"this is no result of gapii's",
    };
    text.as_ptr()
}

/// Sets or removes a callback.
///
/// # Safety
/// `command` is null or a NUL-terminated string.
unsafe fn register(
    tracer: gapii_tracer,
    command: *const c_char,
    moment: Moment,
    callback: gapii_callback,
) -> gapii_result {
    if tracer.is_null() {
        return GAPII_NULL_HANDLE;
    }
    if command.is_null() {
        return GAPII_NULL_POINTER;
    }
    // SAFETY: the caller's duty.
    let command = unsafe { CStr::from_ptr(command) };
    let Some(id) = NAMES.iter().position(|name| *name == command) else {
        return GAPII_NO_SUCH_COMMAND;
    };
    // SAFETY: all function pointers have the same representation; `traced` casts this one back.
    let callback = unsafe { core::mem::transmute::<gapii_callback, Option<Callback>>(callback) };
    with(tracer, |tracer| TRACERS.register(tracer, id, moment, callback))
}

/// Runs an operation on the tracer whose number the handle is. [`TRACERS`] rejects numbers that no tracer has.
fn with(tracer: gapii_tracer, act: impl FnOnce(TracerId) -> Result<(), Refusal>) -> gapii_result {
    if tracer.is_null() {
        return GAPII_NULL_HANDLE;
    }
    match act(TracerId::new(tracer.addr())) {
        Ok(()) => GAPII_OK,
        Err(Refusal::Unknown) => GAPII_NO_SUCH_TRACER,
        Err(Refusal::Enabled) => GAPII_ENABLED,
        Err(Refusal::Draining) => GAPII_DRAINING,
    }
}

/// Returns the call that a callback received; `None` for null.
///
/// # Safety
/// `call` is null, or the call that a callback received and that has not returned.
unsafe fn passing<'a>(call: *mut gapii_call) -> Option<&'a mut Passing> {
    // SAFETY: callbacks receive the address of a `Passing`, and no other code uses it while a callback runs.
    unsafe { call.cast::<Passing>().as_mut() }
}
