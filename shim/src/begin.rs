//! The beginning of every command that is recorded: closes the thread's gate, so that commands from inside go straight
//! to the driver. In a forked child of a recorded process the first command takes the slow path: the child forgets its
//! parent's capture and connection, connects to the daemon as a process of its own, and is recorded only if its own
//! mode page says so.

use gapii_recorder::{Call, Entered, ErrnoGuard};

use crate::attach;
use crate::capture::{EPOCH, NOT_CAPTURING};
use crate::lists;
use crate::process;
use crate::safe_point;
use crate::tls::{IN_SLOW_PATH, words};

/// Takes this thread for command `id`: from now on, commands that are called from inside go straight to the driver.
/// `None` if the command is neither recorded nor kept for a display list; the handler then passes it to the driver.
#[inline(always)]
pub fn begin(id: u16) -> Option<Call> {
    let thread = words().thread();
    // SAFETY: this thread's own state.
    // OUTSIDE, in Gate::enter.
    let entered = match thread.and_then(|thread| unsafe { thread.enter(&EPOCH) }) {
        Some(entered) => entered,
        None => begin_slowly(id)?,
    };
    Some(Call::new(entered, id))
}

/// Does the same after the fast path missed, which it also does in a forked child.
#[cold]
#[inline(never)]
fn begin_slowly(id: u16) -> Option<Entered> {
    if EPOCH.now() == NOT_CAPTURING {
        return lists::begin(id);
    }
    let words = words();
    if process::is_forked_child() && !words.is_aside(IN_SLOW_PATH) {
        let _errno = ErrnoGuard::save();
        words.set_aside(IN_SLOW_PATH, true);
        words.set_thread(None);
        safe_point::become_own_process();
        words.set_aside(IN_SLOW_PATH, false);
    }
    attach::begin_slowly(id).or_else(|| lists::begin(id))
}
