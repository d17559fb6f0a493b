//! Faults that the simulation's tests inject to check that they are found. The daemon itself has none.

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A round reads all heads only once.
    OneReading,
    /// The second reading of heads leaves out slots that were used for the first time since the first one.
    SlotsReadOnce,
    /// The slot of a thread that is gone is freed while its ring has records.
    FreedUnread,
    /// A capture that begins late counts from the records produced by then, and not from those given out.
    BegunTooLate,
    /// Records that a capture misses are not counted.
    MissedUncounted,
    /// Ring space of blocks that were put aside is not released.
    SpaceKept,
    /// Ring space is released before its records are written.
    SpaceGivenEarly,
    /// Ring space of the block that a stream's reader does not accept is not released.
    SpaceKeptForReader,
    /// The keyframe that a capture waits for is not requested.
    NotAsked,
    /// Records that a program writes before it notices the end of a capture go into the next one.
    EarlierTaken,
}

/// Returns whether the fault is injected in this thread.
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

/// Injects faults, for the tests.
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

    /// Calls `does` in this thread whenever the drain has looked at a ring and is about to look at the next one.
    /// `None` ends that.
    pub fn set_between_looks(does: Option<Rc<dyn Fn()>>) {
        BETWEEN_LOOKS.set(does);
    }

    /// Runs the function of [`set_between_looks`], if one is set: the drain has just looked at a ring.
    pub fn between_looks() {
        if let Some(does) = BETWEEN_LOOKS.with_borrow(Option::clone) {
            does();
        }
    }

    /// Runs `does` with a fault, or without one.
    pub fn with<T>(fault: Option<Fault>, does: impl FnOnce() -> T) -> T {
        PUT_IN.set(fault);
        let done = does();
        PUT_IN.set(None);
        done
    }
}
