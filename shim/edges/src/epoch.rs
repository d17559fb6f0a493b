//! The number of the capture that runs, and of its newest keyframe. A thread that misses the end of a capture writes
//! one more record, which no capture has: it states the order that it follows, and the daemon passes over the records
//! that follow an order of an earlier capture.

use crate::sync::{AtomicU64, Ordering};

/// Value of an [`Epoch`] while nothing is recorded. No thread is ever ready for it.
pub const NOT_CAPTURING: u64 = u64::MAX;

/// The epoch of a process: read at every recorded command, changed at safe points by one thread at a time.
///
/// | value | meaning | entered by | from | ordering |
/// |---|---|---|---|---|
/// | [`NOT_CAPTURING`] | nothing is recorded | [`Self::end`] | any | `Relaxed`; [`Self::begin`] orders it (ORDER) |
/// | any other | the capture runs; each capture and each keyframe has a higher number | [`Self::begin`] | any lower one, or `NOT_CAPTURING` | `Release` (BEGIN) |
#[derive(Debug)]
#[repr(C)]
pub struct Epoch {
    epoch: AtomicU64,
    /// Generation of the daemon's order to record that the capture follows. Changes only after [`Self::end`].
    order: AtomicU64,
}

impl Epoch {
    /// Nothing is recorded.
    #[cfg(not(loom))]
    pub const fn none() -> Self {
        Self { epoch: AtomicU64::new(NOT_CAPTURING), order: AtomicU64::new(0) }
    }

    /// Nothing is recorded.
    #[cfg(loom)]
    pub fn none() -> Self {
        Self { epoch: AtomicU64::new(NOT_CAPTURING), order: AtomicU64::new(0) }
    }

    /// The epoch, for a comparison with what the thread has followed already. Orders nothing.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        // Relaxed: an equal value was followed before; an unequal one leads to `follow`.
        self.epoch.load(Ordering::Relaxed)
    }

    /// The epoch that a thread is to record in from here on; `None` while nothing is recorded. Afterwards the
    /// thread sees everything that the beginner of this epoch had done or seen. Load it once and keep the
    /// value: a second load may see a newer epoch.
    pub fn follow(&self) -> Option<u64> {
        // BEGIN: pairs with the release in Epoch::begin.
        let epoch = self.epoch.load(Ordering::Acquire);
        (epoch != NOT_CAPTURING).then_some(epoch)
    }

    /// The generation of the order that `epoch` follows, which [`Self::follow`] has returned. `None` if another capture
    /// has begun since, or none runs: follow anew.
    pub fn order_of(&self, epoch: u64) -> Option<u64> {
        // ORDER: pairs with the release in Epoch::begin: with another capture's order the end of this one is seen.
        let order = self.order.load(Ordering::Acquire);
        (self.now() == epoch).then_some(order)
    }

    /// Begins a capture or a keyframe, after everything that has to come before it. `order` is the generation of the
    /// order that the capture follows.
    pub fn begin(&self, epoch: u64, order: u64) {
        // ORDER: pairs with the acquire in Epoch::order_of.
        self.order.store(order, Ordering::Release);
        // BEGIN: pairs with the acquire in Epoch::follow.
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Ends the capture.
    pub fn end(&self) {
        // Relaxed: a thread that misses it writes one more record, which follows the ended capture's order.
        self.epoch.store(NOT_CAPTURING, Ordering::Relaxed);
    }
}
