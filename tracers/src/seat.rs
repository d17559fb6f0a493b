//! `Seat`: where a thread says what its call holds; and the list of all seats.
//!
//! A seat is written by the thread that has it, and read by whoever wants to free or to destroy. Seats
//! are never freed while their list lives; a thread that ends leaves its seat to the next one.

#![cfg_attr(loom, allow(dead_code))] // Models run no callbacks.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// What one thread holds.
#[derive(Debug)]
pub struct Seat {
    /// What the call in flight holds; null without one.
    held: AtomicPtr<()>,
    /// Which function that call is of; of no meaning while `held` is null.
    function: AtomicUsize,
    /// The thread is inside a traced call and waits there for other calls to end.
    waits: AtomicBool,
    taken: AtomicBool,
    /// What prologues of the call in flight leave for its epilogues; touched by the seat's thread alone.
    instances: UnsafeCell<Vec<*mut c_void>>,
    /// The rest of the list; does not change once the seat is in it.
    next: *const Seat,
}

// SAFETY: all that changes is atomic, or touched by the seat's thread alone; `next` points at a seat, which
// may itself be shared.
unsafe impl Send for Seat {}
// SAFETY: as above.
unsafe impl Sync for Seat {}

impl Seat {
    /// Says that a call of `function` is about to hold `what`.
    #[inline]
    pub(crate) fn announce(&self, what: *mut (), function: usize) {
        // Relaxed: read only by who has read the `held` that is stored next.
        self.function.store(function, Ordering::Relaxed);
        // LEAVE: who reads this knows that the calls before have ended. Pairs with the acquire in `held`.
        self.held.store(what, Ordering::Release);
    }

    /// Ends the hold.
    #[inline]
    pub fn release(&self) {
        // LEAVE: all that the call read was read before. Pairs with the acquire in `held`.
        self.held.store(ptr::null_mut(), Ordering::Release);
    }

    /// A place for each of `count` tracers, until the next call.
    ///
    /// # Safety
    /// The caller is the thread that has the seat, and uses none that it got before.
    #[inline(always)]
    pub(crate) unsafe fn instances(&self, count: usize) -> *mut *mut c_void {
        // SAFETY: the caller's duty.
        let instances = unsafe { &mut *self.instances.get() };
        if instances.len() < count {
            grow(instances, count);
        }
        instances.as_mut_ptr()
    }

    /// What the seat's call holds, or is about to.
    pub fn held(&self) -> *mut () {
        // LEAVE: pairs with the releases in `announce` and `release`.
        self.held.load(Ordering::Acquire)
    }

    /// The function of the call that holds what [`Seat::held`] has just returned. Of another call, if
    /// that one has ended since.
    pub fn function(&self) -> usize {
        // Relaxed: it was stored before what `held` acquired.
        self.function.load(Ordering::Relaxed)
    }

    pub fn set_waits(&self, waits: bool) {
        // Relaxed: tells of nothing else, and whoever cares looks again.
        self.waits.store(waits, Ordering::Relaxed);
    }

    pub fn waits(&self) -> bool {
        // Relaxed: as above.
        self.waits.load(Ordering::Relaxed)
    }
}

#[cold]
fn grow(instances: &mut Vec<*mut c_void>, count: usize) {
    instances.resize(count, ptr::null_mut());
}

/// All seats.
#[derive(Debug)]
pub struct Seats {
    first: AtomicPtr<Seat>,
}

impl Seats {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()) }
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// A seat for this thread: one that was left, or a new one.
    pub fn claim(&self) -> &Seat {
        let left = self.iter().find(|seat| {
            // SEAT: what the last thread left is complete. Pairs with the release in `give_back`.
            // Relaxed where it fails: it is somebody else's.
            let claimed =
                seat.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            claimed.is_ok()
        });
        left.unwrap_or_else(|| self.add())
    }

    /// Leaves `seat`, which holds nothing any more, to another thread.
    pub fn give_back(&self, seat: &Seat) {
        seat.release();
        seat.set_waits(false);
        // SEAT: pairs with the acquire in `claim`.
        seat.taken.store(false, Ordering::Release);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Seat> {
        // LIST: a seat in the list is initialised. Pairs with the release in `add`.
        let mut next = self.first.load(Ordering::Acquire).cast_const();
        std::iter::from_fn(move || {
            // SAFETY: seats in the list are freed only with it, and `self` is borrowed.
            let seat = unsafe { next.as_ref() }?;
            next = seat.next;
            Some(seat)
        })
    }

    fn add(&self) -> &Seat {
        // LIST: what this points at is behind `next` when the seat is in the list.
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
            // SAFETY: nobody else has seen the seat yet.
            unsafe { (*seat).next = first };
        }
        // SAFETY: just made, and freed only with the list, which `self` borrows.
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
        // Relaxed: whoever drops the list has it alone.
        let mut next = self.first.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: every seat came out of a box, is in the list once, and nobody borrows the list.
            let seat = unsafe { Box::from_raw(next) };
            next = seat.next.cast_mut();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Seats;

    #[test]
    fn seat_that_was_given_back_is_the_next_ones() {
        let seats = Seats::new();
        let [first, second] = [(); 2].map(|()| seats.claim());
        assert!(!std::ptr::eq(first, second));
        seats.give_back(first);
        assert!(std::ptr::eq(seats.claim(), first));
        assert_eq!(seats.iter().count(), 2);
    }
}
