//! Logs refusals of applications and clients: at most `SAID_MAX`, 10 lines in 10 s. Further ones are only counted;
//! their number is logged with the first refusal of the next period.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::quota::Quota;

/// Largest number of lines in a period of 10 s.
const SAID_MAX: u32 = 10;

/// The refusals of the present period.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<Quota>);

impl Refusals {
    /// Logs a refusal, or counts it if there were too many. The count is logged with the first refusal of the next
    /// period.
    pub fn say(&self, sentence: impl Display) {
        let mut quota = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(unsaid) = quota.take(Instant::now(), SAID_MAX) else { return };
        drop(quota);
        if unsaid > 0 {
            tracing::warn!(unsaid, "{unsaid} further refusals were not logged");
        }
        tracing::warn!("{sentence}");
    }
}
