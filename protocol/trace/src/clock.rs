//! The clocks of a trace. All times of its records are in nanoseconds of `CLOCK_MONOTONIC`, which is one clock for all
//! threads and processes of a machine; header and footer say what the calendar and `CLOCK_BOOTTIME` showed at the same
//! moments. Converts times of records to these. A trace without the moment of its begin has nothing to convert with. The
//! time of a leap of the calendar, or of a suspension, is not known: times between begin and end are then converted as if
//! it came last.
//!
//! Reads no clock.

use super::footer::Footer;
use super::header::TraceHeader;
pub use super::moment::Moment;

/// A difference of two clocks that changes by more than this in a capture, in nanoseconds, and by more than
/// [`SLEW_PPM_MAX`], is a leap.
const LEAP_MIN_NS: i128 = 1_000_000;
/// The most by which the kernel slews a clock, in millionths.
const SLEW_PPM_MAX: i128 = 500;

/// Converts the times of a trace.
///
/// ```
/// use gapii_trace::clock::{Moment, TraceClock};
///
/// let began = Moment { monotonic_ns: 5_000, unix_ns: 1_700_000_000_000_000_000, boot_ns: 9_000 };
/// let clock = TraceClock { began, ended: None };
/// assert_eq!(clock.unix_ns(5_070), Some(1_700_000_000_000_000_070));
/// assert_eq!(clock.boot_ns(5_070), Some(9_070));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceClock {
    /// The begin of the capture.
    pub began: Moment,
    /// The end of the capture, or when a saved trace was saved; `None` in a trace that is cut, or of an older writer.
    pub ended: Option<Moment>,
}

impl TraceClock {
    /// Returns the clock of a trace; `None` if its header does not say when the capture began.
    pub fn of(header: &TraceHeader, footer: Option<&Footer>) -> Option<Self> {
        let began = header.began();
        let ended = footer
            .map(Footer::ended)
            .filter(|ended| ended.monotonic_ns >= began.monotonic_ns.max(1));
        (began.monotonic_ns != 0).then_some(Self { began, ended })
    }

    /// Returns the Unix time at a time of the trace. `None` if it is not known.
    pub fn unix_ns(&self, monotonic_ns: u64) -> Option<u64> {
        self.convert(monotonic_ns, |moment| moment.unix_ns)
    }

    /// Returns the time of `CLOCK_BOOTTIME` at a time of the trace. `None` if it is not known.
    pub fn boot_ns(&self, monotonic_ns: u64) -> Option<u64> {
        self.convert(monotonic_ns, |moment| moment.boot_ns)
    }

    /// Returns for how long the machine was suspended in the capture; 0 if it was not, or if that is not known.
    pub fn suspended_ns(&self) -> u64 {
        let Some(ended) = self.ended.filter(|ended| ended.boot_ns != 0) else { return 0 };
        if self.began.boot_ns == 0 {
            return 0;
        }
        let passed = |now: u64, then: u64| now.saturating_sub(then);
        let suspended_ns = passed(ended.boot_ns, self.began.boot_ns)
            .saturating_sub(passed(ended.monotonic_ns, self.began.monotonic_ns));
        // The clocks are read one after the other.
        if i128::from(suspended_ns) < LEAP_MIN_NS { 0 } else { suspended_ns }
    }

    fn convert(&self, at_ns: u64, other: impl Fn(&Moment) -> u64) -> Option<u64> {
        let began = other(&self.began);
        if began == 0 {
            return None;
        }
        let since = i128::from(at_ns) - i128::from(self.began.monotonic_ns);
        let slewed = self.ended.filter(|ended| other(ended) != 0).map_or(0, |ended| {
            let passed = i128::from(ended.monotonic_ns) - i128::from(self.began.monotonic_ns);
            let drift = i128::from(other(&ended)) - i128::from(began) - passed;
            let is_leap = drift.abs() > LEAP_MIN_NS.max(passed * SLEW_PPM_MAX / 1_000_000);
            if is_leap || passed == 0 { 0 } else { drift * since / passed }
        });
        u64::try_from(i128::from(began) + since + slewed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const BEGAN: Moment =
        Moment { monotonic_ns: 100 * SECOND, unix_ns: 5000 * SECOND, boot_ns: 150 * SECOND };

    fn until(passed: u64, unix_more: i64, boot_more: u64) -> TraceClock {
        let ended = Moment {
            monotonic_ns: BEGAN.monotonic_ns + passed,
            unix_ns: (BEGAN.unix_ns + passed).saturating_add_signed(unix_more),
            boot_ns: BEGAN.boot_ns + passed + boot_more,
        };
        TraceClock { began: BEGAN, ended: Some(ended) }
    }

    #[test]
    fn drift_is_spread_over_the_capture_and_a_leap_is_not() {
        let half = BEGAN.monotonic_ns + 5 * SECOND;
        for (unix_more, expected) in [
            (0, 0),
            (400_000, 200_000),
            (-400_000, -200_000),
            (4_000_000, 2_000_000),
            // More than 500 millionths of ten seconds.
            (6_000_000, 0),
            (-3600 * SECOND as i64, 0),
        ] {
            let clock = until(10 * SECOND, unix_more, 0);
            let expected = (BEGAN.unix_ns + 5 * SECOND).saturating_add_signed(expected);
            assert_eq!(clock.unix_ns(half), Some(expected), "{unix_more}");
        }
        let clock = until(0, 70, 0);
        assert_eq!(clock.unix_ns(BEGAN.monotonic_ns - 7), Some(BEGAN.unix_ns - 7));
    }

    #[test]
    fn suspension_shows_as_the_difference_of_boot_time() {
        let clock = until(10 * SECOND, 0, 30 * SECOND);
        assert_eq!(clock.suspended_ns(), 30 * SECOND);
        assert_eq!(clock.boot_ns(BEGAN.monotonic_ns + SECOND), Some(BEGAN.boot_ns + SECOND));
        assert_eq!(until(10 * SECOND, 0, 999_999).suspended_ns(), 0);
        let without = Moment { boot_ns: 0, ..BEGAN };
        let clock = TraceClock { began: without, ..clock };
        assert_eq!((clock.suspended_ns(), clock.boot_ns(1)), (0, None));
    }

    #[test]
    fn trace_of_an_older_writer_has_the_pairs_that_it_has() {
        let mut header = TraceHeader::new("test", [0; 16], 7, 5);
        let mut footer = Footer { ended_unix_ns: 20, ..Footer::default() };
        let clock = TraceClock::of(&header, Some(&footer)).unwrap();
        assert_eq!((clock.unix_ns(6), clock.boot_ns(6), clock.ended), (Some(8), None, None));
        footer.ended_ns = 18;
        assert!(TraceClock::of(&header, Some(&footer)).unwrap().ended.is_some());
        header.started_ns = 0;
        assert_eq!(TraceClock::of(&header, Some(&footer)), None);
    }
}
