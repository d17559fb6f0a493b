//! Level Zero: the tracing layer hands the shim its functions, and calls them through the shim. A function whose name
//! this build does not know, or a process that `GAPII_PROCESS` excludes, gets its own function back, so that its calls
//! are not recorded.
//!
//! The layer also says when it runs callbacks of its tracers, and what they have changed.
//!
//! This library exports no `ze…` symbols: preloaded, they would come before those of Level Zero's loader. The layer
//! finds [`gapii_intercept`] and the other functions of this file in the process by name. If it does not find them,
//! nothing is recorded.

use core::ffi::{CStr, c_char, c_int, c_void};

use gapii_abi::app::API_LEVEL_ZERO;
use gapii_commands::Api;
use gapii_recorder::ErrnoGuard;

use crate::attach;
use crate::entry::ENTRY_POINTS;
use crate::environment;
use crate::generated::names::NAMES;
use crate::kept;
use crate::process;
use crate::set_up;
use crate::table;
use crate::tls::words;
use crate::traced;
use crate::trampoline;

/// Makes `callee` the driver's function for the Level Zero command `name`, and returns the entry point to call in its
/// place. Returns `callee` itself if the name is unknown, or if this process is not to be recorded.
///
/// May be called again for the same command; the last `callee` counts.
///
/// # Safety
/// `name` is null or a NUL-terminated string. `callee` is null or the command's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gapii_intercept(name: *const c_char, callee: *mut c_void) -> *mut c_void {
    if callee.is_null() {
        return callee;
    }
    // SAFETY: the caller's duty.
    let Some(id) = (unsafe { command(name) }) else { return callee };
    let entry = ENTRY_POINTS[id] as *mut c_void;
    process::note_api(API_LEVEL_ZERO);
    set_up::wake();
    if callee == entry || !environment::wanted() {
        return callee;
    }
    table::set_driver(id, kept::wrap(id as u16, callee.cast()));
    entry
}

/// Notes that this thread begins (1) or ends (0) to run callbacks of the layer's tracers: what it calls meanwhile is a
/// tracer's own. Returns what was noted before, to be passed at the callbacks' end.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gapii_set_in_callback(is_in_callback: c_int) -> c_int {
    let words = words();
    let before = words.in_callback.get();
    attach::set_in_callback(words, is_in_callback != 0);
    c_int::from(before)
}

/// Notes that tracers have changed parameters of the Level Zero command `name`, which this thread is about to make.
/// `params` are those that the program passed, in the command's structure of `gapii_commands.h`.
///
/// # Safety
/// `name` is null or a NUL-terminated string. `params` points at the command's structure.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gapii_note_changed(name: *const c_char, params: *const c_void) {
    let _errno = ErrnoGuard::save();
    // SAFETY: the caller's duty.
    let id = unsafe { command(name) };
    if let Some(signature) = id.and_then(trampoline::signature) {
        // SAFETY: the caller's duty.
        unsafe { traced::note_params(signature, params.cast()) };
    }
}

/// Returns the id of a Level Zero command.
///
/// # Safety
/// `name` is null or a NUL-terminated string.
unsafe fn command(name: *const c_char) -> Option<usize> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's duty.
    let name = unsafe { CStr::from_ptr(name) };
    let first = usize::from(Api::LevelZero.ids().start);
    let at = NAMES[first..].binary_search(&name).ok()?;
    Some(first + at)
}
