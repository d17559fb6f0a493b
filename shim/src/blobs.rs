//! Blobs: larger pieces of the program's memory, sent once per capture and then referred to by name; those of
//! snapshots once for all captures, where the daemon has room for them.
//!
//! Hashes quickly to see whether the process has sent the bytes before, and only if not, copies them
//! out and names them. What is hashed and what is sent is one copy: the program may change its
//! memory meanwhile.

use core::ptr;

use gapii_abi::atom::{
    BLOB, Blob, HEADER_LEN, Header, SETUP, STORED, STORED_PIECE_MAX, Stored, for_store,
};
use xxhash_rust::xxh3::Xxh3;

use crate::connection::Connection;
use crate::known::Name;
use crate::thread::Thread;

/// Observations of this size are blobs, unless rings are small, in bytes.
pub const BLOB_MIN_BYTES: u64 = 512;
/// Bytes of a blob in one record, unless rings are small.
pub const PIECE_BYTES: u64 = 64 << 10;
/// After so many new blobs of a thread one that must be copied piece by piece is sent without looking
/// first whether it is new, which would copy it twice. Sent again by mistake, it does no harm.
const NEW_IN_A_ROW: u32 = 8;

/// Bytes of the program's.
pub trait Source {
    /// How many.
    fn size(&self) -> u64;

    /// Copies `from..from + len` of them to `out`. False: they are not readable.
    ///
    /// # Safety
    /// The range lies inside the size; `out` has `len` writable bytes of the shim's own.
    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool;
}

/// How an observation is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In its record.
    Inline,
    /// As the blob of this name.
    Blob(Name),
    /// Not at all: its memory is not readable, or there was no room for it.
    Unrecorded,
}

/// There was no room in the ring, and what needed it is lost.
pub struct Lost;

/// Why a blob has no name.
enum Failure {
    Unreadable,
    Lost,
}

impl Thread {
    /// Makes a blob of the bytes: finds its name, after sending it if it is new.
    ///
    /// # Safety
    /// In the thread itself, which is inside the shim; the source is readable or says that it isn't.
    #[inline(never)]
    pub unsafe fn keep(&mut self, source: &impl Source) -> Result<Kept, Lost> {
        // SAFETY: passed on.
        match unsafe { self.name_of(source) } {
            Ok(name) => Ok(Kept::Blob(name)),
            Err(Failure::Unreadable) => Ok(Kept::Unrecorded),
            Err(Failure::Lost) => Err(Lost),
        }
    }

    /// From here on the thread's blobs are a snapshot's.
    pub fn begin_describing(&mut self) {
        self.is_describing = true;
        let terms = self.connection().map(Connection::stored_terms);
        self.looks_first = terms.is_some_and(|terms| !terms.is_empty());
    }

    /// From here on they are the program's.
    pub fn end_describing(&mut self) {
        self.is_describing = false;
    }

    unsafe fn name_of(&mut self, source: &impl Source) -> Result<Name, Failure> {
        let (Some(scratch), Some(connection)) = (self.scratch(), self.connection()) else {
            return Err(Failure::Unreadable);
        };
        let known = &connection.known;
        let tag = known.tag(self.blob_store(connection.mode.blob_epoch()));
        let stored = self.is_describing.then(|| connection.stored_terms());
        let buffer = scratch.piece.as_mut_ptr().cast::<u8>();
        let piece_bytes = self.piece_bytes.min(size_of_val(&scratch.piece) as u64);
        let mut pieces = Pieces { source, buffer, piece_bytes, is_copied: false };
        let mut quick = Xxh3::with_seed(known.seed());
        let is_expected_new = source.size() > piece_bytes
            && self.new_blobs >= NEW_IN_A_ROW
            && !(self.is_describing && self.looks_first);
        if !is_expected_new {
            // SAFETY: the buffer is this thread's.
            unsafe {
                pieces.each(|_, bytes| {
                    quick.update(bytes);
                    Ok(())
                })
            }?;
            let key = quick.digest128();
            if let Some(name) = known.find(tag, key) {
                self.new_blobs = 0;
                return Ok(name);
            }
            if let Some(name) = stored.as_ref().and_then(|stored| stored.find(key)) {
                self.name_stored(source.size(), name)?;
                known.learn(tag, key, name);
                self.new_blobs = 0;
                return Ok(name);
            }
            quick.reset();
        }
        let stored = stored.filter(|stored| stored.reserve(source.size()));
        let (flags, total) = match &stored {
            Some(stored) => (SETUP, for_store(source.size(), stored.number())),
            None => (0, source.size()),
        };
        let mut naming = blake3::Hasher::new();
        // SAFETY: as above.
        let sent = unsafe {
            pieces.each(|from, bytes| {
                quick.update(bytes);
                naming.update(bytes);
                self.send_piece((flags, total), from, bytes)
            })
        };
        if let (Err(_), Some(stored)) = (&sent, &stored) {
            stored.give_back(source.size());
        }
        sent?;
        let (key, name) = (quick.digest128(), name_words(&naming.finalize()));
        if let Some(stored) = stored {
            stored.learn(key, name);
        }
        let was_known = is_expected_new && known.find(tag, key).is_some();
        self.new_blobs = if was_known { 0 } else { self.new_blobs.saturating_add(1) };
        known.learn(tag, key, name);
        Ok(name)
    }

