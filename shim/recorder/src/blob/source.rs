//! `Source`: memory that becomes a blob, and `Kept`: how a record keeps memory.

use super::number::Number;
use crate::program::guarded;

/// Bytes of the program's memory.
pub trait Source {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Returns the address of the bytes if they lie in one piece of the program's memory.
    fn address(&self) -> Option<u64>;

    /// Copies `len` bytes from offset `from` to `out`. False if they are not readable.
    ///
    /// # Safety
    /// `from + len` does not exceed the size. `out` has `len` writable bytes in the shim's own memory.
    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool;

    /// Calls `take` with the bytes of the range `from..from + len`, in order and in chunks. False if they are not
    /// readable; `take` may then have been called. `buffer` is overwritten.
    ///
    /// # Safety
    /// `from + len` does not exceed the size. `buffer` has `len` bytes.
    unsafe fn each(
        &self,
        from: u64,
        len: u64,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]),
    ) -> bool {
        if let Some(address) = self.address() {
            // SAFETY: passed on.
            return unsafe { guarded::each(address + from, len as usize, buffer, take) };
        }
        // SAFETY: passed on.
        let is_copied = unsafe { self.copy(from, len, buffer.as_mut_ptr()) };
        if let (true, Some(bytes)) = (is_copied, buffer.get(..len as usize)) {
            take(bytes);
        }
        is_copied
    }
}

/// Bytes of the shim's own.
pub struct Own<'a>(pub &'a [u8]);

impl Source for Own<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn address(&self) -> Option<u64> {
        None
    }

    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool {
        let Some(bytes) = self.0.get(from as usize..(from + len) as usize) else { return false };
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: the caller provides `len` writable bytes at `out`, in memory of its own.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len())
        };
        true
    }

    unsafe fn each(&self, from: u64, len: u64, _: &mut [u8], mut take: impl FnMut(&[u8])) -> bool {
        let bytes = self.0.get(from as usize..(from + len) as usize);
        bytes.map(&mut take).is_some()
    }
}

/// How an observation is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In the record itself.
    Inline,
    /// As the blob with this number.
    Blob(Number),
    /// Not at all: the memory is not readable, or there was no room for it.
    Unrecorded,
}

/// The ring had no room, so the record that needed the blob is lost.
#[derive(Debug)]
pub struct Lost;
