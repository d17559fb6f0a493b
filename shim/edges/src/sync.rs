//! The atomics of this crate: the standard library's, or loom's in a model.
//!
//! No other file of the crate may name `std::sync::atomic`: loom does not see such an atomic.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

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