    /// Writes the records that stand for a blob which the daemon has.
    fn name_stored(&mut self, total: u64, name: Name) -> Result<(), Failure> {
        let mut from = 0;
        while from < total {
            let len = (total - from).min(self.piece_bytes).min(STORED_PIECE_MAX);
            let header = Header::new(STORED, 0, HEADER_LEN + Stored::LEN as u32);
            // SAFETY: the thread is inside the shim.
            let Some(record) = (unsafe { self.reserve(header) }) else { return Err(Failure::Lost) };
            let stored = Stored { total, offset: from, len, name: name_bytes(name) };
            // SAFETY: the reserved payload has this length.
            unsafe { record.payload.cast().write(stored.encode()) };
            // SAFETY: the payload is whole.
            unsafe { self.publish(record) };
            from += len;
        }
        Ok(())
    }

    /// Writes one record of a blob; with its flags comes the word that says how large that is.
    fn send_piece(
        &mut self,
        (flags, total): (u16, u64),
        from: u64,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        let payload_bytes = (Blob::LEN + bytes.len()) as u32;
        let header = Header::new(BLOB, flags, HEADER_LEN + payload_bytes);
        // SAFETY: the thread is inside the shim.
        let Some(record) = (unsafe { self.reserve(header) }) else { return Err(Failure::Lost) };
        // SAFETY: the reserved payload is longer than the fixed part.
        unsafe { record.payload.cast().write(Blob { total, offset: from }.encode()) };
        // SAFETY: a payload that is reserved in whole words, and longer than two.
        let last = unsafe { record.payload.add((payload_bytes as usize - 1) & !7) };
        // SAFETY: as above.
        unsafe { last.cast::<u64>().write(0) };
        // SAFETY: the payload goes on behind the two words.
        let out = unsafe { record.payload.add(Blob::LEN) };
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: the piece's length is reserved; the ring is apart from the thread's own buffer.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), out.as_ptr(), bytes.len())
        };
        // SAFETY: the payload is whole.
        unsafe { self.publish(record) };
        Ok(())
    }
}

/// A source, a buffer's length at a time.
struct Pieces<'a, S> {
    source: &'a S,
    buffer: *mut u8,
    piece_bytes: u64,
    /// All of the source is in the buffer.
    is_copied: bool,
}

impl<S: Source> Pieces<'_, S> {
    /// Gives `take` all pieces with their offsets. A source that fits the buffer is copied once,
    /// however often this is called.
    ///
    /// # Safety
    /// The buffer has `piece_bytes` bytes, and nobody else uses it.
    unsafe fn each(
        &mut self,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = self.source.size();
        let mut from = 0;
        while from < size {
            let len = (size - from).min(self.piece_bytes);
            // SAFETY: `len` is within the source and within the buffer.
            if !self.is_copied && !unsafe { self.source.copy(from, len, self.buffer) } {
                return Err(Failure::Unreadable);
            }
            self.is_copied = len == size;
            // SAFETY: `len` bytes of the buffer are written.
            let bytes = unsafe { core::slice::from_raw_parts(self.buffer, len as usize) };
            take(from, bytes)?;
            from += len;
        }
        Ok(())
    }
}

/// The first 16 bytes of a blob's hash.
pub fn name_words(hash: &blake3::Hash) -> Name {
    let [low, high, ..] = hash.as_bytes().as_chunks::<8>().0 else { return [0; 2] };
    [u64::from_le_bytes(*low), u64::from_le_bytes(*high)]
}

/// The bytes of a blob's name.
pub fn name_bytes([low, high]: Name) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_beginning_of_the_hash() {
        let [low, high] = name_words(&blake3::hash(b""));
        let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
        assert_eq!(
            bytes,
            [
                0xAF, 0x13, 0x49, 0xB9, 0xF5, 0xF9, 0xA1, 0xA6, 0xA0, 0x40, 0x4D, 0xEA, 0x36, 0xDC,
                0xC9, 0x49
            ]
        );
    }
}
