//! `Patience`: how to wait for calls to end that have no means to say so.
//!
//! A call that told who waits for it would need another fence, in every call; destroying is rare.

use std::thread;
use std::time::Duration;

const YIELDS: u32 = 16;
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct Patience {
    yields_left: u32,
    pause: Duration,
}

impl Patience {
    pub fn new() -> Self {
        Self { yields_left: YIELDS, pause: SHORTEST }
    }

    /// Returns after a while, a longer one each time.
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
