//! `Tracers`: the tracers of one API, and what tools do with them.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::call::Call;
use crate::current::Current;
use crate::patience::Patience;
use crate::registry::Registry;
use crate::roster::{Callback, Moment, Roster};
use crate::thread::{Waiting, guard_forks};

/// Names a tracer; never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TracerId(usize);

impl TracerId {
    /// What [`TracerId::number`] gave; of a number that none gave, nothing is known.
    pub fn new(number: usize) -> Self {
        Self(number)
    }

    /// Not zero.
    pub fn number(self) -> usize {
        self.0
    }
}

/// Why something can't be done with a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no such tracer")]
    Unknown,
    #[error("the tracer is enabled")]
    Enabled,
    #[error("calls that began while the tracer was enabled have not ended")]
    Draining,
}

/// What calls that begin from now on are traced of.
#[derive(Debug)]
pub struct Traced<'a>(Option<&'a Roster>);

impl Traced<'_> {
    /// Whether any tracer is enabled.
    pub fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// Whether an enabled tracer has a callback for `function`.
    pub fn has(&self, function: usize) -> bool {
        self.0.is_some_and(|roster| !roster.hooks(function).is_empty())
    }
}

/// Functions are numbers below the count that it was made for. Meant to live as long as the process:
/// what is current is not freed with it.
#[derive(Debug)]
pub struct Tracers {
    functions: usize,
    /// Told what is traced, whenever that may have changed; one call at a time.
    switch: fn(&Traced<'_>),
    current: Current<Roster>,
    /// Held for a moment only: never while anybody waits, in a callback, or in a call.
    registry: Mutex<Registry>,
}

impl Tracers {
    /// `switch` must not use these tracers.
    pub const fn new(functions: usize, switch: fn(&Traced<'_>)) -> Self {
        Self { functions, switch, current: Current::none(), registry: Mutex::new(Registry::new()) }
    }

    /// A tracer that is disabled and has no callbacks.
    pub fn create(&self, user_data: *mut c_void) -> TracerId {
        guard_forks();
        self.registry().add(user_data)
    }

    /// Sets what runs around `function`; none for nothing.
    pub fn register(
        &self,
        tracer: TracerId,
        function: usize,
        moment: Moment,
        callback: Option<Callback>,
    ) -> Result<(), Refusal> {
        self.register_all(tracer, moment, [(function, callback)])
    }

    /// The same for several functions; others keep what they have.
    pub fn register_all(
        &self,
        tracer: TracerId,
        moment: Moment,
        callbacks: impl IntoIterator<Item = (usize, Option<Callback>)>,
    ) -> Result<(), Refusal> {
        let mut registry = self.registry();
        let pairs = registry.pairs_mut(tracer)?;
        for (function, callback) in callbacks {
            *pairs.entry(function).or_default().of_mut(moment) = callback;
        }
        Ok(())
    }

    /// Takes back all callbacks.
    pub fn reset(&self, tracer: TracerId) -> Result<(), Refusal> {
        self.registry().pairs_mut(tracer)?.clear();
        Ok(())
    }

    /// Enables or disables; a tracer that is so already stays so, and keeps its place in the order. One
    /// that is disabled here drains, and can be enabled again when the calls that hold it have ended.
    pub fn set_enabled(&self, tracer: TracerId, enable: bool) -> Result<(), Refusal> {
        let mut registry = self.registry();
        if !registry.set_enabled(tracer, enable)? {
            return Ok(());
        }
        let roster = registry.roster(self.functions);
        let new = roster.map_or(ptr::null_mut(), |roster| Box::into_raw(Box::new(roster)));
        let old = self.current.replace(new);
        // SAFETY: null, or just made; who would replace and free it waits for the registry.
        (self.switch)(&Traced(unsafe { new.as_ref() }));
        registry.retire(old);
        Ok(())
    }

    /// Forgets a tracer. When this returns, no callback of it runs any more or ever will.
    ///
    /// It waits for the calls that run this tracer's callbacks, and for no others. From inside a traced
    /// call two kinds are excepted, which could not end before this returns: that call itself, and calls
    /// that wait in here as well. Their epilogues, this tracer's among them, run afterwards.
    pub fn destroy(&self, tracer: TracerId) -> Result<(), Refusal> {
        self.registry().remove(tracer)?;
        let waiting = Waiting::begin();
        let mut patience = Patience::new();
        while self.registry().is_in_flight(tracer, |seat| waiting.is_for(seat)) {
            patience.pause();
        }
        Ok(())
    }

    /// Begins a call of `function`; none where nothing is traced.
    #[inline(always)]
    pub fn begin(&self, function: usize) -> Option<Call<'_>> {
        Call::begin(self, function)
    }

    #[inline]
    pub(crate) fn current(&self) -> &Current<Roster> {
        &self.current
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        // Nothing in here panics half-way through a change.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
