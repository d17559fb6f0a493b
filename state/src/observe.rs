//! Ranges of the program's memory, computed from the extents in descriptions. Nothing is observed for null, for a
//! number that is not positive, or for 2^47 bytes and more; nor of an attribute list that does not end within 256 pairs
//! (`ATTRIBUTES_MAX`, in words).
//!
//! Generated code calls these functions. Each reports ranges to the observer, and reads only the memory that
//! determines the end of a range.

use crate::memory::{Memory, NO_PARAM, Observer, Values};
use crate::number::range as counts;

/// Upper limit of a range's length, in bytes.
const RANGE_BYTES_MAX: i64 = 1 << 47;
/// The longest attribute list that is read, in words.
const ATTRIBUTES_MAX: i64 = 512;

/// Observes `bytes` bytes at an address; nothing if the address is null or the number is not positive.
pub fn memory<O: Observer + ?Sized>(seen: &mut O, address: u64, bytes: i64) {
    range(seen, NO_PARAM, address, bytes);
}

/// Observes a number of elements at the pointer.
pub fn elements<O: Observer + ?Sized>(
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: i64,
    element_bytes: i64,
) {
    range(seen, param, pointer, count.saturating_mul(element_bytes));
}

/// Observes elements `from` to below `to`.
pub fn slice<O: Observer + ?Sized>(
    seen: &mut O,
    param: u8,
    pointer: u64,
    from: i64,
    to: i64,
    element_bytes: i64,
) {
    let offset = from.wrapping_mul(element_bytes);
    if pointer != 0 {
        let bytes = to.saturating_sub(from).saturating_mul(element_bytes);
        range(seen, param, pointer.wrapping_add(offset as u64), bytes);
    }
}

/// Observes `*count` elements, but at most `most`; `most` elements if `count` is null.
pub fn counted<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: u64,
    most: i64,
    element_bytes: i64,
) {
    let found = match count {
        0 => most,
        _ => i64::from(memory.get::<i32>(count)).min(most),
    };
    elements(seen, param, pointer, found, element_bytes);
}

/// Observes a NUL-terminated string, without the NUL, in a buffer of at most `most` bytes.
pub fn text<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    most: i64,
) {
    if pointer != 0 && most > 0 {
        let len = memory.text_len(pointer, most as u64);
        range(seen, param, pointer, i64::try_from(len).unwrap_or(0));
    }
}

/// Observes a string of `length` bytes, or a NUL-terminated string if `is_terminated`.
pub fn text_of<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    length: i64,
    is_terminated: bool,
) {
    match is_terminated {
        true => text(memory, seen, param, pointer, i64::MAX),
        false => range(seen, param, pointer, length),
    }
}

/// Observes an array of pointers to strings, and the strings before the first element that is not readable. `lengths`
/// is null or points to one length per string; a negative length means that the string is NUL-terminated.
pub fn strings<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: i64,
    lengths: u64,
) {
    elements(seen, param, pointer, count, 8);
    for (text, length) in string_elements(memory, pointer, count, lengths) {
        text_of(memory, seen, param, text, length, length < 0);
    }
}

/// Observes pairs of attribute and value, with the attribute `end` that ends them.
pub fn attributes<M: Memory + ?Sized, O: Observer + ?Sized>(
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    element_bytes: i64,
    end: i64,
) {
    if let Some(end) = attributes_end(memory, pointer, element_bytes, end) {
        elements(seen, param, pointer, end + 1, element_bytes);
    }
}

/// Returns the value of `key` in an attribute list, which the attribute `end` ends.
pub fn attribute<M: Memory + ?Sized>(
    memory: &M,
    pointer: u64,
    element_bytes: i64,
    key: i64,
    end: i64,
) -> Option<i64> {
    let end = attributes_end(memory, pointer, element_bytes, end)?;
    (0..end)
        .step_by(2)
        .find(|at| attribute_word(memory, pointer, element_bytes, *at) == key)
        .map(|at| attribute_word(memory, pointer, element_bytes, at + 1))
}

