//! Addresses of the code that slots hold for commands without a handler: set-up stubs, watching stubs, and [`absent`].
//! The stubs' instructions are in `set_up` and `watch`. Both kinds save every register that may carry an argument and
//! call a function, by the code in `stubs/`.

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
/// Bytes of one watching stub.
pub use instructions::WATCH_BYTES;

unsafe extern "C" {
    /// One stub per command, [`SETUP_BYTES`] each, in the order of ids.
    #[link_name = "gapii_setup_stubs"]
    static SETUP_STUBS: [u8; ids::COUNT * SETUP_BYTES];
    /// One stub per command, [`WATCH_BYTES`] each, in the order of ids.
    #[link_name = "gapii_watch_stubs"]
    static WATCH_STUBS: [u8; ids::COUNT * WATCH_BYTES];
}

/// Returns the address of command `id`'s set-up stub.
pub const fn setup_stub(id: usize) -> Code {
    // SAFETY: `id` is below COUNT, so the address lies inside SETUP_STUBS.
    unsafe { (&raw const SETUP_STUBS).cast::<u8>().add(id * SETUP_BYTES).cast_mut().cast() }
}

/// Returns the address of command `id`'s watching stub.
pub const fn watch_stub(id: usize) -> Code {
    // SAFETY: `id` is below COUNT, so the address lies inside WATCH_STUBS.
    unsafe { (&raw const WATCH_STUBS).cast::<u8>().add(id * WATCH_BYTES).cast_mut().cast() }
}

/// Stands in for a command that the driver does not have: returns 0.
#[unsafe(naked)]
pub unsafe extern "C" fn absent() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("xor eax, eax", "ret");
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x0, #0", "ret");
}
