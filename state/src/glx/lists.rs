//! Lists of attributes of GLX, which end with 0. Those of `glXChooseVisual` have names without a value (GLX 1.4, 3.3.4).
//! A list without an end within 512 words counts as empty.

use gapii_commands::constants::{GLX_DOUBLEBUFFER, GLX_RGBA, GLX_STEREO, GLX_USE_GL};

use crate::{Memory, Scope, Thread, Values};

/// The longest list that is read, in words.
const WORDS_MAX: i64 = 512;
/// Names of a list of `glXChooseVisual` that have no value.
const WITHOUT_VALUE: [u32; 4] = [GLX_USE_GL, GLX_RGBA, GLX_DOUBLEBUFFER, GLX_STEREO];

/// Returns the number of pairs of attribute and value before the 0 that ends a list.
pub fn count_pairs<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    list: u64,
) -> i64 {
    if list == 0 {
        return 0;
    }
    let is_end = |pair: &i64| memory.element::<i32>(list, pair * 2) == 0;
    (0..WORDS_MAX / 2).find(is_end).unwrap_or(0)
}

/// Returns the number of words in a list of `glXChooseVisual`, with the 0 that ends it.
pub fn visual_words<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    list: u64,
) -> i64 {
    let mut at = 0;
    while list != 0 && at < WORDS_MAX {
        match memory.element::<i32>(list, at).cast_unsigned() {
            0 => return at + 1,
            name if WITHOUT_VALUE.contains(&name) => at += 1,
            _ => at += 2,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Process;
    use crate::memory::tests::Bytes;

    fn check(words: &[i32], pairs: i64, all: i64) {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Bytes(0x1000, bytes);
        let mut thread = Thread::new(Arc::<Process>::default(), 1);
        assert_eq!(count_pairs(&mut thread, &memory, 0x1000), pairs, "pairs of {words:x?}");
        assert_eq!(visual_words(&mut thread, &memory, 0x1000), all, "words of {words:x?}");
        assert_eq!(count_pairs(&mut thread, &memory, 0), 0);
        assert_eq!(visual_words(&mut thread, &memory, 0), 0);
    }

    #[test]
    fn list_ends_with_0_in_the_place_of_a_name() {
        check(&[0], 0, 1);
        check(&[8, 0, 9, 1, 0], 2, 5);
        // GLX_RGBA, GLX_RED_SIZE 1, GLX_DOUBLEBUFFER.
        check(&[4, 8, 1, 5, 0, 0], 2, 5);
        let endless: Vec<i32> = [8, 1].repeat(300);
        check(&endless, 0, 0);
    }
}
