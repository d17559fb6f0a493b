//! Operations of both sides on the `CounterPage`: take stamps, ring the doorbell, sleep on it. A doorbell may be
//! missed; the drain then sleeps for its timeout, 20 ms while a process records.
//!
//! The layout is in [`crate::layout`].

use std::time::Duration;

use crate::futex;
use crate::layout::CounterPage;
use crate::sync::Ordering;
#[cfg(loom)]
use crate::sync::{AtomicU32, AtomicU64};

impl CounterPage {
    /// Takes the next stamp.
    #[inline(always)]
    pub fn next_stamp(&self) -> u64 {
        // Relaxed: STAMP needs one variable's coherence and no more.
        self.stamp.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// The newest stamp that any thread has taken.
    #[inline(always)]
    pub fn newest_stamp(&self) -> u64 {
        // Relaxed: as in `next_stamp`.
        self.stamp.load(Ordering::Relaxed)
    }

    /// Wakes the drain. Changes `errno`.
    pub fn ring_doorbell(&self) {
        // Relaxed: carries no data; heads are read with acquire, and a missed ring is allowed.
        self.doorbell.fetch_add(1, Ordering::Relaxed);
        futex::wake_all(&self.doorbell);
    }

    /// Value of the doorbell: read before the last look at the rings, passed to [`Self::wait_doorbell`] after
    /// it.
    pub fn doorbell(&self) -> u32 {
        // Relaxed: as in `ring_doorbell`.
        self.doorbell.load(Ordering::Relaxed)
    }

    /// Sleeps until the doorbell has been rung since `seen` was read, for `timeout` at most.
    pub fn wait_doorbell(&self, seen: u32, timeout: Duration) {
        futex::wait(&self.doorbell, seen, timeout);
    }
}

#[cfg(loom)]
impl CounterPage {
    /// A counter for a model.
    pub fn modelled() -> Self {
        Self { stamp: AtomicU64::new(0), line_0: [0; 7], doorbell: AtomicU32::new(0) }
    }
}
