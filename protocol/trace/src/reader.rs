//! Reads a trace file: its header, index and footer, its blocks, blobs and commands. Trusts no length and no offset of
//! the file, and allocates no more than the limits beside each type. A cut or damaged end is a `Tail`, not an error:
//! everything before it is read. A damaged block is found when it is read.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::blob_name::{BlobName, NamePrefix};
use super::blobs::{BlobEntry, BlobNumber, BlobSource};
use super::block::BlockLocation;
use super::block_file::BlockFile;
pub use super::block_file::{BlockError, Reopen};
pub use super::commands::{Commands, Mark};
use super::file_parts::{FileParts, describe, read_header, read_range};
pub use super::file_parts::{OpenError, Tail};
use super::footer::Footer;
use super::frame::FRAME_HEADER_BYTES;
use super::header::TraceHeader;
use super::index::TraceIndex;
use super::meta::{End, Meta};
use super::record::Records;
use super::scan::FoundFrame;
use super::store::{BlobError, Store};
use gapii_abi::atom;

/// An open trace file.
pub struct TraceReader<R> {
    pub(super) file: RefCell<BlockFile<R>>,
    pub(super) file_len: u64,
    pub(super) header: TraceHeader,
    blocks: Arc<[BlockLocation]>,
    index: Option<TraceIndex>,
    footer: Option<Footer>,
    pub(super) tail: Tail,
    pub(super) store: RefCell<Store>,
    header_len: u64,
    /// The description frames, in order.
    pub(super) descriptions: Vec<FoundFrame>,
    tables_at: Option<(u64, u64)>,
}

impl<R: Read + Seek> TraceReader<R> {
    /// Reads the header and finds the blocks.
    ///
    /// # Errors
    /// [`OpenError`] if the file does not begin with a valid header. A damaged end is no error; see
    /// [`Self::tail`].
    pub fn open(mut input: R) -> Result<Self, OpenError> {
        let file_len = input.seek(SeekFrom::End(0))?;
        let (mut header, header_len) = read_header(&mut input, file_len)?;
        let mut parts = FileParts::find(&mut input, header_len, file_len)?;
        let read = |offset, len| read_range(&mut input, offset, len);
        describe(&mut header, &mut parts.descriptions, &mut parts.tail, read)?;
        let blocks: Arc<[BlockLocation]> = parts.blocks.into();
        let file = BlockFile::new(input, Arc::clone(&blocks));
        let mut index = parts.index;
        let blobs = index.as_mut().and_then(|index| index.blobs.take());
        let numbers = index.as_mut().and_then(|index| index.numbers.take());
        Ok(Self {
            file: RefCell::new(file),
            file_len,
            header,
            blocks,
            index,
            footer: parts.footer,
            tail: parts.tail,
            store: match parts.listing {
                Some(listing) => Store::of_listing(listing),
                None => Store::of_index(blobs, numbers),
            },
            header_len,
            descriptions: parts.descriptions,
            tables_at: parts.tables_at,
        })
    }

    /// Looks for blocks that were written since the file was opened, or since this was called last. Returns whether there are
    /// any. Does not look for an index or a footer, and a file that has one does not grow.
    ///
    /// # Errors
    /// An error of the file.
    pub fn grow(&mut self) -> io::Result<bool> {
        let Tail::Truncated { at } = self.tail else { return Ok(false) };
        if self.index.is_some() || self.footer.is_some() {
            return Ok(false);
        }
        let file = self.file.get_mut();
        let (frames, file_len) = file.frames_from(at)?;
        (self.tail, self.file_len) = (frames.tail, file_len);
        if !frames.descriptions.is_empty() {
            self.descriptions.extend(frames.descriptions);
            let read = |offset, len| file.read(offset, len);
            // What was described before stays.
            describe(&mut self.header, &mut self.descriptions, &mut self.tail, read)?;
        }
        if frames.blocks.is_empty() {
            return Ok(false);
        }
        self.blocks = self.blocks.iter().copied().chain(frames.blocks).collect();
        file.grow(Arc::clone(&self.blocks));
        self.store.get_mut().grow();
        Ok(true)
    }

    /// Decodes blocks ahead on a thread of its own whenever commands are read in order. Each reading in
    /// order calls `reopen` once.
    pub fn decode_ahead(&mut self, reopen: Reopen) {
        self.file.get_mut().decode_ahead(reopen);
    }

