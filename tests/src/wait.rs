//! Waiting for a condition, with a deadline; the only place that lets time pass.

use std::time::{Duration, Instant};

/// Asks `condition` until it answers.
///
/// # Panics
/// When it has not within `limit`, naming `what` was waited for.
pub fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = condition() {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: not within {limit:?}");
        // A poll interval, not a guess at how long anything takes.
        std::thread::park_timeout(Duration::from_micros(500));
    }
}
