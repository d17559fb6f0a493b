//! The clock of a simulation, which moves only when the simulation moves it.

use std::cell::Cell;

use crate::clock::Clock;

/// The time at which a simulation begins.
pub const BEGIN_NS: u64 = 1_000_000_000;

/// The clocks of the simulation that runs in this thread.
pub const SIMULATED: Clock = Clock { monotonic_ns: now_ns, unix_ns: now_ns, boot_ns: now_ns };

thread_local! {
    static NOW_NS: Cell<u64> = const { Cell::new(BEGIN_NS) };
}

/// Sets the clocks of this thread's simulation.
pub fn set(now_ns: u64) {
    NOW_NS.set(now_ns);
}

/// Returns the time of this thread's simulation.
pub fn now_ns() -> u64 {
    NOW_NS.get()
}
