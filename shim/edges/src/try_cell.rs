//! A value that one thread at a time uses by the rules of its API. A thread that breaks the rules does not get it.

use crate::sync::{AtomicBool, Ordering, UnsafeCell};

/// A value and the word that says whether a thread uses it. Taking it never waits.
///
/// | `is_taken` | meaning | entered by | ordering |
/// |---|---|---|---|
/// | false | no thread uses the value | [`TryCell::try_with`], at its end | `Release` (TAKEN) |
/// | true | the thread that exchanged the word uses the value | [`TryCell::try_with`] | exchange, `Acquire` (TAKEN) |
#[derive(Debug)]
pub struct TryCell<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used by the thread that has set `is_taken`, and by no other.
unsafe impl<T: Send> Sync for TryCell<T> {}

impl<T> TryCell<T> {
    /// A value that no thread uses.
    pub fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `act` on the value, unless another thread or an `act` below in this thread's stack uses it. `act` must not
    /// panic, or the value stays taken.
    #[inline(always)]
    pub fn try_with<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        // TAKEN: pairs with the release below: the value is as its last user left it. Relaxed on failure: nothing is used.
        self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let result = self.value.with_mut(|value| {
            // SAFETY: this thread has set `is_taken`, so no other reference exists.
            act(unsafe { &mut *value })
        });
        // TAKEN: pairs with the exchange above.
        self.is_taken.store(false, Ordering::Release);
        Some(result)
    }
}
