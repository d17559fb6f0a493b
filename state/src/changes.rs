//! Counts of the assignments that descriptions make, and of those that change a value, from which `gapii-ctl stats`
//! tells redundant commands. Counted for [`Whole`](crate::Whole) state, per thread of the tool; never in the shim.

use std::cell::Cell;

/// Assignments since the last [`take`] in this thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// All assignments.
    pub assignments: u64,
    /// Assignments that changed the value.
    pub changes: u64,
}

thread_local! {
    static CHANGES: Cell<Changes> = const { Cell::new(Changes { assignments: 0, changes: 0 }) };
}

/// Returns this thread's counts since the last call, and sets them to zero.
pub fn take() -> Changes {
    CHANGES.take()
}

/// Counts one assignment.
pub fn note(is_change: bool) {
    let Changes { assignments, changes } = CHANGES.get();
    CHANGES.set(Changes { assignments: assignments + 1, changes: changes + u64::from(is_change) });
}

/// Assigns a value to a place of state in scope `$scope`.
#[macro_export]
macro_rules! set {
    ($scope:ty, $place:expr, $value:expr) => {{
        let value = $value;
        if <$scope as $crate::Scope>::WHOLE {
            $crate::changes::note($place != value);
        }
        $place = value;
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tracked, Whole};

    #[test]
    fn assignment_of_the_current_value_is_not_a_change() {
        let mut place = 1;
        take();
        set!(Whole, place, 2);
        set!(Whole, place, 2);
        assert_eq!(take(), Changes { assignments: 2, changes: 1 });
        assert_eq!((take(), place), (Changes::default(), 2));
    }

    #[test]
    fn assignments_to_tracked_state_are_not_counted() {
        let mut place = 1;
        take();
        set!(Tracked, place, 2);
        assert_eq!((take(), place), (Changes::default(), 2));
    }
}
