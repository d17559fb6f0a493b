//! Logs refusals of applications and clients: at most `SAID_MAX`, 10 lines in 10 s. Further ones are only counted;
//! their number is logged with the first refusal of the next period.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Largest number of lines in a period of 10 s.
const SAID_MAX: u32 = 10;
const PERIOD: Duration = Duration::from_secs(10);

/// The refusals of the present period.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<Said>);

#[derive(Debug, Default)]
struct Said {
    since: Option<Instant>,
    said: u32,
    /// Refusals that were not logged.
    unsaid: u64,
}

impl Refusals {
    /// Logs a refusal, or counts it if there were too many. The count is logged with the first refusal of the next
    /// period.
    pub fn say(&self, sentence: impl Display) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(unsaid) = said.permits(Instant::now()) else { return };
        drop(said);
        if unsaid > 0 {
            tracing::warn!(unsaid, "{unsaid} further refusals were not logged");
        }
        tracing::warn!("{sentence}");
    }
}

impl Said {
    /// Returns `None` if no more may be logged, and otherwise the number that was not logged before.
    fn permits(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) >= PERIOD) {
            self.since = Some(now);
            self.said = 0;
        }
        if self.said == SAID_MAX {
            self.unsaid += 1;
            return None;
        }
        self.said += 1;
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_of_refusals_is_counted_and_logged_later() {
        let (mut said, began) = (Said::default(), Instant::now());
        for _ in 0..SAID_MAX {
            assert_eq!(said.permits(began), Some(0));
        }
        for _ in 0..1000 {
            assert_eq!(said.permits(began + PERIOD / 2), None);
        }
        assert_eq!(said.permits(began + PERIOD), Some(1000));
        assert_eq!(said.permits(began + PERIOD), Some(0));
    }
}
