//! Whether commands changed anything: assignments of descriptions, and how many made a difference.
//!
//! Counted in the tools, per thread of the tool; in the shim an assignment is an assignment.

#[cfg(feature = "tools")]
use std::cell::Cell;

/// Assignments since the last look.
#[cfg(feature = "tools")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    pub assignments: u64,
    /// Those that made a value another.
    pub changes: u64,
}

#[cfg(feature = "tools")]
thread_local! {
    static CHANGES: Cell<Changes> = const { Cell::new(Changes { assignments: 0, changes: 0 }) };
}

/// What was counted in this thread since this was called last.
#[cfg(feature = "tools")]
pub fn take() -> Changes {
    CHANGES.take()
}

/// Counts one assignment.
#[cfg(feature = "tools")]
pub fn note(is_change: bool) {
    let Changes { assignments, changes } = CHANGES.get();
    CHANGES.set(Changes { assignments: assignments + 1, changes: changes + u64::from(is_change) });
}

/// Assigns a value to a place of the state.
macro_rules! set {
    ($place:expr, $value:expr) => {{
        let value = $value;
        #[cfg(feature = "tools")]
        $crate::changes::note($place != value);
        $place = value;
    }};
}

pub(crate) use set;

#[cfg(all(test, feature = "tools"))]
mod tests {
    use super::*;

    #[test]
    fn assignments_of_what_is_there_are_no_changes() {
        let mut place = 1;
        take();
        set!(place, 2);
        set!(place, 2);
        assert_eq!(take(), Changes { assignments: 2, changes: 1 });
        assert_eq!((take(), place), (Changes::default(), 2));
    }
}
