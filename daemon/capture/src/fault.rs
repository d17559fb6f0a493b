//! Mistakes that the simulation's tests put in on purpose, to see that it finds them. In the daemon itself
//! there are none.

/// A mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A round reads all heads once, and not again.
    OneReading,
    /// The slot of a thread that is gone is freed while its ring has records.
    FreedUnread,
    /// A capture that begins late counts from what was produced by then, not from what was given out.
    BegunTooLate,
    /// What a capture misses is not counted.
    MissedUncounted,
    /// Ring space of blocks that were put aside is not given back.
    SpaceKept,
    /// Ring space is given back before what was there is written.
    SpaceGivenEarly,
    /// The keyframe that a capture waits for is not asked for.
    NotAsked,
}

/// Whether it is put in, in this thread.
#[inline]
pub fn is_put_in(fault: Fault) -> bool {
    #[cfg(test)]
    return putting_in::is_put_in(fault);
    #[cfg(not(test))]
    {
        let _ = fault;
        false
    }
}

/// What the tests use to put mistakes in.
#[cfg(test)]
pub mod putting_in {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::Fault;

    thread_local! {
        static BETWEEN_LOOKS: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
        static PUT_IN: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    pub(super) fn is_put_in(fault: Fault) -> bool {
        PUT_IN.get() == Some(fault)
    }

    /// Has `does` called in this thread wherever the drain has looked at a ring and is about to look at the
    /// next one; `None` ends that.
    pub fn set_between_looks(does: Option<Rc<dyn Fn()>>) {
        BETWEEN_LOOKS.set(does);
    }

    /// The drain has looked at a ring: whatever runs beside it goes on.
    pub fn between_looks() {
        if let Some(does) = BETWEEN_LOOKS.with_borrow(Option::clone) {
            does();
        }
    }

    /// Does something with a mistake in it, or without one.
    pub fn with<T>(fault: Option<Fault>, does: impl FnOnce() -> T) -> T {
        PUT_IN.set(fault);
        let done = does();
        PUT_IN.set(None);
        done
    }
}
