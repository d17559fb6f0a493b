//! A thread's working memory for what a command reads or writes: up to `RANGES_MAX` (32,768) ranges, the staged part of
//! the record that holds them (`STAGED_BYTES`, 1 MiB), and a piece of a blob (64 KiB). If it cannot be mapped, such
//! memory is missing in the records.
//!
//! It is mapped when the thread first needs it, so that no command calls an allocator. The kernel wipes it in a
//! forked child. Pages that were never touched take no memory.

use core::ptr;

use gapii_abi::atom::observation_word;

use crate::blob::Piece;
use crate::errno::ErrnoGuard;
use crate::own_memory;

/// The most ranges of one record.
pub const RANGES_MAX: usize = 1 << 15;
/// Bytes of ranges that can be staged for one record: as many as a record can hold.
pub const STAGED_BYTES: usize = 1 << 20;

/// A range of the program's memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Range {
    /// Address of the first byte.
    pub address: u64,
    /// The length in bytes, and above it the index of the range's parameter plus one.
    word: u64,
}

/// A thread's working memory.
#[repr(C)]
pub struct Scratch {
    /// The ranges that were named.
    pub ranges: [Range; RANGES_MAX],
    /// Where the bytes of the ranges are, if those are copies; the numbers of the blobs, if those are still to be sent.
    pub sources: [u64; RANGES_MAX],
    /// The ranges as they will be in the record.
    pub staged: [u64; STAGED_BYTES / 8],
    /// Buffer in which a blob's bytes are hashed and from which they are sent.
    pub piece: Piece,
}

impl Range {
    /// Bits of `word` that hold the length.
    const LEN_BITS: u32 = 48;

    /// Builds a range. `None` if it is empty, at address 0, or longer than memory can be.
    #[inline]
    pub fn new(param: u8, address: u64, len: u64) -> Option<Range> {
        let is_memory = address != 0 && len != 0 && len < 1 << (Self::LEN_BITS - 1);
        let word = len | u64::from(param.wrapping_add(1)) << Self::LEN_BITS;
        (is_memory && address.checked_add(len).is_some()).then_some(Range { address, word })
    }

    /// Builds a range that stands for memory of unknown extent: its length is 0.
    #[inline]
    pub fn of_unknown_extent(param: u8, address: u64) -> Range {
        Range { address, word: u64::from(param.wrapping_add(1)) << Self::LEN_BITS }
    }

    /// Length in bytes; 0 for an unknown extent.
    #[inline]
    pub fn len(self) -> u64 {
        self.word & ((1 << Self::LEN_BITS) - 1)
    }

    /// Returns a range of the same size and parameter at another address.
    pub fn moved(self, address: u64) -> Range {
        Range { address, ..self }
    }

    /// Returns the word that stands before the range in its record.
    #[inline]
    pub fn word(self, kind: u8) -> u64 {
        observation_word(kind, self.len()) | self.word & !((1 << Self::LEN_BITS) - 1)
    }

    /// Returns the index of the parameter; 255 for none.
    pub fn param(self) -> u8 {
        self.param_field().wrapping_sub(1)
    }

    /// Returns the index of the parameter plus one; 0 for none.
    #[inline]
    fn param_field(self) -> u8 {
        (self.word >> Self::LEN_BITS) as u8
    }

    /// Returns this range joined with `next`, if `next` begins where this one ends and belongs to the same parameter.
    #[inline]
    pub fn joined(self, next: Range) -> Option<Range> {
        let adjoins = self.param_field() == next.param_field()
            && self.address + self.len() == next.address
            && self.len() + next.len() < 1 << (Self::LEN_BITS - 1);
        adjoins.then_some(Range { address: self.address, word: self.word + next.len() })
    }
}

/// The working memory of a thread, which is mapped at its first use. All zeros: not mapped yet.
#[repr(transparent)]
pub struct ScratchSlot(*mut Scratch);

impl ScratchSlot {
    /// Working memory that is not mapped yet.
    pub const fn unmapped() -> Self {
        Self(ptr::null_mut())
    }

    /// Returns the working memory. `None` if it cannot be mapped.
    pub fn get(&mut self) -> Option<&mut Scratch> {
        if self.0.is_null() {
            self.map();
        }
        // SAFETY: null, or mapped by `map` until `unmap`, with zeros, which are valid; this slot alone leads to it.
        unsafe { self.0.as_mut() }
    }

    /// Unmaps the working memory.
    pub fn unmap(&mut self) {
        let scratch = core::mem::replace(&mut self.0, ptr::null_mut());
        if !scratch.is_null() {
            // SAFETY: a mapping of this size; the slot no longer leads to it.
            unsafe { own_memory::unmap(scratch.cast(), size_of::<Scratch>()) };
        }
    }

    #[cold]
    fn map(&mut self) {
        let _errno = ErrnoGuard::save();
        if let Some(memory) = own_memory::map(size_of::<Scratch>()) {
            self.0 = memory.as_ptr().cast();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_of_no_memory_is_none() {
        for (address, len) in [(0, 4), (4096, 0), (4096, 1 << 47), (u64::MAX - 1, 4)] {
            assert!(Range::new(0, address, len).is_none(), "{len} bytes at {address:#x}");
        }
        let range = Range::new(2, 4096, 8).unwrap();
        assert_eq!((range.address, range.len(), range.param_field()), (4096, 8, 3));
        assert_eq!(Range::new(255, 4096, 8).unwrap().param_field(), 0);
    }

    #[test]
    fn ranges_that_adjoin_are_joined() {
        let range = |param, address, len| Range::new(param, address, len).unwrap();
        let joined = range(1, 4096, 8).joined(range(1, 4104, 8)).unwrap();
        assert_eq!((joined.address, joined.len(), joined.param_field()), (4096, 16, 2));
        assert!(range(1, 4096, 8).joined(range(2, 4104, 8)).is_none());
        assert!(range(1, 4096, 8).joined(range(1, 4105, 8)).is_none());
    }
}
