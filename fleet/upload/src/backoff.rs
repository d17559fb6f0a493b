//! How long to wait before the next try: 1 s at first, twice as long after each failure, 5 min at most; each time a random
//! part of it, from a half on, so that many machines don't try in step.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);

/// Failures in a row, and when to try again.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub failures: u32,
    pub next: Instant,
}

impl Backoff {
    /// Returns the wait after one more failure than `before`.
    pub fn after(before: Option<Backoff>) -> Backoff {
        let failures = before.map_or(0, |it| it.failures).saturating_add(1);
        Backoff { failures, next: Instant::now() + wait(failures, random()) }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.next
    }
}

/// Returns the wait after `failures` failures; `chance` is from 0 to 1.
fn wait(failures: u32, chance: f64) -> Duration {
    let whole = FIRST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST);
    whole.mul_f64(0.5 + chance / 2.0)
}

fn random() -> f64 {
    // The hasher's keys are random.
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit() {
        let waits = [1, 2, 3, 9, 10, 4_000_000_000].map(|it| wait(it, 1.0).as_secs());
        assert_eq!(waits, [1, 2, 4, 256, 300, 300]);
        assert_eq!(wait(1, 0.0), Duration::from_millis(500));
    }
}
