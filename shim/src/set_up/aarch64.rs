//! The set-up stubs on arm64.

use core::arch::global_asm;

use super::set_up;
use crate::generated::ids;
use crate::stubs::SETUP_BYTES;

// A stub notes its address in x16. x16 and x17 carry no argument.
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
    "adrp x17, gapii_setup_stubs",
    "add x17, x17, :lo12:gapii_setup_stubs",
    "sub x16, x16, x17",
    "lsr x16, x16, #{stub_bits}",
    "adrp x17, {set_up}",
    "add x17, x17, :lo12:{set_up}",
    "b gapii_call_aside",
    ".popsection",
    count = const ids::COUNT,
    stub_bits = const SETUP_BYTES.ilog2(),
    set_up = sym set_up,
);
