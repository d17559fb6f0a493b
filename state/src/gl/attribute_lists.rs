//! Attribute lists of OpenGL ES: pairs of attribute and value, with the `GL_NONE` that ends them. A list that does not
//! end within 256 pairs (`PAIRS_MAX`), or is unreadable before its end, is not observed.

use crate::{Memory, Observer, Scope, Thread};

/// The longest list that is read, in pairs.
const PAIRS_MAX: u64 = 256;

/// Observes the list with its end; nothing if the list does not end.
pub fn attributes_to_none<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
) {
    for pair in 0..PAIRS_MAX {
        let mut attribute = [0; 4];
        if pointer == 0 || !memory.read(pointer.wrapping_add(pair * 8), &mut attribute) {
            return;
        }
        if attribute == [0; 4] {
            seen.range(param, pointer, pair * 8 + 4);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Process;
    use crate::memory::tests::Bytes;

    struct Ranges(Vec<(u8, u64, u64)>);

    impl Observer for Ranges {
        fn range(&mut self, param: u8, address: u64, len: u64) {
            self.0.push((param, address, len));
        }
    }

    #[test]
    fn list_is_observed_with_its_end_and_not_without() {
        let check = |pointer: u64, list: &[i32], expected: &[(u8, u64, u64)]| {
            let bytes = list.iter().flat_map(|element| element.to_le_bytes()).collect();
            let mut thread = Thread::new(Arc::<Process>::default(), 1);
            let mut seen = Ranges(Vec::new());
            attributes_to_none(&mut thread, &Bytes(0x1000, bytes), &mut seen, 5, pointer);
            assert_eq!(seen.0, expected, "{list:?}");
        };
        check(0x1000, &[0], &[(5, 0x1000, 4)]);
        check(0x1000, &[0x96C0, 1, 0], &[(5, 0x1000, 12)]);
        check(0x1000, &[0x96C0, 0, 7, 7, 0], &[(5, 0x1000, 20)]);
        check(0x1000, &[0x96C0, 0], &[]);
        check(0x1000, &[1; 1024], &[]);
        check(0, &[0], &[]);
    }
}
