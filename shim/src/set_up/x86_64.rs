//! The set-up stubs on x86-64.

use core::arch::global_asm;

use super::set_up;
use crate::generated::ids;
use crate::stubs::SETUP_BYTES;

// A stub is one call. Its return address tells which stub it was. r10 and r11 carry no argument.
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
    "pop r11",
    "lea r10, [rip + gapii_setup_stubs]",
    "sub r11, r10",
    "shr r11, {stub_bits}",
    "lea r10, [rip + {set_up}]",
    "jmp gapii_call_aside",
    ".popsection",
    count = const ids::COUNT,
    stub_bytes = const SETUP_BYTES,
    stub_bits = const SETUP_BYTES.ilog2(),
    set_up = sym set_up,
);
