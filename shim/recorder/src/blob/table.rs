//! The blobs that this process has sent in the running capture, or for the daemon's store: a table from the hash
//! to the number that records use. It has 65,536 entries; once half of them (`ENTRIES_USED_MAX`) are used, it forgets
//! all, and blobs are sent again when they next occur. A forked child finds it empty.
//!
//! The table has no locks, and a forked child finds it empty. An entry is valid under the tag with which it was made.
//! A tag is made of the number of the store that blobs go to and of how often the table was full; it only rises. So a
//! new tag empties the table, and old entries are overwritten.
//!
//! The table is used from its beginning: a segment receives entries when the segments before it are half full. So a
//! process touches only as much memory as its blobs need, no matter how many captures it sees.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;
use gapii_edges::blob_table::{self, Entry};

use crate::clock::clock_ns;
use crate::own_memory;

/// Number of entries of the table.
const ENTRIES: usize = 1 << 16;
/// Number of used entries at which the table counts as full, which keeps searches short.
const ENTRIES_USED_MAX: u64 = ENTRIES as u64 / 2;
/// Entries of the first segment. Each further segment has as many entries as all segments before it.
const FIRST_ENTRIES: usize = 1 << 10;
/// The most entries that a search looks at in a segment.
const PROBES: usize = 64;
/// Bits of a tag that hold how often the table was full.
const GENERATION_BITS: u32 = 28;
const GENERATION_MASK: u64 = (1 << GENERATION_BITS) - 1;

/// The blobs that a process has sent.
pub struct Known {
    table: NonNull<Table>,
    seed: u64,
}

// SAFETY: the mapping stays for as long as `Known` lives, and holds only atomics.
unsafe impl Send for Known {}
// SAFETY: as above.
unsafe impl Sync for Known {}

/// The table, in a mapping of its own.
#[repr(C)]
struct Table {
    /// How often the table was full.
    generation: CachePadded<AtomicU64>,
    /// The tag whose entries `used` counts.
    used_tag: CachePadded<AtomicU64>,
    used: CachePadded<AtomicU64>,
    entries: [Entry; ENTRIES],
}

impl Known {
    /// Maps an empty table.
    pub fn map() -> Option<Known> {
        let table = own_memory::map(size_of::<Table>())?.cast();
        Some(Known { table, seed: random_word() })
    }

    /// Returns the seed of the hashes. No other process knows it, so nobody can construct two blobs with the same hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the tag under which entries are made and found now. To be called before a blob's first byte is sent.
    pub fn tag(&self, store: u64) -> u64 {
        // Relaxed: a late value makes an entry that no thread finds.
        let generation = self.table().generation.load(Relaxed) & GENERATION_MASK;
        store << GENERATION_BITS | generation.wrapping_add(1)
    }

    /// Returns the number of the blob whose hash is `key`, if the blob was sent under `tag`.
    pub fn find(&self, tag: u64, key: u128) -> Option<u64> {
        let find = |segment| blob_table::find(self.probe(segment, key), tag, words(key));
        // The last segment has most entries, so it is searched first.
        (0..=self.segment(tag)).rev().find_map(find)
    }

    /// Whether the table has no entry under the tag.
    pub fn is_empty(&self, tag: u64) -> bool {
        self.used(tag) == 0
    }

    /// Whether the table forgets everything with its next entry.
    pub fn is_full(&self, tag: u64) -> bool {
        self.used(tag) + 1 >= ENTRIES_USED_MAX
    }

    /// Notes that the blob was sent: all records that hold it are published.
    pub fn learn(&self, tag: u64, key: u128, number: u64) {
        if blob_table::learn(self.probe(self.segment(tag), key), tag, words(key), number) {
            self.count(tag);
        }
    }

    /// Counts a new entry. Makes the table forget everything once half of its entries are used.
    fn count(&self, tag: u64) {
        let table = self.table();
        // Relaxed, throughout: if the count is a few off, the table is full a little sooner or later.
        let counted = table.used_tag.load(Relaxed);
        if counted != tag && table.used_tag.compare_exchange(counted, tag, Relaxed, Relaxed).is_ok()
        {
            table.used.store(0, Relaxed);
        }
        if table.used.fetch_add(1, Relaxed) + 1 == ENTRIES_USED_MAX {
            table.generation.fetch_add(1, Relaxed);
        }
    }

    /// Returns the segment that new entries go to.
    fn segment(&self, tag: u64) -> u32 {
        segment_of(self.used(tag))
    }

