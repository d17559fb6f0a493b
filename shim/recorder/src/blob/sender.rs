//! Sends blobs: larger pieces of the program's memory. A capture sends each once and afterwards refers to it by number; a
//! snapshot's blobs are sent once for all captures, as long as the daemon's store has room for them. A hash of all
//! bytes tells whether the process has sent them before.
//!
//! Memory is copied once, into the ring, and hashed there while it is in the cache. A blob of one piece
//! (64 KiB) that turns out to be known is not published. A longer blob is published piece by piece, so the thread must
//! decide before whether it looks first: after `NEW_IN_A_ROW` (8) new blobs of about this size it does not. The hash is
//! that of the bytes in the records, because the program may change its memory meanwhile. If the ring has no room, the
//! record that needs the blob is lost, too.
//!
//! An owed blob is one of a snapshot that records refer to before it is sent: it gets its number first.

use gapii_abi::atom::{
    BLOB, Blob, HEADER_LEN, Header, NUMBERED, Numbered, SETUP, STORED, STORED_PIECE_MAX, Stored,
    for_store,
};
use gapii_ringbuf::Reservation;
use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

use super::number::{self, Number};
use super::piece::Piece;
use super::source::{Kept, Lost, Own, Source};
use super::stored::Terms;
use super::table::Known;
use crate::record::Writer;
use crate::shared::Shared;

/// Number of low bits of a store number that hold the epoch; the daemon's `blob_epoch` is in the bits above.
const EPOCH_BITS: u32 = 20;
/// After this many new blobs in a row, a thread sends a blob of several pieces without first looking whether it is
/// known, because looking would read every piece twice. A blob that is sent again by mistake does no harm.
const NEW_IN_A_ROW: u8 = 8;
/// Classes of sizes for which new blobs are counted apart, a power of two.
const SIZE_CLASSES: usize = 16;

/// Why a blob has no number.
enum Failure {
    Unreadable,
    Lost,
}

/// A thread's settings for sending blobs. All zeros: no blob is ever sent.
#[repr(C)]
pub struct BlobSender {
    /// Observations of this size or more are blobs, in bytes.
    min_bytes: u64,
    /// Observations below this size are copied without a look at where else they go: `min_bytes`, or 0.
    plain_below: u64,
    /// The most bytes of a blob that one record holds.
    piece_bytes: u64,
    /// The epoch in which the thread records.
    epoch: u64,
    /// How many blobs in a row, up to the last one of the class of sizes, were new to the daemon.
    new_in_a_row: [u8; SIZE_CLASSES],
    /// The blobs belong to a snapshot, and not to recorded commands.
    is_describing: bool,
    /// The daemon may have some of the snapshot's content already, so look before sending.
    looks_first: bool,
}

/// Where a blob is looked up and noted.
#[derive(Clone, Copy)]
struct Sent<'a> {
    known: &'a Known,
    tag: u64,
}

/// The part of a blob's records that is the same in all of them.
#[derive(Clone, Copy)]
struct Kind {
    flags: u16,
    /// The size, with the store's number in it if the flags say so.
    total: u64,
}

impl BlobSender {
    /// Returns the settings for the rings of `shared`.
    pub fn new(shared: &Shared) -> Self {
        Self {
            min_bytes: shared.blob_min_bytes,
            plain_below: shared.blob_min_bytes,
            piece_bytes: shared.piece_bytes,
            epoch: 0,
            new_in_a_row: [0; SIZE_CLASSES],
            is_describing: false,
            looks_first: false,
        }
    }

    /// Returns settings with which no blob is ever sent.
    pub fn without_ring() -> Self {
        Self {
            min_bytes: 0,
            plain_below: 0,
            piece_bytes: 0,
            epoch: 0,
            new_in_a_row: [0; SIZE_CLASSES],
            is_describing: false,
            looks_first: false,
        }
    }

    /// Returns the size from which observations are blobs, in bytes.
    #[inline(always)]
    pub fn min_bytes(&self) -> u64 {
        self.min_bytes
    }

