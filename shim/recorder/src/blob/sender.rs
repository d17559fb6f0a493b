//! Sends blobs: larger pieces of the program's memory. A capture sends each once and afterwards refers to it by name; a
//! snapshot's blobs are sent once for all captures, as long as the daemon's store has room for them. A quick hash tells
//! whether the process has sent the bytes before. After `NEW_IN_A_ROW` (8) new blobs a thread sends a blob of several
//! pieces without looking first. Hashes and records are made from the same copy, because the program may change its
//! memory meanwhile. If the ring has no room, the record that needs the blob is lost, too.

use core::ptr;

use gapii_abi::atom::{
    BLOB, Blob, HEADER_LEN, Header, SETUP, STORED, STORED_PIECE_MAX, Stored, for_store,
};
use xxhash_rust::xxh3::Xxh3;

use super::name::{Name, name_bytes, name_words};
use super::piece::Piece;
use super::source::{Kept, Lost, Source};
use crate::record::Writer;
use crate::shared::Shared;

/// Number of low bits of a store number that hold the epoch; the daemon's `blob_epoch` is in the bits above.
const EPOCH_BITS: u32 = 20;
/// After this many new blobs in a row, a thread sends a blob of several pieces without first looking whether it is
/// known, because looking would copy every piece twice. A blob that is sent again by mistake does no harm.
const NEW_IN_A_ROW: u32 = 8;

/// Why a blob could not be named.
enum Failure {
    Unreadable,
    Lost,
}

/// A thread's settings for sending blobs. All zeros: no blob is ever sent.
#[repr(C)]
pub struct BlobSender {
    /// Observations of this size or more are blobs, in bytes.
    min_bytes: u64,
    /// The most bytes of a blob that one record holds.
    piece_bytes: u64,
    /// The epoch in which the thread records.
    epoch: u64,
    /// How many blobs in a row, up to the last one, were new to the daemon.
    new_blobs: u32,
    /// The blobs belong to a snapshot, and not to recorded commands.
    is_describing: bool,
    /// The daemon may have some of the snapshot's content already, so look before sending.
    looks_first: bool,
}

impl BlobSender {
    /// Returns the settings for the rings of `shared`.
    pub fn new(shared: &Shared) -> Self {
        Self {
            min_bytes: shared.blob_min_bytes,
            piece_bytes: shared.piece_bytes,
            epoch: 0,
            new_blobs: 0,
            is_describing: false,
            looks_first: false,
        }
    }

    /// Returns the size from which observations are blobs, in bytes.
    #[inline(always)]
    pub fn min_bytes(&self) -> u64 {
        self.min_bytes
    }

