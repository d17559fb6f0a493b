//! Words that follow from other words which several threads change without a lock.

use crate::sync::{AtomicPtr, Ordering};

/// A pointer that follows from inputs: [`settle()`] brings it up to date.
#[derive(Debug)]
#[repr(transparent)]
pub struct Settled<T>(AtomicPtr<T>);

impl<T> Settled<T> {
    /// A word that holds `first` until it is settled.
    #[cfg(not(loom))]
    pub const fn new(first: *mut T) -> Self {
        Self(AtomicPtr::new(first))
    }

    /// A word that holds `first` until it is settled.
    #[cfg(loom)]
    pub fn new(first: *mut T) -> Self {
        Self(AtomicPtr::new(first))
    }

    /// The pointer. A reader may get an old one, and must be able to use it. What was stored before the pointer was set is
    /// visible afterwards.
    #[inline(always)]
    pub fn get(&self) -> *mut T {
        // SETTLE: pairs with the exchange in `set`. The pointer is code that may need inputs of the word.
        self.0.load(Ordering::Acquire)
    }

    /// Sets the pointer, as one attempt of [`settle()`].
    pub fn set(&self, wanted: *mut T) {
        // SETTLE: both halves in one exchange. It releases the change that the caller made before, and
        // acquires the changes of all that have exchanged this word before.
        self.0.swap(wanted, Ordering::AcqRel);
    }
}

/// Brings words up to date after an input has changed. `wanted` computes their values from the inputs, and
/// `set` [sets](Settled::set) every word.
///
/// Every thread that changes an input calls this afterwards. Of several threads that settle one word at the
/// same time, the last to exchange it has acquired all their changes, so its next look at the inputs sees
/// them: if it set an old value, it sets the word again. The inputs themselves need no ordering.
pub fn settle<W: PartialEq>(wanted: impl Fn() -> W, set: impl Fn(&W)) {
    let mut next = wanted();
    loop {
        set(&next);
        let now = wanted();
        if now == next {
            return;
        }
        next = now;
    }
}
