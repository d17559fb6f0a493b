//! `gapii_…`: what tools call.
//!
//! `gapii.h` is made of this file. Whatever is null or in the wrong state has an answer.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use gapii_tool_api::{
    GAPII_DRAINING, GAPII_ENABLED, GAPII_NO_SUCH_COMMAND, GAPII_NO_SUCH_TRACER, GAPII_NULL_HANDLE,
    GAPII_NULL_POINTER, GAPII_OK, GAPII_TOO_LATE, gapii_call, gapii_callback, gapii_result,
    gapii_tracer,
};
use gapii_tracers::{Callback, Moment, Refusal, TracerId};

use crate::generated::names::NAMES;
use crate::traced::{Passing, TRACERS};

/// Creates a tracer, which is disabled and has no callbacks, and stores it at `out`.
///
/// May be called at any time, from any thread, before the process' first command too.
///
/// `user_data` is handed to every callback of the tracer, and is not looked at.
///
/// Returns `GAPII_OK`, or `GAPII_NULL_POINTER` where `out` is null.
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

/// Has `callback` run before each call of a command, such as `"glClear"`, while the tracer is enabled. Null
/// takes the prologue back.
///
/// From any thread. Returns `GAPII_OK`; `GAPII_NULL_HANDLE`, `GAPII_NULL_POINTER` for a null `command`,
/// `GAPII_NO_SUCH_TRACER`, `GAPII_NO_SUCH_COMMAND`; `GAPII_ENABLED` or `GAPII_DRAINING` where the tracer
/// is in that state, and then nothing has changed.
///
/// # Safety
/// `command` is null or a text with its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_tracer_register_prologue(
    tracer: gapii_tracer,
    command: *const c_char,
    callback: gapii_callback,
) -> gapii_result {
    // SAFETY: the caller's duty.
    unsafe { register(tracer, command, Moment::Prologue, callback) }
}

/// Has `callback` run after each call of a command, while the tracer is enabled. Null takes the epilogue
/// back.
///
/// From any thread. Returns what `gapii_tracer_register_prologue` does.
///
/// # Safety
/// `command` is null or a text with its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_tracer_register_epilogue(
    tracer: gapii_tracer,
    command: *const c_char,
    callback: gapii_callback,
) -> gapii_result {
    // SAFETY: the caller's duty.
    unsafe { register(tracer, command, Moment::Epilogue, callback) }
}

/// Takes back all callbacks of a tracer.
///
/// From any thread. Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, `GAPII_ENABLED` or
/// `GAPII_DRAINING`.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_reset(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.reset(tracer))
}

/// Enables a tracer: calls that begin from now on, in all threads, run its callbacks, after those of the
/// tracers that were enabled before. One that is enabled stays so, and keeps its place.
///
/// From any thread, callbacks too. Commands for which no enabled tracer has callbacks cost nothing more.
///
/// Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, or `GAPII_DRAINING`.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_enable(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.set_enabled(tracer, true))
}

/// Disables a tracer: calls that begin from now on run none of its callbacks. Calls that began before still
/// run its epilogue, where they ran its prologue; while there are any the tracer is draining.
///
/// From any thread, callbacks too; never waits. Returns `GAPII_OK`, also for a tracer that is disabled,
/// `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, or `GAPII_DRAINING` for one that was disabled before and
/// is draining.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_disable(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.set_enabled(tracer, false))
}

/// Destroys a tracer that is not enabled. When this returns none of its callbacks runs any more, or ever
/// will.
///
/// It waits for the calls that run callbacks of this tracer, and for no others. From inside a callback it
/// does not wait for that very call, nor for calls that wait in here themselves: their epilogues run
/// afterwards.
///
/// From any thread, callbacks too. Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, `GAPII_NO_SUCH_TRACER`, or
/// `GAPII_ENABLED`.
#[unsafe(no_mangle)]
pub extern "C" fn gapii_tracer_destroy(tracer: gapii_tracer) -> gapii_result {
    with(tracer, |tracer| TRACERS.destroy(tracer))
}

/// The parameters of a call: a `struct gapii_…_params` of its command, as declared in `gapii_commands.h`.
/// Null where the command has none, or the call is null.
///
/// They are copies. What a prologue writes there is what later prologues, the driver, and epilogues see;
/// memory that a parameter points at is the program's own. In a callback only.
///
/// # Safety
/// `call` is null or what a callback got.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_params(call: *mut gapii_call) -> *mut c_void {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.map_or(ptr::null_mut(), |passing| passing.params.cast())
}

/// The result of a call, of the type that `gapii_commands.h` says. Null where the command has none, or the
/// call is null.
///
/// All bits of it are zero in prologues; in epilogues it is what the driver returned, or what the prologues left of
/// a call that is skipped. The program gets what is left there last. In a callback only.
///
/// # Safety
/// `call` is null or what a callback got.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_result(call: *mut gapii_call) -> *mut c_void {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.map_or(ptr::null_mut(), |passing| passing.result.cast())
}

/// Has a call not reach the driver. The other callbacks run all the same, and the program gets what they
/// leave as the result. In a prologue only.
///
/// Returns `GAPII_OK`, `GAPII_NULL_HANDLE`, or `GAPII_TOO_LATE` in an epilogue.
///
/// # Safety
/// `call` is null or what a callback got.
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

/// Whether a prologue has had the call skipped. False for null. In a callback only.
///
/// # Safety
/// `call` is null or what a callback got.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_is_skipped(call: *mut gapii_call) -> bool {
    // SAFETY: the caller's duty.
    unsafe { passing(call) }.is_some_and(|passing| passing.is_skipped)
}

/// The name of the command, such as `"glClear"`; it is there for good. Null for null. In a callback only.
///
/// # Safety
/// `call` is null or what a callback got.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_call_name(call: *mut gapii_call) -> *const c_char {
    // SAFETY: the caller's duty.
    let passing = unsafe { passing(call) };
    let name = passing.and_then(|passing| NAMES.get(usize::from(passing.id)));
    name.map_or(ptr::null(), |name| name.as_ptr())
}

/// What a result means, as a sentence in English without a full stop; it is there for good. From any thread.
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
        GAPII_TOO_LATE => c"the call has been made; only a prologue may have it skipped",
        _ => c"this is no result of gapii's",
    };
    text.as_ptr()
}

/// # Safety
/// `command` is null or a text with its end.
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
    // SAFETY: pointers to functions have one form; `traced` gives this one its type back.
    let callback = unsafe { core::mem::transmute::<gapii_callback, Option<Callback>>(callback) };
    with(tracer, |tracer| TRACERS.register(tracer, id, moment, callback))
}

/// Tracers are their numbers; one that is not null and names none is refused later.
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

/// # Safety
/// `call` is null or what a callback got, which has not returned.
unsafe fn passing<'a>(call: *mut gapii_call) -> Option<&'a mut Passing> {
    // SAFETY: callbacks get the address of one; nobody else looks at it while they run.
    unsafe { call.cast::<Passing>().as_mut() }
}
