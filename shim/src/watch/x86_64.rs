//! The watching stubs on x86-64.

use core::arch::global_asm;

use super::watch;
use crate::generated::ids;
use crate::orders::{HEARD, ORDERS};
use crate::stubs::WATCH_BYTES;
use crate::table::DRIVER;

// A stub uses r10 and r11 alone, which no convention uses for arguments. The return address of its call tells which
// stub it was.
global_asm!(
    ".pushsection .text.gapii_watch,\"ax\",@progbits",
    ".balign 64, 0xcc",
    ".globl gapii_watch_stubs",
    ".hidden gapii_watch_stubs",
    "gapii_watch_stubs:",
    ".set gapii_watch_slot, 0",
    ".rept {count}",
    ".balign {stub_bytes}, 0xcc",
    "mov r11, [rip + {orders}]",
    "mov r11d, [r11]",
    "cmp r11d, [rip + {heard}]",
    "jne 2f",
    "jmp qword ptr [rip + {driver} + gapii_watch_slot]",
    "2: call 3f",
    ".set gapii_watch_slot, gapii_watch_slot + 8",
    ".endr",
    ".balign 16, 0xcc",
    "3:",
    "pop r11",
    "lea r10, [rip + gapii_watch_stubs]",
    "sub r11, r10",
    "shr r11, {stub_bits}",
    "lea r10, [rip + {watch}]",
    "jmp gapii_call_aside",
    ".popsection",
    count = const ids::COUNT,
    stub_bytes = const WATCH_BYTES,
    stub_bits = const WATCH_BYTES.ilog2(),
    orders = sym ORDERS,
    heard = sym HEARD,
    driver = sym DRIVER,
    watch = sym watch,
);
