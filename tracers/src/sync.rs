//! Atomics of this crate: the standard library's, or loom's in models; and the two sides of an asymmetric fence.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub use crate::membarrier::{frequent_fence, rare_fence};

/// In models both sides are full fences.
#[cfg(loom)]
pub fn frequent_fence() {
    fence(Ordering::SeqCst);
}

/// In models both sides are full fences.
#[cfg(loom)]
pub fn rare_fence() {
    fence(Ordering::SeqCst);
}
