//! The contents that an application's snapshots have sent, so that the next snapshot need not send them again. At most
//! `--keep-contents` bytes (256 MiB), 65,536 blobs and 256 incomplete ones per application; a blob that does not fit is
//! not stored. When a capture begins, the store is emptied if it lacks a part of what was sent, or if something found
//! no room and the last capture used less than half of it. Without a file or memory file nothing is stored. Ends with
//! the application's connection.
//!
//! Holds blobs by name, and the application's numbers of them, in a file without a name. It trusts no name from the
//! application: it computes names from the bytes. The store's number tells the application what the store holds, and
//! changes whenever the two could differ; see docs/memory-model.md.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gapii_ringbuf::StoreTerms;
use gapii_trace::blobs::{BlobEntry, BlobName};
use gapii_trace::meta::Blob;
use rustix::fs::MemfdFlags;

use crate::nameless;

/// Largest number of blobs: more than an application remembers.
const BLOBS_MAX: usize = 1 << 16;
/// Largest number of incomplete blobs.
const OPEN_MAX: usize = 1 << 8;

/// The store of one application.
#[derive(Debug)]
pub struct Store {
    /// Limit in bytes.
    pub limit: u64,
    /// Bytes in use in the store's file, readable without waiting for a write.
    held_bytes: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    number: u64,
    /// The application's count of sent bytes when the store got its number.
    begun_at: u64,
    /// Bytes of blobs that arrived completely since then; a blob counts as often as it arrived.
    arrived: u64,
    /// The application's count of bytes that found no room, when it was last read.
    unstored: u64,
    /// The running capture, by a number of the store's own.
    capture: u64,
    /// Bytes of the blobs that this capture has sent or named.
    used: u64,
    /// Made when it is first needed.
    file: Option<File>,
    cannot_make_file: bool,
    end: u64,
    blobs: HashMap<BlobName, Place>,
    /// The application's numbers of these blobs.
    numbers: HashMap<u64, BlobName>,
    /// Incomplete blobs, by thread.
    open: HashMap<u32, Open>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    size: u64,
    /// The last capture that used the blob.
    capture: u64,
}

/// An incomplete blob.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: u64,
    total: u64,
    so_far: u64,
}

