//! Ranges: memory that a command reads or writes beyond its parameter slots, named one by one and written at the end of
//! its record. Adjoining ranges of one parameter are joined. A record has at most `RANGES_MAX` (32,768) ranges in
//! `STAGED_BYTES` (1 MiB); if they do not fit, those of 9 bytes or more become blobs. A last range with address 0 sums
//! up those that still find no room.
//!
//! ```text
//! address u64, word u64 (kind, parameter + 1, size), bytes padded to 8, or the number of a blob
//! ```
//!
//! A range of size 0 and kind 0 stands for memory of unknown extent, which the record does not have.
//!
//! The size of a last range with address 0 is the sum of the ranges that it stands for.

use core::ptr;

use gapii_abi::atom::{OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER, observation_word};

use crate::blob::{BlobSender, Kept, Lost, Number, Source};
use crate::program::guarded;
use crate::record::{TIME_BYTES, Writer};
use crate::scratch::{Range, STAGED_BYTES, Scratch, ScratchSlot};

/// Bytes in front of a range's own bytes or its blob's number.
const RANGE_HEADER_BYTES: usize = 16;
const NUMBER_BYTES: usize = size_of::<Number>();

/// Progress of collecting ranges for the next record. The ranges themselves are in the thread's [`Scratch`].
#[derive(Default)]
pub struct Ranges {
    count: u32,
    /// Bytes that are staged for copying into the record.
    staged_bytes: u32,
    /// Bytes of the ranges that found no room.
    unnamed_bytes: u64,
    /// The next range is not joined to the one before.
    is_apart: bool,
    of: Of,
}

/// What the ranges of a record are of, and what [`Scratch::sources`] has.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Of {
    /// Memory where it is; nothing.
    #[default]
    Memory,
    /// Copies of memory; their addresses.
    Copies,
    /// Blobs that are still to be sent; their numbers.
    Owed,
}

impl Ranges {
    /// Whether no range was named for the next record.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Keeps the next range from being joined to the one before, so that it can be found by its address.
    pub fn set_apart(&mut self) {
        self.is_apart = true;
    }

    /// Names a range for the next record.
    pub fn add(&mut self, slot: &mut ScratchSlot, param: u8, address: u64, len: u64) {
        if let Some(range) = Range::new(param, address, len) {
            self.add_range(slot, range);
        }
    }

    /// Names a range for the next record whose bytes are a copy at `source`. All ranges of a record are copies, or none
    /// is.
    pub fn add_copy(&mut self, slot: &mut ScratchSlot, param: u8, address: u64, copy: &[u8]) {
        let (source, len) = (copy.as_ptr() as u64, copy.len() as u64);
        self.add_of(slot, (param, address, len), Of::Copies, source);
    }

    /// Names a range for the next record that is a blob which is still to be sent. All ranges of a record are, or none is.
    pub fn add_owed(
        &mut self,
        slot: &mut ScratchSlot,
        param: u8,
        address: u64,
        len: u64,
        number: Number,
    ) {
        self.add_of(slot, (param, address, len), Of::Owed, number);
    }

    fn add_of(
        &mut self,
        slot: &mut ScratchSlot,
        (param, address, len): (u8, u64, u64),
        of: Of,
        source: u64,
    ) {
        let at = self.count as usize;
        self.set_apart();
        self.add(slot, param, address, len);
        if let Some(place) = slot.get().and_then(|scratch| scratch.sources.get_mut(at)) {
            *place = source;
            self.of = of;
        }
    }

    /// Names memory of unknown extent for the next record.
    pub fn add_unknown(&mut self, slot: &mut ScratchSlot, param: u8, address: u64) {
        self.set_apart();
        self.add_range(slot, Range::of_unknown_extent(param, address));
        self.set_apart();
    }

    fn add_range(&mut self, slot: &mut ScratchSlot, range: Range) {
        let Some(scratch) = slot.get() else { return };
        let count = self.count as usize;
        let is_apart = core::mem::take(&mut self.is_apart);
        if !is_apart
            && let Some(last) = count.checked_sub(1).and_then(|last| scratch.ranges.get_mut(last))
            && let Some(joined) = last.joined(range)
        {
            *last = joined;
            return;
        }
        match scratch.ranges.get_mut(count) {
            Some(free) => {
                *free = range;
                self.count += 1;
            }
            None => self.unnamed_bytes += range.len(),
        }
    }

    /// Calls `see` with the parameter, the address and the size of each range that was named; the parameter is 255 for none, and
    /// the size 0 for an unknown extent.
    pub fn each(&self, slot: &mut ScratchSlot, mut see: impl FnMut(u8, u64, u64)) {
        if self.is_empty() {
            return;
        }
        let Some(scratch) = slot.get() else { return };
        for range in scratch.ranges.iter().take(self.count as usize) {
            see(range.param(), range.address, range.len());
        }
    }

