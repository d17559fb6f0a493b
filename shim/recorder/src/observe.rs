//! Observations: the memory that a command reads or writes, found through its arguments. No pointer is trusted:
//! unreadable memory is marked as missing in the record; of partly readable memory the readable beginning is kept, up
//! to `CUT_BYTES_MAX` (64 KiB). An attribute list is read up to the attribute that ends it (EGL_NONE), at most `ATTRIBUTES_MAX` (256) pairs; a
//! longer list is not recorded. If another thread changes an array of strings meanwhile, the record keeps its size: a
//! string that has become unreadable is recorded as empty, and bytes left over are zeros.
//!
//! This file computes extents and copies. It never decides whether a command is recorded. It assumes of no pointer
//! that it points to memory, because the driver may reject the command before it reads any.

use core::ptr;

use gapii_abi::atom::{OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER, observation_word};

use crate::blob::{Kept, Number, Source};
use crate::program::{guarded, pages};

/// The attribute that ends an EGL attribute list.
const EGL_NONE: i64 = gapii_commands::constants::EGL_NONE as i64;
/// The most attributes of a list that are read.
const ATTRIBUTES_MAX: usize = 256;
/// The most bytes that are kept of memory of which only a part is readable: more than any driver has for uniforms.
const CUT_BYTES_MAX: u64 = 64 << 10;

/// A range of the program's memory, or an array of its strings.
#[derive(Clone, Copy)]
pub struct Observation {
    address: *const u8,
    /// Bytes that the observation takes in the record.
    size: u64,
    strings: Option<Strings>,
    kept: Kept,
}

/// An array of strings as `glShaderSource` takes it.
#[derive(Clone, Copy)]
struct Strings {
    count: usize,
    /// Null, or one length per string. A negative length means that the string is NUL-terminated.
    lengths: *const i32,
}

/// No observation: a null pointer, or an extent that the arguments do not determine.
#[inline(always)]
pub fn none() -> Observation {
    of_memory(ptr::null(), 0)
}

#[inline(always)]
fn of_memory(address: *const u8, size: u64) -> Observation {
    Observation { address, size, strings: None, kept: Kept::Inline }
}

/// `elements` times `element_bytes` bytes. No observation if the pointer is null or `elements` is not positive.
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

/// A NUL-terminated string, without the NUL.
pub fn c_string<T>(text: *const T) -> Observation {
    of_text(text.cast(), u64::MAX)
}

/// The string that a driver wrote into a buffer of `capacity_bytes`, up to its NUL.
pub fn c_string_bounded<T>(text: *const T, capacity_bytes: i64) -> Observation {
    match u64::try_from(capacity_bytes) {
        Ok(most) if most > 0 => of_text(text.cast(), most),
        _ => none(),
    }
}

fn of_text(text: *const u8, most: u64) -> Observation {
    if text.is_null() {
        return none();
    }
    match pages::text_len(text as u64, most) {
        Ok(len) => of_memory(text, len),
        Err(len) => unreadable(text, len + 1),
    }
}

/// Memory that turned out to be unreadable; `size` is how far it was looked at.
fn unreadable(address: *const u8, size: u64) -> Observation {
    Observation { kept: Kept::Unrecorded, ..of_memory(address, size) }
}

/// Returns the `i`th element of one of the program's arrays, if it is readable.
fn element<T: Copy>(array: *const T, i: usize) -> Option<T> {
    let at = array.wrapping_add(i);
    let readable = pages::are_readable(at as u64, size_of::<T>() as u64);
    // SAFETY: readable; the read is unaligned because the program may have put the array anywhere.
    readable.then(|| unsafe { at.read_unaligned() })
}

/// An array of `count` strings; `lengths` may be null.
pub fn strings<T>(count: i64, strings: *const *const T, lengths: *const i32) -> Observation {
    if strings.is_null() || count <= 0 {
        return none();
    }
    let list = Strings { count: count as usize, lengths };
    let mut size = 0;
    for i in 0..list.count {
        let Some((text, len)) = list.look(strings.cast(), i) else {
            return unreadable(strings.cast(), size + 1);
        };
        if !pages::are_readable(text as u64, u64::from(len)) {
            return unreadable(strings.cast(), size + 1);
        }
        size += 4 + u64::from(len);
    }
    Observation { strings: Some(list), ..of_memory(strings.cast(), size) }
}

/// A list of 32-bit attributes and values with the `EGL_NONE` that ends it.
pub fn attributes_i32(list: *const i32) -> Observation {
    attributes_to_i32(list, EGL_NONE)
}

/// A list of 32-bit attributes and values with the attribute `end` that ends it.
pub fn attributes_to_i32(list: *const i32, end: i64) -> Observation {
    attributes(list, |attribute| i64::from(attribute) == end)
}

