//! The system's clocks.

use std::time::SystemTime;

use gapii_capture::clock::Clock;
use rustix::time::{ClockId, clock_gettime};

/// The clock that captures use.
pub const SYSTEM: Clock = Clock { monotonic_ns, unix_ns, boot_ns };

/// Returns `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    nanoseconds_of(ClockId::Monotonic)
}

/// Returns `CLOCK_BOOTTIME` in nanoseconds.
fn boot_ns() -> u64 {
    nanoseconds_of(ClockId::Boottime)
}

fn nanoseconds_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // The clocks above are never negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the calendar time in nanoseconds since the Unix epoch; 0 if the calendar says that it is before it.
pub fn unix_ns() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}
