//! The shim's thread-local words, in the initial-exec model: two loads, no call into the loader.
//!
//! They are plain words without destructors. [`crate::thread_exit`] runs code at the end of a thread.

use core::arch::{asm, global_asm};

use crate::seats::Seat;
use crate::thread::Thread;

/// The shim's words for one thread; all zeros until first used.
#[repr(C)]
pub struct Words {
    /// The thread's recording state; null until it first records.
    pub thread: *mut Thread,
    /// The tracked state of the program in this thread; null until its first command of EGL or Level Zero.
    pub state: *mut gapii_state::Thread,
    /// The thread's seat among the threads that use EGL; null until it has one.
    pub seat: *const Seat,
    /// 1 while a hooked command of this thread is in progress.
    pub in_hook: u32,
    /// 1 while this thread attaches itself or waits for room. Its commands go straight to the driver meanwhile.
    pub in_slow_path: u32,
    /// The API that `eglBindAPI` has bound; 0 for the default, OpenGL ES.
    pub bound_api: u32,
    /// API of the current context; 0 without a context.
    pub context_api: u32,
    /// Handle of the current context; 0 without a context.
    pub context: u64,
    /// Client version of the current context; 0 if unknown.
    pub context_version: u32,
    /// 1 if the swap in progress is the last one of the capture.
    pub last_frame: u32,
    /// 1 while a tracer's callback runs.
    pub in_callback: u32,
}

const WORDS_BYTES: usize = 64;
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

/// Returns this thread's words. The pointer is never null, and valid until the thread ends.
#[inline(always)]
pub fn words() -> *mut Words {
    let words: *mut Words;
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
    words
}
