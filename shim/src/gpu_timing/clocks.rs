//! `Clocks`: a device's clock and the trace's, read one after the other, and the times on the trace's clock of moments that a
//! device has counted. The counter may have begun anew between two moments, so moments that are further apart than half of
//! its period have no order.

/// Unit of a device's counter: `counts` of it take `ns` nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    ns: u64,
    counts: u64,
}

impl Unit {
    /// A counter of nanoseconds.
    pub const NANOSECOND: Unit = Unit { ns: 1, counts: 1 };

    /// Returns the unit of a device's timer (`timerResolution` of `ze_device_properties_t`): `older` is the answer to
    /// `ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES`, in nanoseconds for each count; `newer` the answer to
    /// `ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2`, in counts per second. A driver that does not know the newer structure answers
    /// both alike. `None` if the device has no timer.
    pub fn of_resolutions(older: u64, newer: u64) -> Option<Unit> {
        let knows_newer = newer != 0 && newer != older;
        match (knows_newer, older) {
            (true, _) => Some(Unit { ns: 1_000_000_000, counts: newer }),
            (false, 0) => None,
            (false, ns) => Some(Unit { ns, counts: 1 }),
        }
    }

    fn ns_of(self, counts: u64) -> u64 {
        let ns = u128::from(counts) * u128::from(self.ns) / u128::from(self.counts.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// A device's counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The bits that a count has.
    mask: u64,
    unit: Unit,
}

impl Counter {
    /// The counter of a timer that has measured nothing.
    pub const UNKNOWN: Counter = Counter { mask: 0, unit: Unit::NANOSECOND };

    /// A counter whose counts have this many bits, from 1 to 64.
    pub fn new(bits: u32, unit: Unit) -> Self {
        Self { mask: u64::MAX >> 64_u32.saturating_sub(bits).min(63), unit }
    }

    /// Returns the time for which moments have an order, in nanoseconds: half of the counter's period.
    pub fn order_ns(self) -> u64 {
        self.unit.ns_of(self.mask / 2)
    }

    /// Returns the nanoseconds between two moments, 0 if the second is the earlier one.
    fn between(self, from: u64, to: u64) -> u64 {
        let between = to.wrapping_sub(from) & self.mask;
        if between > self.mask / 2 { 0 } else { self.unit.ns_of(between) }
    }

    /// Whether the second moment is the earlier one.
    pub fn is_backwards(self, [from, to]: [u64; 2]) -> bool {
        to.wrapping_sub(from) & self.mask > self.mask / 2
    }
}

/// The same moment on a device's counter and on the trace's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    pub counter: Counter,
    /// The moment, as the device counts it.
    pub count: u64,
    /// The moment, in nanoseconds of `CLOCK_MONOTONIC`.
    pub ns: u64,
}

impl Clocks {
    /// Returns the begin on the trace's clock and the duration between two moments that are not later than the clocks', in
    /// nanoseconds.
    pub fn span(&self, [before, behind]: [u64; 2]) -> (u64, u64) {
        let age_ns = self.counter.between(before, self.count);
        (self.ns.saturating_sub(age_ns), self.counter.between(before, behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolution_is_in_nanoseconds_or_in_counts_per_second() {
        let check = |older, newer, expected: Option<u64>| {
            let unit = Unit::of_resolutions(older, newer);
            assert_eq!(unit.map(|unit| unit.ns_of(12_000)), expected, "{older} {newer}");
        };
        check(83, 12_000_000, Some(1_000_000));
        check(52, 19_200_000, Some(625_000));
        check(1, 1_000_000_000, Some(12_000));
        // A driver that knows only the older structure, and one without a timer.
        check(83, 83, Some(996_000));
        check(83, 0, Some(996_000));
        check(0, 0, None);
    }

    #[test]
    fn largest_count_has_a_time() {
        let unit = Unit::of_resolutions(1000, 0).unwrap();
        assert_eq!(unit.ns_of(u64::MAX), u64::MAX);
    }

    #[test]
    fn counter_may_begin_anew_between_moments() {
        let unit = Unit::of_resolutions(100, 100).unwrap();
        for bits in [64, 36, 8] {
            let counter = Counter::new(bits, unit);
            let at = |count: u64| count & counter.mask;
            let clocks = Clocks { counter, count: at(3), ns: 50_000 };
            let moments = [at(0_u64.wrapping_sub(10)), at(0_u64.wrapping_sub(2))];
            assert_eq!(clocks.span(moments), (50_000 - 1_300, 800), "{bits} bits");
            assert_eq!(clocks.span([moments[0], at(1)]), (50_000 - 1_300, 1_100), "{bits} bits");
            assert!(!counter.is_backwards(moments));
            assert!(counter.is_backwards([moments[1], moments[0]]));
        }
        assert_eq!(Counter::new(8, unit).order_ns(), 12_700);
    }
}
