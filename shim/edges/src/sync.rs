//! The atomics of this crate: the standard library's, or loom's in a model.
//!
//! No other file of the crate may name `std::sync::atomic`: loom does not see such an atomic.

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence};

/// The standard library's cell, with the interface of loom's.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Runs `act` on a pointer to the value.
    #[inline(always)]
    pub fn with_mut<R>(&self, act: impl FnOnce(*mut T) -> R) -> R {
        act(self.0.get())
    }
}

/// The half of a sequentially consistent fence that every command passes: it only keeps the compiler from
/// reordering. The other half is [`barrier_in_all_threads`](crate::barrier_in_all_threads), which also
/// completes this one in every thread.
#[cfg(not(loom))]
#[inline(always)]
pub fn frequent_fence() {
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Models have a full fence on both sides: loom does not know `membarrier`.
#[cfg(loom)]
pub fn frequent_fence() {
    fence(Ordering::SeqCst);
}
