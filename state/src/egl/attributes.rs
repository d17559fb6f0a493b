//! Attribute lists: pairs of attribute and value, with the `EGL_NONE` that ends them. At most 256 pairs are read
//! (`PAIRS_MAX`); a list without an end counts as empty.

use gapii_commands::constants;

use crate::{Memory, Scope, Thread, Values};

const EGL_NONE: i64 = constants::EGL_NONE as i64;
/// The longest list that is read, in pairs.
const PAIRS_MAX: i64 = 256;

/// Returns the number of attributes in a list before `EGL_NONE`; 0 if the list does not end.
pub fn count_attributes<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    list: u64,
    element_bytes: i64,
) -> i64 {
    let is_end = |pair: i64| match element_bytes {
        8 => memory.element::<i64>(list, pair * 2) == EGL_NONE,
        _ => i64::from(memory.element::<i32>(list, pair * 2)) == EGL_NONE,
    };
    if list == 0 {
        return 0;
    }
    (0..PAIRS_MAX).find(|pair| is_end(*pair)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Process;
    use crate::memory::tests::Bytes;

    #[test]
    fn attributes_are_counted_up_to_the_one_that_ends_the_list() {
        let check = |address: u64, elements: &[i64], element_bytes: i64, expected: i64| {
            let bytes = elements
                .iter()
                .flat_map(|element| element.to_le_bytes().into_iter().take(element_bytes as usize));
            let memory = Bytes(0x1000, bytes.collect());
            let mut thread = Thread::new(Arc::<Process>::default(), 1);
            let count = count_attributes(&mut thread, &memory, address, element_bytes);
            assert_eq!(count, expected, "{elements:x?}");
        };
        for element_bytes in [4, 8] {
            check(0x1000, &[EGL_NONE], element_bytes, 0);
            check(0x1000, &[1, 2, EGL_NONE], element_bytes, 1);
            check(0x1000, &[1, EGL_NONE, 3, 4, EGL_NONE], element_bytes, 2);
            check(0x1000, &[1, 2, 3, 4], element_bytes, 0);
            check(0, &[1, 2, EGL_NONE], element_bytes, 0);
        }
        check(0x1000, &[-1, 0, EGL_NONE], 4, 1);
    }
}
