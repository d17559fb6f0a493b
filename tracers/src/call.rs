//! `Call`: one traced call, from before its first prologue to after its last epilogue.

use std::ffi::c_void;
use std::ptr;

use crate::roster::{Callback, Hook, Roster};
use crate::thread::Inside;
use crate::tracers::Tracers;

/// Holds the roster that the call began with; while it lives, no other call of this thread is traced.
///
/// Stays in the thread that began it.
#[derive(Debug)]
pub struct Call<'a> {
    hooks: &'a [Hook],
    /// One for each hook, of this thread's seat.
    instances: *mut *mut c_void,
    /// When it is dropped, the roster is not held any more.
    _inside: Inside,
}

impl<'a> Call<'a> {
    /// None where nothing is traced: no tracer is enabled, or the thread is inside a traced call.
    #[inline(always)]
    pub fn begin(tracers: &'a Tracers, function: usize) -> Option<Self> {
        let inside = Inside::enter()?;
        let seat = inside.seat;
        let roster = tracers.current().hold(seat, function)?;
        // SAFETY: held by this thread's seat until `inside` is dropped.
        let roster: &'a Roster = unsafe { roster.as_ref() };
        let hooks = roster.hooks(function);
        if hooks.is_empty() {
            // Still inside, but nobody need wait for this call.
            seat.release();
        }
        // SAFETY: this thread's seat, and a thread is inside one call only.
        let instances = unsafe { seat.instances(hooks.len()) };
        Some(Self { hooks, instances, _inside: inside })
    }

    /// Has `run` called with each prologue, its tracer's user data, and the place for what the tracer
    /// keeps for the epilogue; in the order in which the tracers were enabled.
    #[inline]
    pub fn prologues(&mut self, mut run: impl FnMut(Callback, *mut c_void, &mut *mut c_void)) {
        self.each(|hook, instance| {
            *instance = ptr::null_mut();
            if let Some(prologue) = hook.pair.prologue {
                run(prologue, hook.user_data.0, instance);
            }
        });
    }

    /// The same with each epilogue, in the same order; after the prologues.
    #[inline]
    pub fn epilogues(&mut self, mut run: impl FnMut(Callback, *mut c_void, &mut *mut c_void)) {
        self.each(|hook, instance| {
            if let Some(epilogue) = hook.pair.epilogue {
                run(epilogue, hook.user_data.0, instance);
            }
        });
    }

    #[inline]
    fn each(&mut self, mut run: impl FnMut(&Hook, &mut *mut c_void)) {
        for (at, hook) in self.hooks.iter().enumerate() {
            // SAFETY: there is one for each hook.
            let instance = unsafe { self.instances.add(at) };
            // SAFETY: the seat's own, which nobody else touches during the call.
            run(hook, unsafe { &mut *instance });
        }
    }
}
