//! `Scope`: a hooked or tracked command of a thread that is running. Hooked and tracked commands from inside it go
//! straight to the driver and are counted as reentrant.

use gapii_recorder::ErrnoGuard;

use crate::process;
use crate::seats::Seat;
use crate::thread_exit::ThreadExit;
use crate::tls::{IN_HOOK, IN_SLOW_PATH, Words, words};

/// A hooked command of this thread that is running. While the scope lives, hooked commands that are called from
/// inside this command (by the driver or by a callback) go straight to the driver.
pub struct Scope {
    /// The thread's seat, if the command is an EGL command: EGL commands change what threads share. The seat reads
    /// "at work" while the command runs.
    seat: Option<&'static Seat>,
}

/// Begins a hooked EGL command. `None` if the command is called from inside another command of this thread.
pub fn enter() -> Option<Scope> {
    let mut scope = enter_gl(words())?;
    let seat = words().seat().unwrap_or_else(take_seat);
    seat.set_at_work(true);
    scope.seat = Some(seat);
    Some(scope)
}

/// Begins a hooked command of OpenGL ES; `words` are the calling thread's. `None` if the command is called from
/// inside another command of this thread.
#[inline]
pub fn enter_gl(words: &Words) -> Option<Scope> {
    if words.is_aside(IN_HOOK | IN_SLOW_PATH) || is_recording(words) {
        process::count_reentrant();
        return None;
    }
    words.set_aside(IN_HOOK, true);
    Some(Scope { seat: None })
}

impl Drop for Scope {
    fn drop(&mut self) {
        let words = words();
        words.set_aside(IN_HOOK, false);
        if let Some(seat) = self.seat {
            seat.set_at_work(words.context.get() != 0);
        }
    }
}

/// Whether a recorded command of the thread is in progress; `words` are the calling thread's.
#[inline(always)]
pub fn is_recording(words: &Words) -> bool {
    words.thread().is_some_and(|thread| thread.is_inside())
}

/// Gives this thread a seat until it ends.
#[cold]
pub fn take_seat() -> &'static Seat {
    static EXIT: ThreadExit = ThreadExit::new(leave_seat);
    let _errno = ErrnoGuard::save();
    let seat = Seat::take();
    let words = words();
    words.set_seat(Some(seat));
    // A program whose first command has no seat, such as eglGetDisplay, records already.
    if let Some(thread) = words.thread() {
        seat.record_in(thread);
    }
    EXIT.notice(core::ptr::from_ref(seat).cast_mut().cast());
    seat
}

unsafe extern "C" fn leave_seat(seat: *mut libc::c_void) {
    let words = words();
    if let Some(own) = words.seat()
        && core::ptr::eq(seat.cast(), own)
    {
        words.set_seat(None);
        own.leave();
    }
}
