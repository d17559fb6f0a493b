//! Waits for results that would be lost otherwise.

use std::thread;
use std::time::{Duration, Instant};

/// How long a thread waits for results that would be lost.
pub const PATIENCE: Duration = Duration::from_millis(100);
/// How long a thread sleeps before it looks again whether results are there.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// Looks until `is_there` says that the results are there, for up to `patience`; at least once. Returns whether they are.
pub fn wait_until(patience: Duration, mut is_there: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if is_there() {
            return true;
        }
        if begun.elapsed() >= patience {
            return false;
        }
        thread::sleep(LOOK_AGAIN);
    }
}
