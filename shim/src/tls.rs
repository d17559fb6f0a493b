//! The shim's thread-local words, in the initial-exec model: two loads, no call into the loader.
//!
//! They are plain words without destructors. [`crate::thread_exit`] runs code at the end of a thread.

use core::arch::{asm, global_asm};
use core::cell::{Cell, RefCell};

use gapii_recorder::Thread;

use crate::open_groups::OpenGroups;
use crate::seats::Seat;

/// The shim's words for one thread; all zeros until first used. The cells keep other threads away.
#[repr(C)]
pub struct Words {
    /// The thread's recording state; null until it first records.
    thread: Cell<*const Thread>,
    /// The tracked state of the program in this thread; null until its first command of EGL or Level Zero.
    state: Cell<*const RefCell<gapii_state::Thread>>,
    /// The thread's seat among the threads that use EGL; null until it has one.
    seat: Cell<*const Seat>,
    /// When the driver returned from the command in progress that ends a frame, if the command is recorded; otherwise 0.
    pub frame_end_ns: Cell<u64>,
    /// Handle of the current context; 0 without a context.
    pub context: Cell<u64>,
    /// API of the current context; 0 without a context.
    pub context_api: Cell<u32>,
    /// Client version of the current context; 0 if unknown.
    pub context_version: Cell<u32>,
    /// The API that `eglBindAPI` has bound; 0 for the default, OpenGL ES.
    pub bound_api: Cell<u32>,
    /// Bits, [`IN_HOOK`], [`IN_SLOW_PATH`] and [`SENDS_OWED`]: why commands of the thread go straight to the driver at
    /// present.
    aside: Cell<u8>,
    /// A tracer's callback runs.
    pub in_callback: Cell<bool>,
    /// The thread plays commands of a snapshot, see [`crate::replayed`].
    pub in_setup: Cell<bool>,
    /// The swap in progress is the last one of the capture.
    pub last_frame: Cell<bool>,
    /// A kept command that came by an old slot of the table goes through the table again.
    pub goes_again: Cell<bool>,
    /// The thread's state of compiling display lists, see `lists/compiling.rs`; null until it compiles one.
    pub compiling: Cell<*const ()>,
    /// The debug groups that the thread has begun and not ended, in a capture whose frames end with groups.
    pub groups: OpenGroups,
}

/// A hooked command of the thread is in progress.
pub const IN_HOOK: u8 = 1;
/// The thread attaches itself or waits for room.
pub const IN_SLOW_PATH: u8 = 2;
/// The thread is the shim's own, and sends contents of a snapshot.
pub const SENDS_OWED: u8 = 4;

impl Words {
    /// Whether commands of the thread go straight to the driver for any of `reasons`, bits.
    #[inline(always)]
    pub fn is_aside(&self, reasons: u8) -> bool {
        self.aside.get() & reasons != 0
    }

    /// Sets or clears `reason`, a bit.
    #[inline(always)]
    pub fn set_aside(&self, reason: u8, is_so: bool) {
        let others = self.aside.get() & !reason;
        self.aside.set(if is_so { others | reason } else { others });
    }

    /// Returns the thread's recording state, if it has one.
    #[inline(always)]
    pub fn thread(&self) -> Option<&'static Thread> {
        // SAFETY: null, or what `set_thread` was given.
        unsafe { self.thread.get().as_ref() }
    }

    /// Sets the thread's recording state, which stays mapped for the life of the process.
    pub fn set_thread(&self, thread: Option<&'static Thread>) {
        self.thread.set(thread.map_or(core::ptr::null(), core::ptr::from_ref));
    }

    /// Returns the tracked state of the program in this thread, if it has any.
    #[inline(always)]
    pub fn state(&self) -> Option<&RefCell<gapii_state::Thread>> {
        // SAFETY: null, or what `set_state` was given, which is freed at the end of the thread.
        unsafe { self.state.get().as_ref() }
    }

    /// Sets the tracked state, and returns the one before; both may be null.
    ///
    /// # Safety
    /// The state lives until this thread ends, or until another is set.
    pub unsafe fn set_state(
        &self,
        state: *const RefCell<gapii_state::Thread>,
    ) -> *const RefCell<gapii_state::Thread> {
        self.state.replace(state)
    }

    /// Returns the thread's seat, if it has one.
    pub fn seat(&self) -> Option<&'static Seat> {
        // SAFETY: null, or what `set_seat` was given.
        unsafe { self.seat.get().as_ref() }
    }

    /// Sets the thread's seat.
    pub fn set_seat(&self, seat: Option<&'static Seat>) {
        self.seat.set(seat.map_or(core::ptr::null(), core::ptr::from_ref));
    }
}

const WORDS_BYTES: usize = 96;
const _: () = assert!(size_of::<Words>() == WORDS_BYTES);

global_asm!(
    ".pushsection .tbss.gapii_words,\"awT\",@nobits",
    ".balign 16",
    ".globl gapii_words",
    ".hidden gapii_words",
    ".type gapii_words,@object",
    ".size gapii_words,{bytes}",
    "gapii_words:",
    ".zero {bytes}",
    ".popsection",
    bytes = const WORDS_BYTES,
);

/// Returns this thread's words. They live until the thread ends, so the reference must not be kept beyond a command.
#[inline(always)]
pub fn words() -> &'static Words {
    let words: *const Words;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the offset of `gapii_words` from the GOT and adds the thread pointer, which
    // the ABI keeps at fs:0.
    unsafe {
        asm!(
            "mov {words}, qword ptr [rip + gapii_words@GOTTPOFF]",
            "add {words}, qword ptr fs:[0]",
            words = out(reg) words,
            options(pure, readonly, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the thread pointer is tpidr_el0.
    unsafe {
        asm!(
            "adrp {words}, :gottprel:gapii_words",
            "ldr {words}, [{words}, :gottprel_lo12:gapii_words]",
            "mrs {pointer}, tpidr_el0",
            "add {words}, {words}, {pointer}",
            words = out(reg) words,
            pointer = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: never null, valid until the thread ends, and zeros at first, which are valid. All of it is cells.
    unsafe { &*words }
}
