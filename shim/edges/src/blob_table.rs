//! Entries of a table of blobs that were sent: from a hash to the number of the blob, found and written without a lock.
//! If no entry is free, or two threads learn one blob at once, an entry is missing or doubled, and a blob is sent
//! again.
//!
//! Each entry is a sequence lock whose word is the *tag* under which the entry counts. Tags only rise; an
//! entry of a lower tag counts as empty and may be overwritten. Where a key may stand is the caller's choice:
//! both functions take the entries to look at, in the same order for the same key and tag.

use crate::sync::{AtomicU64, Ordering, fence};

/// Tag of an entry that is being written. Above every other tag.
const WRITING: u64 = u64::MAX;

/// One entry. All bytes zero is a valid value: empty under every tag from 1.
///
/// | `tag` | meaning | entered by | from | ordering |
/// |---|---|---|---|---|
/// | 0 | never written | | | |
/// | `u64::MAX` | a thread is writing key and number | [`learn`] | any lower tag | compare-exchange `Acquire`, then a `Release` fence (KNOWN) |
/// | any other | key and number count under this tag | [`learn`] | `u64::MAX`, by the thread that entered it | `Release` (KNOWN) |
#[derive(Debug)]
#[repr(C)]
pub struct Entry {
    tag: AtomicU64,
    key: [AtomicU64; 2],
    number: AtomicU64,
}

/// The number of the blob with hash `key`, if it was learnt under `tag`. Everything that the learning thread
/// had done before is visible afterwards: in particular, the blob's records are published.
pub fn find<'a>(entries: impl Iterator<Item = &'a Entry>, tag: u64, key: [u64; 2]) -> Option<u64> {
    for entry in entries {
        // KNOWN: pairs with the release in blob_table::learn, so that a record which refers to a blob is
        // stamped after the records that hold the blob were published.
        let seen = entry.tag.load(Ordering::Acquire);
        if seen < tag {
            return None;
        }
        // Relaxed: the fence and the second load of the tag show whether key and number belong together.
        let (found, number) = (load(&entry.key), entry.number.load(Ordering::Relaxed));
        // KNOWN: pairs with the fence in blob_table::learn.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it.
        if seen == tag && found == key && entry.tag.load(Ordering::Relaxed) == tag {
            return Some(number);
        }
    }
    None
}

/// Notes that the blob with hash `key` and number `number` was sent under `tag`: all its records are published.
/// Returns whether it made a new entry; it makes none if one exists or no entry is free.
pub fn learn<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    tag: u64,
    key: [u64; 2],
    number: u64,
) -> bool {
    for entry in entries {
        // Relaxed: a stale tag makes the exchange fail, and a stale key makes a second entry.
        let seen = entry.tag.load(Ordering::Relaxed);
        if seen == tag && load(&entry.key) == key {
            return false;
        }
        if seen >= tag || !take(entry, seen) {
            continue;
        }
        // KNOWN: pairs with the fence in blob_table::find.
        fence(Ordering::Release);
        store(&entry.key, key);
        // Relaxed: the tag's release orders it.
        entry.number.store(number, Ordering::Relaxed);
        // KNOWN: pairs with the acquire in blob_table::find.
        entry.tag.store(tag, Ordering::Release);
        return true;
    }
    false
}

/// Takes an entry for writing, unless another thread was faster.
fn take(entry: &Entry, seen: u64) -> bool {
    // KNOWN: pairs with the release in blob_table::learn, so that key and number are written after those of the
    // entry's last writer. Relaxed on failure: nothing was learnt.
    let taken = entry.tag.compare_exchange(seen, WRITING, Ordering::Acquire, Ordering::Relaxed);
    taken.is_ok()
}

fn load(words: &[AtomicU64; 2]) -> [u64; 2] {
    // Relaxed: the callers order it.
    words.each_ref().map(|word| word.load(Ordering::Relaxed))
}

fn store(words: &[AtomicU64; 2], values: [u64; 2]) {
    for (word, value) in words.iter().zip(values) {
        // Relaxed: the caller orders it.
        word.store(value, Ordering::Relaxed);
    }
}

#[cfg(loom)]
impl Entry {
    /// An empty entry for a model.
    pub fn modelled() -> Self {
        let zero = || AtomicU64::new(0);
        Self { tag: zero(), key: [zero(), zero()], number: zero() }
    }
}