/// A list of pointer-sized attributes and values with the attribute `end` that ends it.
pub fn attributes_to_isize(list: *const isize, end: i64) -> Observation {
    attributes(list, |attribute| attribute as i64 == end)
}

/// `*count` elements, `capacity` at most, where the driver wrote the count. No observation if `count` is null.
pub fn counted_array<T>(
    address: *const T,
    count: *const i32,
    capacity: i64,
    element_bytes: usize,
) -> Observation {
    if count.is_null() {
        return none();
    }
    let count = element(count, 0).map_or(0, i64::from);
    array(address, count.min(capacity), element_bytes)
}

fn attributes<T: Copy>(list: *const T, ends: impl Fn(T) -> bool) -> Observation {
    if list.is_null() {
        return none();
    }
    for pair in 0..ATTRIBUTES_MAX {
        let Some(name) = element(list, pair * 2) else {
            return unreadable(list.cast(), (pair * 2 * size_of::<T>()) as u64 + 1);
        };
        if ends(name) {
            return array(list, pair as i64 * 2 + 1, size_of::<T>());
        }
    }
    none()
}

impl Strings {
    /// Returns the address and length of string `i`. `None` if it is not readable.
    fn look(self, strings: *const *const u8, i: usize) -> Option<(*const u8, u32)> {
        let text = element(strings, i)?;
        if text.is_null() {
            return Some((text, 0));
        }
        let len = if self.lengths.is_null() { -1 } else { element(self.lengths, i)? };
        match u32::try_from(len) {
            Ok(len) => Some((text, len)),
            // Without a length the string is NUL-terminated.
            Err(_) => Some((text, pages::text_len(text as u64, u64::from(u32::MAX)).ok()? as u32)),
        }
    }
}

impl Observation {
    /// Whether the observation is small enough to be copied into its record.
    #[inline(always)]
    pub fn is_small(&self, blob_min_bytes: u64) -> bool {
        self.size < blob_min_bytes
    }

    /// Whether its memory is remembered as readable.
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.strings.is_some() || pages::are_known(self.address as u64, self.size)
    }

    /// Whether the memory can be copied. For a blob this is true, because copying reports it.
    pub fn is_readable(&self, blob_min_bytes: u64) -> bool {
        self.kept != Kept::Unrecorded
            && (self.strings.is_some()
                || !self.is_small(blob_min_bytes)
                || pages::are_readable(self.address as u64, self.size))
    }

    /// Returns address and size in bytes of the memory, if it is one range that was found readable. `None` for a null
    /// pointer.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let is_range = self.strings.is_none() && !self.is_unrecorded();
        (is_range && !self.address.is_null()).then_some((self.address as u64, self.size))
    }

    /// Whether the observation's bytes are missing from the record.
    pub fn is_unrecorded(&self) -> bool {
        self.kept == Kept::Unrecorded
    }

    /// Cuts an observation of partly readable memory to the readable part. Programs may state a larger size than they
    /// have, and drivers may read less than the program states. False if no byte is readable, or if the observation
    /// is an array of strings.
    pub fn cut_to_readable(&mut self) -> bool {
        let len = pages::readable_len(self.address as u64, self.size.min(CUT_BYTES_MAX));
        let is_some = self.strings.is_none() && len > 0;
        if is_some {
            (self.size, self.kept) = (len, Kept::Inline);
        }
        is_some
    }

    /// Sets how the observation is kept, before its record is reserved.
    pub fn set_kept(&mut self, kept: Kept) {
        self.kept = kept;
    }

    /// Returns the bytes that the observation takes in a record: its word, and then its bytes padded to 8, or the
    /// blob's number.
    #[inline(always)]
    pub fn span(&self) -> u64 {
        8 + match self.kept {
            Kept::Inline => (self.size + 7) & !7,
            Kept::Blob(_) => size_of::<Number>() as u64,
            Kept::Unrecorded => 0,
        }
    }

    /// Writes word and bytes to `out` and returns the end.
    ///
    /// # Safety
    /// `out` is aligned to 8 bytes and has [`Observation::span`] writable bytes.
    #[inline]
    pub unsafe fn write(&self, out: *mut u8) -> *mut u8 {
        let kind = match self.kept {
            Kept::Inline if !self.address.is_null() => OBSERVED_INLINE,
            Kept::Blob(_) => OBSERVED_NUMBER,
            Kept::Inline | Kept::Unrecorded => OBSERVED_NONE,
        };
        // SAFETY: the first 8 of the caller's bytes.
        unsafe { out.cast::<u64>().write(observation_word(kind, self.size)) };
        // SAFETY: the word is inside the caller's bytes.
        let bytes = unsafe { out.add(8) };
        match self.kept {
            Kept::Inline if self.size > 0 => {
                // SAFETY: the span ends with a whole word, part of which the bytes may leave unwritten.
                let last = unsafe { bytes.add((self.size as usize - 1) & !7) };
                // SAFETY: as above.
                unsafe { last.cast::<u64>().write(0) };
                // SAFETY: the span holds size bytes after the word.
                unsafe { self.copy_directly(0, self.size, bytes) };
            }
            // SAFETY: the span holds a number after the word.
            Kept::Blob(number) => unsafe { bytes.cast::<Number>().write(number) },
            Kept::Inline | Kept::Unrecorded => {}
        }
        // SAFETY: the span is within the caller's bytes.
        unsafe { out.add(self.span() as usize) }
    }

    /// Copies bytes `from..from + len` of the observation to `out`.
    ///
    /// # Safety
    /// `from + len` does not exceed the size, and the memory is readable. `out` has `len` writable bytes.
    unsafe fn copy_directly(&self, from: u64, len: u64, out: *mut u8) {
        let Some(strings) = self.strings else {
            // SAFETY: the caller states that the range is inside the observation.
            let source = unsafe { self.address.add(from as usize) };
            // SAFETY: both ranges are `len` bytes.
            unsafe { guarded::copy(source, out, len as usize) };
            return;
        };
        let mut out = Window { skip: from, left: len, out };
        for i in 0..strings.count {
            // The strings were looked at when the observation was made; another thread may have changed them since.
            let Some((text, len)) = strings.look(self.address.cast(), i) else { break };
            let len = if pages::are_readable(text as u64, u64::from(len)) { len } else { 0 };
            // SAFETY: four bytes of a local.
            unsafe { out.put((&raw const len).cast(), 4) };
            // SAFETY: the string has `len` bytes.
            unsafe { out.put(text, u64::from(len)) };
        }
        // Another thread may have made the strings shorter meanwhile.
        // SAFETY: `left` bytes remain in `out`.
        unsafe { out.out.write_bytes(0, out.left as usize) };
    }
}

