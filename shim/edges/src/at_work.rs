//! Whether a thread is in a command that a describer of state waits for, although nothing is recorded yet.

use crate::epoch::{Epoch, NOT_CAPTURING};
use crate::membarrier::frequent_fence_or_full;
use crate::sync::{AtomicBool, Ordering};

/// The *at work* word of a thread. Only the thread writes it.
///
/// | value | meaning | entered by the thread | ordering |
/// |---|---|---|---|
/// | true | may be in a command | [`Self::begin`], [`Self::set`] | `Relaxed`; in `begin` the fence of KEEPER follows |
/// | false | in no command | [`Self::set`] | `Release` (KEEPER) |
#[derive(Debug)]
#[repr(transparent)]
pub struct AtWork(AtomicBool);

impl AtWork {
    /// The word of a thread in no command.
    #[cfg(not(loom))]
    pub const fn no() -> Self {
        Self(AtomicBool::new(false))
    }

    /// The word of a thread in no command.
    #[cfg(loom)]
    pub fn no() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Begins a command. Returns whether something is recorded; if not, a describer that raises the epoch from now on
    /// sees the thread at work. In the thread itself.
    #[inline(always)]
    pub fn begin(&self, epoch: &Epoch) -> bool {
        // Relaxed: the fence orders it.
        self.0.store(true, Ordering::Relaxed);
        // KEEPER: pairs with barrier_in_all_threads, or with a fence where the kernel has no such barrier: this thread
        // sees the epoch, or the describer sees this thread at work.
        frequent_fence_or_full();
        epoch.now() != NOT_CAPTURING
    }

    /// Sets whether the thread may be in a command. In the thread itself.
    #[inline(always)]
    pub fn set(&self, is_at_work: bool) {
        // KEEPER: pairs with the acquire in AtWork::is_at_work: what the command did is visible.
        self.0.store(is_at_work, Ordering::Release);
    }

    /// Whether the thread may be in a command, for another thread that has raised the epoch and called
    /// [`barrier_in_all_threads`](crate::barrier_in_all_threads) since. If not, everything that the thread's last
    /// command did is visible, and its next command sees the epoch.
    pub fn is_at_work(&self) -> bool {
        // KEEPER: pairs with the release in AtWork::set.
        self.0.load(Ordering::Acquire)
    }
}
