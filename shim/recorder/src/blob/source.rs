//! `Source`: memory that becomes a blob, and `Kept`: how a record keeps memory.

use super::name::Name;

/// Bytes of the program's memory.
pub trait Source {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Copies `len` bytes from offset `from` to `out`. False if they are not readable.
    ///
    /// # Safety
    /// `from + len` does not exceed the size. `out` has `len` writable bytes in the shim's own memory.
    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool;
}

/// How an observation is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In the record itself.
    Inline,
    /// As the blob with this name.
    Blob(Name),
    /// Not at all: the memory is not readable, or there was no room for it.
    Unrecorded,
}

/// The ring had no room, so the record that needed the blob is lost.
#[derive(Debug)]
pub struct Lost;
