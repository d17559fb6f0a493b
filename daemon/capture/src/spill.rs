//! A temporary file for blocks that an output does not accept yet. It has no name, is in `--spill-dir`, and ends with
//! the capture. At most `--spill` bytes (256 MiB) per capture and `--spill-total` (1 GiB) in all. Without room, or
//! after a write that failed (with a warning), nothing more is put aside, and the capture misses records until the
//! output accepts blocks again. Blocks come back in order, and their space in the file is freed.
//!
//! Nothing in it is overwritten.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};

use crate::nameless;

/// Folder and limits of the blocks that all captures may put aside.
#[derive(Debug)]
pub struct SpillRoom {
    folder: PathBuf,
    /// Limits in bytes, for each capture and for all together.
    pub limit_each: u64,
    pub limit: u64,
    used: AtomicU64,
    /// Bytes that were ever put aside.
    spilled: AtomicU64,
}

/// The blocks that one capture has put aside.
#[derive(Debug)]
pub struct Spill {
    room: Arc<SpillRoom>,
    /// Made when it is first needed.
    file: Option<File>,
    end: u64,
    used: u64,
    has_failed: bool,
}

/// A place in the file.
#[derive(Debug)]
pub struct Place {
    at: u64,
    len: usize,
}

impl SpillRoom {
    /// Makes room for files in this folder.
    pub fn new(folder: PathBuf, limit_each: u64, limit: u64) -> Self {
        let (used, spilled) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { folder, limit_each, limit, used, spilled }
    }

    /// Returns the number of bytes in the files now, and of bytes ever put there.
    pub fn bytes(&self) -> (u64, u64) {
        // Relaxed, both: numbers for people.
        (self.used.load(Ordering::Relaxed), self.spilled.load(Ordering::Relaxed))
    }

    fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        // Relaxed, all: a number on its own.
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        self.spilled.fetch_add(if taken { bytes } else { 0 }, Ordering::Relaxed);
        taken
    }

    fn give_back(&self, bytes: u64) {
        // Relaxed: as above.
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Spill {
    /// Makes an empty spill.
    pub fn new(room: Arc<SpillRoom>) -> Self {
        Self { room, file: None, end: 0, used: 0, has_failed: false }
    }

    /// Makes a spill without room.
    pub fn none() -> Self {
        Self::new(Arc::new(SpillRoom::new(PathBuf::new(), 0, 0)))
    }

    /// Puts bytes aside. Returns `None` if there is no room.
    pub fn put(&mut self, bytes: &[u8]) -> Option<Place> {
        let len = bytes.len() as u64;
        if self.has_failed || self.used + len > self.room.limit_each || !self.room.take(len) {
            return None;
        }
        let place = Place { at: self.end, len: bytes.len() };
        match self.write(bytes) {
            Ok(()) => {
                self.used += len;
                self.end += len;
                Some(place)
            }
            Err(error) => {
                tracing::warn!(
                    "the temporary file in {} for a slow output cannot be written: {error}",
                    self.room.folder.display()
                );
                self.has_failed = true;
                self.room.give_back(len);
                None
            }
        }
    }

    /// Returns the bytes at a place, the one that was put aside first, and frees it.
    pub fn get(&mut self, place: Place) -> io::Result<Vec<u8>> {
        let Place { at, len } = place;
        let mut bytes = vec![0; len];
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let read = file.read_exact_at(&mut bytes, at);
        self.used -= len as u64;
        self.room.give_back(len as u64);
        if self.used == 0 {
            // If the file system cannot free the blocks of a file, the file is limited all the same, and freed later.
            let _ = file.set_len(0);
            self.end = 0;
        } else {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(file, flags, 0, at + len as u64);
        }
        read.map(|()| bytes)
    }

    /// Returns the number of bytes in the file.
    pub fn used(&self) -> u64 {
        self.used
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(nameless::make(&self.room.folder)?);
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        file.write_all_at(bytes, self.end)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        self.room.give_back(self.used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(each: u64, all: u64) -> Arc<SpillRoom> {
        Arc::new(SpillRoom::new(std::env::temp_dir(), each, all))
    }

    #[test]
    fn blocks_put_aside_come_back_in_order() {
        let mut spill = Spill::new(room(100_000, 100_000));
        let pieces: Vec<Vec<u8>> = (1..9).map(|byte| vec![byte; 9000]).collect();
        let places: Vec<_> = pieces.iter().map(|piece| spill.put(piece).unwrap()).collect();
        assert_eq!(spill.used(), 72_000);
        for (place, piece) in places.into_iter().zip(&pieces) {
            assert!(spill.get(place).unwrap() == *piece);
        }
        assert_eq!((spill.used(), spill.room.bytes()), (0, (0, 72_000)));
        assert_eq!(spill.file.as_ref().unwrap().metadata().unwrap().len(), 0);
    }

    #[test]
    fn limits_hold_for_each_and_for_all() {
        let room = room(100, 150);
        let mut first = Spill::new(Arc::clone(&room));
        let mut second = Spill::new(Arc::clone(&room));
        assert!(first.put(&[1; 100]).is_some() && first.put(&[1]).is_none());
        assert!(second.put(&[2; 51]).is_none());
        let place = second.put(&[2; 50]).unwrap();
        assert!(second.put(&[2]).is_none());
        second.get(place).unwrap();
        assert!(second.put(&[2; 50]).is_some());
        drop(first);
        assert_eq!(room.bytes().0, 50);
        assert!(second.put(&[2; 50]).is_some());
    }

    #[test]
    fn folder_that_takes_nothing_is_no_room() {
        let room = SpillRoom::new("/proc/self/nowhere".into(), 100, 100);
        let mut spill = Spill::new(Arc::new(room));
        assert!(spill.put(&[1]).is_none() && spill.put(&[1]).is_none());
        assert_eq!(spill.room.bytes().0, 0);
    }
}
