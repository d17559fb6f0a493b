//! A list of what a snapshot still has to describe: `Later`.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, TryLockError};

use crate::process;

/// Entries of things that are described later, in no order.
pub struct Later<T> {
    entries: Mutex<Vec<T>>,
    /// Number of entries, written while they are locked. Relaxed everywhere: a thread on which the number depends has written it
    /// or has synchronised with the one that has.
    count: AtomicUsize,
}

impl<T> Later<T> {
    /// A list without entries.
    pub const fn new() -> Self {
        Self { entries: Mutex::new(Vec::new()), count: AtomicUsize::new(0) }
    }

    /// Whether there is any entry.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.count.load(Relaxed) != 0
    }

    /// Calls `use_them` with the entries, and returns what it returns. Never blocks for long if no caller does. `None` in a forked
    /// child whose parent forked meanwhile.
    pub fn with<R>(&self, use_them: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        let mut entries = loop {
            match self.entries.try_lock() {
                Ok(entries) => break entries,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if process::is_forked_child() => return None,
                Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
            }
        };
        let returned = use_them(&mut entries);
        self.count.store(entries.len(), Relaxed);
        Some(returned)
    }
}
