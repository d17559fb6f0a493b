//! A replay that is itself recorded: the player says which of the commands that it plays are those of a snapshot, so
//! that they are set-up commands in the new trace, too, and not the program's own. It also says what its trace lacks, which
//! the new one then lacks, too. The player finds the functions of this file by their names, in the library that it calls in
//! place of the driver.

use core::ffi::{CStr, c_char, c_int};

use gapii_abi::atom::MISSING;
use gapii_recorder::ErrnoGuard;

use crate::attach;
use crate::imports::tell_missing;
use crate::tls::words;

/// Sets whether the commands that this thread makes from here on recreate state (1), or are a program's own (0). Between
/// two commands.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gapii_set_in_setup(is_in_setup: c_int) {
    let _errno = ErrnoGuard::save();
    let (words, is_in_setup) = (words(), is_in_setup != 0);
    // A thread without a recording state learns it when it gets one.
    words.in_setup.set(is_in_setup);
    if let Some(thread) = words.thread().filter(|thread| thread.is_claimed()) {
        // SAFETY: this thread's own state.
        if let Some(mut entered) = unsafe { thread.enter_between_commands() } {
            entered.set_setup(is_in_setup);
        }
    }
}

/// Writes what the trace that is played lacks into the recording, a sentence a line. Between two commands. Returns 1, or 0 if this
/// thread is not recorded at present.
///
/// # Safety
/// `sentences` is null or a NUL-terminated string.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gapii_note_missing(sentences: *const c_char) -> c_int {
    let _errno = ErrnoGuard::save();
    if sentences.is_null() {
        return 0;
    }
    // SAFETY: the caller's duty.
    let sentences = unsafe { CStr::from_ptr(sentences) };
    let Some(mut call) = attach::begin(MISSING) else { return 0 };
    tell_missing(call.recorder(), sentences.to_bytes());
    call.in_flight().finish();
    1
}
