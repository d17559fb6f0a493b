//! What belongs to a thread: its seat, and whether it is inside a traced call.
//!
//! That is so for whichever API the call is of: what callbacks and drivers call meanwhile is not
//! traced.

use std::cell::Cell;

use crate::seat::{Seat, Seats};

/// The seats of all threads of this process.
pub static SEATS: Seats = Seats::new();

struct Local {
    inside: Cell<bool>,
    seat: Cell<Option<&'static Seat>>,
}

thread_local! {
    // Nothing to drop: it is there to the thread's very end.
    static LOCAL: Local = const { Local { inside: Cell::new(false), seat: Cell::new(None) } };
    static AT_EXIT: AtExit = const { AtExit };
}

/// Leaves the thread's seat to others when the thread ends.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(seat) = LOCAL.with(|local| local.seat.take()) {
            SEATS.give_back(seat);
        }
    }
}

/// This thread is inside a traced call.
#[derive(Debug)]
pub struct Inside {
    pub seat: &'static Seat,
    /// The thread is ending and its destructors have run, so nobody gives the seat back later.
    is_for_once: bool,
}

impl Inside {
    /// None where the thread is inside already.
    pub fn enter() -> Option<Self> {
        LOCAL.with(|local| {
            // First of all, so that a signal's handler from here on finds the thread inside.
            if local.inside.replace(true) {
                return None;
            }
            let seat = local.seat.get();
            Some(
                seat.map_or_else(
                    || Self::sit_down(local),
                    |seat| Self { seat, is_for_once: false },
                ),
            )
        })
    }

    #[cold]
    fn sit_down(local: &Local) -> Self {
        let seat = SEATS.claim();
        let is_for_once = AT_EXIT.try_with(|_| ()).is_err();
        if !is_for_once {
            local.seat.set(Some(seat));
        }
        Self { seat, is_for_once }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.is_for_once {
            SEATS.give_back(self.seat);
        }
        LOCAL.with(|local| local.inside.set(false));
    }
}

/// This thread waits for calls of others to end.
#[derive(Debug)]
pub struct Waiting {
    seat: Option<&'static Seat>,
}

impl Waiting {
    pub fn begin() -> Self {
        let seat = LOCAL.with(|local| local.seat.get());
        let seat = seat.filter(|seat| !seat.held().is_null());
        if let Some(seat) = seat {
            seat.set_waits(true);
        }
        Self { seat }
    }

    /// Whether the call of `other` is one to wait for: not this thread's own, and, from inside a call,
    /// none that waits in the same way. So nobody waits for who waits for them.
    pub fn is_for(&self, other: &Seat) -> bool {
        self.seat.is_none_or(|own| !std::ptr::eq(own, other) && !other.waits())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            seat.set_waits(false);
        }
    }
}
