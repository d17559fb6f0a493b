//! The number of changes of some words that one thread at a time changes by the rules of its API. A reader notices that
//! the words changed while it read them. If threads break the rules and change the words at the same time, most of these
//! changes notice; the words themselves must be atomic.

use crate::sync::{AtomicU64, Ordering, fence};

/// A version word, and the thread that is changing what has the version.
///
/// | `writer` | meaning | entered by | from | ordering |
/// |---|---|---|---|---|
/// | 0 | no change is in progress | [`Version::end`] | the same writer | `Release` (VERSION) |
/// | any other | this thread is changing the words | [`Version::begin`] | 0 | `Relaxed`, then a `Release` fence (VERSION) |
///
/// All bytes zero is a valid value: never changed.
#[derive(Debug)]
pub struct Version {
    writer: AtomicU64,
    number: AtomicU64,
}

impl Version {
    /// The version of words that were never changed: 0.
    #[cfg(not(loom))]
    pub const fn zero() -> Self {
        Self { writer: AtomicU64::new(0), number: AtomicU64::new(0) }
    }

    /// The version of words that were never changed: 0.
    #[cfg(loom)]
    pub fn zero() -> Self {
        Self { writer: AtomicU64::new(0), number: AtomicU64::new(0) }
    }

    /// Begins a change by the thread `writer`, a number other than 0. Returns the version that the change makes; `None`
    /// if another change is in progress.
    #[inline(always)]
    pub fn begin(&self, writer: u64) -> Option<u64> {
        // Relaxed: the rules of the API order changes. Where a program breaks them, `end` may notice.
        if self.writer.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // Relaxed: the fence orders it.
        self.writer.store(writer, Ordering::Relaxed);
        // VERSION: pairs with the fence in Version::is_still: a reader that saw a word of this change sees the writer.
        fence(Ordering::Release);
        // Relaxed: only writers change it.
        Some(self.number.load(Ordering::Relaxed) + 1)
    }

    /// Ends the change by `writer` that made `version`. False if another thread was seen to change the words meanwhile;
    /// they may then be a mixture.
    #[inline(always)]
    pub fn end(&self, writer: u64, version: u64) -> bool {
        // VERSION: pairs with the acquire in Version::read: the words of this version are visible.
        self.number.store(version, Ordering::Release);
        // Relaxed: a hint, as in `begin`.
        let is_alone = self.writer.load(Ordering::Relaxed) == writer;
        if is_alone {
            // VERSION: pairs with the acquire in Version::is_still: a reader that sees the end sees the new number.
            self.writer.store(0, Ordering::Release);
        }
        is_alone
    }

    /// Returns the version, for a thread that is about to read the words. `None` while a change is in progress.
    #[inline(always)]
    pub fn read(&self) -> Option<u64> {
        // VERSION: pairs with the release in Version::end.
        let number = self.number.load(Ordering::Acquire);
        // Relaxed: `is_still` notices a change that this load misses.
        (self.writer.load(Ordering::Relaxed) == 0).then_some(number)
    }

    /// Whether the words that a thread read after `read` had returned `version` are those of that version.
    #[inline(always)]
    pub fn is_still(&self, version: u64) -> bool {
        // VERSION: pairs with the fence in Version::begin.
        fence(Ordering::Acquire);
        // VERSION: pairs with the release of `writer` in Version::end.
        let is_unchanging = self.writer.load(Ordering::Acquire) == 0;
        // Relaxed: the load above orders it.
        is_unchanging && self.number.load(Ordering::Relaxed) == version
    }
}
