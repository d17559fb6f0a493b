//! Whether a thread is inside a recorded command, as the thread itself and others see it. A gate of zeros, as in memory
//! that `fork` has wiped, is closed.

use crate::epoch::Epoch;
use crate::sync::{AtomicU64, Ordering, frequent_fence};

/// The ready word of a thread. Only the thread writes it.
///
/// | value | meaning | entered by the thread | from | ordering |
/// |---|---|---|---|---|
/// | 0 | inside a command, or without a recording state (memory that `fork` wiped) | [`Self::enter`], [`Self::enter_slowly`], [`Self::close`] | any | `Relaxed`, then the fence of OUTSIDE |
/// | an epoch | outside, ready to record in this epoch | [`Self::leave`] | 0 | `Release` (OUTSIDE) |
/// | another value, below every epoch | outside; every command takes the slow path | [`Self::leave`] | 0 | `Release` (OUTSIDE) |
///
/// All bytes zero is a valid value: closed.
#[derive(Debug)]
#[repr(transparent)]
pub struct Gate(AtomicU64);

impl Gate {
    /// The gate of a thread that is inside, or without a recording state.
    #[cfg(not(loom))]
    pub const fn closed() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The gate of a thread that is inside, or without a recording state.
    #[cfg(loom)]
    pub fn closed() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Enters a command if the thread is ready to record in the present epoch. False, and the word as before:
    /// the command takes the slow path. In the thread itself.
    #[inline(always)]
    pub fn enter(&self, epoch: &Epoch) -> bool {
        let ready = self.ready();
        self.close();
        // OUTSIDE: pairs with barrier_in_all_threads. The epoch is loaded after the store above, so a
        // describer that has raised the epoch and sees this thread outside knows that its next command
        // belongs to the new epoch. Also, a signal handler that interrupts below must find the thread taken.
        frequent_fence();
        if ready == epoch.now() {
            return true;
        }
        // OUTSIDE: pairs with the acquire in Gate::is_outside.
        self.0.store(ready, Ordering::Release);
        false
    }

    /// Enters a command on the slow path, and returns the epoch to record in. `None` while nothing is recorded: the thread
    /// is inside nevertheless, and has to leave. In the thread itself.
    pub fn enter_slowly(&self, epoch: &Epoch) -> Option<u64> {
        self.close();
        // OUTSIDE: pairs with barrier_in_all_threads, as in `enter`.
        frequent_fence();
        epoch.follow()
    }

    /// Leaves a command. `ready` is the epoch to record in, or a value below every epoch; not 0. In the
    /// thread itself.
    #[inline(always)]
    pub fn leave(&self, ready: u64) {
        // OUTSIDE: pairs with the acquire in Gate::is_outside. It also keeps the compiler from moving the
        // command's stores behind.
        self.0.store(ready, Ordering::Release);
    }

    /// Marks the thread as inside. In the thread itself.
    #[inline(always)]
    pub fn close(&self) {
        // Relaxed: in `enter` the fence orders it; elsewhere the thread is on the slow path, where it loads
        // the epoch later.
        self.0.store(0, Ordering::Relaxed);
    }

    /// The word. In the thread itself.
    #[inline(always)]
    pub fn ready(&self) -> u64 {
        // Relaxed: the thread's own word.
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the thread is in no command, for another thread that has raised the epoch and then called
    /// [`barrier_in_all_threads`](crate::barrier_in_all_threads). If so, everything that the thread's last
    /// command did is visible, and its next command sees the new epoch.
    pub fn is_outside(&self) -> bool {
        // OUTSIDE: pairs with the releases in Gate::leave and Gate::enter.
        self.0.load(Ordering::Acquire) != 0
    }
}
