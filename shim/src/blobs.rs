//! Blobs: larger pieces of the program's memory. A capture sends each once and afterwards refers to it by name. A
//! snapshot's blobs are sent once for all captures, as long as the daemon has room for them.
//!
//! A quick hash tells whether the process has sent the bytes before. Only if not, the bytes are sent, and named by a
//! second hash. The hashes and the records are made from the same copy, because the program may change its memory
//! meanwhile.

use core::ptr;

use gapii_abi::atom::{
    BLOB, Blob, HEADER_LEN, Header, SETUP, STORED, STORED_PIECE_MAX, Stored, for_store,
};
use xxhash_rust::xxh3::Xxh3;

use crate::connection::Connection;
use crate::known::Name;
use crate::thread::Thread;

/// Observations of this size or more are blobs, in bytes; fewer if rings are small.
pub const BLOB_MIN_BYTES: u64 = 512;
/// Bytes of a blob that one record holds; fewer if rings are small.
pub const PIECE_BYTES: u64 = 64 << 10;
/// After this many new blobs in a row, a thread sends a blob of several pieces without first looking whether it is
/// known, because looking would copy every piece twice. A blob that is sent again by mistake does no harm.
const NEW_IN_A_ROW: u32 = 8;

/// Bytes of the program's memory.
pub trait Source {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Copies `len` bytes from offset `from` to `out`. False if they are not readable.
    ///
    /// # Safety
    /// `from + len` does not exceed the size. `out` has `len` writable bytes in the shim's own memory.
    unsafe fn copy(&self, from: u64, len: u64, out: *mut u8) -> bool;
}

/// How an observation is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In the record itself.
    Inline,
    /// As the blob with this name.
    Blob(Name),
    /// Not at all: the memory is not readable, or there was no room for it.
    Unrecorded,
}

/// The ring had no room, so the record that needed the blob is lost.
pub struct Lost;

/// Why a blob could not be named.
enum Failure {
    Unreadable,
    Lost,
}

impl Thread {
    /// Turns the bytes into a blob: returns its name, and sends the blob first if it is new.
    ///
    /// # Safety
    /// Only in the thread itself, inside the shim. The source is readable, or its `copy` reports that it is not.
    #[inline(never)]
    pub unsafe fn keep(&mut self, source: &impl Source) -> Result<Kept, Lost> {
        // SAFETY: passed on.
        match unsafe { self.name_of(source) } {
            Ok(name) => Ok(Kept::Blob(name)),
            Err(Failure::Unreadable) => Ok(Kept::Unrecorded),
            Err(Failure::Lost) => Err(Lost),
        }
    }

    /// From here on the thread's blobs belong to a snapshot.
    pub fn begin_describing(&mut self) {
        self.is_describing = true;
        let terms = self.connection().map(Connection::stored_terms);
        self.looks_first = terms.is_some_and(|terms| !terms.is_empty());
    }

    /// From here on the thread's blobs belong to recorded commands.
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

    /// Writes the records that name a blob which the daemon has, in place of its pieces.
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

    /// Writes one piece of a blob. `flags` and `total` go together: `total` is the size, with the store's number in
    /// it if the flags say so.
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
        // SAFETY: the payload is reserved in whole words, and has more than two of them.
        let last = unsafe { record.payload.add((payload_bytes as usize - 1) & !7) };
        // SAFETY: as above.
        unsafe { last.cast::<u64>().write(0) };
        // SAFETY: the payload continues after the fixed part.
        let out = unsafe { record.payload.add(Blob::LEN) };
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: the piece's length is reserved; the ring does not overlap the thread's own buffer.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), out.as_ptr(), bytes.len())
        };
        // SAFETY: the payload is whole.
        unsafe { self.publish(record) };
        Ok(())
    }
}

/// Reads a source in pieces of at most `piece_bytes`.
struct Pieces<'a, S> {
    source: &'a S,
    buffer: *mut u8,
    piece_bytes: u64,
    /// The whole source is in the buffer.
    is_copied: bool,
}

impl<S: Source> Pieces<'_, S> {
    /// Calls `take` with each piece and its offset. A source that fits into the buffer is copied only once, no matter
    /// how often this is called.
    ///
    /// # Safety
    /// The buffer has `piece_bytes` bytes, and nothing else uses it.
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

/// Returns a blob's name: the first 16 bytes of its hash, as two words.
pub fn name_words(hash: &blake3::Hash) -> Name {
    let [low, high, ..] = hash.as_bytes().as_chunks::<8>().0 else { return [0; 2] };
    [u64::from_le_bytes(*low), u64::from_le_bytes(*high)]
}

/// Returns the 16 bytes of a blob's name.
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
