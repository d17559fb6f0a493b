//! Per-thread state of tracers: the thread's seat, and whether the thread is inside a traced call, of any API. In a
//! forked child the seats of the parent's other threads are released and stay taken. A thread that destroys a tracer
//! inside a traced call does not wait for its own call, nor for calls that wait in the same way, so that no two threads
//! wait for each other.
//!
//! The state is shared by all APIs: commands of any API that callbacks and drivers call inside a traced call are not
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

/// Gives back the thread's seat when the thread ends.
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

/// Installs, once per process, a fork handler: in a forked child it releases the seats of threads that exist only
/// in the parent.
pub fn guard_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only performs atomic stores.
        unsafe { libc::pthread_atfork(None, None, Some(forget_others)) };
    });
}

extern "C" fn forget_others() {
    let own = own_seat(words());
    let is_other = |seat: &&Seat| !own.is_some_and(|own| ptr::eq(own, *seat));
    // These seats stay taken: their threads may have been in the middle of changing them.
    SEATS.iter().filter(is_other).for_each(|seat| {
        seat.release();
        seat.set_waits(false);
    });
}

/// Returns the seats of all threads that have or had one.
pub fn seats() -> &'static Seats {
    &SEATS
}

/// Returns the seat that the thread with these words keeps, if any.
#[inline(always)]
fn own_seat(words: NonNull<Words>) -> Option<&'static Seat> {
    // SAFETY: this thread's own words.
    let seat = unsafe { (*words.as_ptr()).seat };
    // SAFETY: seats of SEATS are never freed.
    unsafe { seat.as_ref() }
}

/// Guard: the thread is inside a traced call while it lives.
#[derive(Debug)]
pub struct Inside {
    words: NonNull<Words>,
    pub seat: &'static Seat,
}

impl Inside {
    /// Enters a traced call; `None` if the thread is inside one already.
    #[inline(always)]
    pub fn enter() -> Option<Self> {
        let words = words();
        // SAFETY: this thread's own words; no other reference to them exists.
        let is_inside = unsafe { &mut (*words.as_ptr()).is_inside };
        if *is_inside != 0 {
            return None;
        }
        *is_inside = 1;
        // A signal handler must see `is_inside` before the seat announces a roster.
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
        // A signal handler must see `is_inside` until the seat has released its roster.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: this thread's own words.
        unsafe { (*self.words.as_ptr()).is_inside = 0 };
    }
}

/// Claims a seat for this thread until it ends. If the thread is ending already, the seat is for this call only.
#[cold]
fn sit_down() -> &'static Seat {
    let seat = SEATS.claim();
    if AT_EXIT.try_with(|_| ()).is_ok() {
        // SAFETY: this thread's own words.
        unsafe { (*words().as_ptr()).seat = seat };
    }
    seat
}

/// Guard: the thread waits for calls of other threads to end.
#[derive(Debug)]
pub struct Waiting {
    seat: Option<&'static Seat>,
}

impl Waiting {
    /// Announces that this thread waits, if it is inside a traced call.
    pub fn begin() -> Self {
        let seat = own_seat(words()).filter(|seat| !seat.held().is_null());
        if let Some(seat) = seat {
            seat.set_waits(true);
        }
        Self { seat }
    }

    /// Whether to wait for the call of `other`. From inside a traced call this excludes the thread's own call and
    /// calls that wait in the same way, so that no two threads wait for each other.
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
