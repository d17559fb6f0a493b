//! Which slots of a segment were ever used, and where the search for a free one begins: operations of both sides on
//! two words of the segment's header. A search looks at no slot that it knows to be taken, so that claiming a slot costs
//! the same with one slot and with thousands; when all slots are taken, a thread learns it from one word. Both words
//! are claims of the application: wrong ones cost only its own records.

use crate::layout::SegmentHeader;
use crate::sync::Ordering;
#[cfg(loom)]
use crate::sync::{AtomicU32, AtomicU64};

/// Number of searches after which a thread gives up because slots were freed behind its back each time.
const SEARCHES_MAX: u32 = 4;

/// Value of the word `free_from`: the index in the low 32 bits, the number of freed slots, modulo 2^32, in the high ones.
///
/// The number makes the exchange of a thread fail if the daemon has freed a slot since the thread loaded the word: the
/// slot may be one that the thread has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeFrom(u64);

impl FreeFrom {
    /// Lowest index that may be free.
    const fn index(self) -> u32 {
        self.0 as u32
    }

    /// The word of a thread that has found all slots below `index` taken.
    const fn with_index(self, index: u32) -> Self {
        Self(self.0 >> 32 << 32 | index as u64)
    }

    /// The word after slot `index` was freed.
    const fn with_freed(self, index: u32) -> Self {
        let lower = if index < self.index() { index } else { self.index() };
        Self(self.0.wrapping_add(1 << 32)).with_index(lower)
    }
}

impl SegmentHeader {
    /// Returns how many slots, from the first one on, may have been used: at most `slot_count`.
    pub fn slots_used(&self, slot_count: u32) -> u32 {
        // USED: pairs with the maximum in `note_used`. Relaxed: a caller that depends on a slot's record has seen a
        // later publication with acquire, so coherence gives it the maximum that came before; docs/memory-model.md.
        let used = self.slots_used.load(Ordering::Relaxed);
        used.min(u64::from(slot_count)) as u32
    }

    /// Claims a free slot: calls `claim` with indices below `slot_count` until it returns true, and returns the index.
    /// `None` if no slot is free.
    pub fn claim(&self, slot_count: u32, mut claim: impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..SEARCHES_MAX {
            // FREE: pairs with the release in `note_freed`, so that the slots that it counts are seen free.
            let from = FreeFrom(self.free_from.load(Ordering::Acquire));
            let found = (from.index()..slot_count).find(|&index| claim(index));
            let next = from.with_index(found.map_or(slot_count, |index| index + 1));
            // Relaxed, both: the word tells other threads nothing but where not to search. If it has changed, the other
            // value is as good.
            let noted = self.free_from.compare_exchange(
                from.0,
                next.0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if let Some(index) = found {
                self.note_used(index);
                return found;
            }
            if noted.is_ok() {
                break;
            }
        }
        None
    }

    /// Returns whether no slot was free at the last search, and none was freed since.
    pub fn is_full(&self, slot_count: u32) -> bool {
        // Relaxed: a thread that sees an old value learns of the freed slot at its next command.
        FreeFrom(self.free_from.load(Ordering::Relaxed)).index() >= slot_count
    }

    /// Notes that slot `index` is free again. Only the daemon may call this, after it has freed the slot.
    pub fn note_freed(&self, index: u32) {
        // Relaxed: a thread's exchange that comes in between is overwritten by a lower index, from which a search
        // finds the same.
        let from = FreeFrom(self.free_from.load(Ordering::Relaxed));
        // FREE: pairs with the acquire in `claim`. A swap, because the models do not order a store behind an exchange that
        // read the value before it.
        self.free_from.swap(from.with_freed(index).0, Ordering::Release);
    }

    /// Notes that slot `index` is used. Only the thread that has claimed the slot may call this, before it publishes.
    fn note_used(&self, index: u32) {
        let used = u64::from(index) + 1;
        // Relaxed: the word only rises, and by coherence whoever must see the slot sees the value that this thread saw.
        if self.slots_used.load(Ordering::Relaxed) < used {
            // USED: pairs with the load in `slots_used`. Relaxed: see there.
            self.slots_used.fetch_max(used, Ordering::Relaxed);
        }
    }
}

#[cfg(loom)]
impl SegmentHeader {
    /// A header for a model.
    pub fn modelled() -> Self {
        let word = || AtomicU64::new(0);
        Self {
            magic: word(),
            version: AtomicU32::new(0),
            slot_count: AtomicU32::new(0),
            ring_bytes: word(),
            reserved: [0; 5],
            frames: word(),
            ended_generation: word(),
            reentrant_calls: word(),
            unslotted_calls: word(),
            contexts: word(),
            stored_bytes: word(),
            unstored_bytes: word(),
            longest_frame_ns: word(),
            begun_unslotted_calls: word(),
            apis: word(),
            foreign_calls: word(),
            slots_used: word(),
            free_from: word(),
            owed_blobs: word(),
            unsent_blobs: word(),
            held_bytes: word(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn freed_slot_lowers_the_index_and_changes_the_word() {
        let check = |from: u32, freed: u32, expected: u32| {
            let before = FreeFrom(0).with_index(from);
            let after = before.with_freed(freed);
            assert_eq!(after.index(), expected, "{freed} freed, search from {from}");
            assert_ne!(after, before);
        };
        check(8, 3, 3);
        check(3, 8, 3);
        check(3, 3, 3);
        let last = FreeFrom(u64::MAX).with_index(7);
        assert_eq!(last.with_freed(7), FreeFrom(7), "the number of freed slots wraps around");
    }
}
