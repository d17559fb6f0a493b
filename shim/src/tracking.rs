//! The state of the program that the shim tracks, by thread, and who may touch it when. Only the thread itself touches
//! its state, for one command at a time. A forked child begins with empty state; its copy of the parent's state is
//! never freed. The state is freed when the thread ends.
//!
//! Each thread that uses EGL has a [`gapii_state::Thread`], which owns its context while the context is current.
//! Generated code changes it: the handlers of recorded commands through [`touch`], the trackers of commands that are
//! not recorded through [`Tracker`]. Only the thread itself touches its state, for one command at a time. Commands
//! that a driver, a signal handler or a callback calls meanwhile go straight to the driver.

use core::cell::RefCell;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use std::sync::Arc;

use gapii_recorder::{Call, ErrnoGuard, InFlight, Recorder};
use gapii_state::gl::lists::Executed;
use gapii_state::{Observer, Process, Thread};

use crate::imports;
use crate::kept;
use crate::program_memory::ProgramMemory;
use crate::scope::{self, Scope};
use crate::seats;
use crate::thread_exit::ThreadExit;
use crate::tls::words;

/// The state that all threads of the process share; null until the first thread has state, and in a forked child.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// A recorded command that takes the ranges of memory that it touches: before the driver's function, those that it
/// reads; afterwards, those that it wrote.
pub trait Touches {
    /// Returns the recorder that takes the ranges.
    fn recorder(&mut self) -> &mut Recorder;
}

impl Touches for Call {
    fn recorder(&mut self) -> &mut Recorder {
        self.recorder()
    }
}

impl Touches for InFlight {
    fn recorder(&mut self) -> &mut Recorder {
        self.recorder()
    }
}

/// Passes the ranges that a description observes on to the command's record, if the command is recorded.
pub struct Seen<'a, T>(Option<&'a mut T>);

impl<T: Touches> Observer for Seen<'_, T> {
    #[inline]
    fn range(&mut self, param: u8, address: u64, len: u64) {
        if let Some(call) = &mut self.0 {
            call.recorder().add_range(param, address, len);
        }
    }

    #[cold]
    fn unknown(&mut self, param: u8, address: u64) {
        if let Some(call) = &mut self.0 {
            call.recorder().add_unknown_range(param, address);
        }
    }

    #[inline]
    fn apart(&mut self) {
        if let Some(call) = &mut self.0 {
            call.recorder().set_range_apart();
        }
    }

    #[inline]
    fn reads_imports(&mut self) {
        if let Some(call) = &mut self.0 {
            imports::observe(call.recorder());
        }
    }
}

/// Runs a description for a recorded command of OpenGL ES: `act` changes the thread's state and names the memory that
/// the command touches. Does nothing if the thread has no state.
#[inline(always)]
pub fn touch<T: Touches>(
    call: &mut T,
    act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Seen<'_, T>),
) {
    with_state(|thread| act(thread, &ProgramMemory, &mut Seen(Some(call))));
}

/// Does the same as [`touch`] for commands of EGL and Level Zero, recorded or not. They create the thread's state if
/// it has none.
pub fn touch_process<T: Touches>(
    call: Option<&mut T>,
    act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Seen<'_, T>),
) {
    with_state_or_new(|thread| act(thread, &ProgramMemory, &mut Seen(call)));
}

/// A command that is not recorded but changes state. While the tracker lives, commands that are called from inside go
/// straight to the driver.
pub struct Tracker {
    state: &'static RefCell<Thread>,
    _scope: Scope,
}

impl Tracker {
    /// Begins to track a command of OpenGL ES. `None` if the thread has no state, or if the command is called from
    /// inside another.
    #[inline(always)]
    pub fn begin() -> Option<Tracker> {
        let words = words();
        let state = words.state()?;
        Some(Tracker { state, _scope: scope::enter_gl(words)? })
    }

    /// Does the same for commands of EGL and Level Zero, which create the thread's state if it has none.
    pub fn begin_process() -> Option<Tracker> {
        let scope = scope::enter()?;
        Some(Tracker { state: state_or_new(), _scope: scope })
    }

    /// Applies the command to the thread's state.
    #[inline(always)]
    pub fn update(&mut self, act: impl FnOnce(&mut Thread, &ProgramMemory, &mut Executed)) {
        if let Ok(mut thread) = self.state.try_borrow_mut() {
            // Where a list may be compiled, handlers stand in for trackers.
            act(&mut thread, &ProgramMemory, &mut Executed);
        }
    }
}

/// Runs `act` on this thread's state. `None` if the thread has none, or if `act` is called from inside another `act`.
#[inline(always)]
pub fn with_state<R>(act: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let mut thread = words().state()?.try_borrow_mut().ok()?;
    Some(act(&mut thread))
}

/// Runs `act` on this thread's state, which is created if needed. `None` if `act` is called from inside another `act`.
pub fn with_state_or_new<R>(act: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let mut thread = state_or_new().try_borrow_mut().ok()?;
    Some(act(&mut thread))
}

fn state_or_new() -> &'static RefCell<Thread> {
    words().state().unwrap_or_else(new_state)
}

#[cold]
fn new_state() -> &'static RefCell<Thread> {
    // The shim's heap does not change errno, but registering the destructor may.
    let _errno = ErrnoGuard::save();
    let words = words();
    let id = ptr::from_ref(words).addr() as u64;
    let state = Box::into_raw(Box::new(RefCell::new(Thread::new(process(), id))));
    // SAFETY: it is freed at the end of the thread only.
    unsafe { words.set_state(state) };
    static EXIT: ThreadExit = ThreadExit::new(retire);
    EXIT.notice(state.cast());
    // SAFETY: alive until the thread ends.
    unsafe { &*state }
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
    imports::forget();
    kept::forget();
    seats::forget();
    let words = words();
    words.set_seat(None);
    // SAFETY: no state any more.
    unsafe { words.set_state(ptr::null()) };
}

/// Frees the thread's state when the thread ends.
unsafe extern "C" fn retire(state: *mut libc::c_void) {
    let _errno = ErrnoGuard::save();
    let words = words();
    let own = words.state().map_or(ptr::null(), ptr::from_ref);
    if own.is_null() || !ptr::eq(own, state.cast()) {
        return;
    }
    // SAFETY: no state any more.
    unsafe { words.set_state(ptr::null()) };
    // SAFETY: made by `Box::into_raw`, and no pointer leads to it any more.
    let state = unsafe { Box::from_raw(own.cast_mut()) };
    gapii_state::egl::end_thread(&mut state.into_inner());
}
