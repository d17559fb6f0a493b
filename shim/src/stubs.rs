//! Addresses of the code that slots hold for commands without a driver function: the set-up stubs, and [`absent`]. Also
//! `gapii_call_aside`, in one module per machine: how a stub or an entry point calls a function before a command, with all
//! registers saved that may carry an argument.

use core::arch::naked_asm;

use crate::code::Code;
use crate::generated::ids;

#[cfg(target_arch = "aarch64")]
#[path = "stubs/aarch64.rs"]
mod instructions;
#[cfg(target_arch = "x86_64")]
#[path = "stubs/x86_64.rs"]
mod instructions;

/// Bytes of one set-up stub.
pub const SETUP_BYTES: usize = 8;

unsafe extern "C" {
    /// One stub per command, [`SETUP_BYTES`] each, in the order of ids.
    #[link_name = "gapii_setup_stubs"]
    static SETUP_STUBS: [u8; ids::COUNT * SETUP_BYTES];
}

/// Returns the address of command `id`'s set-up stub.
pub const fn setup_stub(id: usize) -> Code {
    // SAFETY: `id` is below COUNT, so the address lies inside SETUP_STUBS.
    unsafe { (&raw const SETUP_STUBS).cast::<u8>().add(id * SETUP_BYTES).cast_mut().cast() }
}

/// Stands in for a command that the driver does not have: returns 0.
#[unsafe(naked)]
pub unsafe extern "C" fn absent() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("xor eax, eax", "ret");
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x0, #0", "ret");
}
