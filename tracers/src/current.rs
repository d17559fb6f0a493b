//! `Current`: a pointer to the newest value, which calls hold while they run and writers replace.
//!
//! The read path takes no lock and writes only the reader's own [`Seat`] (a hazard pointer). The reader announces the
//! value that it has loaded, then loads again: if the value is unchanged, the reader holds it. The writer replaces the
//! value, then looks at all seats: a replaced value that no seat holds can be freed.
//!
//! Why no value is freed while a reader uses it: a sequentially consistent fence (HOLD) separates the reader's
//! announcement from its second load, and another separates the writer's replacement from its look at the seats. The
//! cost of the fence is the writer's, see `membarrier.rs`. One of the two fences is first. If it is the reader's,
//! the writer sees the announcement. If it is the writer's, the reader sees that the value was replaced, and does not
//! use it. Later looks at the seats happen under the lock of the writer, thus after the writer's fence, so the same
//! holds for them.
//!
//! Reuse of an address is harmless (no ABA problem): a reader that announces an address and then finds it to be the
//! newest holds the newest value.

use std::ptr::NonNull;

use crate::seat::{Seat, Seats};
use crate::sync::{AtomicPtr, Ordering, frequent_fence, rare_fence};

/// The newest value, or none. The code that replaces a value owns the old one.
#[derive(Debug)]
pub struct Current<T> {
    newest: AtomicPtr<T>,
}

impl<T> Current<T> {
    /// Creates a pointer without a value.
    #[cfg(not(loom))]
    pub const fn none() -> Self {
        Self { newest: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Creates a pointer without a value.
    #[cfg(loom)]
    pub fn none() -> Self {
        Self { newest: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Holds the newest value for a call of `function` until `seat` is released; `None` if no value is set. `seat`
    /// belongs to this thread and holds nothing.
    #[inline(always)]
    pub fn hold(&self, seat: &Seat, function: usize) -> Option<NonNull<T>> {
        // Relaxed: the value is not used before it was loaded again.
        let mut seen = self.newest.load(Ordering::Relaxed);
        loop {
            let Some(value) = NonNull::new(seen) else {
                seat.release();
                return None;
            };
            seat.announce(seen.cast(), function);
            // HOLD: pairs with the fence in `replace`.
            frequent_fence();
            // PUBLISH: the value is fully initialised. Pairs with the release in `replace`.
            let newest = self.newest.load(Ordering::Acquire);
            if newest == seen {
                return Some(value);
            }
            seen = newest;
        }
    }

    /// Replaces the value by `new` and returns the old one; null means none. Called by one thread at a time.
    pub fn replace(&self, new: *mut T) -> *mut T {
        // PUBLISH: pairs with the acquire in `hold`.
        let old = self.newest.swap(new, Ordering::AcqRel);
        // HOLD: pairs with the fence in `hold`.
        rare_fence();
        old
    }
}

/// Whether any call holds `value`, which was replaced before. Once this returns false, no call can hold it later.
pub fn is_held<T>(seats: &Seats, value: *mut T) -> bool {
    seats.iter().any(|seat| seat.held() == value.cast())
}
