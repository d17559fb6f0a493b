//! The two clocks of a trace, in nanoseconds.

use std::time::SystemTime;

use rustix::time::{ClockId, clock_gettime};

/// Less than this is how exactly two clocks are read, or a calendar that is slowed down to be right, in nanoseconds.
const SET_BACK_MIN: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC: intervals, and everything compared between processes of this machine.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // It is not negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Since the Unix epoch, by the machine's calendar: for people. 0 before it.
pub fn unix_ns() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}

/// By how much the calendar was set back since both clocks said this, in nanoseconds; 0 if it was not.
pub fn set_back_ns(unix_then_ns: u64, monotonic_then_ns: u64) -> u64 {
    let due = unix_then_ns.saturating_add(monotonic_ns().saturating_sub(monotonic_then_ns));
    let back = due.saturating_sub(unix_ns());
    if back < SET_BACK_MIN { 0 } else { back }
}
