//! The atomics of this crate: the standard library's, or loom's in a model.
//!
//! No other file of the crate may name `std::sync::atomic`, because loom does not see an atomic from there.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
