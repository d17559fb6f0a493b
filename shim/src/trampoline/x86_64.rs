//! The trampoline's instructions on x86-64.

use core::arch::global_asm;

use crate::convention::STUB_BYTES;
use crate::generated::ids;
use crate::signature::{SIGNATURES, Signature};
use crate::traced;

// A stub passes its own address in r11, which no convention uses for arguments.
global_asm!(
    ".pushsection .text.gapii_traced,\"ax\",@progbits",
    ".balign {stub_bytes}",
    ".globl gapii_traced_stubs",
    ".hidden gapii_traced_stubs",
    ".type gapii_traced_stubs, @function",
    "gapii_traced_stubs:",
    ".cfi_startproc",
    ".rept {count}",
    ".balign {stub_bytes}, 0xcc",
    "lea r11, [rip - 7]", // Of 7 bytes.
    "jmp 2f",
    ".endr",
    ".balign 16, 0xcc",
    "2:",
    // r11 = id.
    "lea r10, [rip + gapii_traced_stubs]",
    "sub r11, r10",
    "shr r11, {stub_shift}",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, 112",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "lea r10, [rip + {signatures}]",
    "test byte ptr [r10 + r11 * 8 + {flags}], {has_floats}",
    "jz 3f",
    "movsd [rsp + 48], xmm0",
    "movsd [rsp + 56], xmm1",
    "movsd [rsp + 64], xmm2",
    "movsd [rsp + 72], xmm3",
    "movsd [rsp + 80], xmm4",
    "movsd [rsp + 88], xmm5",
    "movsd [rsp + 96], xmm6",
    "movsd [rsp + 104], xmm7",
    "3:",
    "mov edi, r11d",
    "mov rsi, rsp",
    "call {call}",
    "test rax, rax",
    "jnz 4f",
    // The result, for whichever register it belongs in.
    "mov rax, [rsp]",
    "movq xmm0, rax",
    ".cfi_remember_state",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    "4:",
    ".cfi_restore_state",
    // Not traced: on to rax, with everything as it came. Floating-point registers that were not stored carry
    // no argument.
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "movsd xmm0, [rsp + 48]",
    "movsd xmm1, [rsp + 56]",
    "movsd xmm2, [rsp + 64]",
    "movsd xmm3, [rsp + 72]",
    "movsd xmm4, [rsp + 80]",
    "movsd xmm5, [rsp + 88]",
    "movsd xmm6, [rsp + 96]",
    "movsd xmm7, [rsp + 104]",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "jmp rax",
    ".cfi_endproc",
    ".size gapii_traced_stubs, . - gapii_traced_stubs",
    ".popsection",
    count = const ids::COUNT,
    stub_bytes = const STUB_BYTES,
    stub_shift = const STUB_BYTES.trailing_zeros(),
    flags = const Signature::OFFSET_OF_FLAGS,
    has_floats = const Signature::HAS_FLOATS,
    signatures = sym SIGNATURES,
    call = sym traced::call,
);

// The instructions scale by it.
const _: () = assert!(size_of::<Signature>() == 8);
