//! The atomics of this crate: the standard library's, or loom's when a model runs.
//!
//! Nothing else in the crate may name `std::sync::atomic`: an atomic that loom does not see is not
//! modelled.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
