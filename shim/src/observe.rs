//! Observations: the memory a command reads or writes, as found in its arguments.
//!
//! Computes extents and copies; never decides whether a command is recorded.

use core::ptr;

use gapii_protocol::atom::{
    BLOB_NAME_LEN, OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, observation_word,
};

use crate::blobs::{Kept, Source};
use crate::guarded;
use crate::known::Name;

/// The attribute that ends an EGL attribute list.
const EGL_NONE: isize = 0x3038;
/// Longest attribute list that is read, in attributes.
const ATTRIBUTES_MAX: usize = 256;
/// From this size on memory is read so that a fault is no crash: what the driver would not have read
/// of so much may not be there. In bytes.
const GUARDED_MIN_BYTES: u64 = 1024;

/// A range of the program's memory, or an array of its strings.
#[derive(Clone, Copy)]
pub struct Observation {
    address: *const u8,
    /// Bytes the observation takes in the record.
    size: u64,
    strings: Option<Strings>,
    kept: Kept,
}

/// `glShaderSource`'s way of passing text.
#[derive(Clone, Copy)]
struct Strings {
    count: usize,
    /// Null, or one length a string; a negative one says that the string ends with a zero byte.
    lengths: *const i32,
}

/// Nothing to see: a null pointer, or an extent that the arguments don't tell.
#[inline(always)]
pub fn none() -> Observation {
    of_memory(ptr::null(), 0)
}

#[inline(always)]
fn of_memory(address: *const u8, size: u64) -> Observation {
    Observation { address, size, strings: None, kept: Kept::Inline }
}

/// `elements` times `element_bytes` bytes; nothing if the pointer is null or the count not positive.
#[inline(always)]
pub fn array<T>(address: *const T, elements: i64, element_bytes: usize) -> Observation {
    if address.is_null() || elements <= 0 {
        return none();
    }
    match (elements as u64).checked_mul(element_bytes as u64) {
        Some(size) if size < 1 << 47 => of_memory(address.cast(), size),
        _ => none(),
    }
}

/// A string that ends with a zero byte, without that byte.
///
/// # Safety
/// `text` is null or points to such a string.
pub unsafe fn c_string<T>(text: *const T) -> Observation {
    if text.is_null() {
        return none();
    }
    // SAFETY: the caller says so.
    let len = unsafe { libc::strlen(text.cast()) };
    of_memory(text.cast(), len as u64)
}

/// The text a driver wrote into a buffer of `capacity_bytes`, up to its zero byte.
///
/// # Safety
/// `text` is null or points to `capacity_bytes` readable bytes.
pub unsafe fn c_string_bounded<T>(text: *const T, capacity_bytes: i64) -> Observation {
    if text.is_null() || capacity_bytes <= 0 {
        return none();
    }
    // SAFETY: the caller says so.
    let len = unsafe { libc::strnlen(text.cast(), capacity_bytes as usize) };
    of_memory(text.cast(), len as u64)
}

/// An array of `count` strings with optional lengths.
///
/// # Safety
/// `strings` is null or points to `count` pointers, each null or to a string of its length;
/// `lengths` is null or points to `count` lengths.
pub unsafe fn strings<T>(count: i64, strings: *const *const T, lengths: *const i32) -> Observation {
    if strings.is_null() || count <= 0 {
        return none();
    }
    let list = Strings { count: count as usize, lengths };
    let mut size = 0;
    for i in 0..list.count {
        // SAFETY: `i` is below the count.
        size += 4 + unsafe { list.text(strings.cast(), i) }.1 as u64;
    }
    Observation { strings: Some(list), ..of_memory(strings.cast(), size) }
}

/// A list of 32-bit attribute and value pairs with its closing `EGL_NONE`.
///
/// # Safety
/// `list` is null or ends with `EGL_NONE`.
pub unsafe fn attributes_i32(list: *const i32) -> Observation {
    // SAFETY: passed on; reads stop at EGL_NONE.
    let len = unsafe { attributes_len(list, |attribute| attribute as isize) };
    array(list, len, 4)
}

/// A list of pointer-sized attribute and value pairs with its closing `EGL_NONE`.
///
/// # Safety
/// `list` is null or ends with `EGL_NONE`.
pub unsafe fn attributes_isize(list: *const isize) -> Observation {
    // SAFETY: passed on; reads stop at EGL_NONE.
    let len = unsafe { attributes_len(list, |attribute| attribute) };
    array(list, len, 8)
}