    /// Drops the ranges, because no record will hold them.
    pub fn forget(&mut self) {
        *self = Ranges::default();
    }

    /// Stages the ranges for a record whose fixed part and slot observations take `payload_bytes`. Returns the size
    /// of the payload with the ranges. If they do not fit, stages them again with more of them as blobs.
    ///
    /// # Errors
    /// The ring has no room for a blob.
    #[inline(never)]
    pub fn stage(
        &mut self,
        slot: &mut ScratchSlot,
        blobs: &mut BlobSender,
        writer: &mut Writer,
        payload_bytes: u64,
    ) -> Result<u64, Lost> {
        let payload_bytes = (payload_bytes + 7) & !7;
        let room = writer.payload_len_max().saturating_sub(payload_bytes + TIME_BYTES);
        let Some(scratch) = slot.get() else { return Ok(payload_bytes) };
        let mut end = self.stage_in(scratch, blobs, writer, room, blobs.min_bytes())?;
        if end.unnamed_bytes > 0 {
            end = self.stage_in(scratch, blobs, writer, room, NUMBER_BYTES as u64 + 1)?;
        }
        self.staged_bytes = end.staged_bytes as u32;
        Ok(payload_bytes + end.staged_bytes as u64)
    }

    /// Stages the ranges in `room` bytes; those of `blob_min_bytes` or more become blobs.
    fn stage_in(
        &self,
        scratch: &mut Scratch,
        blobs: &mut BlobSender,
        writer: &mut Writer,
        room: u64,
        blob_min_bytes: u64,
    ) -> Result<StagedEnd, Lost> {
        let Scratch { ranges, sources, staged, piece } = scratch;
        let end = room.min(STAGED_BYTES as u64) as usize;
        let mut staged = Staged { at: 0, end, unnamed_bytes: self.unnamed_bytes, words: staged };
        for (range, source) in ranges.iter().zip(sources.iter()).take(self.count as usize) {
            let source = if self.of == Of::Memory { range.address } else { *source };
            if !staged.has_room(RANGE_HEADER_BYTES + NUMBER_BYTES) {
                staged.unnamed_bytes += range.len();
            } else if range.len() == 0 {
                staged.put_kept(*range, Kept::Unrecorded);
            } else if self.of == Of::Owed {
                staged.put_kept(*range, Kept::Blob(source));
            } else if range.len() < blob_min_bytes {
                staged.put_inline(*range, source);
            } else {
                let bytes = range.moved(source);
                // SAFETY: copying a range reports whether it is readable.
                staged.put_kept(*range, unsafe { blobs.keep(writer, piece, &bytes) }?);
            }
        }
        staged.put_unnamed();
        Ok(StagedEnd { staged_bytes: staged.at, unnamed_bytes: staged.unnamed_bytes })
    }

    /// Copies the staged ranges to `out`, and forgets them.
    ///
    /// # Safety
    /// `out` has at least as many writable bytes as [`Ranges::stage`] added to the payload.
    pub unsafe fn write(&mut self, slot: &mut ScratchSlot, out: *mut u8) {
        let bytes = self.staged_bytes as usize;
        self.forget();
        let Some(scratch) = slot.get() else { return };
        let staged = scratch.staged.as_ptr().cast::<u8>();
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: this many bytes were staged, and the record has room for them.
        unsafe {
            ptr::copy_nonoverlapping(staged, out, bytes)
        };
    }
}

/// How far staging came.
struct StagedEnd {
    staged_bytes: usize,
    /// Bytes of the ranges that found no room.
    unnamed_bytes: u64,
}

/// The part of a record that holds the ranges, while it is staged.
struct Staged<'a> {
    words: &'a mut [u64],
    /// Bytes staged so far.
    at: usize,
    /// The limit, in bytes.
    end: usize,
    /// Bytes of the ranges that found no room.
    unnamed_bytes: u64,
}

