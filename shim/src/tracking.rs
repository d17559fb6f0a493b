//! The state of the program that the shim tracks, by thread, and who may touch it when.
//!
//! Each thread that uses EGL has a [`gapii_state::Thread`], which owns its context while the context is current.
//! Generated code changes it: the handlers of recorded commands through [`touch`], the trackers of commands that are
//! not recorded through [`Tracker`]. Only the thread itself touches its state, for one command at a time. Commands
//! that a driver, a signal handler or a callback calls meanwhile go straight to the driver.

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

/// The state that all threads of the process share; null until the first thread has state, and in a forked child.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// A recorded command that takes the ranges of memory that it touches.
pub trait Touches {
    /// Adds `len` bytes at `address`, which need not be readable. `param` is the index of the parameter that they
    /// belong to, or 255 for none.
    fn range(&mut self, param: u8, address: u64, len: u64);

    /// Keeps the next range from being joined to the one before.
    fn apart(&mut self);
}

/// Passes the ranges that a description observes on to the command's record, if the command is recorded.
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

/// Runs a description for a recorded command of OpenGL ES: `act` changes the thread's state and names the memory that
/// the command touches. Does nothing if the thread has no state.
///
/// # Safety
/// The call belongs to this thread, so no other of the thread's commands is tracked meanwhile.
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

/// Does the same as [`touch`] for commands of EGL and Level Zero, recorded or not. They create the thread's state if
/// it has none.
///
/// # Safety
/// No other command of this thread is tracked meanwhile: the thread holds a call or a [`Scope`].
pub unsafe fn touch_process<T: Touches>(
    call: Option<&mut T>,
    act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Seen<'_, T>),
) {
    // SAFETY: the caller has the thread to itself.
    let thread = unsafe { state_or_new() };
    act(thread, &ProgramMemory, &mut Seen(call));
}

/// A command that is not recorded but changes state. While the tracker lives, commands that are called from inside go
/// straight to the driver.
pub struct Tracker {
    thread: &'static mut Thread,
    _scope: Scope,
}

impl Tracker {
    /// Begins to track a command of OpenGL ES. `None` if the thread has no state, or if the command is called from
    /// inside another.
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

    /// Does the same for commands of EGL and Level Zero, which create the thread's state if it has none.
    pub fn begin_process() -> Option<Tracker> {
        let scope = hooks::enter()?;
        // SAFETY: the scope keeps other commands of this thread away.
        Some(Tracker { thread: unsafe { state_or_new() }, _scope: scope })
    }

    /// Applies the command to the thread's state.
    #[inline(always)]
    pub fn update(&mut self, act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Ignore)) {
        act(self.thread, &ProgramMemory, &mut Ignore);
    }
}

/// Returns this thread's state, if it has any.
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

/// Returns this thread's state, and creates it if needed.
///
/// # Safety
/// As for [`state`].
pub unsafe fn state_or_new() -> &'static mut Thread {
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    if words.state.is_null() {
        // The shim's heap does not change errno, but registering the destructor may.
        let _errno = ErrnoGuard::new();
        let id = words as *const Words as u64;
        words.state = Box::into_raw(Box::new(Thread::new(process(), id)));
        notice_exit(words.state);
    }
    // SAFETY: not null any more, and the caller has exclusive use.
    unsafe { &mut *words.state }
}

fn process() -> Arc<Process> {
    let mut known = PROCESS.load(Acquire);
    if known.is_null() {
        let fresh = Arc::into_raw(Arc::new(Process::default())).cast_mut();
        match PROCESS.compare_exchange(ptr::null_mut(), fresh, Release, Acquire) {
            Ok(_) => known = fresh,
            Err(first) => {
                // SAFETY: it was not published, so no other thread has it.
                drop(unsafe { Arc::from_raw(fresh) });
                known = first;
            }
        }
    }
    // SAFETY: made by `Arc::into_raw`; its count never falls to zero.
    unsafe { Arc::increment_strong_count(known) };
    // SAFETY: the count was just raised for this handle.
    unsafe { Arc::from_raw(known) }
}

/// Makes forked children begin with empty state. The parent's state is abandoned there and not freed, because another
/// thread of the parent may have been changing it. Called once per process.
pub fn guard_forks() {
    // SAFETY: the handler only stores, and the C library removes it with this library.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
}

extern "C" fn forget() {
    PROCESS.store(ptr::null_mut(), Release);
    seats::forget();
    // SAFETY: this thread's own words.
    unsafe { (*words()).state = ptr::null_mut() };
}

/// Frees the thread's state when the thread ends.
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
        // SAFETY: made by `Box::into_raw`, and no pointer leads to it any more.
        let mut thread = unsafe { Box::from_raw(state.cast::<Thread>()) };
        gapii_state::egl::end_thread(&mut thread);
    }
}