/// `*count` elements, where a driver wrote the count; nothing when `count` is null.
///
/// # Safety
/// `count` is null or readable.
pub unsafe fn counted_array<T>(
    address: *const T,
    count: *const i32,
    capacity: i64,
    element_bytes: usize,
) -> Observation {
    if count.is_null() {
        return none();
    }
    // SAFETY: not null, so readable as the caller says.
    let count = i64::from(unsafe { *count });
    array(address, count.min(capacity), element_bytes)
}

unsafe fn attributes_len<T: Copy>(list: *const T, attribute: impl Fn(T) -> isize) -> i64 {
    if list.is_null() {
        return 0;
    }
    for pair in 0..ATTRIBUTES_MAX {
        // SAFETY: no earlier pair was the end.
        let at = unsafe { list.add(pair * 2) };
        // SAFETY: as above.
        if attribute(unsafe { *at }) == EGL_NONE {
            return pair as i64 * 2 + 1;
        }
    }
    0
}

impl Strings {
    /// Address and length of string `i`.
    unsafe fn text(self, strings: *const *const u8, i: usize) -> (*const u8, u32) {
        // SAFETY: `i` is below the count.
        let at = unsafe { strings.add(i) };
        // SAFETY: as above.
        let text = unsafe { *at };
        if text.is_null() {
            return (text, 0);
        }
        if !self.lengths.is_null() {
            // SAFETY: lengths has as many elements as strings.
            let at = unsafe { self.lengths.add(i) };
            // SAFETY: as above.
            let len = unsafe { *at };
            if len >= 0 {
                return (text, len as u32);
            }
        }
        // SAFETY: without a length the string ends with a zero byte.
        (text, unsafe { libc::strlen(text.cast()) } as u32)
    }
}

impl Observation {
    /// Whether it goes into its record as it is.
    #[inline(always)]
    pub fn is_small(&self, blob_min_bytes: u64) -> bool {
        self.size < blob_min_bytes
    }

    /// Says how it is kept, before its record is reserved.
    pub fn set_kept(&mut self, kept: Kept) {
        self.kept = kept;
    }

    /// Bytes taken in a record: the word, and the bytes padded to 8 or the name of the blob.
    #[inline(always)]
    pub fn span(&self) -> u64 {
        8 + match self.kept {
            Kept::Inline => (self.size + 7) & !7,
            Kept::Blob(_) => BLOB_NAME_LEN as u64,
            Kept::Unrecorded => 0,
        }
    }

    /// Writes word and bytes at `out` and returns the end.
    ///
    /// # Safety
    /// `out` is 8-aligned with [`Observation::span`] writable bytes.
    #[inline]
    pub unsafe fn write(&self, out: *mut u8) -> *mut u8 {
        let kind = match self.kept {
            Kept::Inline if !self.address.is_null() => OBSERVED_INLINE,
            Kept::Blob(_) => OBSERVED_BLOB,
            Kept::Inline | Kept::Unrecorded => OBSERVED_NONE,
        };
        // SAFETY: the first 8 of the caller's bytes.
        unsafe { out.cast::<u64>().write(observation_word(kind, self.size)) };
        // SAFETY: the word is inside the caller's bytes.
        let bytes = unsafe { out.add(8) };
        match self.kept {
            Kept::Inline if self.size > 0 => {
                // SAFETY: the span ends with a whole word, of which the bytes may leave a part.
                let last = unsafe { bytes.add((self.size as usize - 1) & !7) };
                // SAFETY: as above.
                unsafe { last.cast::<u64>().write(0) };
                // SAFETY: the span holds size bytes after the word.
                unsafe { self.copy_directly(0, self.size, bytes) };
            }
            // SAFETY: the span holds a name after the word.
            Kept::Blob(name) => unsafe { bytes.cast::<Name>().write(name) },
            Kept::Inline | Kept::Unrecorded => {}
        }
        // SAFETY: the span is within the caller's bytes.
        unsafe { out.add(self.span() as usize) }
    }

    /// Copies bytes `from..from + len` of the observation to `out`.
    ///
    /// # Safety
    /// The range lies inside the size and is readable; `out` has `len` writable bytes.
    unsafe fn copy_directly(&self, from: u64, len: u64, out: *mut u8) {
        let Some(strings) = self.strings else {
            // SAFETY: the range lies inside the program's memory.
            let source = unsafe { self.address.add(from as usize) };
            // SAFETY: both ranges are `len` bytes; the ring is no memory of the program's.
            unsafe { ptr::copy_nonoverlapping(source, out, len as usize) };
            return;
        };
        let mut out = Window { skip: from, left: len, out };
        for i in 0..strings.count {
            // SAFETY: `i` is below the count.
            let (text, len) = unsafe { strings.text(self.address.cast(), i) };
            // SAFETY: four bytes of a local.
            unsafe { out.put((&raw const len).cast(), 4) };
            // SAFETY: the string has `len` bytes.
            unsafe { out.put(text, u64::from(len)) };
        }
        // Texts that another thread has made shorter meanwhile.
        // SAFETY: what is left of `out`.
        unsafe { out.out.write_bytes(0, out.left as usize) };
    }
}

