//! The three clocks of a trace, in nanoseconds, as the caller gives them. A calendar that was set back counts from
//! `SET_BACK_MIN_NS`, 1 s, on; less is a read error.

use gapii_trace::clock::Moment;

/// Differences below this are read errors of the two clocks, or a calendar that is slewed, in nanoseconds.
const SET_BACK_MIN_NS: u64 = 1_000_000_000;

/// A source of time: the system's clocks in the daemon, counters in a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Time for intervals and for everything that is compared between processes of one machine, such as
    /// `CLOCK_MONOTONIC`.
    pub monotonic_ns: fn() -> u64,
    /// Time since the Unix epoch, for people.
    pub unix_ns: fn() -> u64,
    /// Time that also counts while the machine is suspended, such as `CLOCK_BOOTTIME`.
    pub boot_ns: fn() -> u64,
}

impl Clock {
    /// Returns the present monotonic time.
    pub fn monotonic_ns(&self) -> u64 {
        (self.monotonic_ns)()
    }

    /// Returns the present calendar time, since the Unix epoch.
    pub fn unix_ns(&self) -> u64 {
        (self.unix_ns)()
    }

    /// Returns the present time of all three clocks.
    pub fn now(&self) -> Moment {
        // The calendar and the boot time differ from `CLOCK_MONOTONIC` by what passes between two readings.
        let (unix_ns, monotonic_ns) = (self.unix_ns(), self.monotonic_ns());
        Moment { monotonic_ns, unix_ns, boot_ns: (self.boot_ns)() }
    }

    /// Returns by how much the calendar was set back since both clocks had these values; 0 if it was not, or
    /// by less than 1 s.
    pub fn set_back_ns(&self, unix_then_ns: u64, monotonic_then_ns: u64) -> u64 {
        let passed_ns = self.monotonic_ns().saturating_sub(monotonic_then_ns);
        let due_ns = unix_then_ns.saturating_add(passed_ns);
        let back_ns = due_ns.saturating_sub(self.unix_ns());
        if back_ns < SET_BACK_MIN_NS { 0 } else { back_ns }
    }
}