impl Store {
    /// Makes an empty store for `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { limit, held_bytes: AtomicU64::new(0), state: Mutex::default() }
    }

    /// Makes a store for `limit` bytes of an application that had a store with this number in a daemon that has
    /// ended. `stored` and `unstored` are the application's counts of bytes that it has sent for the store, and of
    /// bytes that found no room.
    pub fn after(limit: u64, number: u64, [stored, unstored]: [u64; 2]) -> (Self, StoreTerms) {
        let store = Self::new(limit);
        let mut state = store.lock();
        state.number = number;
        state.empty(stored);
        (state.capture, state.unstored) = (1, unstored);
        let terms = StoreTerms { number: state.number, end: stored.saturating_add(limit) };
        drop(state);
        (store, terms)
    }

    /// Begins a capture, when no records of an earlier one are on their way. `stored` and `unstored` are the
    /// application's counts of bytes that it has sent for the store, and of bytes that found no room. Empties the
    /// store if it lacks some of the sent bytes, or if something found no room and most of the store was of no use to
    /// the last capture. Returns the terms for the application.
    pub fn begin_capture(&self, stored: u64, unstored: u64) -> StoreTerms {
        let mut state = self.lock();
        let is_whole = stored.wrapping_sub(state.begun_at) == state.arrived;
        let lacked_room = unstored != state.unstored;
        let held: u64 = state.blobs.values().map(|place| place.size).sum();
        if state.number == 0 || !is_whole || lacked_room && state.used < held / 2 {
            state.empty(stored);
        }
        self.show(&state);
        state.open.clear();
        (state.capture, state.used, state.unstored) = (state.capture + 1, 0, unstored);
        let room = if state.cannot_make_file { 0 } else { self.limit };
        StoreTerms { number: state.number, end: state.begun_at.saturating_add(room) }
    }

    /// Takes the next piece of a thread's blob, sent for the store with this number. `whole` is the blob if the piece
    /// completes it. A blob that does not arrive completely is noticed when the next capture begins.
    pub fn put(&self, thread: u32, number: u64, piece: &Blob<'_>, whole: Option<&BlobEntry>) {
        let mut state = self.lock();
        if number != state.number & 0xFFFF {
            return;
        }
        if let Err(error) = state.put(self.limit, thread, piece) {
            tracing::warn!("contents of a snapshot cannot be stored: {error}");
            state.give_up(thread);
        }
        if let Some(whole) = whole {
            state.complete(thread, whole);
        }
        self.show(&state);
    }

    /// Notes the application's number of a blob, if the store has the blob.
    pub fn number(&self, number: u64, name: BlobName) {
        let mut state = self.lock();
        if state.blobs.contains_key(&name) && state.numbers.len() < BLOBS_MAX {
            state.numbers.insert(number, name);
        }
    }

    /// Returns the number of bytes in use, at some recent moment.
    pub fn held_bytes(&self) -> u64 {
        // Relaxed: a number for people.
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Appends a piece of a blob to `out`. Returns false, and appends nothing, if the store does not have all of the
    /// piece.
    pub fn get(&self, number: u64, total: u64, offset: u64, len: usize, out: &mut Vec<u8>) -> bool {
        let mut state = self.lock();
        let is_inside = offset.checked_add(len as u64).is_some_and(|end| end <= total);
        let name = state.numbers.get(&number).copied();
        let found = name.and_then(|name| Some((name, *state.blobs.get(&name)?)));
        let Some((name, place)) = found.filter(|(_, place)| is_inside && place.size == total)
        else {
            return false;
        };
        let start = out.len();
        out.resize(start + len, 0);
        let read = match &state.file {
            Some(file) => file.read_exact_at(&mut out[start..], place.at + offset),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        if let Err(error) = read {
            tracing::warn!("stored contents cannot be read: {error}");
            out.truncate(start);
            return false;
        }
        state.note_use(name);
        true
    }

    fn show(&self, state: &State) {
        // Relaxed: a number for people.
        self.held_bytes.store(state.end, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock leaves places in a file, at worst some with wrong bytes: readers find that the bytes
        // do not have their name.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn empty(&mut self, stored: u64) {
        (self.number, self.begun_at) = (self.number.wrapping_add(1), stored);
        (self.arrived, self.end) = (0, 0);
        self.blobs.clear();
        self.numbers.clear();
        if let Some(file) = &self.file
            && let Err(error) = file.set_len(0)
        {
            tracing::warn!("the file of dropped contents cannot be shortened: {error}");
        }
    }

    fn put(&mut self, limit: u64, thread: u32, piece: &Blob<'_>) -> io::Result<()> {
        if piece.offset == 0 {
            self.give_up(thread);
            let fits = self.end.checked_add(piece.total).is_some_and(|end| end <= limit);
            if !fits || self.blobs.len() >= BLOBS_MAX || self.open.len() >= OPEN_MAX {
                return Ok(());
            }
            self.open.insert(thread, Open { at: self.end, total: piece.total, so_far: 0 });
            self.end += piece.total;
        }
        let Some(open) = self.open.get_mut(&thread) else { return Ok(()) };
        let end = piece.offset.saturating_add(piece.bytes.len() as u64);
        if (open.total, open.so_far) != (piece.total, piece.offset) || end > open.total {
            self.give_up(thread);
            return Ok(());
        }
        open.so_far = end;
        let at = open.at + piece.offset;
        self.file()?.write_all_at(piece.bytes, at)
    }

    /// Enters a thread's completed blob under its name.
    fn complete(&mut self, thread: u32, whole: &BlobEntry) {
        let is_whole = |open: &Open| open.so_far == open.total && open.total == whole.size;
        let Some(open) = self.open.get(&thread).copied().filter(is_whole) else { return };
        self.arrived = self.arrived.wrapping_add(open.total);
        if self.blobs.contains_key(&whole.name) {
            self.give_up(thread);
        } else {
            self.open.remove(&thread);
            self.blobs.insert(whole.name, Place { at: open.at, size: open.total, capture: 0 });
        }
        self.note_use(whole.name);
    }

    fn note_use(&mut self, name: BlobName) {
        if let Some(place) = self.blobs.get_mut(&name)
            && place.capture != self.capture
        {
            place.capture = self.capture;
            self.used += place.size;
        }
    }

    /// Drops a thread's incomplete blob.
    fn give_up(&mut self, thread: u32) {
        if let Some(open) = self.open.remove(&thread)
            && self.end == open.at + open.total
        {
            self.end = open.at;
        }
    }

    fn file(&mut self) -> io::Result<&File> {
        if self.file.is_none() {
            let made = if self.cannot_make_file { None } else { make_file().ok() };
            self.cannot_make_file = made.is_none();
            self.file = made;
        }
        self.file.as_ref().ok_or_else(|| io::Error::other("no file can be made for them"))
    }
}

/// Makes a file without a name, or a memory file if no folder allows one.
fn make_file() -> rustix::io::Result<File> {
    let in_memory = || rustix::fs::memfd_create("gapii-store", MemfdFlags::CLOEXEC);
    nameless::make(&std::env::temp_dir()).or_else(|_| in_memory().map(File::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1000;

    /// A store, and what its application has counted.
    struct Bench {
        store: Store,
        terms: StoreTerms,
        stored: u64,
    }

    /// Returns the number that the application gives to a blob: its first byte and its length tell blobs apart.
    fn number_of(blob: &[u8]) -> u64 {
        u64::from(blob[0]) << 32 | blob.len() as u64
    }

    impl Bench {
        fn new() -> Self {
            let store = Store::new(LIMIT);
            let terms = store.begin_capture(0, 0);
            Self { store, terms, stored: 0 }
        }

        /// Sends a blob in pieces of this size, under this number.
        fn send_as(&mut self, number: u64, blob: &[u8], piece_bytes: usize) {
            self.stored += blob.len() as u64;
            let pieces = blob.chunks(piece_bytes).zip((0..).step_by(piece_bytes));
            for (bytes, offset) in pieces {
                let total = blob.len() as u64;
                let whole =
                    BlobEntry { name: BlobName::of(blob), size: total, block: 0, offset: 0 };
                let is_last = offset as usize + bytes.len() == blob.len();
                let piece = Blob { total, offset, bytes };
                self.store.put(7, number, &piece, is_last.then_some(&whole));
            }
            self.store.number(number_of(blob), BlobName::of(blob));
        }

        fn send(&mut self, blob: &[u8]) {
            self.send_as(self.terms.number, blob, 64);
        }

        /// Begins the next capture. Returns whether the store was emptied.
        fn next_capture(&mut self, unstored: u64) -> bool {
            let before =
                std::mem::replace(&mut self.terms, self.store.begin_capture(self.stored, unstored));
            self.terms.number != before.number
        }

        fn has(&self, blob: &[u8]) -> bool {
            let mut out = vec![9];
            let is_there =
                self.store.get(number_of(blob), blob.len() as u64, 0, blob.len(), &mut out);
            assert_eq!(&out[1..], if is_there { blob } else { &[] });
            is_there
        }
    }

    #[test]
    fn sent_contents_are_there_for_later_captures() {
        let mut bench = Bench::new();
        assert_eq!(bench.terms.end, LIMIT);
        bench.send(&[1; 300]);
        bench.send(&[2; 64]);
        for _ in 0..3 {
            assert!(bench.has(&[1; 300]) && bench.has(&[2; 64]) && !bench.has(&[3; 64]));
            assert!(!bench.next_capture(0));
        }
        let mut out = Vec::new();
        let number = number_of(&[1; 300]);
        assert!(bench.store.get(number, 300, 100, 50, &mut out));
        assert_eq!(out, [1; 50]);
        for (total, offset, len) in [(301, 0, 10), (300, 290, 20), (300, u64::MAX, 20)] {
            assert!(
                !bench.store.get(number, total, offset, len, &mut out),
                "{total} {offset} {len}"
            );
        }
        assert_eq!(out.len(), 50);
    }

    #[test]
    fn blob_that_came_twice_takes_room_once() {
        let mut bench = Bench::new();
        for _ in 0..4 {
            bench.send(&[1; 400]);
        }
        bench.send(&[2; 600]);
        assert!(bench.has(&[1; 400]) && bench.has(&[2; 600]));
        assert!(!bench.next_capture(0));
    }

    #[test]
    fn store_that_lacks_sent_contents_is_emptied() {
        type Losing = fn(&mut Bench);
        let losing: [(&str, Losing); 4] = [
            ("too much", |bench| bench.send(&[2; LIMIT as usize])),
            ("a piece that went elsewhere", |bench| bench.stored += 64),
            ("a blob of an earlier number", |bench| bench.send_as(0, &[2; 64], 64)),
            ("a blob that ends in another capture", |bench| {
                bench.stored += 128;
                let piece = Blob { total: 128, offset: 0, bytes: &[2; 64] };
                bench.store.put(7, bench.terms.number, &piece, None);
            }),
        ];
        for (what, lose) in losing {
            let mut bench = Bench::new();
            bench.send(&[1; 100]);
            lose(&mut bench);
            assert!(bench.has(&[1; 100]), "{what}");
            assert!(bench.next_capture(0), "{what}");
            assert!(!bench.has(&[1; 100]), "{what}");
            assert_eq!(bench.terms.end, bench.stored + LIMIT, "{what}");
            bench.send(&[1; LIMIT as usize]);
            assert!(!bench.next_capture(0) && bench.has(&[1; LIMIT as usize]), "{what}");
        }
    }

    #[test]
    fn full_store_is_emptied_if_most_of_it_is_unused() {
        let check = |used: usize, unstored: u64, is_emptied: bool| {
            let mut bench = Bench::new();
            let blobs: Vec<_> = (0..10_u8).map(|number| [number; 100]).collect();
            blobs.iter().for_each(|blob| bench.send(blob));
            assert!(!bench.next_capture(0));
            assert!(blobs.iter().take(used).all(|blob| bench.has(blob)));
            assert_eq!(bench.next_capture(unstored), is_emptied, "{used} used, {unstored}");
            // The bytes that found no room before are no reason any more.
            assert!(!bench.next_capture(unstored));
        };
        check(4, 0, false);
        check(4, 1, true);
        check(5, 1, false);
        check(10, 1, false);
    }

    #[test]
    fn pieces_that_do_not_follow_each_other_make_no_blob() {
        let bench = Bench::new();
        let put = |offset: u64, len: usize, whole: Option<&BlobEntry>| {
            let piece = Blob { total: 100, offset, bytes: &[1; 100][..len] };
            bench.store.put(7, bench.terms.number, &piece, whole);
            bench.store.number(number_of(&[1; 100]), BlobName::of(&[1; 100]));
        };
        let name = BlobName::of(&[1; 100]);
        let whole = BlobEntry { name, size: 100, block: 0, offset: 0 };
        put(0, 40, None);
        put(50, 50, Some(&whole));
        put(40, 60, Some(&whole));
        assert!(!bench.has(&[1; 100]));
        put(0, 40, None);
        put(40, 60, Some(&BlobEntry { size: 101, ..whole }));
        assert!(!bench.has(&[1; 100]));
        put(0, 100, Some(&whole));
        assert!(bench.has(&[1; 100]));
    }
}
