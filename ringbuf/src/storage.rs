//! Storage of a ring's bytes: a mapping, or the cells of a loom model.
//!
//! Both halves of a ring access its bytes only through [`RingBytes`], so the models check the code that runs.
//! Positions are byte offsets into the ring, always a multiple of 8.

#[cfg(not(miri))]
use std::arch::asm;
use std::ptr::NonNull;

use crate::layout::Slot;
use crate::sync::{AtomicU64, Ordering};

/// Distance from the written record to the prefetched memory, in bytes. The cache lines that the consumer has
/// read last are in its core's cache; fetching one back takes as long as writing several records.
#[cfg(not(miri))]
const AHEAD_BYTES: usize = 2048;

/// The bytes of one ring.
pub trait RingBytes: Copy {
    /// Writes one word.
    ///
    /// # Safety
    ///
    /// The word lies in the ring, the ring is still mapped, and the word is the producer's: the consumer has
    /// released it and no other thread writes it.
    unsafe fn write_word(self, position: u64, word: u64);

    /// Prefetches memory some way beyond `position`, perhaps beyond the ring, for writing.
    #[inline(always)]
    fn expect_beyond(self, _position: u64) {}

    /// Copies `out.len()` bytes, a multiple of 8, out of the ring.
    ///
    /// # Safety
    ///
    /// The range lies in the ring and the ring is still mapped. The bytes may change meanwhile.
    unsafe fn read_words(self, position: u64, out: &mut [u8]);

    /// Address of a payload at `position`. Not for models, which have no bytes.
    ///
    /// # Safety
    ///
    /// The position lies in the ring and the ring is still mapped.
    unsafe fn payload(self, position: u64) -> NonNull<u8>;
}

/// One ring as its consumer holds it. The ring stays at its address as long as the value lives.
pub trait Ring {
    /// Access to the bytes.
    type Bytes: RingBytes;

    /// The ring's words.
    fn slot(&self) -> &Slot;

    /// The ring's bytes: [`Self::capacity_bytes`] of them, readable while `self` lives.
    fn bytes(&self) -> Self::Bytes;

    /// Size of the ring in bytes, a power of two: the same at every call, and never read from shared memory.
    fn capacity_bytes(&self) -> u64;

    /// Bytes that owners may have written since [`Self::discard`], before the memory is worth returning.
    fn memory_kept_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Returns the ring's memory to the system. Only while the slot has no owner and all records are released.
    fn discard(&self) {}

    /// Notes that the slot is free.
    fn note_freed(&self) {}
}

/// A ring in a mapping: the address of its first byte. Null (all zero) for no ring.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct MappedBytes(pub(crate) *mut u8);

impl RingBytes for MappedBytes {
    #[inline(always)]
    unsafe fn write_word(self, position: u64, word: u64) {
        // SAFETY: the caller guarantees that the word lies in the ring.
        let at = unsafe { self.0.add(position as usize) }.cast::<u64>();
        // SAFETY: in the ring, as the caller guarantees; aligned, because rings start at a page and positions
        // are multiples of 8; only the producer uses it until it is published.
        unsafe { at.write(word) };
    }

    // Miri knows no assembly.
    #[cfg(not(miri))]
    #[inline(always)]
    fn expect_beyond(self, position: u64) {
        let at = self.0.addr() + position as usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint that is valid for any address, and ignored by processors that do not know it.
        unsafe {
            asm!(
                "prefetchw [{at} + {ahead}]",
                at = in(reg) at,
                ahead = const AHEAD_BYTES,
                options(nomem, nostack, preserves_flags),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            asm!(
                "prfm pstl1keep, [{at}, #{ahead}]",
                at = in(reg) at,
                ahead = const AHEAD_BYTES,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    unsafe fn read_words(self, position: u64, out: &mut [u8]) {
        // SAFETY: the caller guarantees that the range lies in the ring.
        let first = unsafe { self.0.add(position as usize) }.cast::<AtomicU64>();
        for (index, chunk) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // SAFETY: still in the caller's range: `index` counts the words of `out`.
            let word = unsafe { first.add(index) };
            // SAFETY: in the ring and aligned, as above. An atomic, because a producer that breaks the rules
            // may be writing it now.
            let word = unsafe { &*word };
            // Relaxed: PUBLISH has ordered the words of a producer that keeps the rules; for one that breaks
            // them any value will do, because the copy is checked.
            *chunk = word.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    #[inline(always)]
    unsafe fn payload(self, position: u64) -> NonNull<u8> {
        // SAFETY: the caller guarantees that the position lies in the ring.
        let at = unsafe { self.0.add(position as usize) };
        // SAFETY: in the ring, so it is not null.
        unsafe { NonNull::new_unchecked(at) }
    }
}
