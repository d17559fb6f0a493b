//! `Roster`: the enabled tracers' callbacks at one moment, by function. Never changes.

use std::ffi::c_void;

use crate::tracers::TracerId;

/// A callback of some type; whoever registers it knows which.
pub type Callback = unsafe extern "C" fn();

/// When a callback runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Prologue,
    Epilogue,
}

/// What a tracer gets back in every callback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserData(pub *mut c_void);

// SAFETY: the pointer is handed on and never followed.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// A tracer's callbacks of one function; at least one of them where it stands in a roster.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pair {
    pub prologue: Option<Callback>,
    pub epilogue: Option<Callback>,
}

impl Pair {
    pub fn of_mut(&mut self, moment: Moment) -> &mut Option<Callback> {
        match moment {
            Moment::Prologue => &mut self.prologue,
            Moment::Epilogue => &mut self.epilogue,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.prologue.is_none() && self.epilogue.is_none()
    }
}

/// What one tracer does around one function.
#[derive(Debug)]
pub(crate) struct Hook {
    pub tracer: TracerId,
    pub user_data: UserData,
    pub pair: Pair,
}

#[derive(Debug)]
pub(crate) struct Roster {
    /// By function.
    hooks: Box<[Box<[Hook]>]>,
}

impl Roster {
    /// `hooks_of` says what is done around a function, in order.
    pub fn new<I: Iterator<Item = Hook>>(functions: usize, hooks_of: impl Fn(usize) -> I) -> Self {
        Self { hooks: (0..functions).map(|function| hooks_of(function).collect()).collect() }
    }

    /// What is done around a call of `function`.
    #[inline(always)]
    pub fn hooks(&self, function: usize) -> &[Hook] {
        self.hooks.get(function).map_or(&[], |hooks| hooks)
    }

    /// Whether a call of `function` runs callbacks of `tracer`.
    pub fn concerns(&self, function: usize, tracer: TracerId) -> bool {
        self.hooks(function).iter().any(|hook| hook.tracer == tracer)
    }
}
