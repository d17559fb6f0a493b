//! `Patience`: back-off while polling for calls of other threads to end: 16 yields (`YIELDS`), then sleeps from 20 µs
//! to 1 ms, without a limit of time.
//!
//! Calls do not notify a waiter, because that would need another fence in every call, and destroying a tracer is rare.

use std::thread;
use std::time::Duration;

const YIELDS: u32 = 16;
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

/// Back-off: 16 yields, then sleeps from 20 µs to 1 ms.
#[derive(Debug)]
pub struct Patience {
    yields_left: u32,
    pause: Duration,
}

impl Patience {
    /// Creates a back-off that begins with yields.
    pub fn new() -> Self {
        Self { yields_left: YIELDS, pause: SHORTEST }
    }

    /// Yields or sleeps; each sleep is twice as long as the previous one, up to 1 ms.
    pub fn pause(&mut self) {
        if self.yields_left > 0 {
            self.yields_left -= 1;
            thread::yield_now();
            return;
        }
        thread::sleep(self.pause);
        self.pause = LONGEST.min(self.pause * 2);
    }
}
