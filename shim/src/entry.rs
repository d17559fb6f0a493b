//! Entry points: the symbols that the program calls. Each is one indirect jump through [`TABLE`].
//!
//! Until the shim is set up, every slot leads to a stub. The stub saves all argument registers, runs
//! [`crate::process::set_up`], which acts once, and then jumps to where the slot leads by then.

use core::arch::{global_asm, naked_asm};

use gapii_tool_api::for_each_command;

use crate::generated::{entries, ids};
use crate::table::{Code, TABLE};

/// Bytes of one set-up stub.
const STUB_BYTES: usize = 8;

unsafe extern "C" {
    /// One stub per command, [`STUB_BYTES`] each, in the order of ids.
    #[link_name = "gapii_setup_stubs"]
    static SETUP_STUBS: [u8; ids::COUNT * STUB_BYTES];
}

/// Returns the address of command `id`'s set-up stub.
pub const fn setup_stub(id: usize) -> Code {
    // SAFETY: `id` is below COUNT, so the address lies inside SETUP_STUBS.
    unsafe { (&raw const SETUP_STUBS).cast::<u8>().add(id * STUB_BYTES).cast_mut().cast() }
}

/// Stands in for a command that the driver does not have: returns 0.
#[unsafe(naked)]
pub unsafe extern "C" fn absent() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("xor eax, eax", "ret");
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x0, #0", "ret");
}

/// Set-up for the stubs. Never unwinds.
extern "C" fn set_up() {
    crate::process::set_up();
}

macro_rules! entry_points {
    ($($name:ident $params:tt $(-> $result:ty)?;)*) => {
        /// Entry points by id.
        pub static ENTRY_POINTS: [unsafe extern "C" fn(); ids::COUNT] = [$(entries::$name),*];
    };
}
for_each_command!(entry_points);

/// Defines an entry point with an external name.
macro_rules! exported {
    ($name:ident, $id:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            $crate::entry::jump_through_table!($id)
        }
    };
}
pub(crate) use exported;

/// Defines an entry point that only `eglGetProcAddress` hands out.
macro_rules! entry {
    ($name:ident, $id:ident) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            $crate::entry::jump_through_table!($id)
        }
    };
}
pub(crate) use entry;

#[cfg(target_arch = "x86_64")]
macro_rules! jump_through_table {
    ($id:ident) => {
        core::arch::naked_asm!(
            "jmp qword ptr [rip + {table} + {offset}]",
            table = sym $crate::table::TABLE,
            offset = const $crate::generated::ids::$id as usize * 8,
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_through_table {
    ($id:ident) => {
        core::arch::naked_asm!(
            "adrp x16, {table} + {offset}",
            "ldr x16, [x16, :lo12:{table} + {offset}]",
            "br x16",
            table = sym $crate::table::TABLE,
            offset = const $crate::generated::ids::$id as usize * 8,
        )
    };
}
pub(crate) use jump_through_table;

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
