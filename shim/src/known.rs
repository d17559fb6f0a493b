//! Which blobs this process has sent in the capture that runs, or for the daemon's store: from the hash that
//! is quick to the name that a trace has them by.
//!
//! A table without locks in memory that a forked child finds empty. An entry counts under the tag
//! that it was made with; a tag is the number of the store that blobs go to and how often the table was
//! full, and only rises. So forgetting is a new tag, and old entries are written over.
//!
//! The table is used from its beginning: a segment gets entries when those before it are half full. So
//! a process touches as much memory as its blobs need, however many captures it sees.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;
use gapii_edges::blob_table::{self, Entry};

use crate::mapping;

/// Entries of the table.
const ENTRIES: usize = 1 << 16;
/// Entries in use at which the table counts as full: searches stay short.
const ENTRIES_USED_MAX: u64 = ENTRIES as u64 / 2;
/// Entries of the first segment; each further one has as many as all before it.
const FIRST_ENTRIES: usize = 1 << 10;
/// Entries that a search looks at.
const PROBES: usize = 64;
/// Bits of a tag that say how often the table was full.
const GENERATION_BITS: u32 = 28;
const GENERATION_MASK: u64 = (1 << GENERATION_BITS) - 1;

/// Name of a blob: the 16 bytes that a trace has, as two words of theirs.
pub type Name = [u64; 2];

/// The blobs that a process has sent.
pub struct Known {
    table: NonNull<Table>,
    seed: u64,
}

#[repr(C)]
struct Table {
    /// How often the table was full.
    generation: CachePadded<AtomicU64>,
    /// The tag that `used` counts entries of.
    used_tag: CachePadded<AtomicU64>,
    used: CachePadded<AtomicU64>,
    entries: [Entry; ENTRIES],
}

impl Known {
    /// An empty table.
    pub fn map() -> Option<Known> {
        let table = mapping::map(size_of::<Table>())?.cast();
        Some(Known { table, seed: random_word() })
    }

    /// What quick hashes start from: nobody outside knows it, so nobody makes two blobs look alike.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What entries are made and found under now. Taken before a blob's first byte is sent.
    pub fn tag(&self, store: u64) -> u64 {
        // Relaxed: a late look makes an entry that nobody finds.
        let generation = self.table().generation.load(Relaxed) & GENERATION_MASK;
        store << GENERATION_BITS | generation.wrapping_add(1)
    }

    /// The name of the blob whose quick hash is `key`, if it was sent under `tag`.
    pub fn find(&self, tag: u64, key: u128) -> Option<Name> {
        let find = |segment| blob_table::find(self.probe(segment, key), tag, words(key));
        // The last segment has most of them.
        (0..=self.segment(tag)).rev().find_map(find)
    }

    /// Whether nothing was noted under the tag.
    pub fn is_empty(&self, tag: u64) -> bool {
        self.used(tag) == 0
    }

    /// Whether the next blob but one makes it forget all.
    pub fn is_full(&self, tag: u64) -> bool {
        self.used(tag) + 1 >= ENTRIES_USED_MAX
    }

    /// Notes that the blob was sent: all records that hold it are published.
    pub fn learn(&self, tag: u64, key: u128, name: Name) {
        if blob_table::learn(self.probe(self.segment(tag), key), tag, words(key), name) {
            self.count(tag);
        }
    }

    /// Counts a new entry, and forgets all when there are too many.
    fn count(&self, tag: u64) {
        let table = self.table();
        // Relaxed, all of it: a count that is a few off makes the table full a little sooner or later.
        let counted = table.used_tag.load(Relaxed);
        if counted != tag && table.used_tag.compare_exchange(counted, tag, Relaxed, Relaxed).is_ok()
        {
            table.used.store(0, Relaxed);
        }
        if table.used.fetch_add(1, Relaxed) + 1 == ENTRIES_USED_MAX {
            table.generation.fetch_add(1, Relaxed);
        }
    }

    /// The segment that new entries go to.
    fn segment(&self, tag: u64) -> u32 {
        segment_of(self.used(tag))
    }

    /// Entries of the tag, if it is the newest.
    fn used(&self, tag: u64) -> u64 {
        let table = self.table();
        // Relaxed: who finds too small a number sends a blob twice.
        match table.used_tag.load(Relaxed) == tag {
            true => table.used.load(Relaxed),
            false => 0,
        }
    }

    /// The entries of a segment where a key may be.
    fn probe(&self, segment: u32, key: u128) -> impl Iterator<Item = &Entry> {
        let segment = entries_of(segment);
        let start = key as usize;
        let places = (start..).take(PROBES).map(move |at| segment.start + at % segment.len());
        places.filter_map(|at| self.table().entries.get(at))
    }

