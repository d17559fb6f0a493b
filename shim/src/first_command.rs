//! The time before the process' first command: one thread connects to a daemon and may wait for a capture, and threads
//! whose commands come meanwhile are held until that thread is done.
//!
//! A `std::sync::Once` would hang in two cases. A child that is forked meanwhile lacks the thread that would finish the
//! `Once`: the child's first command begins anew here. And a signal handler that interrupts the thread may call a
//! command itself: that command is let through, and [`was_interrupted`] ends the wait.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

use gapii_ringbuf::futex;

/// How often a held thread checks whether it was forked away from the thread that it waits for.
const LOOK_AROUND: Duration = Duration::from_millis(200);

const NOT_YET: u32 = 0;
const OVER: u32 = 1;

/// [`OVER`] once the process makes commands. A word for a futex.
static STATE: AtomicU32 = AtomicU32::new(NOT_YET);
/// The thread that connects, and its process, as [`this_thread`] gives them; 0 before any thread does.
static OWNER: AtomicU64 = AtomicU64::new(0);
/// A signal handler called a command in the owner.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What the caller of [`pass`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// The time before the first command is over.
    Over,
    /// This thread is inside [`pass`] already: a signal handler has called a command.
    Nested,
}

/// Whether the process' first command was let through.
pub fn is_over() -> bool {
    // FIRST: pairs with the release in `pass`.
    STATE.load(Acquire) == OVER
}

/// Whether a signal handler has called a command in the thread that prepares the first one.
pub fn was_interrupted() -> bool {
    // Relaxed: written by the thread that reads it.
    INTERRUPTED.load(Relaxed)
}

/// Runs `act` once in a process. Threads that come meanwhile return when `act` has returned.
pub fn pass(act: impl FnOnce()) -> Passed {
    let me = this_thread();
    loop {
        if is_over() {
            return Passed::Over;
        }
        // Relaxed: the owner publishes nothing with this word.
        let owner = OWNER.load(Relaxed);
        if owner == me {
            INTERRUPTED.store(true, Relaxed);
            return Passed::Nested;
        }
        let is_free = owner == 0 || process_of(owner) != process_of(me);
        // Relaxed: as above; STATE orders what `act` did.
        if is_free && OWNER.compare_exchange(owner, me, Relaxed, Relaxed).is_ok() {
            act();
            // FIRST: pairs with the acquire in `is_over`.
            STATE.store(OVER, Release);
            futex::wake_all(&STATE);
            return Passed::Over;
        }
        if !is_free {
            futex::wait(&STATE, NOT_YET, LOOK_AROUND);
        }
    }
}

/// Returns the calling thread's process and thread id in one word, which is never 0.
fn this_thread() -> u64 {
    // SAFETY: a system call without arguments. Not `gettid`, which older C libraries lack.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    u64::from(std::process::id()) << 32 | thread as u64
}

fn process_of(thread: u64) -> u64 {
    thread >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the words are the process' own.
    #[test]
    fn threads_are_held_until_the_first_is_done_and_a_nested_command_is_let_through() {
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let outcome = pass(|| {
                assert_eq!(pass(|| unreachable!("it runs already")), Passed::Nested);
                assert!(was_interrupted() && !is_over());
                scope.spawn(|| {
                    assert_eq!(pass(|| unreachable!("it has run")), Passed::Over);
                    passed.fetch_add(1, Relaxed);
                });
                futex::wait(&STATE, NOT_YET, Duration::from_millis(20));
                assert_eq!(passed.load(Relaxed), 0);
            });
            assert_eq!(outcome, Passed::Over);
        });
        assert_eq!(passed.load(Relaxed), 1);
        assert!(is_over());
    }
}
