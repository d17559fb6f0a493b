//! `Current`: the newest of something that calls hold while they run, and that is replaced meanwhile.
//!
//! The reader's path has no lock and writes to its own [`Seat`] only. It announces the value that it
//! has seen, and then looks whether that is still the newest: if so, it holds it. The writer replaces
//! the value, and then looks into all seats: what none holds can be freed.
//!
//! Why no value is freed under a reader. Between announcing and looking again, and between replacing
//! and looking into the seats, stands a sequentially consistent fence (HOLD), whose cost is the writer's,
//! see `membarrier.rs`. One of the two is first.
//! If it is the reader's, the writer finds the announcement. If it is the writer's, the reader finds
//! that the value has been replaced, and does not use it. Looks into the seats that come later, under
//! the lock of whoever replaced the value, happen after that fence, so the same holds for them.
//!
//! A value that was freed and another one in its place with the same address are no danger: who
//! announces an address and finds it the newest holds the newest value.

use std::ptr::NonNull;

use crate::seat::{Seat, Seats};
use crate::sync::{AtomicPtr, Ordering, frequent_fence, rare_fence};

/// The newest value, or none. What it points at belongs to who replaces it.
#[derive(Debug)]
pub struct Current<T> {
    newest: AtomicPtr<T>,
}

impl<T> Current<T> {
    #[cfg(not(loom))]
    pub const fn none() -> Self {
        Self { newest: AtomicPtr::new(std::ptr::null_mut()) }
    }

    #[cfg(loom)]
    pub fn none() -> Self {
        Self { newest: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Holds the newest value for a call of `function`, until `seat` is released. `seat` is this
    /// thread's, and holds nothing.
    #[inline(always)]
    pub fn hold(&self, seat: &Seat, function: usize) -> Option<NonNull<T>> {
        // Relaxed: it is not used before it has been read again.
        let mut seen = self.newest.load(Ordering::Relaxed);
        loop {
            let Some(value) = NonNull::new(seen) else {
                seat.release();
                return None;
            };
            seat.announce(seen.cast(), function);
            // HOLD: pairs with the fence in `replace`.
            frequent_fence();
            // PUBLISH: the value is complete. Pairs with the release in `replace`.
            let newest = self.newest.load(Ordering::Acquire);
            if newest == seen {
                return Some(value);
            }
            seen = newest;
        }
    }

    /// Puts `new` in place of the value that it returns; null stands for none. One thread at a time.
    pub fn replace(&self, new: *mut T) -> *mut T {
        // PUBLISH: pairs with the acquire in `hold`.
        let old = self.newest.swap(new, Ordering::AcqRel);
        // HOLD: pairs with the fence in `hold`.
        rare_fence();
        old
    }
}

/// Whether any call holds `value`, which was replaced before. Where none does, none ever will.
pub fn is_held<T>(seats: &Seats, value: *mut T) -> bool {
    seats.iter().any(|seat| seat.held() == value.cast())
}
