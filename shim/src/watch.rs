//! Orders of the daemon, at any command. While nothing is recorded, the slot of a command without a handler holds a
//! *watching stub*. The stub jumps to the driver's function, unless the daemon has given an order: then it runs a safe
//! point first. So a program that never calls EGL again can be attached to. A command from inside another command is
//! no safe point.
//!
//! Trackers and handlers look for orders themselves, by [`obey`].

use gapii_recorder::ErrnoGuard;

use crate::capture;
use crate::code::Code;
use crate::orders;
use crate::safe_point::{self, Moment};
use crate::scope;
use crate::table;
use crate::tls::words;

#[cfg(target_arch = "aarch64")]
#[path = "watch/aarch64.rs"]
mod instructions;
#[cfg(target_arch = "x86_64")]
#[path = "watch/x86_64.rs"]
mod instructions;

/// Acts on the daemon's orders before a command. Does nothing inside another command, in a tracer's callback, or while
/// the thread attaches itself.
#[cold]
#[inline(never)]
pub fn obey() {
    let words = words();
    let is_inside = words.in_hook.get()
        || words.in_slow_path.get()
        || words.in_callback.get()
        || scope::is_recording(words);
    if !is_inside {
        let _errno = ErrnoGuard::save();
        if let Some(_scope) = scope::enter() {
            safe_point::safe_point(Moment::Command);
        }
    }
}

/// Does the same for a tracked command. Returns whether the process records now and has no order left, so that the
/// command is to be recorded.
#[cold]
#[inline(never)]
pub fn begins_capture() -> bool {
    obey();
    capture::is_running() && !orders::are_new()
}

/// What a watching stub calls if there is an order. Returns the code that the command goes on to. Never unwinds.
extern "C" fn watch(id: usize) -> Code {
    obey();
    table::beyond_watch(id)
}