    /// Keeps the first blocks of the file decompressed once they have been read, up to `bytes` bytes in
    /// all. For callers that read the file several times.
    pub fn keep_decoded(&mut self, bytes: usize) {
        self.file.get_mut().keep(bytes);
    }

    /// Returns the header.
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// Returns the locations of the complete blocks of the file, in order.
    pub fn blocks(&self) -> &[BlockLocation] {
        &self.blocks
    }

    /// Returns the index if the file has one that fits its blocks.
    pub fn index(&self) -> Option<&TraceIndex> {
        self.index.as_ref()
    }

    /// Returns the footer if the file has one.
    pub fn footer(&self) -> Option<&Footer> {
        self.footer.as_ref()
    }

    /// Returns where the frames are that describe functions for the blocks behind them, in order.
    pub fn descriptions(&self) -> &[FoundFrame] {
        &self.descriptions
    }

    /// Returns how many bytes of the file are its header and its descriptions of functions.
    pub fn header_bytes(&self) -> u64 {
        self.descriptions.iter().fold(self.header_len, |sum, frame| sum + frame.len)
    }

    /// Returns how the readable part of the file ends, as far as is known: a damaged block is found when it
    /// is read.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Returns a hash that no other trace has: of the file's length, its header, the checksum of its index, and its footer.
    /// `None` for a trace without index or footer, which may grow.
    ///
    /// # Errors
    /// An error of the file.
    pub fn identity(&mut self) -> io::Result<Option<[u8; 32]>> {
        let Some((index_at, footer_at)) = self.tables_at else { return Ok(None) };
        let file = self.file.get_mut();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.file_len.to_le_bytes());
        let parts = [
            (0, self.header_len),
            // The head of the frame has the checksum of the rest.
            (index_at, FRAME_HEADER_BYTES as u64),
            (footer_at, self.file_len - footer_at),
        ];
        for (offset, len) in parts {
            hasher.update(&file.read(offset, len)?);
        }
        Ok(Some(*hasher.finalize().as_bytes()))
    }

    /// Returns the length of the file when it was opened, in bytes.
    pub fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Replaces `raw` with the records of a block, whose checksum holds.
    ///
    /// # Errors
    /// [`BlockError`]; `raw` is then as before.
    pub fn read_block(&mut self, index: usize, raw: &mut Vec<u8>) -> Result<(), BlockError> {
        let block = self.file.get_mut().block(index)?;
        raw.clear();
        raw.extend_from_slice(&block);
        Ok(())
    }

    /// Returns the bytes of a blob.
    ///
    /// # Errors
    /// [`BlobError`].
    pub fn blob(&self, name: BlobName) -> Result<Vec<u8>, BlobError> {
        self.store.borrow_mut().bytes(&mut self.file.borrow_mut(), name, None)
    }

    /// Returns the blobs whose names begin with `prefix`, at most `most`.
    ///
    /// # Errors
    /// An error of the file.
    pub fn blobs_named(&self, prefix: &NamePrefix, most: usize) -> io::Result<Vec<BlobEntry>> {
        self.store.borrow_mut().find(&mut self.file.borrow_mut(), prefix, most)
    }

    /// Returns the blobs that the index lists, by name; `None` if there is no such list.
    pub fn listed_blobs(&self) -> Option<Vec<BlobEntry>> {
        self.store.borrow().listed()
    }

    /// Returns the END record if the stream has one. Reads the last block.
    ///
    /// # Errors
    /// An error of the file. A damaged last block has no END record.
    pub fn end(&mut self) -> io::Result<Option<End>> {
        let Some(last) = self.blocks.len().checked_sub(1) else { return Ok(None) };
        let mut raw = Vec::new();
        match self.read_block(last, &mut raw) {
            Ok(()) => Ok(end_in(&raw)),
            Err(BlockError::Io(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

impl<R: Read + Seek> BlobSource for TraceReader<R> {
    fn name(&self, number: BlobNumber) -> Option<BlobName> {
        self.store.borrow_mut().name(&mut self.file.borrow_mut(), number)
    }

    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>> {
        self.store.borrow_mut().cached(&mut self.file.borrow_mut(), name, size)
    }
}

/// Returns the END record among the records of a block.
fn end_in(raw: &[u8]) -> Option<End> {
    let records = Records::new(raw).map_while(Result::ok);
    let end = records.filter(|record| record.header.id() == atom::END).last()?;
    match Meta::decode(atom::END, end.payload) {
        Ok(Meta::End(end)) => Some(end),
        _ => None,
    }
}
