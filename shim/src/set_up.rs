//! Set-up of the shim at the process' first command, and the stubs that run it: finds the driver's functions, connects
//! to a daemon, and waits for a capture if the daemon says so. In a process that `GAPII_PROCESS` excludes it only finds
//! the driver's functions.
//!
//! Until the shim is set up, every slot of the table leads to a stub. The stub saves all argument registers, runs
//! [`set_up`], which acts once, and then jumps to where the slot leads by then.

use core::arch::global_asm;
use std::sync::Once;

use gapii_abi::app::API_EGL_GLES;
use gapii_recorder::ErrnoGuard;
use gapii_recorder::program::pages;

use crate::arena;
use crate::driver;
use crate::environment;
use crate::first_command::{self, Passed};
use crate::generated::ids;
use crate::generated::names::{EXPORTED, NAMES};
use crate::handlers::HANDLERS;
use crate::process;
use crate::safe_point::{self, Moment};
use crate::stubs::STUB_BYTES;
use crate::table::{self, Hooks, TABLE};
use crate::tracking;
use crate::wait;

/// Runs at the process' first commands of EGL or OpenGL ES: finds the driver's functions once, and [`wake`]s. Never
/// unwinds.
extern "C" fn set_up() {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::save();
    ONCE.call_once(|| {
        process::note_api(API_EGL_GLES);
        for (id, name) in NAMES.iter().enumerate() {
            if EXPORTED.get(id) == Some(&true) {
                table::set_driver(id, driver::symbol(name));
            }
        }
        table::note_set_up();
    });
    wake();
}

/// Returns once the process may make its first command of any API. The first caller connects to a daemon, and waits for
/// a capture if the environment says so.
pub fn wake() {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::save();
    ONCE.call_once(|| {
        arena::guard_forks();
        tracking::guard_forks();
        table::set_handlers(&HANDLERS);
    });
    let hooks = if environment::wanted() { Hooks::at_rest() } else { Hooks::None };
    if first_command::pass(|| begin(hooks)) == Passed::Nested {
        table::switch(hooks);
    }
}

fn begin(hooks: Hooks) {
    if hooks == Hooks::None {
        return table::switch(hooks);
    }
    // Until the table is switched, the stubs hold every thread of a process that waits.
    let waits = environment::wait_limit().is_some();
    if !waits {
        table::switch(hooks);
    }
    pages::set_up();
    process::connect();
    if waits {
        wait::for_capture();
        table::switch(hooks);
    }
    safe_point::safe_point(Moment::FirstCommand);
}

// The return address of a stub's call tells which stub it was: every stub is one call, padded to STUB_BYTES.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.gapii_setup,\"ax\",@progbits",
    ".balign 16",
    ".globl gapii_setup_stubs",
    ".hidden gapii_setup_stubs",
    "gapii_setup_stubs:",
    ".rept {count}",
    ".balign {stub_bytes}, 0xcc",
    "call 2f",
    ".endr",
    ".balign 16, 0xcc",
    "2:",
    // r11 = id * 8; then a frame with every register that may carry an argument.
    "pop r11",
    "lea r10, [rip + gapii_setup_stubs]",
    "sub r11, r10",
    "and r11, -{stub_bytes}",
    "push rbp",
    "mov rbp, rsp",
    "and rsp, -16",
    "sub rsp, 208",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    "mov [rsp + 56], r11",
    "movups [rsp + 64], xmm0",
    "movups [rsp + 80], xmm1",
    "movups [rsp + 96], xmm2",
    "movups [rsp + 112], xmm3",
    "movups [rsp + 128], xmm4",
    "movups [rsp + 144], xmm5",
    "movups [rsp + 160], xmm6",
    "movups [rsp + 176], xmm7",
    "call {set_up}",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "mov rax, [rsp + 48]",
    "mov r11, [rsp + 56]",
    "movups xmm0, [rsp + 64]",
    "movups xmm1, [rsp + 80]",
    "movups xmm2, [rsp + 96]",
    "movups xmm3, [rsp + 112]",
    "movups xmm4, [rsp + 128]",
    "movups xmm5, [rsp + 144]",
    "movups xmm6, [rsp + 160]",
    "movups xmm7, [rsp + 176]",
    "mov rsp, rbp",
    "pop rbp",
    "lea r10, [rip + {table}]",
    "jmp qword ptr [r10 + r11]",
    ".popsection",
    count = const ids::COUNT,
    stub_bytes = const STUB_BYTES,
    set_up = sym set_up,
    table = sym TABLE,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text.gapii_setup,\"ax\",%progbits",
    ".balign 16",
    ".globl gapii_setup_stubs",
    ".hidden gapii_setup_stubs",
    "gapii_setup_stubs:",
    ".rept {count}",
    "adr x16, .",
    "b 2f",
    ".endr",
    "2:",
    "adr x17, gapii_setup_stubs",
    "sub x16, x16, x17",
    "stp x29, x30, [sp, #-224]!",
    "mov x29, sp",
    "stp x0, x1, [sp, #16]",
    "stp x2, x3, [sp, #32]",
    "stp x4, x5, [sp, #48]",
    "stp x6, x7, [sp, #64]",
    "stp x8, x16, [sp, #80]",
    "stp q0, q1, [sp, #96]",
    "stp q2, q3, [sp, #128]",
    "stp q4, q5, [sp, #160]",
    "stp q6, q7, [sp, #192]",
    "bl {set_up}",
    "ldp x0, x1, [sp, #16]",
    "ldp x2, x3, [sp, #32]",
    "ldp x4, x5, [sp, #48]",
    "ldp x6, x7, [sp, #64]",
    "ldp x8, x16, [sp, #80]",
    "ldp q0, q1, [sp, #96]",
    "ldp q2, q3, [sp, #128]",
    "ldp q4, q5, [sp, #160]",
    "ldp q6, q7, [sp, #192]",
    "ldp x29, x30, [sp], #224",
    "adrp x17, {table}",
    "add x17, x17, :lo12:{table}",
    "ldr x16, [x17, x16]",
    "br x16",
    ".popsection",
    count = const ids::COUNT,
    set_up = sym set_up,
    table = sym TABLE,
);
