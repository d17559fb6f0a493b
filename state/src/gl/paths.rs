//! Lists of path names (GL_NV_path_rendering), which may be text in UTF-8 or UTF-16; of a text at most 65,536
//! characters are read (`CHARACTERS_MAX`).

use gapii_commands::constants::{
    GL_2_BYTES_NV, GL_3_BYTES_NV, GL_4_BYTES_NV, GL_BYTE, GL_FLOAT, GL_INT, GL_SHORT,
    GL_UNSIGNED_BYTE, GL_UNSIGNED_INT, GL_UNSIGNED_SHORT, GL_UTF8_NV, GL_UTF16_NV,
};

use crate::{Memory, Observer, Scope, Thread, Values};

/// The longest text that is read, in characters.
const CHARACTERS_MAX: u64 = 1 << 16;

/// Observes `count` names at a pointer: numbers, or the characters of a text.
pub fn path_names<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: i64,
    r#type: u32,
) {
    let count = u64::try_from(count).unwrap_or(0);
    let bytes = match r#type {
        GL_BYTE | GL_UNSIGNED_BYTE => count,
        GL_SHORT | GL_UNSIGNED_SHORT | GL_2_BYTES_NV => count.saturating_mul(2),
        GL_3_BYTES_NV => count.saturating_mul(3),
        GL_INT | GL_UNSIGNED_INT | GL_FLOAT | GL_4_BYTES_NV => count.saturating_mul(4),
        GL_UTF8_NV => text_bytes(count, |at| {
            let first: u8 = memory.get(pointer.wrapping_add(at));
            match first {
                ..0xC0 => 1,
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                0xF0.. => 4,
            }
        }),
        GL_UTF16_NV => text_bytes(count, |at| {
            let first: u16 = memory.get(pointer.wrapping_add(at));
            if (0xD800..0xDC00).contains(&first) { 4 } else { 2 }
        }),
        _ => 0,
    };
    if pointer != 0 && bytes > 0 {
        seen.range(param, pointer, bytes);
    }
}

/// Returns the bytes of `count` characters; `bytes_at` returns the size of the character at an offset.
fn text_bytes(count: u64, bytes_at: impl Fn(u64) -> u64) -> u64 {
    (0..count.min(CHARACTERS_MAX)).fold(0, |offset, _| offset + bytes_at(offset))
}

/// Returns how many bits are set.
pub fn count_bits<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    _memory: &M,
    mask: u64,
) -> i64 {
    i64::from(mask.count_ones())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Process;
    use crate::memory::tests::Bytes;

    struct Sizes(Vec<u64>);

    impl Observer for Sizes {
        fn range(&mut self, _param: u8, _address: u64, len: u64) {
            self.0.push(len);
        }
    }

    #[test]
    fn length_of_a_list_of_names_depends_on_its_type() {
        let check = |ty: u32, count: i64, bytes: &[u8], expected: &[u64]| {
            let mut thread = Thread::new(Arc::<Process>::default(), 1);
            let mut seen = Sizes(Vec::new());
            let memory = Bytes(0x1000, bytes.to_vec());
            path_names(&mut thread, &memory, &mut seen, 2, 0x1000, count, ty);
            assert_eq!(seen.0, expected, "{ty:#x}");
        };
        check(GL_UNSIGNED_BYTE, 3, &[], &[3]);
        check(GL_2_BYTES_NV, 3, &[], &[6]);
        check(GL_3_BYTES_NV, 3, &[], &[9]);
        check(GL_FLOAT, 3, &[], &[12]);
        check(GL_FLOAT, -1, &[], &[]);
        check(0, 3, &[], &[]);
        check(GL_UTF8_NV, 4, "aé€😀b".as_bytes(), &[1 + 2 + 3 + 4]);
        let utf16: Vec<u8> = "a😀b".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(GL_UTF16_NV, 2, &utf16, &[2 + 4]);
    }
}