    /// Returns the size from which observations take the slow path, in bytes.
    #[inline(always)]
    pub fn plain_below(&self) -> u64 {
        self.plain_below
    }

    /// Sets whether all observations take the slow path.
    pub fn set_all_slow(&mut self, are_slow: bool) {
        self.plain_below = if are_slow { 0 } else { self.min_bytes };
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

    /// Turns the bytes into a blob: returns its number, and sends the blob through `writer` first if it is new. `buffer`
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
        match unsafe { self.number_of(writer, buffer, source) } {
            Ok(number) => Ok(Kept::Blob(number)),
            Err(Failure::Unreadable) => Ok(Kept::Unrecorded),
            Err(Failure::Lost) => Err(Lost),
        }
    }

    /// Sends a snapshot's blob that records refer to by `number` already. `buffer` is overwritten.
    ///
    /// # Errors
    /// The ring has no room for the blob.
    pub fn send_owed(
        &self,
        writer: &mut Writer,
        buffer: &mut Piece,
        bytes: &[u8],
        number: Number,
    ) -> Result<(), Lost> {
        let Some(shared) = writer.shared() else { return Err(Lost) };
        let known = &shared.known;
        let sent = Sent { known, tag: known.tag(self.store(shared.mode.blob_epoch())) };
        let (source, places) = (Own(bytes), (sent, &shared.stored_terms()));
        // SAFETY: the bytes are readable.
        let done = unsafe { self.describe(writer, buffer, &source, places, Some(number)) };
        done.map(|_| ()).map_err(|_| Lost)
    }

    /// Returns the number of the store that this thread's blobs go to. The number changes whenever the daemon or this
    /// process starts over, and only rises.
    fn store(&self, blob_epoch: u32) -> u64 {
        (u64::from(blob_epoch) << EPOCH_BITS) + self.epoch
    }

    unsafe fn number_of(
        &mut self,
        writer: &mut Writer,
        buffer: &mut Piece,
        source: &impl Source,
    ) -> Result<Number, Failure> {
        let Some(shared) = writer.shared() else { return Err(Failure::Unreadable) };
        let known = &shared.known;
        let sent = Sent { known, tag: known.tag(self.store(shared.mode.blob_epoch())) };
        let size = source.size();
        if self.is_describing {
            let stored = shared.stored_terms();
            // SAFETY: passed on.
            return unsafe { self.describe(writer, buffer, source, (sent, &stored), None) };
        }
        if size <= self.piece_bytes {
            // SAFETY: passed on.
            let done = unsafe { send_at_once(writer, source, sent) };
            if let Some(done) = done {
                return done;
            }
        }
        let class = size_class(size);
        let in_a_row = self.new_in_a_row.get(class).copied().unwrap_or_default();
        let is_expected_new = size > self.piece_bytes && in_a_row >= NEW_IN_A_ROW;
        let found = match is_expected_new {
            true => None,
            // SAFETY: passed on.
            false => sent.find(unsafe { self.hash(buffer, source, known.seed()) }?),
        };
        let (number, is_new) = match found {
            Some(number) => (number, false),
            None => {
                let kind = Kind { flags: 0, total: size };
                // SAFETY: passed on.
                let key = unsafe { self.send(writer, kind, source, known.seed()) }?;
                let was_known = is_expected_new && sent.find(key).is_some();
                (sent.enter(writer, kind.flags, key, number::next())?, !was_known)
            }
        };
        if let Some(in_a_row) = self.new_in_a_row.get_mut(class) {
            *in_a_row = if is_new { in_a_row.saturating_add(1) } else { 0 };
        }
        Ok(number)
    }

