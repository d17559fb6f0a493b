//! A replay that is itself recorded: the player says which of the commands that it plays are those of a snapshot, so
//! that they are set-up commands in the new trace, too, and not the program's own. The player finds the function of
//! this file by its name, in the library that it calls in place of the driver.

use core::ffi::c_int;

use gapii_recorder::ErrnoGuard;

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
