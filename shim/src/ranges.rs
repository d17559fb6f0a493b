//! Ranges: memory that a command reads or writes beyond its slots, named one by one and written at
//! the end of its record.
//!
//! ```text
//! address u64, word u64 (kind, parameter + 1, size), data padded to 8
//! ```
//!
//! A range that there is no room for is told by a last one without address, whose size is the sum of
//! all that are missing.

use core::ptr;

use gapii_protocol::atom::{OBSERVED_INLINE, OBSERVED_NONE, observation_word};

use crate::scratch::{Range, STAGED_BYTES, Scratch};
use crate::thread::Thread;

/// Bytes of a range without its data.
const RANGE_HEADER_BYTES: usize = 16;

/// How far the ranges for the record that comes next are; they are in the thread's [`Scratch`].
#[derive(Default)]
pub struct Ranges {
    count: u32,
    /// Bytes of them that are ready to be copied into the record.
    staged_bytes: u32,
    /// Bytes of ranges that there was no room for.
    unnamed_bytes: u64,
}

impl Thread {
    /// Whether ranges were named for the record that comes next.
    #[inline(always)]
    pub fn has_ranges(&self) -> bool {
        self.ranges.count != 0
    }

    /// Names a range for the record that comes next.
    pub fn add_range(&mut self, param: u8, address: u64, len: u64) {
        let Some(range) = Range::new(param, address, len) else { return };
        let Some(scratch) = self.scratch() else { return };
        let count = self.ranges.count as usize;
        if let Some(last) = count.checked_sub(1).and_then(|last| scratch.ranges.get_mut(last))
            && let Some(joined) = last.joined(range)
        {
            *last = joined;
            return;
        }
        match scratch.ranges.get_mut(count) {
            Some(free) => {
                *free = range;
                self.ranges.count += 1;
            }
            None => self.ranges.unnamed_bytes += len,
        }
    }

    /// Forgets the ranges: there will be no record for them.
    pub fn forget_ranges(&mut self) {
        self.ranges = Ranges::default();
    }

    /// Puts together what the record has behind `payload_bytes` of fixed part and observations, and
    /// returns the payload's size with it.
    #[cold]
    pub fn stage_ranges(&mut self, payload_bytes: u64) -> u64 {
        let payload_bytes = (payload_bytes + 7) & !7;
        let room = self.producer.payload_len_max().saturating_sub(payload_bytes) as usize;
        let count = self.ranges.count as usize;
        let mut unnamed_bytes = self.ranges.unnamed_bytes;
        let Some(scratch) = self.scratch() else { return payload_bytes };
        let Scratch { ranges, staged, .. } = scratch;
        let mut staged = Staged { at: 0, end: room.min(STAGED_BYTES), words: staged };
        for range in ranges.iter().take(count) {
            if !staged.put(*range) {
                unnamed_bytes += range.len();
            }
        }
        if unnamed_bytes > 0 {
            staged.put_unnamed(unnamed_bytes);
        }
        self.ranges.staged_bytes = staged.at as u32;
        payload_bytes + u64::from(self.ranges.staged_bytes)
    }

    /// Copies what was put together to `out`, and forgets the ranges.
    ///
    /// # Safety
    /// `out` has as many writable bytes as [`Thread::stage_ranges`] said.
    pub unsafe fn write_ranges(&mut self, out: *mut u8) {
        let bytes = self.ranges.staged_bytes as usize;
        self.forget_ranges();
        let Some(scratch) = self.scratch() else { return };
        let staged = scratch.staged.as_ptr().cast::<u8>();
        // SAFETY: as many bytes were staged, and the record has room for them.
        unsafe { ptr::copy_nonoverlapping(staged, out, bytes) };
    }
}

/// The part of a record that has the ranges, while it is put together.
struct Staged<'a> {
    words: &'a mut [u64],
    /// In bytes.
    at: usize,
    /// Room, in bytes.
    end: usize,
}

impl Staged<'_> {
    /// Appends a range. False: there is no room for it.
    fn put(&mut self, range: Range) -> bool {
        let len = range.len() as usize;
        // Room is left for one more header, of what is missing.
        let span = RANGE_HEADER_BYTES + ((len + 7) & !7);
        if self.at + span + RANGE_HEADER_BYTES > self.end {
            return false;
        }
        self.put_header(range, OBSERVED_INLINE);
        let Some(data) = self.words.get_mut(self.at / 8..(self.at + span) / 8 - 2) else {
            return false;
        };
        if let Some(last) = data.last_mut() {
            *last = 0;
        }
        // SAFETY: the range lies in the program's memory, and the words have its length.
        unsafe {
            ptr::copy_nonoverlapping(range.address as *const u8, data.as_mut_ptr().cast(), len);
        }
        self.at += span - RANGE_HEADER_BYTES;
        true
    }

    fn put_header(&mut self, range: Range, kind: u8) {
        let word = observation_word(kind, range.len()) | u64::from(range.param_field()) << 48;
        self.put_words([range.address, word]);
    }

    fn put_unnamed(&mut self, bytes: u64) {
        if self.at + RANGE_HEADER_BYTES <= self.end {
            self.put_words([0, observation_word(OBSERVED_NONE, bytes)]);
        }
    }

    fn put_words(&mut self, words: [u64; 2]) {
        if let Some(out) = self.words.get_mut(self.at / 8..).and_then(|o| o.first_chunk_mut()) {
            *out = words;
            self.at += RANGE_HEADER_BYTES;
        }
    }
}
