//! `Roster`: an immutable list of the enabled tracers' callbacks, by function.

use std::ffi::c_void;

use crate::tracer::TracerId;

/// A callback with its type erased; the code that registers it knows the type.
pub type Callback = unsafe extern "C" fn();

/// When a callback runs, relative to the traced call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the call.
    Prologue,
    /// After the call.
    Epilogue,
}

/// The pointer that every callback of a tracer receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserData(pub *mut c_void);

// SAFETY: this crate passes the pointer on and never dereferences it.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// A tracer's callbacks for one function. In a roster, at least one of them is set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pair {
    pub prologue: Option<Callback>,
    pub epilogue: Option<Callback>,
}

impl Pair {
    /// Returns the callback for a moment.
    pub fn of_mut(&mut self, moment: Moment) -> &mut Option<Callback> {
        match moment {
            Moment::Prologue => &mut self.prologue,
            Moment::Epilogue => &mut self.epilogue,
        }
    }

    /// Whether no callback is set.
    pub fn is_empty(&self) -> bool {
        self.prologue.is_none() && self.epilogue.is_none()
    }
}

/// One tracer's callbacks around one function.
#[derive(Debug)]
pub(crate) struct Hook {
    pub tracer: TracerId,
    pub user_data: UserData,
    pub pair: Pair,
}

#[derive(Debug)]
pub(crate) struct Roster {
    /// Hooks by function.
    hooks: Box<[Box<[Hook]>]>,
}

impl Roster {
    /// Builds a roster; `hooks_of` yields the hooks of a function in the order in which they run.
    pub fn new<I: Iterator<Item = Hook>>(functions: usize, hooks_of: impl Fn(usize) -> I) -> Self {
        Self { hooks: (0..functions).map(|function| hooks_of(function).collect()).collect() }
    }

    /// Returns the hooks of `function`, in the order in which they run; empty for an unknown function.
    #[inline(always)]
    pub fn hooks(&self, function: usize) -> &[Hook] {
        self.hooks.get(function).map_or(&[], |hooks| hooks)
    }

    /// Whether a call of `function` runs callbacks of `tracer`.
    pub fn concerns(&self, function: usize, tracer: TracerId) -> bool {
        self.hooks(function).iter().any(|hook| hook.tracer == tracer)
    }
}