    /// Returns the number of entries under the tag; 0 if the tag is not the newest.
    fn used(&self, tag: u64) -> u64 {
        let table = self.table();
        // Relaxed: a thread that reads too small a number sends a blob twice.
        match table.used_tag.load(Relaxed) == tag {
            true => table.used.load(Relaxed),
            false => 0,
        }
    }

    /// Returns the entries of a segment where a key may be.
    fn probe(&self, segment: u32, key: u128) -> impl Iterator<Item = &Entry> {
        let segment = entries_of(segment);
        let start = key as usize;
        let places = (start..).take(PROBES).map(move |at| segment.start + at % segment.len());
        places.filter_map(|at| self.table().entries.get(at))
    }

    fn table(&self) -> &Table {
        // SAFETY: mapped for the life of the process. It starts as zeros, which is a valid table, and holds only
        // atomics.
        unsafe { self.table.as_ref() }
    }
}

#[cfg(test)]
impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`.
        unsafe { own_memory::unmap(self.table.as_ptr().cast(), size_of::<Table>()) };
    }
}

/// Returns the segment that the next entry goes to when `used` entries are in use.
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

/// Returns a number that cannot be guessed.
fn random_word() -> u64 {
    let mut word = [0_u8; 8];
    // SAFETY: writes eight bytes of a local.
    let read =
        unsafe { libc::getrandom(word.as_mut_ptr().cast(), word.len(), libc::GRND_NONBLOCK) };
    if read != word.len() as isize {
        // Early after boot, or in a sandbox: the next best is an address mixed with the time.
        return (&raw const word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ clock_ns();
    }
    u64::from_ne_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Returns a key that lies far from its neighbours' places in the table.
    fn key(number: u64) -> u128 {
        u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 32 | u128::from(number)
    }

    #[test]
    fn blob_is_known_under_its_tag_only() {
        let known = Known::map().unwrap();
        let (first, second) = (known.tag(1), known.tag(2));
        assert_eq!(known.find(first, key(5)), None);
        known.learn(first, key(5), 50);
        assert_eq!(known.find(first, key(5)), Some(50));
        assert_eq!((known.find(first, key(6)), known.find(second, key(5))), (None, None));
        known.learn(second, key(5), 60);
        assert_eq!((known.find(second, key(5)), known.find(first, key(5))), (Some(60), None));
        // A late thread must not overwrite a newer entry.
        known.learn(first, key(5), 70);
        assert_eq!(known.find(second, key(5)), Some(60));
    }

    #[test]
    #[cfg_attr(miri, ignore = "fills 32,768 entries, which takes Miri minutes")]
    fn full_table_forgets_all_and_goes_on() {
        let known = Known::map().unwrap();
        let first = known.tag(1);
        for number in 0..ENTRIES_USED_MAX {
            assert_eq!(known.tag(1), first, "{number} are too many");
            known.learn(first, key(number), number);
        }
        let found =
            (0..ENTRIES_USED_MAX).filter(|number| known.find(first, key(*number)).is_some());
        assert_eq!(found.count() as u64, ENTRIES_USED_MAX);
        let second = known.tag(1);
        assert!(second > first);
        assert_eq!(known.find(second, key(1)), None);
        known.learn(second, key(1), 9);
        assert_eq!(known.find(second, key(1)), Some(9));
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
    #[cfg_attr(
        miri,
        ignore = "two writers spin, which takes Miri minutes; a loom model checks the entries"
    )]
    fn numbers_are_never_mixed_when_threads_write_over_each_other() {
        let known = Known::map().unwrap();
        let epoch = AtomicU64::new(1);
        let done = AtomicBool::new(false);
        let (known, epoch, done) = (&known, &epoch, &done);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(move || {
                    let mut round = 0_u64;
                    while !done.load(Relaxed) {
                        let tag = known.tag(epoch.load(Relaxed));
                        let number = round % 61;
                        known.learn(tag, key(number), tag ^ number << 48);
                        round += 1;
                        if round.is_multiple_of(97) {
                            epoch.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
            let mut numbers = Vec::new();
            let mut number = 0;
            while numbers.len() < 10_000 {
                number = (number + 1) % 61;
                let tag = known.tag(epoch.load(Relaxed));
                numbers
                    .extend(known.find(tag, key(number)).map(|found| (found, tag ^ number << 48)));
            }
            done.store(true, Relaxed);
            for (found, expected) in numbers {
                assert_eq!(found, expected);
            }
        });
    }
}