    fn table(&self) -> &Table {
        // SAFETY: mapped for as long as the process lives, zeros at first, which is a valid table;
        // all of it is atomics.
        unsafe { self.table.as_ref() }
    }
}

#[cfg(test)]
impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`.
        unsafe { mapping::unmap(self.table.as_ptr().cast(), size_of::<Table>()) };
    }
}

/// The segment that the next entry goes to when so many are in use.
fn segment_of(used: u64) -> u32 {
    let first_is_full = FIRST_ENTRIES as u64 / 2;
    let last = (ENTRIES / FIRST_ENTRIES).ilog2();
    (used / first_is_full).checked_ilog2().map_or(0, |full| full + 1).min(last)
}

fn entries_of(segment: u32) -> Range<usize> {
    let end = FIRST_ENTRIES << segment;
    let start = if segment == 0 { 0 } else { end / 2 };
    start..end
}

fn words(key: u128) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

/// A number that nobody guesses.
fn random_word() -> u64 {
    let mut word = [0_u8; 8];
    // SAFETY: writes eight bytes of a local.
    let read =
        unsafe { libc::getrandom(word.as_mut_ptr().cast(), word.len(), libc::GRND_NONBLOCK) };
    if read != word.len() as isize {
        // Early in a system's life, or in a sandbox: as far from a guess as an address is.
        return (&raw const word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ crate::process::clock_ns();
    }
    u64::from_ne_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// A key whose place in the table is far from its neighbours'.
    fn key(number: u64) -> u128 {
        u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 32 | u128::from(number)
    }

    #[test]
    fn blob_is_known_under_its_tag_only() {
        let known = Known::map().unwrap();
        let (first, second) = (known.tag(1), known.tag(2));
        assert_eq!(known.find(first, key(5)), None);
        known.learn(first, key(5), [50, 51]);
        assert_eq!(known.find(first, key(5)), Some([50, 51]));
        assert_eq!((known.find(first, key(6)), known.find(second, key(5))), (None, None));
        known.learn(second, key(5), [60, 61]);
        assert_eq!((known.find(second, key(5)), known.find(first, key(5))), (Some([60, 61]), None));
        // Whoever is late writes nothing over.
        known.learn(first, key(5), [70, 71]);
        assert_eq!(known.find(second, key(5)), Some([60, 61]));
    }

    #[test]
    fn full_table_forgets_all_and_goes_on() {
        let known = Known::map().unwrap();
        let first = known.tag(1);
        for number in 0..ENTRIES_USED_MAX {
            assert_eq!(known.tag(1), first, "{number} are too many");
            known.learn(first, key(number), [number, 0]);
        }
        let found =
            (0..ENTRIES_USED_MAX).filter(|number| known.find(first, key(*number)).is_some());
        assert_eq!(found.count() as u64, ENTRIES_USED_MAX);
        let second = known.tag(1);
        assert!(second > first);
        assert_eq!(known.find(second, key(1)), None);
        known.learn(second, key(1), [9, 9]);
        assert_eq!(known.find(second, key(1)), Some([9, 9]));
    }

    #[test]
    fn segments_are_the_table_and_get_entries_when_those_before_are_half_full() {
        let segments: Vec<_> = (0..=6).map(entries_of).collect();
        assert_eq!((segments[0].clone(), segments[1].clone()), (0..1024, 1024..2048));
        assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(segments[6].end, ENTRIES);
        assert_eq!([0, 511, 512, 1023, 1024, 2048].map(segment_of), [0, 0, 1, 1, 2, 3]);
        assert_eq!([ENTRIES_USED_MAX - 1, ENTRIES_USED_MAX].map(segment_of), [6, 6]);
    }

    #[test]
    fn names_are_never_mixed_when_threads_write_over_each_other() {
        let known = Known::map().unwrap();
        let epoch = AtomicU64::new(1);
        let done = AtomicBool::new(false);
        let (known, epoch, done) = (&Sendable(known), &epoch, &done);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(move || {
                    let mut round = 0_u64;
                    while !done.load(Relaxed) {
                        let tag = known.0.tag(epoch.load(Relaxed));
                        let number = round % 61;
                        known.0.learn(tag, key(number), [tag ^ number, tag]);
                        round += 1;
                        if round.is_multiple_of(97) {
                            epoch.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
            let mut names = Vec::new();
            let mut number = 0;
            while names.len() < 10_000 {
                number = (number + 1) % 61;
                let tag = known.0.tag(epoch.load(Relaxed));
                names
                    .extend(known.0.find(tag, key(number)).map(|name| (name, [tag ^ number, tag])));
            }
            done.store(true, Relaxed);
            for (found, expected) in names {
                assert_eq!(found, expected);
            }
        });
    }

    struct Sendable(Known);
    // SAFETY: the table is atomics.
    unsafe impl Sync for Sendable {}
}
