//! What a thread is to tracers: its seat, and whether it is inside a traced call.
//!
//! That is so for whichever API the call is of: what callbacks and drivers call meanwhile is not
//! traced.

use std::ptr::{self, NonNull};
use std::sync::Once;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::seat::{Seat, Seats};
use crate::tls::{Words, words};

/// The seats of all threads of this process.
static SEATS: Seats = Seats::new();

thread_local! {
    static AT_EXIT: AtExit = const { AtExit };
}

/// Leaves the thread's seat to others when the thread ends.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        let words = words();
        if let Some(seat) = own_seat(words) {
            // SAFETY: this thread's own words.
            unsafe { (*words.as_ptr()).seat = ptr::null() };
            SEATS.give_back(seat);
        }
    }
}

/// Has forked children forget the calls of the parent's other threads, which they do not have. Once a
/// process.
pub fn guard_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler does nothing but store.
        unsafe { libc::pthread_atfork(None, None, Some(forget_others)) };
    });
}

extern "C" fn forget_others() {
    let own = own_seat(words());
    let is_other = |seat: &&Seat| !own.is_some_and(|own| ptr::eq(own, *seat));
    // Nobody takes one of these seats again: its thread may have been at work on it.
    SEATS.iter().filter(is_other).for_each(|seat| {
        seat.release();
        seat.set_waits(false);
    });
}

/// The seats of all threads that have or had one.
pub fn seats() -> &'static Seats {
    &SEATS
}

/// The seat that this thread keeps, whose words these are.
#[inline(always)]
fn own_seat(words: NonNull<Words>) -> Option<&'static Seat> {
    // SAFETY: this thread's own words.
    let seat = unsafe { (*words.as_ptr()).seat };
    // SAFETY: seats of SEATS are never freed.
    unsafe { seat.as_ref() }
}

/// This thread is inside a traced call.
#[derive(Debug)]
pub struct Inside {
    words: NonNull<Words>,
    pub seat: &'static Seat,
}

impl Inside {
    /// None where the thread is inside already.
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let words = words();
        // SAFETY: this thread's own words; nobody has a reference to them.
        let is_inside = unsafe { &mut (*words.as_ptr()).is_inside };
        if *is_inside != 0 {
            return None;
        }
        *is_inside = 1;
        // A signal's handler finds the thread inside before the seat says anything, ...
        compiler_fence(Ordering::SeqCst);
        Some(Self { words, seat: own_seat(words).unwrap_or_else(sit_down) })
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        self.seat.release();
        if own_seat(self.words).is_none() {
            SEATS.give_back(self.seat);
        }
        // ... and until it says nothing any more.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: this thread's own words.
        unsafe { (*self.words.as_ptr()).is_inside = 0 };
    }
}

/// A seat for this thread until it ends; for a thread that is ending already, for this call.
#[cold]
fn sit_down() -> &'static Seat {
    let seat = SEATS.claim();
    if AT_EXIT.try_with(|_| ()).is_ok() {
        // SAFETY: this thread's own words.
        unsafe { (*words().as_ptr()).seat = seat };
    }
    seat
}

/// This thread waits for calls of others to end.
#[derive(Debug)]
pub struct Waiting {
    seat: Option<&'static Seat>,
}

impl Waiting {
    pub fn begin() -> Self {
        let seat = own_seat(words()).filter(|seat| !seat.held().is_null());
        if let Some(seat) = seat {
            seat.set_waits(true);
        }
        Self { seat }
    }

    /// Whether the call of `other` is one to wait for: not this thread's own, and, from inside a call,
    /// none that waits in the same way. So nobody waits for who waits for them.
    pub fn is_for(&self, other: &Seat) -> bool {
        self.seat.is_none_or(|own| !ptr::eq(own, other) && !other.waits())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            seat.set_waits(false);
        }
    }
}
