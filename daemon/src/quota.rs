//! `Quota`: limits how often something happens: a number of times in each period of 10 s (`PERIOD`), counted from the
//! first time. Further times are refused and counted.

use std::time::{Duration, Instant};

/// Length of a period.
pub const PERIOD: Duration = Duration::from_secs(10);

/// The use of the present period.
#[derive(Debug, Default)]
pub struct Quota {
    since: Option<Instant>,
    used: u32,
    /// Times that were refused since [`Quota::take`] last succeeded.
    refused: u64,
}

impl Quota {
    /// Takes one of `max` times. Returns the number of times that were refused since the last success, or `None` if this
    /// period has no time left.
    pub fn take(&mut self, now: Instant, max: u32) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) >= PERIOD) {
            self.since = Some(now);
            self.used = 0;
        }
        if self.used >= max {
            self.refused += 1;
            return None;
        }
        self.used += 1;
        Some(std::mem::take(&mut self.refused))
    }

    /// Returns whether the last call of [`Quota::take`] was the first that was refused.
    pub fn has_just_ended(&self) -> bool {
        self.refused == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_above_the_limit_are_refused_and_counted_until_the_next_period() {
        let (mut quota, began) = (Quota::default(), Instant::now());
        for _ in 0..3 {
            assert_eq!(quota.take(began, 3), Some(0));
        }
        for refused in 1..=1000 {
            assert_eq!(quota.take(began + PERIOD / 2, 3), None);
            assert_eq!(quota.has_just_ended(), refused == 1);
        }
        assert_eq!(quota.take(began + PERIOD, 3), Some(1000));
        assert_eq!(quota.take(began + PERIOD, 3), Some(0));
    }
}