    /// Does the same as [`Self::number_of`] for content of a snapshot, which goes to the daemon's store. `owed` is the number
    /// that the blob must get.
    unsafe fn describe(
        &self,
        writer: &mut Writer,
        buffer: &mut Piece,
        source: &impl Source,
        (sent, stored): (Sent<'_>, &Terms<'_>),
        owed: Option<Number>,
    ) -> Result<Number, Failure> {
        let (size, seed) = (source.size(), sent.known.seed());
        let mut is_sent = false;
        if self.looks_first || size <= self.piece_bytes {
            // SAFETY: passed on.
            let key = unsafe { self.hash(buffer, source, seed) }?;
            // The store first: what this capture has put there is found as sent, too, whichever thread has sent it.
            let in_store = stored.find(key);
            let sent_as = sent.find(key);
            if let (Some(number), None) = (sent_as, owed) {
                return Ok(number);
            }
            is_sent = sent_as.is_some();
            // The daemon fills a block from what the store has before the block. So it cannot refer to what this capture
            // has sent, perhaps in the same block.
            if let Some(in_store) = in_store.filter(|_| !is_sent) {
                self.refer_to_store(writer, size, in_store)?;
                let number = owed.unwrap_or(in_store);
                write_number(writer, 0, number)?;
                sent.known.learn(sent.tag, key, number);
                return Ok(number);
            }
        }
        let has_room = !is_sent && stored.reserve(size);
        let kind = match has_room {
            true => Kind { flags: SETUP, total: for_store(size, stored.number()) },
            false => Kind { flags: 0, total: size },
        };
        // SAFETY: passed on.
        let key = unsafe { self.send(writer, kind, source, seed) };
        let number = owed.unwrap_or_else(number::next);
        let entered = key.and_then(|key| Ok((key, sent.enter(writer, kind.flags, key, number)?)));
        match entered {
            Ok((key, number)) if has_room => stored.learn(writer.order(), key, number),
            Err(_) if has_room => stored.give_back(size),
            _ => {}
        }
        entered.map(|(_, number)| number)
    }

    /// Returns the hash of the source's bytes.
    unsafe fn hash(
        &self,
        buffer: &mut Piece,
        source: &impl Source,
        seed: u64,
    ) -> Result<u128, Failure> {
        let (size, piece_bytes) = (source.size(), self.piece_bytes.min(size_of_val(buffer) as u64));
        let start = buffer.as_mut_ptr().cast::<u8>();
        // SAFETY: the buffer's own bytes, which are initialized.
        let buffer = unsafe { core::slice::from_raw_parts_mut(start, size_of_val(buffer)) };
        let mut hash = Xxh3::with_seed(seed);
        let mut from = 0;
        while from < size {
            let len = (size - from).min(piece_bytes);
            // SAFETY: `len` is within the source and within the buffer.
            if !unsafe { source.each(from, len, buffer, |bytes| hash.update(bytes)) } {
                return Err(Failure::Unreadable);
            }
            from += len;
        }
        Ok(hash.digest128())
    }

    /// Publishes the source in pieces. Returns the hash of the bytes in them.
    unsafe fn send(
        &self,
        writer: &mut Writer,
        kind: Kind,
        source: &impl Source,
        seed: u64,
    ) -> Result<u128, Failure> {
        let size = source.size();
        let mut hash = Xxh3::with_seed(seed);
        let mut from = 0;
        while from < size {
            let len = (size - from).min(self.piece_bytes);
            let header = kind.header(len);
            // SAFETY: the payload is written before the record is published.
            let Some(record) = (unsafe { writer.reserve(header) }) else {
                return Err(Failure::Lost);
            };
            // SAFETY: `len` is within the source and within the record.
            let Some(bytes) = (unsafe { put_piece(record, kind.total, source, from, len) }) else {
                writer.give_back(record, header);
                return Err(Failure::Unreadable);
            };
            hash.update(bytes);
            // SAFETY: the payload is whole.
            unsafe { writer.publish(record) };
            from += len;
        }
        Ok(hash.digest128())
    }

    /// Writes the records that name a blob which the daemon has, in place of its pieces.
    fn refer_to_store(
        &self,
        writer: &mut Writer,
        total: u64,
        number: Number,
    ) -> Result<(), Failure> {
        let mut from = 0;
        while from < total {
            let len = (total - from).min(self.piece_bytes).min(STORED_PIECE_MAX);
            let stored = Stored { total, offset: from, len, number };
            write(writer, STORED, 0, stored.encode())?;
            from += len;
        }
        Ok(())
    }
}

