//! Thread-local words of this crate in the initial-exec TLS model: an access is two loads, without a call into the
//! dynamic loader.
//!
//! The words are zero-initialised and have no destructor, so they are valid until the thread's very end.

use core::arch::{asm, global_asm};
use std::ptr::NonNull;

use crate::seat::Seat;

/// State of one thread; only that thread has a pointer to it.
#[repr(C)]
#[derive(Debug)]
pub struct Words {
    /// The seat that the thread keeps; null before it has one.
    pub seat: *const Seat,
    /// Not 0 while the thread is inside a traced call.
    pub is_inside: usize,
}

const WORDS_BYTES: usize = 16;
const _: () = assert!(size_of::<Words>() == WORDS_BYTES);

global_asm!(
    ".pushsection .tbss.gapii_tracers_words,\"awT\",@nobits",
    ".balign 16",
    ".globl gapii_tracers_words",
    ".hidden gapii_tracers_words",
    ".type gapii_tracers_words,@object",
    ".size gapii_tracers_words,{bytes}",
    "gapii_tracers_words:",
    ".zero {bytes}",
    ".popsection",
    bytes = const WORDS_BYTES,
);

/// Returns a pointer to this thread's words.
#[inline(always)]
pub fn words() -> NonNull<Words> {
    let words: *mut Words;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the words' offset from the GOT and adds the thread pointer, which the ABI keeps at
    // fs:0.
    unsafe {
        asm!(
            "mov {words}, qword ptr [rip + gapii_tracers_words@GOTTPOFF]",
            "add {words}, qword ptr fs:[0]",
            words = out(reg) words,
            options(pure, readonly, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the thread pointer is tpidr_el0.
    unsafe {
        asm!(
            "adrp {words}, :gottprel:gapii_tracers_words",
            "ldr {words}, [{words}, :gottprel_lo12:gapii_tracers_words]",
            "mrs {pointer}, tpidr_el0",
            "add {words}, {words}, {pointer}",
            words = out(reg) words,
            pointer = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: the thread pointer is not null, and the words lie beside it.
    unsafe { NonNull::new_unchecked(words) }
}
