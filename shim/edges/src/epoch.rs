//! The number of the capture that runs, and of its newest keyframe. A thread that misses the end of a capture writes
//! one more record, which nobody reads.

use crate::sync::{AtomicU64, Ordering};

/// Value of an [`Epoch`] while nothing is recorded. No thread is ever ready for it.
pub const NOT_CAPTURING: u64 = u64::MAX;

/// The epoch of a process: read at every recorded command, changed at safe points by one thread at a time.
///
/// | value | meaning | entered by | from | ordering |
/// |---|---|---|---|---|
/// | [`NOT_CAPTURING`] | nothing is recorded | [`Self::end`] | any | `Relaxed` |
/// | any other | the capture runs; each capture and each keyframe has a higher number | [`Self::begin`] | any lower one, or `NOT_CAPTURING` | `Release` (BEGIN) |
#[derive(Debug)]
#[repr(transparent)]
pub struct Epoch(AtomicU64);

impl Epoch {
    /// Nothing is recorded.
    #[cfg(not(loom))]
    pub const fn none() -> Self {
        Self(AtomicU64::new(NOT_CAPTURING))
    }

    /// Nothing is recorded.
    #[cfg(loom)]
    pub fn none() -> Self {
        Self(AtomicU64::new(NOT_CAPTURING))
    }

    /// The epoch, for a comparison with what the thread has followed already. Orders nothing.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        // Relaxed: an equal value was followed before; an unequal one leads to `follow`.
        self.0.load(Ordering::Relaxed)
    }

    /// The epoch that a thread is to record in from here on; `None` while nothing is recorded. Afterwards the
    /// thread sees everything that the beginner of this epoch had done or seen. Load it once and keep the
    /// value: a second load may see a newer epoch.
    pub fn follow(&self) -> Option<u64> {
        // BEGIN: pairs with the release in Epoch::begin.
        let epoch = self.0.load(Ordering::Acquire);
        (epoch != NOT_CAPTURING).then_some(epoch)
    }

    /// Begins a capture or a keyframe, after everything that has to come before it.
    pub fn begin(&self, epoch: u64) {
        // BEGIN: pairs with the acquire in Epoch::follow.
        self.0.store(epoch, Ordering::Release);
    }

    /// Ends the capture.
    pub fn end(&self) {
        // Relaxed: a thread that misses it writes one more record, which is not read.
        self.0.store(NOT_CAPTURING, Ordering::Relaxed);
    }
}
