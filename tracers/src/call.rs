//! `Call`: one traced call, from before its first prologue to after its last epilogue.

use std::ffi::c_void;
use std::marker::PhantomData;

use crate::instances::Instances;
use crate::roster::{Callback, Hook, Roster};
use crate::thread::Inside;
use crate::tracers::Tracers;

/// Holds the roster that the call began with; while it lives, no other call of this thread is traced.
///
/// Stays in the thread that began it.
#[derive(Debug)]
pub struct Call<'a> {
    hooks: &'a [Hook],
    instances: Instances,
    inside: Inside,
    stays: PhantomData<*const ()>,
}

impl<'a> Call<'a> {
    /// None where nothing is traced: no tracer is enabled, or the thread is inside a traced call.
    pub fn begin(tracers: &'a Tracers, function: usize) -> Option<Self> {
        let inside = Inside::enter()?;
        let roster = tracers.current().hold(inside.seat, function)?;
        // SAFETY: held by this thread's seat until the call is dropped.
        let roster: &'a Roster = unsafe { roster.as_ref() };
        let hooks = roster.hooks(function);
        if hooks.is_empty() {
            // Still inside, but nobody need wait for this call.
            inside.seat.release();
            return Some(Self {
                hooks: &[],
                instances: Instances::new(0),
                inside,
                stays: PhantomData,
            });
        }
        Some(Self { hooks, instances: Instances::new(hooks.len()), inside, stays: PhantomData })
    }

    /// Has `run` called with each prologue, its tracer's user data, and the place for what the tracer
    /// keeps for the epilogue; in the order in which the tracers were enabled.
    pub fn prologues(&mut self, run: impl FnMut(Callback, *mut c_void, &mut *mut c_void)) {
        self.each(|hook| hook.pair.prologue, run);
    }

    /// The same with each epilogue, in the same order.
    pub fn epilogues(&mut self, run: impl FnMut(Callback, *mut c_void, &mut *mut c_void)) {
        self.each(|hook| hook.pair.epilogue, run);
    }

    fn each(
        &mut self,
        callback_of: impl Fn(&Hook) -> Option<Callback>,
        mut run: impl FnMut(Callback, *mut c_void, &mut *mut c_void),
    ) {
        for (hook, instance) in self.hooks.iter().zip(self.instances.iter_mut()) {
            if let Some(callback) = callback_of(hook) {
                run(callback, hook.user_data.0, instance);
            }
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.inside.seat.release();
    }
}
