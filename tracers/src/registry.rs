//! `Registry`: all tracers, the order of the enabled ones, and replaced rosters that calls may still hold. An enabled
//! tracer is refused changes of its callbacks and its destruction; a draining one changes of its callbacks, enabling
//! and disabling. A roster is freed when no call holds it.
//!
//! [`crate::Tracers`] protects it with its lock.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::current::is_held;
use crate::roster::{Hook, Pair, Roster, UserData};
use crate::seat::Seat;
use crate::thread::seats;
use crate::tracer::{Refusal, TracerId};

#[derive(Debug)]
pub(crate) struct Registry {
    tracers: BTreeMap<TracerId, Tracer>,
    /// Enabled tracers, in the order in which they were enabled.
    enabled: Vec<TracerId>,
    retired: Vec<Retired>,
    last_id: usize,
}

#[derive(Debug)]
struct Tracer {
    user_data: UserData,
    pairs: BTreeMap<usize, Pair>,
}

/// A roster that was replaced, allocated as a box.
#[derive(Debug)]
struct Retired(*mut Roster);

// SAFETY: the roster is only read, and only the owner of the registry frees it.
unsafe impl Send for Retired {}

impl Registry {
    /// Creates an empty registry.
    pub const fn new() -> Self {
        Self { tracers: BTreeMap::new(), enabled: Vec::new(), retired: Vec::new(), last_id: 0 }
    }

    /// Adds a disabled tracer without callbacks.
    pub fn add(&mut self, user_data: *mut c_void) -> TracerId {
        self.last_id += 1;
        let id = TracerId::new(self.last_id);
        self.tracers.insert(id, Tracer { user_data: UserData(user_data), pairs: BTreeMap::new() });
        id
    }

    /// Whether a tracer is enabled; an error if it does not exist.
    pub fn is_enabled(&self, tracer: TracerId) -> Result<bool, Refusal> {
        let known = self.tracers.contains_key(&tracer);
        if known { Ok(self.enabled.contains(&tracer)) } else { Err(Refusal::Unknown) }
    }

    /// Returns the callbacks of a tracer; refused while it is enabled or draining.
    pub fn pairs_mut(&mut self, tracer: TracerId) -> Result<&mut BTreeMap<usize, Pair>, Refusal> {
        if self.is_enabled(tracer)? {
            return Err(Refusal::Enabled);
        }
        if self.is_in_flight(tracer, |_| true) {
            return Err(Refusal::Draining);
        }
        let tracer = self.tracers.get_mut(&tracer).ok_or(Refusal::Unknown)?;
        Ok(&mut tracer.pairs)
    }

    /// Enables or disables a tracer; returns whether that changed anything.
    pub fn set_enabled(&mut self, tracer: TracerId, enable: bool) -> Result<bool, Refusal> {
        let is_enabled = self.is_enabled(tracer)?;
        if !is_enabled && self.is_in_flight(tracer, |_| true) {
            return Err(Refusal::Draining);
        }
        match (is_enabled, enable) {
            (false, true) => self.enabled.push(tracer),
            (true, false) => self.enabled.retain(|enabled| *enabled != tracer),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Removes a tracer; refused while it is enabled. Calls may still run its callbacks.
    pub fn remove(&mut self, tracer: TracerId) -> Result<(), Refusal> {
        if self.is_enabled(tracer)? {
            return Err(Refusal::Enabled);
        }
        self.tracers.remove(&tracer);
        Ok(())
    }

    /// Builds the roster of the enabled tracers; `None` if no tracer is enabled.
    pub fn roster(&self, functions: usize) -> Option<Roster> {
        let hook = |id: TracerId, function: usize| {
            let tracer = self.tracers.get(&id)?;
            let pair = *tracer.pairs.get(&function)?;
            (!pair.is_empty()).then_some(Hook { tracer: id, user_data: tracer.user_data, pair })
        };
        let hooks_of = |function| self.enabled.iter().filter_map(move |id| hook(*id, function));
        (!self.enabled.is_empty()).then(|| Roster::new(functions, hooks_of))
    }

    /// Takes ownership of a replaced `roster`, which is null or was allocated as a box.
    pub fn retire(&mut self, roster: *mut Roster) {
        if !roster.is_null() {
            self.retired.push(Retired(roster));
        }
        self.free();
    }

    /// Whether a call in a seat for which `matters` returns true runs callbacks of `tracer`, which is not enabled.
    pub fn is_in_flight(&mut self, tracer: TracerId, matters: impl Fn(&Seat) -> bool) -> bool {
        self.free();
        self.retired.iter().any(|retired| {
            // SAFETY: only `free` frees retired rosters, and removes them from the list.
            let roster = unsafe { &*retired.0 };
            let mut holders = seats().iter().filter(|seat| seat.held() == retired.0.cast());
            holders.any(|seat| roster.concerns(seat.function(), tracer) && matters(seat))
        })
    }

    /// Frees the rosters that no call holds.
    fn free(&mut self) {
        self.retired.retain(|retired| {
            let held = is_held(seats(), retired.0);
            if !held {
                // SAFETY: allocated as a box and replaced; no call holds it, and no later call can (HOLD).
                drop(unsafe { Box::from_raw(retired.0) });
            }
            held
        });
    }
}
