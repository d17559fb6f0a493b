//! `Thread`: a thread that records, or has recorded, and `Entered`: the right to use its recorder. Commands that are
//! called from inside a recorded command find the gate closed and are not recorded. In a forked child the thread's
//! memory is all zeros, and no command of the child reaches the parent's ring.
//!
//! A thread's state lies in memory that `fork` wipes. All zeros therefore mean "not a thread of this process", and
//! every fast path misses on zeros.
//!
//! The recorder belongs to whoever has closed the gate. [`Entered`] is made by closing the gate, opens it when dropped,
//! and is the only way to the recorder. So a command that the driver, a signal handler or a callback calls from inside
//! a recorded command finds the gate closed, and never gets a second reference to the recorder.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gapii_edges::{Epoch, Gate};

use crate::frame_pixels::FramePixels;
use crate::recorder::Recorder;
use crate::shared::Shared;

/// A thread that records, or has recorded.
///
/// The ready word in its gate says how the thread's next command begins. Besides the values of [`Gate`]:
///
/// | value | meaning |
/// |---|---|
/// | 1 | the current context is no OpenGL ES context, so commands of OpenGL ES are not recorded |
/// | 2 | a tracer's callback runs: every command is recorded behind a note that says it is the tracer's own |
/// | 3 | both |
/// | 4 | every command first looks whether a part of the snapshot can be written now that could not be before |
///
/// With these values every command takes the slow path. Other threads look at the gate only.
#[repr(C, align(128))]
pub struct Thread {
    /// First, so that the writer has the thread's address: handlers then hold one address in a register, not two.
    recorder: UnsafeCell<Recorder>,
    gate: Gate,
    /// The value that opens `gate` again when a command is done.
    ready: Cell<u64>,
    /// Whether commands look for what the snapshot still lacks.
    watches: Cell<bool>,
    /// The epoch in which the thread last introduced itself.
    epoch: Cell<u64>,
    /// The thread's id; 0 if this memory was wiped, or if its slot was never used.
    tid: AtomicU32,
    /// The memory for reading back frames.
    pub frames: FramePixels,
}

// SAFETY: other threads use the gate and the id, which are atomics. Functions that use the rest are unsafe, and ask
// their caller to be the thread itself.
unsafe impl Sync for Thread {}

/// Ready word of a thread whose commands of OpenGL ES are not recorded.
const WITHOUT_GL: u64 = 1;
/// Ready word of a thread while a tracer's callback runs.
const OWN: u64 = 2;
/// Both of the above.
const OWN_WITHOUT_GL: u64 = 3;
/// Ready word of a thread whose commands look for what the snapshot still lacks.
const WATCHING: u64 = 4;

