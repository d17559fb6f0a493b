//! `gapii_call_aside` on arm64.

use core::arch::global_asm;

// gapii_call_aside: branched to at the beginning of a command. Calls the function in x17 with the number in x16, and
// branches to the code that the function returns, with all arguments where the program put them.
global_asm!(
    ".pushsection .text.gapii_call_aside,\"ax\",%progbits",
    ".balign 16",
    ".globl gapii_call_aside",
    ".hidden gapii_call_aside",
    "gapii_call_aside:",
    "stp x29, x30, [sp, #-224]!",
    "mov x29, sp",
    "stp x0, x1, [sp, #16]",
    "stp x2, x3, [sp, #32]",
    "stp x4, x5, [sp, #48]",
    "stp x6, x7, [sp, #64]",
    "str x8, [sp, #80]",
    "stp q0, q1, [sp, #96]",
    "stp q2, q3, [sp, #128]",
    "stp q4, q5, [sp, #160]",
    "stp q6, q7, [sp, #192]",
    "mov x0, x16",
    "blr x17",
    "mov x16, x0",
    "ldp x0, x1, [sp, #16]",
    "ldp x2, x3, [sp, #32]",
    "ldp x4, x5, [sp, #48]",
    "ldp x6, x7, [sp, #64]",
    "ldr x8, [sp, #80]",
    "ldp q0, q1, [sp, #96]",
    "ldp q2, q3, [sp, #128]",
    "ldp q4, q5, [sp, #160]",
    "ldp q6, q7, [sp, #192]",
    "ldp x29, x30, [sp], #224",
    "br x16",
    ".popsection",
);
