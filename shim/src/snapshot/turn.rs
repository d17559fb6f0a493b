//! One thread at a time describes state: `OneAtATime`, and the wait for it (`Turn`), which ends after the stall limit or with a
//! newer epoch.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use crossbeam_utils::Backoff;

use super::sibling;
use crate::capture::{self, EPOCH};

/// Set while a thread describes shared state. Other threads wait, so that their commands follow the description. Not a
/// mutex, because a forked child must be able to clear it.
static DESCRIBING: AtomicBool = AtomicBool::new(false);
/// Interval at which a thread that waits longer checks [`DESCRIBING`].
const LOOK_AGAIN: Duration = Duration::from_micros(100);
/// What is missing in the part of a thread that waited for its turn longer than the stall limit.
pub const TOO_LONG: &str = "what a thread had: another one took too long to say what they share";

/// Holds [`DESCRIBING`] until it is dropped.
pub struct OneAtATime;

/// How a thread's wait for its turn to describe ended.
pub enum Turn {
    /// No other thread describes anything.
    Mine(OneAtATime),
    /// A newer epoch has begun. Threads that have described their state in it may be in the driver, so nothing is
    /// described in the older one any more.
    Outdated,
    /// The thread that describes takes longer than a full ring may.
    TooLong,
}

/// For a forked child: the thread that described shared state does not exist in it.
pub fn forget() {
    DESCRIBING.store(false, Relaxed);
}

impl OneAtATime {
    /// Waits until no other thread describes anything.
    pub fn wait(epoch: u64) -> Turn {
        let (backoff, began) = (Backoff::new(), Instant::now());
        while DESCRIBING.swap(true, Acquire) {
            if EPOCH.now() != epoch {
                return Turn::Outdated;
            }
            if began.elapsed() >= capture::stall_limit() {
                return Turn::TooLong;
            }
            match backoff.is_completed() {
                true => std::thread::sleep(LOOK_AGAIN),
                false => backoff.snooze(),
            }
        }
        let mine = Self;
        match EPOCH.now() == epoch {
            true => Turn::Mine(mine),
            false => Turn::Outdated,
        }
    }
}

impl Drop for OneAtATime {
    fn drop(&mut self) {
        sibling::end_idle();
        DESCRIBING.store(false, Release);
    }
}
