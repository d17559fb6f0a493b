//! Selection mode: the records that the driver has written, and the stack of names.

use crate::{Memory, NO_PARAM, Observer, Scalar, Scope, Thread, Whole};

/// Observes `hits` records in an array of `size` 32-bit elements; all of the array if `hits` is negative, which means that
/// the records exceed it. A record has a number of names, the lowest and the highest depth, and the names.
pub fn selected<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    address: u64,
    size: i64,
    hits: i64,
) {
    let size = u64::try_from(size).unwrap_or(0);
    let elements = match u64::try_from(hits) {
        Ok(hits) => elements(memory, address, size, hits),
        Err(_) => size,
    };
    if address != 0 && elements > 0 {
        seen.range(NO_PARAM, address, elements * 4);
    }
}

/// Returns the number of elements of `hits` records, at most `size`.
fn elements<M: Memory + ?Sized>(memory: &M, address: u64, size: u64, hits: u64) -> u64 {
    let mut elements = 0;
    for _ in 0..hits {
        let names = u32::read(memory, address.wrapping_add(elements * 4));
        elements += 3 + names.map_or(0, u64::from);
        if elements >= size {
            return size;
        }
    }
    elements
}

/// Removes the name on top of the stack.
pub fn pop_selection_name<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    if let Some(context) = thread.context.as_deref_mut() {
        context.selection_names.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Seen, thread};
    use super::*;
    use crate::memory::tests::Bytes;

    #[test]
    fn records_have_as_many_names_as_they_say() {
        let words = [1_u32, 5, 6, 70, 0, 7, 8, 2, 9, 9, 71, 72];
        let memory = Bytes(0x1000, words.iter().flat_map(|word| word.to_le_bytes()).collect());
        let check = |size, hits, expected: Option<u64>| {
            let mut seen = Seen::default();
            selected(&mut thread((1, 1)), &memory, &mut seen, 0x1000, size, hits);
            let ranges: Vec<_> = expected.map(|len| (NO_PARAM, 0x1000, len)).into_iter().collect();
            assert_eq!(seen.0, ranges, "{size} {hits}");
        };
        check(100, 0, None);
        check(100, 1, Some(16));
        check(100, 2, Some(28));
        check(100, 3, Some(48));
        check(9, 3, Some(36));
        check(9, -1, Some(36));
        check(0, -1, None);
    }
}
