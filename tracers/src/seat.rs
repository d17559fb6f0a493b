//! `Seat`: a hazard pointer of one thread, which announces the roster that its call holds; and the list of all seats. A
//! seat is never freed; a new thread takes over that of a thread that has ended.
//!
//! Only the owning thread writes a seat. Threads that free rosters or destroy tracers read it.

#![cfg_attr(loom, allow(dead_code))] // Models run no callbacks.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// The hazard pointer of one thread.
#[derive(Debug)]
pub struct Seat {
    /// The roster that the call in flight holds; null without such a call.
    held: AtomicPtr<()>,
    /// The function of that call; meaningless while `held` is null.
    function: AtomicUsize,
    /// Whether the thread is inside a traced call and waits there for other calls to end.
    waits: AtomicBool,
    /// Whether a thread owns the seat.
    taken: AtomicBool,
    /// Pointers that prologues of the call in flight leave for its epilogues. Only the seat's thread accesses it.
    instances: UnsafeCell<Vec<*mut c_void>>,
    /// The next seat in the list; constant once this seat is in the list.
    next: *const Seat,
}

// SAFETY: mutable fields are atomic, or accessed by the seat's thread only; `next` points at a seat, which may
// itself be shared.
unsafe impl Send for Seat {}
// SAFETY: as above.
unsafe impl Sync for Seat {}

impl Seat {
    /// Announces that a call of `function` is about to hold the roster `what`.
    #[inline]
    pub(crate) fn announce(&self, what: *mut (), function: usize) {
        // Relaxed: only read after the `held` that is stored next has been acquired.
        self.function.store(function, Ordering::Relaxed);
        // LEAVE: a reader of this value knows that earlier calls have ended. Pairs with the acquire in `held`.
        self.held.store(what, Ordering::Release);
    }

    /// Ends the hold.
    #[inline]
    pub fn release(&self) {
        // LEAVE: all reads of the call come before. Pairs with the acquire in `held`.
        self.held.store(ptr::null_mut(), Ordering::Release);
    }

    /// Returns an array of `count` pointers, one per tracer, valid until the next call of this function.
    ///
    /// # Safety
    /// The caller is the thread that owns the seat, and no longer uses arrays that it got before.
    #[inline(always)]
    pub(crate) unsafe fn instances(&self, count: usize) -> *mut *mut c_void {
        // SAFETY: the caller's duty.
        let instances = unsafe { &mut *self.instances.get() };
        if instances.len() < count {
            grow(instances, count);
        }
        instances.as_mut_ptr()
    }

    /// Returns the roster that the seat's call holds or is about to hold; null without such a call.
    pub fn held(&self) -> *mut () {
        // LEAVE: pairs with the releases in `announce` and `release`.
        self.held.load(Ordering::Acquire)
    }

    /// Returns the function of the call that held what [`Seat::held`] has just returned. If that call has ended
    /// since, returns the function of a later call.
    pub fn function(&self) -> usize {
        // Relaxed: it was stored before the value that `held` acquired.
        self.function.load(Ordering::Relaxed)
    }

    /// Sets whether the thread waits, inside a traced call, for other calls to end.
    pub fn set_waits(&self, waits: bool) {
        // Relaxed: publishes no other data, and readers poll it.
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Whether the thread waits, inside a traced call, for other calls to end.
    pub fn waits(&self) -> bool {
        // Relaxed: as above.
        self.waits.load(Ordering::Relaxed)
    }
}

#[cold]
fn grow(instances: &mut Vec<*mut c_void>, count: usize) {
    instances.resize(count, ptr::null_mut());
}

/// The list of all seats.
#[derive(Debug)]
pub struct Seats {
    first: AtomicPtr<Seat>,
}

impl Seats {
    /// Creates an empty list.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Creates an empty list.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Claims a seat for this thread: a free one if there is any, otherwise a new one.
    pub fn claim(&self) -> &Seat {
        let left = self.iter().find(|seat| {
            // SEAT: the previous owner's writes are visible. Pairs with the release in `give_back`.
            // Relaxed on failure: the seat belongs to another thread.
            let claimed =
                seat.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            claimed.is_ok()
        });
        left.unwrap_or_else(|| self.add())
    }

    /// Releases `seat` and makes it free for another thread.
    pub fn give_back(&self, seat: &Seat) {
        seat.release();
        seat.set_waits(false);
        // SEAT: pairs with the acquire in `claim`.
        seat.taken.store(false, Ordering::Release);
    }

    /// Iterates over all seats, free ones included.
    pub fn iter(&self) -> impl Iterator<Item = &Seat> {
        // LIST: seats in the list are initialised. Pairs with the release in `add`.
        let mut next = self.first.load(Ordering::Acquire).cast_const();
        std::iter::from_fn(move || {
            // SAFETY: seats in the list are freed only with it, and `self` is borrowed.
            let seat = unsafe { next.as_ref() }?;
            next = seat.next;
            Some(seat)
        })
    }

    fn add(&self) -> &Seat {
        // LIST: this seat is reachable through `next` once the new seat is in the list.
        let mut first = self.first.load(Ordering::Acquire);
        let seat = Box::into_raw(Box::new(Seat {
            held: AtomicPtr::new(ptr::null_mut()),
            function: AtomicUsize::new(0),
            waits: AtomicBool::new(false),
            taken: AtomicBool::new(true),
            instances: UnsafeCell::default(),
            next: first,
        }));
        loop {
            // LIST: pairs with the acquires here and in `iter`.
            let put = self.first.compare_exchange(first, seat, Ordering::AcqRel, Ordering::Acquire);
            let Err(found) = put else { break };
            first = found;
            // SAFETY: no other thread has seen the seat yet.
            unsafe { (*seat).next = first };
        }
        // SAFETY: just allocated, and freed only with the list, which `self` borrows.
        unsafe { &*seat }
    }
}

impl Default for Seats {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        // Relaxed: dropping has exclusive access to the list.
        let mut next = self.first.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: every seat was allocated as a box, is in the list once, and nothing borrows the list.
            let seat = unsafe { Box::from_raw(next) };
            next = seat.next.cast_mut();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Seats;

    #[test]
    fn seat_that_was_given_back_is_claimed_again() {
        let seats = Seats::new();
        let [first, second] = [(); 2].map(|()| seats.claim());
        assert!(!std::ptr::eq(first, second));
        seats.give_back(first);
        assert!(std::ptr::eq(seats.claim(), first));
        assert_eq!(seats.iter().count(), 2);
    }
}