impl Staged<'_> {
    /// Whether `bytes` more fit, and after them the header that sums up ranges without room.
    fn has_room(&self, bytes: usize) -> bool {
        self.at + bytes + RANGE_HEADER_BYTES <= self.end
    }

    /// Appends a range with its bytes, which are at `source`.
    fn put_inline(&mut self, range: Range, source: u64) {
        let len = range.len() as usize;
        let span = (len + 7) & !7;
        if !self.has_room(RANGE_HEADER_BYTES + span) {
            self.unnamed_bytes += range.len();
            return;
        }
        let data = self.at / 8 + RANGE_HEADER_BYTES / 8;
        let Some(data) = self.words.get_mut(data..data + span / 8) else { return };
        if let Some(last) = data.last_mut() {
            *last = 0;
        }
        // SAFETY: the words have the range's length, and nothing else uses them.
        if unsafe { guarded::read(source, data.as_mut_ptr().cast(), len) } {
            self.put_header(range, OBSERVED_INLINE);
            self.at += span;
        } else {
            self.put_header(range, OBSERVED_NONE);
        }
    }

    /// Appends a range whose bytes are a blob, or are missing.
    fn put_kept(&mut self, range: Range, kept: Kept) {
        match kept {
            Kept::Blob(number) => {
                self.put_header(range, OBSERVED_NUMBER);
                self.put_words([number]);
            }
            Kept::Inline | Kept::Unrecorded => self.put_header(range, OBSERVED_NONE),
        }
    }

    fn put_unnamed(&mut self) {
        if self.unnamed_bytes > 0 {
            self.put_words([0, observation_word(OBSERVED_NONE, self.unnamed_bytes)]);
        }
    }

    fn put_header(&mut self, range: Range, kind: u8) {
        self.put_words([range.address, range.word(kind)]);
    }

    fn put_words<const N: usize>(&mut self, words: [u64; N]) {
        if let Some(out) = self.words.get_mut(self.at / 8..).and_then(|o| o.first_chunk_mut()) {
            *out = words;
            self.at += size_of_val(&words);
        }
    }
}

impl Source for Range {
    fn size(&self) -> u64 {
        self.len()
    }

    fn address(&self) -> Option<u64> {
        Some(self.address)
    }

    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool {
        // SAFETY: the caller provides `len` writable bytes at `out`.
        unsafe { guarded::read(self.address + from, out, len as usize) }
    }
}

#[cfg(test)]
mod tests {
    use gapii_abi::atom::range_word;

    use super::*;

    fn staged(words: &mut [u64], end: usize) -> Staged<'_> {
        Staged { at: 0, end, unnamed_bytes: 0, words }
    }

    fn range(param: u8, bytes: &[u8]) -> Range {
        Range::new(param, bytes.as_ptr() as u64, bytes.len() as u64).unwrap()
    }

    #[test]
    fn ranges_stand_one_behind_the_other() {
        let text = *b"twelve bytes";
        let mut words = [u64::MAX; 32];
        let mut staged = staged(&mut words, 256);
        staged.put_inline(range(2, &text), text.as_ptr() as u64);
        staged.put_kept(range(255, &text), Kept::Blob(7));
        staged.put_kept(range(0, &text), Kept::Unrecorded);
        let address = text.as_ptr() as u64;
        let expected = [
            address,
            range_word(OBSERVED_INLINE, 2, 12),
            u64::from_le_bytes(*b"twelve b"),
            u64::from_le_bytes(*b"ytes\0\0\0\0"),
            address,
            range_word(OBSERVED_NUMBER, 255, 12),
            7,
            address,
            range_word(OBSERVED_NONE, 0, 12),
        ];
        assert_eq!(staged.words[..expected.len()], expected);
        assert_eq!(staged.at, 8 * expected.len());
    }

    #[test]
    fn copied_range_has_the_address_of_the_original() {
        let copy = *b"copied bytes";
        let mut words = [u64::MAX; 32];
        let mut staged = staged(&mut words, 256);
        staged.put_inline(Range::new(1, 0x5000, 12).unwrap(), copy.as_ptr() as u64);
        let bytes = u64::from_le_bytes(*b"copied b");
        assert_eq!(staged.words[..3], [0x5000, range_word(OBSERVED_INLINE, 1, 12), bytes]);
    }

    #[test]
    fn range_that_is_not_readable_has_no_bytes() {
        let mut words = [u64::MAX; 32];
        let mut staged = staged(&mut words, 256);
        staged.put_inline(Range::new(1, 8, 12).unwrap(), 8);
        assert_eq!(staged.words[..2], [8, range_word(OBSERVED_NONE, 1, 12)]);
        assert_eq!(staged.at, 16);
    }

    #[test]
    fn ranges_without_room_are_summed_up_at_the_end() {
        let bytes = [7; 40];
        let mut words = [u64::MAX; 32];
        let mut staged = staged(&mut words, 64);
        let source = bytes.as_ptr() as u64;
        staged.put_inline(range(0, &bytes[..20]), source);
        staged.put_inline(range(1, &bytes), source);
        staged.put_inline(range(2, &bytes[..9]), source);
        assert_eq!((staged.at, staged.unnamed_bytes), (40, 49));
        staged.put_unnamed();
        assert_eq!(staged.words[5..7], [0, observation_word(OBSERVED_NONE, 49)]);
        assert!(staged.at <= 64);
    }
}
