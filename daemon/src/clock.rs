//! The two clocks of a trace, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC: intervals, and everything compared between processes of this machine.
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Since the Unix epoch, by the machine's calendar: for people.
pub fn unix_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither clock is negative on a machine whose calendar is past 1970.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