/// Returns the concatenated strings that [`strings`] observes.
pub fn joined<M: Memory + ?Sized>(memory: &M, pointer: u64, count: i64, lengths: u64) -> String {
    let mut joined = String::new();
    for (text, length) in string_elements(memory, pointer, count, lengths) {
        joined.push_str(&text_value(memory, text, length, length < 0));
        if joined.len() >= crate::memory::BYTES_MAX {
            break;
        }
    }
    joined
}

/// Returns the string that [`text_of`] observes.
pub fn text_value<M: Memory + ?Sized>(
    memory: &M,
    pointer: u64,
    length: i64,
    is_terminated: bool,
) -> String {
    let most = if is_terminated { i64::MAX } else { length };
    if is_terminated {
        return memory.text(pointer, most as u64);
    }
    let bytes = memory.bytes(pointer, length, crate::memory::BYTES_MAX);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn range<O: Observer + ?Sized>(seen: &mut O, param: u8, address: u64, bytes: i64) {
    if address != 0 && 0 < bytes && bytes < RANGE_BYTES_MAX {
        seen.range(param, address, bytes as u64);
    }
}

/// Address and length of each string of an array, up to the first element that is not readable: the driver can't read
/// it either. Behind it may lie memory of another kind, which as lengths would cost seconds.
fn string_elements<M: Memory + ?Sized>(
    memory: &M,
    pointer: u64,
    count: i64,
    lengths: u64,
) -> impl Iterator<Item = (u64, i64)> {
    counts(0, count).map_while(move |at| {
        let text = memory.readable_element::<u64>(pointer, at)?;
        let length = match lengths {
            0 => -1,
            _ => i64::from(memory.readable_element::<i32>(lengths, at)?),
        };
        Some((text, length))
    })
}

fn attribute_word<M: Memory + ?Sized>(
    memory: &M,
    pointer: u64,
    element_bytes: i64,
    at: i64,
) -> i64 {
    match element_bytes {
        8 => memory.element::<i64>(pointer, at),
        _ => i64::from(memory.element::<i32>(pointer, at)),
    }
}

/// Returns the position of the attribute `end` that ends the list.
fn attributes_end<M: Memory + ?Sized>(
    memory: &M,
    pointer: u64,
    element_bytes: i64,
    end: i64,
) -> Option<i64> {
    if pointer == 0 {
        return None;
    }
    (0..ATTRIBUTES_MAX)
        .step_by(2)
        .find(|at| attribute_word(memory, pointer, element_bytes, *at) == end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Bytes;

    /// Ranges as (parameter, address, bytes).
    #[derive(Default)]
    struct Seen(Vec<(u8, u64, u64)>);

    impl Observer for Seen {
        fn range(&mut self, param: u8, address: u64, len: u64) {
            self.0.push((param, address, len));
        }
    }

    fn words(words: &[i32]) -> Bytes {
        Bytes(0x1000, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    fn check(observe: impl FnOnce(&mut Seen), expected: &[(u8, u64, u64)]) {
        let mut seen = Seen::default();
        observe(&mut seen);
        assert_eq!(seen.0, expected);
    }

    #[test]
    fn elements_and_slices_are_bytes_from_the_pointer_on() {
        check(|seen| elements(seen, 1, 0x1000, 3, 4), &[(1, 0x1000, 12)]);
        check(|seen| slice(seen, 1, 0x1000, 2, 5, 4), &[(1, 0x1008, 12)]);
        check(|seen| memory(seen, 0x1000, 8), &[(NO_PARAM, 0x1000, 8)]);
    }

    #[test]
    fn null_and_invalid_counts_give_no_range() {
        check(|seen| elements(seen, 1, 0, 3, 4), &[]);
        check(|seen| elements(seen, 1, 0x1000, -3, 4), &[]);
        check(|seen| elements(seen, 1, 0x1000, i64::MAX, 4), &[]);
        check(|seen| slice(seen, 1, 0, 2, 5, 4), &[]);
        check(|seen| slice(seen, 1, 0x1000, 5, 2, 4), &[]);
    }

    #[test]
    fn counted_array_has_the_written_elements_or_all_without_a_count() {
        let memory = words(&[2]);
        check(|seen| counted(&memory, seen, 0, 0x2000, 0x1000, 5, 4), &[(0, 0x2000, 8)]);
        check(|seen| counted(&memory, seen, 0, 0x2000, 0x1000, 1, 4), &[(0, 0x2000, 4)]);
        check(|seen| counted(&memory, seen, 0, 0x2000, 0, 5, 4), &[(0, 0x2000, 20)]);
    }

    #[test]
    fn text_ends_at_its_length_or_its_nul() {
        let memory = Bytes(0x1000, b"abcd\0".to_vec());
        check(|seen| text(&memory, seen, 0, 0x1000, 100), &[(0, 0x1000, 4)]);
        check(|seen| text(&memory, seen, 0, 0x1000, 3), &[(0, 0x1000, 3)]);
        check(|seen| text_of(&memory, seen, 0, 0x1000, 2, false), &[(0, 0x1000, 2)]);
        check(|seen| text_of(&memory, seen, 0, 0x1000, -1, true), &[(0, 0x1000, 4)]);
        assert_eq!(text_value(&memory, 0x1000, 2, false), "ab");
        assert_eq!(text_value(&memory, 0x1000, -1, true), "abcd");
    }

    #[test]
    fn strings_are_observed_with_their_pointers() {
        let mut memory = Bytes(0x1000, vec![]);
        memory.1.extend([0x1018u64, 0x101b].iter().flat_map(|at| at.to_le_bytes()));
        memory.1.extend([-1i32, 1].iter().flat_map(|length| length.to_le_bytes()));
        memory.1.extend(b"ab\0cde\0");
        let expected = [(3, 0x1000, 16), (3, 0x1018, 2), (3, 0x101b, 1)];
        check(|seen| strings(&memory, seen, 3, 0x1000, 2, 0x1010), &expected);
        assert_eq!(joined(&memory, 0x1000, 2, 0x1010), "abc");
        assert_eq!(joined(&memory, 0x1000, 2, 0), "abcde");
    }

    #[test]
    fn strings_end_at_the_first_element_that_is_not_readable() {
        let mut memory = Bytes(0x1000, vec![]);
        memory.1.extend([0x1010u64, 0x1011].iter().flat_map(|at| at.to_le_bytes()));
        memory.1.extend(b"ab\0");
        let none = [(3, 0x0ff8, 32)];
        check(|seen| strings(&memory, seen, 3, 0x0ff8, 4, 0), &none);
        assert_eq!(joined(&memory, 0x0ff8, 4, 0), "");
        assert_eq!(joined(&memory, 0x1000, 2, 0), "abb");
        assert_eq!(joined(&memory, 0x1000, 2, 0x2000), "");
    }

    #[test]
    fn attributes_end_with_their_end_and_are_found_by_key() {
        const EGL_NONE: i64 = 0x3038;
        let memory = words(&[0x3098, 3, 0x30fb, 0x3038, 0x3038]);
        check(|seen| attributes(&memory, seen, 2, 0x1000, 4, EGL_NONE), &[(2, 0x1000, 20)]);
        assert_eq!(attribute(&memory, 0x1000, 4, 0x3098, EGL_NONE), Some(3));
        assert_eq!(attribute(&memory, 0x1000, 4, 0x30fb, EGL_NONE), Some(0x3038));
        assert_eq!(attribute(&memory, 0x1000, 4, 3, EGL_NONE), None);
        assert_eq!(attribute(&memory, 0, 4, 3, EGL_NONE), None);
        let memory = words(&[0x3038, 7, 0]);
        check(|seen| attributes(&memory, seen, 2, 0x1000, 4, 0), &[(2, 0x1000, 12)]);
        assert_eq!(attribute(&memory, 0x1000, 4, 0x3038, 0), Some(7));
    }
}
