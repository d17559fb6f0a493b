//! Orders of the daemon, at any command. An entry point that finds a new order runs a safe point before the command
//! goes on. So a program that never calls EGL again can be attached to. A command from inside another command is no safe
//! point.

use gapii_recorder::ErrnoGuard;

use crate::code::Code;
use crate::first_command;
use crate::safe_point::{self, Moment};
use crate::scope;
use crate::table;
use crate::tls::{IN_HOOK, IN_SLOW_PATH, words};

/// What an entry point calls if there is an order. Returns the code that the command goes on to. Never unwinds.
pub extern "C" fn watch(id: usize) -> Code {
    obey();
    table::slot(id)
}

/// Acts on the daemon's orders before a command. Does nothing before the process' first command, which [`set_up`]
/// prepares, inside another command, in a tracer's callback, or while the thread attaches itself.
///
/// [`set_up`]: crate::set_up
fn obey() {
    if !first_command::is_over() {
        return;
    }
    let words = words();
    let is_inside = words.is_aside(IN_HOOK | IN_SLOW_PATH)
        || words.in_callback.get()
        || scope::is_recording(words);
    if !is_inside {
        let _errno = ErrnoGuard::save();
        if let Some(_scope) = scope::enter() {
            safe_point::safe_point(Moment::Command);
        }
    }
}
