//! The watching stubs on arm64.

use core::arch::global_asm;

use super::watch;
use crate::generated::ids;
use crate::orders::{HEARD, ORDERS};
use crate::stubs::WATCH_BYTES;
use crate::table::DRIVER;

// A stub uses x16 and x17 alone, which no convention uses for arguments. x16 tells which stub it was.
global_asm!(
    ".pushsection .text.gapii_watch,\"ax\",%progbits",
    ".balign 64",
    ".globl gapii_watch_stubs",
    ".hidden gapii_watch_stubs",
    "gapii_watch_stubs:",
    ".set gapii_watch_slot, 0",
    ".rept {count}",
    ".balign {stub_bytes}",
    "adrp x16, {orders}",
    "ldr x16, [x16, :lo12:{orders}]",
    "ldr w16, [x16]",
    "adrp x17, {heard}",
    "ldr w17, [x17, :lo12:{heard}]",
    "cmp w16, w17",
    "b.ne 2f",
    "adrp x16, {driver} + gapii_watch_slot",
    "ldr x16, [x16, :lo12:{driver} + gapii_watch_slot]",
    "br x16",
    "2: adr x16, .",
    "b 3f",
    ".set gapii_watch_slot, gapii_watch_slot + 8",
    ".endr",
    "3:",
    "adrp x17, gapii_watch_stubs",
    "add x17, x17, :lo12:gapii_watch_stubs",
    "sub x16, x16, x17",
    "lsr x16, x16, #{stub_bits}",
    "adrp x17, {watch}",
    "add x17, x17, :lo12:{watch}",
    "b gapii_call_aside",
    ".popsection",
    count = const ids::COUNT,
    stub_bytes = const WATCH_BYTES,
    stub_bits = const WATCH_BYTES.ilog2(),
    orders = sym ORDERS,
    heard = sym HEARD,
    driver = sym DRIVER,
    watch = sym watch,
);
