//! The atomics of this crate: the standard library's, or loom's when a model runs. And the two sides of
//! a fence of which one side is passed all the time, and the other seldom.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub use crate::membarrier::{frequent_fence, rare_fence};

/// The models have a full fence on both sides.
#[cfg(loom)]
pub fn frequent_fence() {
    fence(Ordering::SeqCst);
}

#[cfg(loom)]
pub fn rare_fence() {
    fence(Ordering::SeqCst);
}
