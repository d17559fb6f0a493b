//! Answers to a thread whose ring is full. The thread looks around every `LOOK_AROUND` (10 ms), and leaves the capture if
//! the daemon has stopped it, or once the daemon has released nothing for the stall limit (default 2 s); without a daemon
//! see `orphan.rs`. In a capture that drops records the thread does not wait. A thread that sends what a snapshot owes
//! waits in any capture, also when the capture is over.

use core::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use gapii_recorder::{Host, Outlook, Thread, Timed};
use gapii_ringbuf::Overflow;

use crate::capture::{self, CAPTURE};
use crate::connection::Connection;
use crate::frame_count;
use crate::gpu_timing;
use crate::orphan;
use crate::tls::{SENDS_OWED, words};

/// How often a thread that waits for room checks that the daemon is alive, and has not stopped the capture.
const LOOK_AROUND: Duration = Duration::from_millis(10);

/// Threads that record over a connection ask it what to do while their rings are full.
impl Host for Connection {
    fn overflow(&self) -> Overflow {
        match words().is_aside(SENDS_OWED) {
            true => Overflow::Wait,
            false => capture::overflow(),
        }
    }

    fn look_around(&self) -> Duration {
        if orphan::is_one() { orphan::LOOK_AROUND } else { LOOK_AROUND }
    }

    fn outlook(&self, stalled: Duration) -> Outlook {
        if is_stopped(self) && !words().is_aside(SENDS_OWED) {
            return Outlook::Stopped;
        }
        if !self.is_daemon_gone() {
            return if stalled < capture::stall_limit() { Outlook::Waits } else { Outlook::Over };
        }
        match capture::outlook(self) {
            orphan::Fate::Open if orphan::is_out_of_patience() => Outlook::Drops,
            orphan::Fate::Open => Outlook::Waits,
            orphan::Fate::GoesOn => Outlook::GoesOn,
            orphan::Fate::Over => Outlook::Over,
        }
    }

    fn leave_capture(&self) {
        // Another thread may have left it, and a new capture may have begun.
        if is_own_running() {
            capture::leave(self);
        }
    }

    fn frame_ended(&self) -> Option<u64> {
        frame_count::count_recorded()
    }

    fn before_driver(&self, command: &Timed, tell: &mut dyn FnMut(&[u8])) {
        gpu_timing::before_driver(command, tell);
    }

    fn after_driver(&self, command: &Timed, tell: &mut dyn FnMut(&[u8])) {
        gpu_timing::after_driver(command, tell);
    }
}

/// Whether the capture in which the calling thread records is running.
fn is_own_running() -> bool {
    capture::is_running() && capture::is_of_this_capture(words().thread().map_or(0, Thread::epoch))
}

/// Whether the capture in which the calling thread records is over, or the daemon has ordered its end, on which the next
/// safe point acts.
fn is_stopped(connection: &Connection) -> bool {
    if !is_own_running() {
        return true;
    }
    let newest = connection.shared.mode.settings();
    newest.is_some_and(|(generation, _)| generation != CAPTURE.generation.load(Relaxed))
}