impl Sent<'_> {
    fn find(self, key: u128) -> Option<Number> {
        self.known.find(self.tag, key)
    }

    /// Gives the blob whose pieces are published its number, and notes it.
    fn enter(
        self,
        writer: &mut Writer,
        flags: u16,
        key: u128,
        number: Number,
    ) -> Result<Number, Failure> {
        write_number(writer, flags, number)?;
        self.known.learn(self.tag, key, number);
        Ok(number)
    }
}

impl Kind {
    /// Returns the header of a piece of `len` bytes.
    fn header(self, len: u64) -> Header {
        Header::new(BLOB, self.flags, HEADER_LEN + Blob::LEN as u32 + len as u32)
    }
}

/// Returns the class of a size. Blobs of one use have one size, so they share a class.
fn size_class(size: u64) -> usize {
    (size.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SIZE_CLASSES.ilog2())) as usize
}

/// Copies a blob of one piece into the ring, and publishes it there if it is new. `None` if the ring has no room at hand;
/// then nothing is done.
///
/// # Safety
/// As for [`BlobSender::keep`].
unsafe fn send_at_once(
    writer: &mut Writer,
    source: &impl Source,
    sent: Sent<'_>,
) -> Option<Result<Number, Failure>> {
    let size = source.size();
    let kind = Kind { flags: 0, total: size };
    let header = kind.header(size);
    // SAFETY: the payload is written before the record is published.
    let record = unsafe { writer.reserve_at_once(header) }?;
    // SAFETY: the record has room for the whole source.
    let Some(bytes) = (unsafe { put_piece(record, size, source, 0, size) }) else {
        writer.give_back(record, header);
        return Some(Err(Failure::Unreadable));
    };
    let key = xxh3_128_with_seed(bytes, sent.known.seed());
    if let Some(number) = sent.find(key) {
        writer.give_back(record, header);
        return Some(Ok(number));
    }
    // SAFETY: the payload is whole.
    unsafe { writer.publish(record) };
    Some(sent.enter(writer, kind.flags, key, number::next()))
}

/// Writes the payload of a piece: the range `from..from + len` of the source. Returns the bytes as they are in the record.
/// `None` if they are not readable.
///
/// # Safety
/// The range is within the source, and the record was reserved for a piece of `len` bytes, at least one.
unsafe fn put_piece<'a>(
    record: Reservation,
    total: u64,
    source: &impl Source,
    from: u64,
    len: u64,
) -> Option<&'a [u8]> {
    // SAFETY: the reserved payload is longer than the fixed part.
    unsafe { record.payload.cast().write(Blob { total, offset: from }.encode()) };
    // SAFETY: the payload is reserved in whole words, and has more than two of them.
    let last = unsafe { record.payload.add((Blob::LEN + len as usize - 1) & !7) };
    // SAFETY: as above.
    unsafe { last.cast::<u64>().write(0) };
    // SAFETY: the payload continues after the fixed part.
    let out = unsafe { record.payload.add(Blob::LEN) }.as_ptr();
    // SAFETY: `len` bytes are reserved there, and in the source.
    let is_copied = unsafe { source.copy(from, len, out) };
    // SAFETY: these bytes were just written, and this thread alone writes to its ring.
    is_copied.then(|| unsafe { core::slice::from_raw_parts(out, len as usize) })
}

/// Writes the record that gives a number to the thread's last blob.
fn write_number(writer: &mut Writer, flags: u16, number: Number) -> Result<(), Failure> {
    write(writer, NUMBERED, flags, Numbered { number }.encode())
}

fn write<const N: usize>(
    writer: &mut Writer,
    id: u16,
    flags: u16,
    payload: [u8; N],
) -> Result<(), Failure> {
    let header = Header::new(id, flags, HEADER_LEN + N as u32);
    // SAFETY: the payload is written before the record is published.
    let Some(record) = (unsafe { writer.reserve(header) }) else { return Err(Failure::Lost) };
    // SAFETY: the reserved payload has this length.
    unsafe { record.payload.cast().write(payload) };
    // SAFETY: the payload is whole.
    unsafe { writer.publish(record) };
    Ok(())
}
