//! A thread's working memory for what a command reads or writes: the ranges that were named so far,
//! the part of the record that holds them, and a piece of a blob.
//!
//! Mapped when the thread first needs it, so that no command calls an allocator. The kernel wipes it
//! in a forked child; pages that were never touched take no room.

use core::ptr::NonNull;

use gapii_abi::atom::observation_word;

use crate::blobs::PIECE_BYTES;
use crate::errno::ErrnoGuard;
use crate::mapping;

/// Most ranges of one record.
pub const RANGES_MAX: usize = 1 << 15;
/// Bytes of ranges that are put together before they are copied into a record: as many as a record
/// can have.
pub const STAGED_BYTES: usize = 1 << 20;

/// A range of the program's memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Range {
    pub address: u64,
    /// Index of the parameter that the range belongs to, plus one, and the length in bytes.
    word: u64,
}

/// A thread's working memory.
#[repr(C)]
pub struct Scratch {
    pub ranges: [Range; RANGES_MAX],
    pub staged: [u64; STAGED_BYTES / 8],
    /// Where a blob's bytes are hashed and sent from.
    pub piece: [u64; PIECE_BYTES as usize / 8],
}

impl Range {
    /// Bits of a range's length.
    const LEN_BITS: u32 = 48;

    /// `None`: nothing, or more than memory can be.
    #[inline]
    pub fn new(param: u8, address: u64, len: u64) -> Option<Range> {
        let is_memory = address != 0 && len != 0 && len < 1 << (Self::LEN_BITS - 1);
        let word = len | u64::from(param.wrapping_add(1)) << Self::LEN_BITS;
        (is_memory && address.checked_add(len).is_some()).then_some(Range { address, word })
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> u64 {
        self.word & ((1 << Self::LEN_BITS) - 1)
    }

    /// The word that stands before the range in its record.
    #[inline]
    pub fn word(self, kind: u8) -> u64 {
        observation_word(kind, self.len()) | self.word & !((1 << Self::LEN_BITS) - 1)
    }

    /// Index of the parameter plus one; 0: none.
    #[inline]
    fn param_field(self) -> u8 {
        (self.word >> Self::LEN_BITS) as u8
    }

    /// This range and one that begins where it ends, of the same parameter.
    #[inline]
    pub fn joined(self, next: Range) -> Option<Range> {
        let adjoins = self.param_field() == next.param_field()
            && self.address + self.len() == next.address
            && self.len() + next.len() < 1 << (Self::LEN_BITS - 1);
        adjoins.then_some(Range { address: self.address, word: self.word + next.len() })
    }
}

impl Scratch {
    /// Maps a thread's working memory.
    #[cold]
    pub fn map() -> Option<NonNull<Scratch>> {
        let _errno = ErrnoGuard::new();
        Some(mapping::map(size_of::<Scratch>())?.cast())
    }

    /// Gives working memory back.
    ///
    /// # Safety
    /// It came from [`Scratch::map`], and nobody uses it any more.
    pub unsafe fn unmap(scratch: *mut Scratch) {
        if !scratch.is_null() {
            // SAFETY: a mapping of that size.
            unsafe { mapping::unmap(scratch.cast(), size_of::<Scratch>()) };
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
