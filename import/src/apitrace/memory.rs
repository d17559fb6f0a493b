//! Addresses of memory. The file has memory without its address; a trace has both, because a replay and the state that is
//! followed refer to memory by address.
//!
//! ```text
//! 0x10_0000_0000  inputs of a command, one after the other; each command begins anew
//! 0x10_8000_0000  vertex arrays in the program's memory; anew after each draw
//! 0x11_0000_0000  outputs: 16 MiB for each parameter
//! ```

/// Where the inputs of a command begin.
pub const INPUTS: u64 = 0x10_0000_0000;
/// Where vertex arrays begin.
pub const ARRAYS: u64 = 0x10_8000_0000;
const OUTPUTS: u64 = 0x11_0000_0000;
const OUTPUT_BYTES: u64 = 16 << 20;
const ALIGNMENT: u64 = 64;

/// Gives out addresses, upwards from a begin.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    next: u64,
}

impl Addresses {
    /// Gives out addresses from `begin` on.
    pub fn from(begin: u64) -> Self {
        Self { next: begin }
    }

    /// Returns the address of `len` bytes. The byte behind them belongs to nothing else: a string's NUL.
    pub fn take(&mut self, len: usize) -> u64 {
        let address = self.next;
        self.next = (address + len as u64 + 1).next_multiple_of(ALIGNMENT);
        address
    }
}

/// Returns the address of the output with this index.
pub fn output(index: usize) -> u64 {
    OUTPUTS + index as u64 * OUTPUT_BYTES
}
