//! Waits for a condition, with a deadline. Nothing else in the tests waits for time to pass.

use std::time::{Duration, Instant};

/// Shortest time between two questions.
const INTERVAL_MIN: Duration = Duration::from_micros(500);

/// Asks `condition` until it answers.
///
/// Waits between two questions as long as three questions take, and at least [`INTERVAL_MIN`]: a question may start
/// a program, and must not take a core from the processes that it asks about.
///
/// # Panics
/// If `condition` has not answered within `limit`; the message names `what`.
pub fn until<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        let asked = Instant::now();
        if let Some(answer) = condition() {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: not within {limit:?}");
        // A poll interval, not a guess at how long anything takes.
        std::thread::park_timeout(INTERVAL_MIN.max(3 * asked.elapsed()));
    }
}
