//! `Tracers`: the tracers of one API, and the operations of tools on them. `destroy` waits, without a limit of time,
//! for the calls that run the tracer's callbacks, and for no others; from inside a traced call it waits neither for
//! that call nor for calls that wait in `destroy`, too, whose epilogues then still run.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::call::Call;
use crate::current::Current;
use crate::patience::Patience;
use crate::registry::Registry;
use crate::roster::{Callback, Moment, Roster};
use crate::thread::{Waiting, guard_forks};
use crate::tracer::{Refusal, TracerId};

/// The functions that are traced in calls that begin from now on.
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

/// The tracers of one API. Functions are numbers below the count passed to [`Tracers::new`].
///
/// Lives as long as the process: dropping it does not free the current roster.
#[derive(Debug)]
pub struct Tracers {
    functions: usize,
    /// Called whenever the set of traced functions may have changed; never concurrently.
    switch: fn(&Traced<'_>),
    current: Current<Roster>,
    /// Never held while waiting, in a callback, or during a traced call.
    registry: Mutex<Registry>,
}

impl Tracers {
    /// Creates an empty set of tracers. `switch` must not use this value.
    pub const fn new(functions: usize, switch: fn(&Traced<'_>)) -> Self {
        Self { functions, switch, current: Current::none(), registry: Mutex::new(Registry::new()) }
    }

    /// Creates a disabled tracer without callbacks.
    pub fn create(&self, user_data: *mut c_void) -> TracerId {
        guard_forks();
        self.registry().add(user_data)
    }

    /// Sets the callback of `tracer` at `moment` of calls of `function`; `None` removes it.
    pub fn register(
        &self,
        tracer: TracerId,
        function: usize,
        moment: Moment,
        callback: Option<Callback>,
    ) -> Result<(), Refusal> {
        self.register_all(tracer, moment, [(function, callback)])
    }

    /// Sets the callbacks of several functions; callbacks of other functions are unchanged.
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

    /// Removes all callbacks of `tracer`.
    pub fn reset(&self, tracer: TracerId) -> Result<(), Refusal> {
        self.registry().pairs_mut(tracer)?.clear();
        Ok(())
    }

    /// Enables or disables `tracer`. Does nothing if it is in that state already; its place in the order is kept.
    /// A tracer that is disabled here drains: it can be enabled again when the calls that hold it have ended.
    pub fn set_enabled(&self, tracer: TracerId, enable: bool) -> Result<(), Refusal> {
        let mut registry = self.registry();
        if !registry.set_enabled(tracer, enable)? {
            return Ok(());
        }
        let roster = registry.roster(self.functions);
        let new = roster.map_or(ptr::null_mut(), |roster| Box::into_raw(Box::new(roster)));
        let old = self.current.replace(new);
        // SAFETY: null, or just allocated; replacing and freeing it needs the registry's lock, which is held here.
        (self.switch)(&Traced(unsafe { new.as_ref() }));
        registry.retire(old);
        Ok(())
    }

    /// Destroys a tracer. After it returns, no callback of the tracer runs any more, with the exception below.
    ///
    /// Waits for the calls that run this tracer's callbacks, and for no others. When called from inside a traced
    /// call, it does not wait for that call itself, nor for calls that also wait in `destroy`: neither could end
    /// before this returns. Their epilogues, including this tracer's, run afterwards.
    pub fn destroy(&self, tracer: TracerId) -> Result<(), Refusal> {
        self.registry().remove(tracer)?;
        let waiting = Waiting::begin();
        let mut patience = Patience::new();
        while self.registry().is_in_flight(tracer, |seat| waiting.is_for(seat)) {
            patience.pause();
        }
        Ok(())
    }

    /// Begins a traced call of `function`; `None` if the call is not traced.
    #[inline(always)]
    pub fn begin(&self, function: usize) -> Option<Call<'_>> {
        Call::begin(&self.current, function)
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        // A poisoned lock is usable: no code panics half-way through a change.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