impl Source for Observation {
    fn size(&self) -> u64 {
        self.size
    }

    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool {
        if self.strings.is_none() && self.size >= GUARDED_MIN_BYTES {
            // SAFETY: the caller has the bytes at `out`.
            return unsafe { guarded::read(self.address as u64 + from, out, len as usize) };
        }
        // SAFETY: so little is readable, as whoever made the observation says; texts were read.
        unsafe { self.copy_directly(from, len, out) };
        true
    }
}

/// Takes a sequence of pieces and keeps the part of it that was asked for.
struct Window {
    skip: u64,
    left: u64,
    out: *mut u8,
}

impl Window {
    unsafe fn put(&mut self, piece: *const u8, len: u64) {
        let skipped = self.skip.min(len);
        self.skip -= skipped;
        let taken = self.left.min(len - skipped);
        // SAFETY: `skipped` is at most the piece's length.
        let source = unsafe { piece.add(skipped as usize) };
        // SAFETY: `taken` is within the piece and within what is left of `out`.
        unsafe { ptr::copy_nonoverlapping(source, self.out, taken as usize) };
        // SAFETY: as above.
        self.out = unsafe { self.out.add(taken as usize) };
        self.left -= taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an observation's bytes are, copied in pieces of every size.
    fn check(seen: Observation, expected: &[u8]) {
        assert_eq!(seen.size(), expected.len() as u64);
        for piece in 1..=expected.len().max(1) {
            let mut out = vec![0xEE; expected.len()];
            for (i, part) in out.chunks_mut(piece).enumerate() {
                let (from, len) = (i * piece, part.len());
                // SAFETY: the range is inside the size; `part` has as many bytes.
                unsafe { seen.copy_directly(from as u64, len as u64, part.as_mut_ptr()) };
            }
            assert_eq!(out, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn strings_are_joined_with_their_lengths() {
        let (whole, cut) = (c"void main() {}", c"// not all of it");
        let texts = [whole.as_ptr(), cut.as_ptr(), ptr::null()];
        let expected = b"\x0e\0\0\0void main() {}\x06\0\0\0// not\0\0\0\0";
        let lengths = [-1, 6, 0];
        // SAFETY: three strings, and three lengths of them.
        check(unsafe { strings(3, texts.as_ptr(), lengths.as_ptr()) }, expected);
        let expected = b"\x0e\0\0\0void main() {}";
        // SAFETY: one string that ends with a zero byte.
        check(unsafe { strings(1, texts.as_ptr(), ptr::null()) }, expected);
    }

    #[test]
    fn arrays_of_nothing_or_too_much_are_not_observed() {
        let value = 7_u32;
        check(array(&raw const value, 1, 4), &7_u32.to_ne_bytes());
        for (address, elements) in [
            (ptr::null(), 1),
            (&raw const value, 0),
            (&raw const value, -1),
            (&raw const value, i64::MAX),
        ] {
            assert_eq!(array(address, elements, 4).size(), 0, "{elements} elements");
        }
    }

    #[test]
    fn attribute_lists_end_at_none() {
        let list = [0x3098, 2, 0x3038, 99, 99];
        // SAFETY: the list ends with EGL_NONE.
        assert_eq!(unsafe { attributes_i32(list.as_ptr()) }.size(), 12);
        // SAFETY: null is a list of nothing.
        assert_eq!(unsafe { attributes_i32(ptr::null()) }.size(), 0);
        let value_like_the_end = [0x3098_isize, 0x3038, 0x3038];
        // SAFETY: the list ends with EGL_NONE; the first one is a value.
        assert_eq!(unsafe { attributes_isize(value_like_the_end.as_ptr()) }.size(), 24);
    }

    #[test]
    fn written_observation_clears_the_rest_of_its_last_word() {
        let text = *b"abc";
        let seen = array(text.as_ptr(), 3, 1);
        let mut record = [u64::MAX; 2];
        assert_eq!(seen.span(), 16);
        // SAFETY: the record has the observation's span.
        unsafe { seen.write(record.as_mut_ptr().cast()) };
        assert_eq!(
            record,
            [observation_word(OBSERVED_INLINE, 3), u64::from_le_bytes(*b"abc\0\0\0\0\0")]
        );
    }
}