    /// From here on blobs are sent in epoch `epoch`.
    pub fn begin_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
    }

    /// From here on blobs belong to a snapshot.
    pub fn begin_describing(&mut self, shared: &Shared) {
        self.is_describing = true;
        self.looks_first = !shared.stored_terms().is_empty();
    }

    /// From here on blobs belong to recorded commands.
    pub fn end_describing(&mut self) {
        self.is_describing = false;
    }

    /// Turns the bytes into a blob: returns its name, and sends the blob through `writer` first if it is new. `buffer`
    /// is overwritten.
    ///
    /// # Errors
    /// The ring has no room for the blob.
    ///
    /// # Safety
    /// The source is readable, or its `copy` reports that it is not.
    #[inline(never)]
    pub unsafe fn keep(
        &mut self,
        writer: &mut Writer,
        buffer: &mut Piece,
        source: &impl Source,
    ) -> Result<Kept, Lost> {
        // SAFETY: passed on.
        match unsafe { self.name_of(writer, buffer, source) } {
            Ok(name) => Ok(Kept::Blob(name)),
            Err(Failure::Unreadable) => Ok(Kept::Unrecorded),
            Err(Failure::Lost) => Err(Lost),
        }
    }

    /// Returns the number of the store that this thread's blobs go to. The number changes whenever the daemon or this
    /// process starts over, and only rises.
    fn store(&self, blob_epoch: u32) -> u64 {
        (u64::from(blob_epoch) << EPOCH_BITS) + self.epoch
    }

    unsafe fn name_of(
        &mut self,
        writer: &mut Writer,
        buffer: &mut Piece,
        source: &impl Source,
    ) -> Result<Name, Failure> {
        let Some(shared) = writer.shared() else { return Err(Failure::Unreadable) };
        let known = &shared.known;
        let tag = known.tag(self.store(shared.mode.blob_epoch()));
        let stored = self.is_describing.then(|| shared.stored_terms());
        let piece_bytes = self.piece_bytes.min(size_of_val(buffer) as u64);
        let mut pieces = Pieces { source, buffer, piece_bytes, is_copied: false };
        let mut quick = Xxh3::with_seed(known.seed());
        let is_expected_new = source.size() > piece_bytes
            && self.new_blobs >= NEW_IN_A_ROW
            && !(self.is_describing && self.looks_first);
        if !is_expected_new {
            // SAFETY: passed on.
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
                self.name_stored(writer, source.size(), name)?;
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
        // SAFETY: passed on.
        let sent = unsafe {
            pieces.each(|from, bytes| {
                quick.update(bytes);
                naming.update(bytes);
                send_piece(writer, (flags, total), from, bytes)
            })
        };
        if let (Err(_), Some(stored)) = (&sent, &stored) {
            stored.give_back(source.size());
        }
        sent?;
        let (key, name) = (quick.digest128(), name_words(&naming.finalize()));
        if let Some(stored) = stored {
            stored.learn(writer.order(), key, name);
        }
        let was_known = is_expected_new && known.find(tag, key).is_some();
        self.new_blobs = if was_known { 0 } else { self.new_blobs.saturating_add(1) };
        known.learn(tag, key, name);
        Ok(name)
    }

    /// Writes the records that name a blob which the daemon has, in place of its pieces.
    fn name_stored(&self, writer: &mut Writer, total: u64, name: Name) -> Result<(), Failure> {
        let mut from = 0;
        while from < total {
            let len = (total - from).min(self.piece_bytes).min(STORED_PIECE_MAX);
            let header = Header::new(STORED, 0, HEADER_LEN + Stored::LEN as u32);
            // SAFETY: the payload is written before the record is published.
            let Some(record) = (unsafe { writer.reserve(header) }) else {
                return Err(Failure::Lost);
            };
            let stored = Stored { total, offset: from, len, name: name_bytes(name) };
            // SAFETY: the reserved payload has this length.
            unsafe { record.payload.cast().write(stored.encode()) };
            // SAFETY: the payload is whole.
            unsafe { writer.publish(record) };
            from += len;
        }
        Ok(())
    }
}

/// Writes one piece of a blob. `flags` and `total` go together: `total` is the size, with the store's number in
/// it if the flags say so.
fn send_piece(
    writer: &mut Writer,
    (flags, total): (u16, u64),
    from: u64,
    bytes: &[u8],
) -> Result<(), Failure> {
    let payload_bytes = (Blob::LEN + bytes.len()) as u32;
    let header = Header::new(BLOB, flags, HEADER_LEN + payload_bytes);
    // SAFETY: the payload is written before the record is published.
    let Some(record) = (unsafe { writer.reserve(header) }) else { return Err(Failure::Lost) };
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
    unsafe { writer.publish(record) };
    Ok(())
}

/// Reads a source in pieces of at most `piece_bytes`.
struct Pieces<'a, S> {
    source: &'a S,
    buffer: &'a mut Piece,
    piece_bytes: u64,
    /// The whole source is in the buffer.
    is_copied: bool,
}

impl<S: Source> Pieces<'_, S> {
    /// Calls `take` with each piece and its offset. A source that fits into the buffer is copied only once, no matter
    /// how often this is called.
    ///
    /// # Safety
    /// The source is readable, or its `copy` reports that it is not.
    unsafe fn each(
        &mut self,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = self.source.size();
        let mut from = 0;
        while from < size {
            let len = (size - from).min(self.piece_bytes);
            let buffer = self.buffer.as_mut_ptr().cast::<u8>();
            // SAFETY: `len` is within the source and within the buffer.
            if !self.is_copied && !unsafe { self.source.copy(from, len, buffer) } {
                return Err(Failure::Unreadable);
            }
            self.is_copied = len == size;
            // SAFETY: `len` bytes of the buffer are written.
            let bytes = unsafe { core::slice::from_raw_parts(buffer, len as usize) };
            take(from, bytes)?;
            from += len;
        }
        Ok(())
    }
}
