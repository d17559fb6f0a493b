//! What the shim keeps of the program's state: whose it is, and who may touch it now.
//!
//! Each thread that uses EGL has a [`gapii_state::Thread`], which owns its context while that is
//! current. Generated code changes it: handlers of recorded commands by [`touch`], trackers of
//! commands that are not recorded by [`Tracker`]. Only the thread itself touches it, for one command
//! at a time: what a driver, a signal handler or a callback calls meanwhile goes straight on.

use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use std::sync::Arc;

use gapii_state::{Ignore, Observer, Process, Thread};

use crate::errno::ErrnoGuard;
use crate::hooks::{self, Scope};
use crate::program_memory::ProgramMemory;
use crate::seats;
use crate::thread_exit::ThreadExit;
use crate::tls::{Words, words};

/// What all threads of the process share; null until the first context, and in a forked child.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// A recorded command that can be told what memory it touches.
pub trait Touches {
    /// It touches `len` bytes at `address`, on behalf of the parameter of index `param`, or of none
    /// (255). They need not be readable.
    fn range(&mut self, param: u8, address: u64, len: u64);

    /// The next range is not joined to the one before.
    fn apart(&mut self);
}

/// Hands what a description observes to the command's record, if it has one.
pub struct Seen<'a, T>(Option<&'a mut T>);

impl<T: Touches> Observer for Seen<'_, T> {
    #[inline]
    fn range(&mut self, param: u8, address: u64, len: u64) {
        if let Some(call) = &mut self.0 {
            call.range(param, address, len);
        }
    }

    #[inline]
    fn apart(&mut self) {
        if let Some(call) = &mut self.0 {
            call.apart();
        }
    }
}

/// Has `act` change the state of the thread that makes a recorded command of OpenGL ES, if the shim
/// keeps any, and name the memory that the command touches.
///
/// # Safety
/// The call is this thread's, so that no other of its commands is followed.
#[inline(always)]
pub unsafe fn touch<T: Touches>(
    call: &mut T,
    act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Seen<'_, T>),
) {
    // SAFETY: the caller has the thread to itself.
    if let Some(thread) = unsafe { state() } {
        act(thread, &ProgramMemory, &mut Seen(Some(call)));
    }
}

/// As [`touch`], for commands of EGL and Level Zero, recorded or not: a thread's state begins with one.
///
/// # Safety
/// No other command of this thread is followed: it holds a call or a [`Scope`].
pub unsafe fn touch_process<T: Touches>(
    call: Option<&mut T>,
    act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Seen<'_, T>),
) {
    // SAFETY: the caller has the thread to itself.
    let thread = unsafe { state_or_new() };
    act(thread, &ProgramMemory, &mut Seen(call));
}

/// A command that is not recorded but changes state. While it lives, commands of this thread that
/// come from inside go straight on.
pub struct Tracker {
    thread: &'static mut Thread,
    _scope: Scope,
}

impl Tracker {
    /// `None`: nothing is kept of this thread, or the command comes from inside another.
    #[inline(always)]
    pub fn begin() -> Option<Tracker> {
        // SAFETY: this thread's own words, and no other reference to them is alive.
        let words = unsafe { &mut *words() };
        if words.state.is_null() {
            return None;
        }
        let scope = hooks::enter_gl(words)?;
        // SAFETY: made by `state_or_new` and alive until the thread ends; the scope keeps other
        // commands of this thread away.
        let thread = unsafe { words.state.as_mut() }?;
        Some(Tracker { thread, _scope: scope })
    }

    /// As [`Tracker::begin`], for commands of EGL and Level Zero: a thread's state begins with one.
    pub fn begin_process() -> Option<Tracker> {
        let scope = hooks::enter()?;
        // SAFETY: the scope keeps other commands of this thread away.
        Some(Tracker { thread: unsafe { state_or_new() }, _scope: scope })
    }

    #[inline(always)]
    pub fn update(&mut self, act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Ignore)) {
        act(self.thread, &ProgramMemory, &mut Ignore);
    }
}

/// This thread's state, if it has any.
///
/// # Safety
/// The thread is inside the shim, and no other reference to its state is alive.
#[inline(always)]
pub unsafe fn state() -> Option<&'static mut Thread> {
    // SAFETY: this thread's own words.
    let state = unsafe { (*words()).state };
    // SAFETY: null, or made by `state_or_new` and alive until the thread ends.
    unsafe { state.as_mut() }
}

/// As [`state`], made if there is none.
///
/// # Safety
/// As for [`state`].
pub unsafe fn state_or_new() -> &'static mut Thread {
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    if words.state.is_null() {
        // The heap changes no errno; setting the key might.
        let _errno = ErrnoGuard::new();
        let id = words as *const Words as u64;
        words.state = Box::into_raw(Box::new(Thread::new(process(), id)));
        notice_exit(words.state);
    }
    // SAFETY: not null any more, and the caller has it to itself.
    unsafe { &mut *words.state }
}

fn process() -> Arc<Process> {
    let mut known = PROCESS.load(Acquire);
    if known.is_null() {
        let fresh = Arc::into_raw(Arc::new(Process::default())).cast_mut();
        match PROCESS.compare_exchange(ptr::null_mut(), fresh, Release, Acquire) {
            Ok(_) => known = fresh,
            Err(first) => {
                // SAFETY: nobody has seen it.
                drop(unsafe { Arc::from_raw(fresh) });
                known = first;
            }
        }
    }
    // SAFETY: made by `Arc::into_raw` and never given back.
    unsafe { Arc::increment_strong_count(known) };
    // SAFETY: the count was just raised for this one.
    unsafe { Arc::from_raw(known) }
}

/// Has forked children begin anew. What the parent had stays as it is: another thread of the parent
/// may have been changing it. Once a process.
pub fn guard_forks() {
    // SAFETY: the handler does nothing but store, and goes away with the library.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
}

extern "C" fn forget() {
    PROCESS.store(ptr::null_mut(), Release);
    seats::forget();
    // SAFETY: this thread's own words.
    unsafe { (*words()).state = ptr::null_mut() };
}

/// Has the thread's state given back when the thread ends.
fn notice_exit(state: *mut Thread) {
    static EXIT: ThreadExit = ThreadExit::new(retire);
    EXIT.notice(state.cast());
}

unsafe extern "C" fn retire(state: *mut libc::c_void) {
    let _errno = ErrnoGuard::new();
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    if ptr::eq(words.state.cast(), state) {
        words.state = ptr::null_mut();
        // SAFETY: made by `Box::into_raw`, and nothing leads to it any more.
        let mut thread = unsafe { Box::from_raw(state.cast::<Thread>()) };
        gapii_state::egl::end_thread(&mut thread);
    }
}
