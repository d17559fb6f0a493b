//! `Call`: one traced call, from its first prologue to its last epilogue. A call from inside another traced call of the
//! thread is not traced. Prologues and epilogues both run in the order in which the tracers were enabled, each epilogue
//! with the pointer that its tracer's prologue left.

use std::ffi::c_void;
use std::ptr;

use crate::current::Current;
use crate::roster::{Callback, Hook, Roster};
use crate::thread::Inside;

/// Holds the roster that was current when the call began. While it lives, no other call of this thread is traced.
///
/// Not `Send`: it stays on the thread that began it.
#[derive(Debug)]
pub struct Call<'a> {
    hooks: &'a [Hook],
    /// One pointer per hook, in this thread's seat.
    instances: *mut *mut c_void,
    /// Releases the roster when it is dropped.
    _inside: Inside,
}

impl<'a> Call<'a> {
    /// Begins a call of `function`; `None` if no tracer is enabled or the thread is inside a traced call.
    #[inline(always)]
    pub(crate) fn begin(current: &'a Current<Roster>, function: usize) -> Option<Self> {
        let inside = Inside::enter()?;
        let seat = inside.seat;
        let roster = current.hold(seat, function)?;
        // SAFETY: this thread's seat holds it until `inside` is dropped.
        let roster: &'a Roster = unsafe { roster.as_ref() };
        let hooks = roster.hooks(function);
        if hooks.is_empty() {
            // The thread is still inside a call, but no other thread needs to wait for it.
            seat.release();
        }
        // SAFETY: this thread owns the seat, and is inside only one call.
        let instances = unsafe { seat.instances(hooks.len()) };
        Some(Self { hooks, instances, _inside: inside })
    }

    /// Calls `run` for each prologue, in the order in which the tracers were enabled, with the tracer's user data and
    /// a pointer that the prologue can set for the epilogue; it is null at first.
    #[inline]
    pub fn prologues(&mut self, mut run: impl FnMut(Callback, *mut c_void, &mut *mut c_void)) {
        self.each(|hook, instance| {
            *instance = ptr::null_mut();
            if let Some(prologue) = hook.pair.prologue {
                run(prologue, hook.user_data.0, instance);
            }
        });
    }

    /// Calls `run` for each epilogue, in the same order, with the pointer that the prologue left. Call it after
    /// [`Self::prologues`].
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
            // SAFETY: the seat has one pointer per hook.
            let instance = unsafe { self.instances.add(at) };
            // SAFETY: only this call accesses the seat's pointers.
            run(hook, unsafe { &mut *instance });
        }
    }
}
