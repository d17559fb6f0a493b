//! What the stubs share on x86-64.

use core::arch::global_asm;

/// Bytes of one watching stub.
pub const WATCH_BYTES: usize = 32;

// gapii_call_aside: jumped to at the beginning of a command. Calls the function in r10 with the number in r11, and
// jumps to the code that the function returns, with all arguments where the program put them.
global_asm!(
    ".pushsection .text.gapii_call_aside,\"ax\",@progbits",
    ".balign 16",
    ".globl gapii_call_aside",
    ".hidden gapii_call_aside",
    "gapii_call_aside:",
    "push rbp",
    "mov rbp, rsp",
    "and rsp, -16",
    "sub rsp, 192",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    "movups [rsp + 64], xmm0",
    "movups [rsp + 80], xmm1",
    "movups [rsp + 96], xmm2",
    "movups [rsp + 112], xmm3",
    "movups [rsp + 128], xmm4",
    "movups [rsp + 144], xmm5",
    "movups [rsp + 160], xmm6",
    "movups [rsp + 176], xmm7",
    "mov rdi, r11",
    "call r10",
    "mov r11, rax",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "mov rax, [rsp + 48]",
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
    "jmp r11",
    ".popsection",
);