impl Source for Observation {
    fn size(&self) -> u64 {
        self.size
    }

    fn address(&self) -> Option<u64> {
        self.strings.is_none().then_some(self.address as u64)
    }

    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool {
        if let Some(address) = self.address() {
            // SAFETY: the caller has the bytes at `out`.
            return unsafe { guarded::read(address + from, out, len as usize) };
        }
        // SAFETY: strings are looked at again while they are copied.
        unsafe { self.copy_directly(from, len, out) };
        true
    }
}

/// Copies the part of a sequence of pieces that was asked for.
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
        unsafe { guarded::copy(source, self.out, taken as usize) };
        // SAFETY: as above.
        self.out = unsafe { self.out.add(taken as usize) };
        self.left -= taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn array_that_is_not_all_there_is_cut_to_what_is() {
        let pages = crate::own_memory::map(8192).unwrap();
        let second = pages.as_ptr().wrapping_add(4096);
        // SAFETY: the second of the two pages just mapped.
        assert_eq!(unsafe { libc::munmap(second.cast(), 4096) }, 0);
        let check = |before: usize, elements: i64, expected: Option<u64>| {
            let mut seen = array(second.wrapping_sub(before), elements, 16);
            assert_eq!(seen.cut_to_readable(), expected.is_some());
            assert_eq!(seen.size, expected.unwrap_or(elements as u64 * 16));
        };
        check(48, 1_000_000, Some(48));
        check(4096, 1_000_000, Some(4096));
        check(48, 2, Some(32));
        check(0, 1, None);
    }

    /// Checks the bytes of an observation, copied in pieces of every size.
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
    #[cfg_attr(miri, ignore = "reads a page to its end to find a NUL")]
    fn strings_are_joined_with_their_lengths() {
        let (whole, cut) = (c"void main() {}", c"// not all of it");
        let texts = [whole.as_ptr(), cut.as_ptr(), ptr::null()];
        let expected = b"\x0e\0\0\0void main() {}\x06\0\0\0// not\0\0\0\0";
        let lengths = [-1, 6, 0];
        check(strings(3, texts.as_ptr(), lengths.as_ptr()), expected);
        let expected = b"\x0e\0\0\0void main() {}";
        check(strings(1, texts.as_ptr(), ptr::null()), expected);
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
        assert_eq!(attributes_i32(list.as_ptr()).size(), 12);
        assert_eq!(attributes_i32(ptr::null()).size(), 0);
        let value_like_the_end = [0x3098_isize, 0x3038, 0x3038];
        assert_eq!(attributes_to_isize(value_like_the_end.as_ptr(), EGL_NONE).size(), 24);
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
