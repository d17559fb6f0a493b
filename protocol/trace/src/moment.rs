//! `Moment`: readings of the clocks of a trace at one moment. Converts nothing; see [`clock`](super::clock).

/// Readings of three clocks at one moment, in nanoseconds. 0: not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// `CLOCK_MONOTONIC`, which stands still while the machine is suspended.
    pub monotonic_ns: u64,
    /// The calendar: Unix time.
    pub unix_ns: u64,
    /// `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
    pub boot_ns: u64,
}