impl Thread {
    /// Makes the state of a thread that has just claimed slot `slot`. `None` if the ring can't be attached to. The gate
    /// is closed; the thread enters by [`Thread::enter_slowly`].
    ///
    /// # Safety
    /// `at` points to mapped zeros or to the state of a thread that has ended, aligned, and stays mapped. No other
    /// thread uses it but through [`Thread::is_outside`]. The caller has claimed the slot.
    pub unsafe fn claim(
        at: *mut Thread,
        tid: u32,
        shared: &'static Shared,
        slot: u32,
    ) -> Option<&'static Thread> {
        // SAFETY: zeros are a valid state, and so is that of a thread that has ended.
        let thread = unsafe { &*at };
        // Another thread may still look at the gate, because of the slot's last owner.
        thread.gate.close();
        thread.ready.set(WITHOUT_GL);
        thread.watches.set(false);
        thread.epoch.set(0);
        thread.frames.note_size(0, None);
        // Relaxed: the thread's own word.
        thread.tid.store(tid, Relaxed);
        let mut recorder = Recorder::new(shared);
        // SAFETY: the caller has claimed the slot.
        let is_attached = unsafe { recorder.writer().attach(shared, slot) };
        // SAFETY: no `Entered` of this state exists. The last owner has released what its recorder held.
        unsafe { thread.recorder.get().write(recorder) };
        is_attached.then_some(thread)
    }

    /// Makes a thread that has no slot and no ring, and that only keeps commands.
    pub fn without_ring() -> Self {
        let gate = Gate::closed();
        gate.leave(WITHOUT_GL);
        Self {
            recorder: UnsafeCell::new(Recorder::without_ring()),
            gate,
            ready: Cell::new(WITHOUT_GL),
            watches: Cell::new(false),
            epoch: Cell::new(0),
            tid: AtomicU32::new(0),
            frames: FramePixels::none(),
        }
    }

    /// Enters a thread without a ring. `None` if it is inside a command.
    ///
    /// # Safety
    /// In the thread itself.
    pub unsafe fn enter_to_keep(&'static self) -> Option<Entered> {
        if self.gate.ready() == 0 {
            return None;
        }
        self.gate.close();
        Some(Entered::new(self))
    }

    /// Whether this is a thread of this process that has claimed a slot.
    #[inline]
    pub fn is_claimed(&self) -> bool {
        self.tid() != 0
    }

    /// Returns the thread's id; 0 if it has no slot.
    #[inline]
    pub fn tid(&self) -> u32 {
        // Relaxed: the thread's own word.
        self.tid.load(Relaxed)
    }

    /// Whether a recorded command of this thread is in progress. In the thread itself.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.gate.ready() == 0 && self.is_claimed()
    }

    /// Whether the thread is in no command, for another thread: see [`Gate::is_outside`].
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.gate.is_outside()
    }

    /// Begins a command if the thread is ready to record in the present epoch. `None`: the command takes the slow path.
    ///
    /// # Safety
    /// In the thread itself.
    #[inline(always)]
    pub unsafe fn enter(&'static self, epoch: &Epoch) -> Option<Entered> {
        // OUTSIDE, in Gate::enter.
        self.gate.enter(epoch).then(|| Entered::new(self))
    }

    /// Begins a command on the slow path, and returns the epoch to record in. `None` if nothing is recorded.
    ///
    /// # Safety
    /// In the thread itself, which is not [inside](Thread::is_inside) unless it has just been claimed.
    pub unsafe fn enter_slowly(&'static self, epoch: &Epoch) -> Option<(Entered, u64)> {
        // OUTSIDE and BEGIN, in Gate::enter_slowly: this thread looks for blobs in the table of this epoch's capture.
        let epoch = self.gate.enter_slowly(epoch);
        let entered = Entered::new(self);
        epoch.map(|epoch| (entered, epoch))
    }

    /// Closes the gate between two commands, for records that are not commands. `None` if the thread is inside.
    ///
    /// # Safety
    /// In the thread itself.
    pub unsafe fn enter_between_commands(&'static self) -> Option<Entered> {
        if self.is_inside() {
            return None;
        }
        self.gate.close();
        Some(Entered::new(self))
    }

    /// Returns the epoch in which the thread last introduced itself. In the thread itself.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// Notes that the thread introduces itself in epoch `epoch`. In the thread itself.
    pub fn begin_epoch(&self, epoch: u64) {
        self.epoch.set(epoch);
    }

    /// Sets whether commands of OpenGL ES are recorded, and whether commands are a tracer's own. Takes effect when the
    /// gate opens. In the thread itself.
    pub fn set_ready(&self, records_gl: bool, are_own: bool) {
        self.ready.set(match (records_gl, are_own) {
            (true, false) if self.watches.get() => WATCHING,
            (true, false) => self.epoch.get(),
            (false, false) => WITHOUT_GL,
            (true, true) => OWN,
            (false, true) => OWN_WITHOUT_GL,
        });
    }

    /// Does the same, and has it take effect now if the thread is in no command.
    pub fn set_own(&self, are_own: bool) {
        if self.is_claimed() && !self.is_inside() {
            self.set_ready(self.records_gl(), are_own);
            self.gate.leave(self.ready.get());
        }
    }

    /// Sets whether commands take the slow path to look for what the snapshot still lacks. Takes effect with
    /// [`Thread::set_ready`]. In the thread itself.
    pub fn set_watches(&self, watches: bool) {
        self.watches.set(watches);
    }

    /// Whether commands look for what the snapshot still lacks. In the thread itself.
    pub fn watches(&self) -> bool {
        self.watches.get()
    }

    /// Releases the thread's memory and its slot.
    ///
    /// # Safety
    /// In the thread itself, which ends: a command that is in progress does not continue.
    pub unsafe fn retire(&self) {
        self.frames.unmap();
        // SAFETY: no `Entered` of this thread is used any more.
        unsafe { &mut *self.recorder.get() }.retire();
    }

    /// Whether commands of OpenGL ES are recorded. In the thread itself.
    pub fn records_gl(&self) -> bool {
        !matches!(self.ready.get(), WITHOUT_GL | OWN_WITHOUT_GL)
    }
}

/// The right to use a thread's recorder. The thread's gate is closed until this is dropped.
pub struct Entered {
    thread: &'static Thread,
    /// It stays in the thread.
    _not_send: PhantomData<*mut ()>,
}

impl Entered {
    #[inline(always)]
    fn new(thread: &'static Thread) -> Self {
        Self { thread, _not_send: PhantomData }
    }

    /// Returns the thread.
    pub fn thread(&self) -> &'static Thread {
        self.thread
    }
}

impl Deref for Entered {
    type Target = Recorder;

    #[inline(always)]
    fn deref(&self) -> &Recorder {
        // SAFETY: `self` is the only `Entered` of this thread, since it has closed the gate; so nothing but a reborrow
        // of it leads to the recorder.
        unsafe { &*self.thread.recorder.get() }
    }
}

impl DerefMut for Entered {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Recorder {
        // SAFETY: as above, and `self` is borrowed for as long as the reference lives.
        unsafe { &mut *self.thread.recorder.get() }
    }
}

impl Drop for Entered {
    #[inline(always)]
    fn drop(&mut self) {
        self.thread.gate.leave(self.thread.ready.get());
    }
}
