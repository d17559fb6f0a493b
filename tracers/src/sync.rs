//! Atomics of this crate: the standard library's, or loom's in models; and the two sides of an asymmetric fence.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub use crate::membarrier::{frequent_fence, rare_fence};

/// The frequent side of the asymmetric fence: a full fence in models.
#[cfg(loom)]
pub fn frequent_fence() {
    fence(Ordering::SeqCst);
}

/// The rare side of the asymmetric fence: a full fence in models.
#[cfg(loom)]
pub fn rare_fence() {
    fence(Ordering::SeqCst);
}
