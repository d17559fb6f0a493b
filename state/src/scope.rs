//! Scopes of state: the fields that the shim needs ([`Tracked`]), or all fields that the descriptions declare
//! ([`Whole`]). A statement that uses a field which is not tracked is not compiled for the shim.
//!
//! State is generic over a [`Scope`]. The shim tracks a program with [`Tracked`] state, the tools follow
//! a trace with [`Whole`] state. Both run the same functions. An untracked field has
//! the type [`Scope::Only`], which has no size in [`Tracked`] state. Statements that use it have the condition
//! `S::WHOLE`, so they are not compiled for [`Tracked`] state. docs/decisions/state-scopes.md has the
//! reasons.

use std::any::Any;
use std::fmt::Debug;

/// The set of fields that state has.
pub trait Scope: Copy + Default + PartialEq + Debug + 'static {
    /// Whether the state has all fields.
    const WHOLE: bool;

    /// The type of a field that only [`Whole`] state has.
    type Only<T: Debug>: Debug;

    /// The initial value of a field that only [`Whole`] state has.
    fn only<T: Debug>(make: impl FnOnce() -> T) -> Self::Only<T>;
}

/// The fields that the shim keeps at run time: observations depend on them, or no query of the driver returns
/// their values.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Tracked;

impl Scope for Tracked {
    const WHOLE: bool = false;

    type Only<T: Debug> = ();

    #[inline(always)]
    fn only<T: Debug>(_make: impl FnOnce() -> T) {}
}

/// Every field that the descriptions declare.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Whole;

impl Scope for Whole {
    const WHOLE: bool = true;

    type Only<T: Debug> = T;

    #[inline(always)]
    fn only<T: Debug>(make: impl FnOnce() -> T) -> T {
        make()
    }
}

/// A type of state that exists in every scope.
pub trait Scoped: Any + Sized {
    /// The scope of this state.
    type Scope: Scope;

    /// The same type in the scope [`Whole`].
    type Whole: Any;

    /// This value, if it is whole; `None` in every other scope.
    ///
    /// Generated code tests `S::WHOLE` first. The condition is constant, so the compiler drops the guarded code
    /// when it compiles functions for [`Tracked`] state.
    #[inline(always)]
    fn whole(&mut self) -> Option<&mut Self::Whole> {
        match Self::Scope::WHOLE {
            true => (self as &mut dyn Any).downcast_mut(),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Context, Thread};

    #[test]
    fn tracked_state_is_smaller_than_whole_state() {
        assert!(size_of::<Context<Tracked>>() < size_of::<Context<Whole>>());
        assert!(size_of::<Buffer<Tracked>>() < size_of::<Buffer<Whole>>());
        assert_eq!(size_of::<<Tracked as Scope>::Only<[u64; 64]>>(), 0);
    }

    #[test]
    fn only_whole_state_converts_to_whole_state() {
        assert!(Buffer::<Whole>::default().whole().is_some());
        assert!(Buffer::<Tracked>::default().whole().is_none());
        assert!(Thread::<Tracked>::new(Default::default(), 1).whole().is_none());
    }
}
