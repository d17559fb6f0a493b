//! The blocks of an open file: read, decompressed, and held while they may be needed again: the last ones up to 4 MiB,
//! and the first ones of the file up to the number of bytes that the caller allows. A block that does not exist or is
//! damaged is an error with its index and place.
//!
//! Does not look into records.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::ahead::{Ahead, Input};
use super::block::{BLOCK_BYTES_MAX, BlockDecoder, BlockLocation, DecodeError};
use super::file_parts::{Frames, read_range};

/// A file with the locations of its blocks.
pub(super) struct BlockFile<R> {
    input: R,
    blocks: Arc<[BlockLocation]>,
    decoder: BlockDecoder,
    compressed: Vec<u8>,
    /// The blocks read last, with their indices, because commands often refer to blobs in recent blocks.
    recent: VecDeque<(usize, Arc<Vec<u8>>)>,
    recent_bytes: usize,
    /// The first blocks of the file, for callers that read it again.
    kept: Vec<Arc<Vec<u8>>>,
    /// Bytes that `kept` may still grow by.
    keep_bytes: usize,
    /// Opens the file again, for the thread that decodes ahead.
    reopen: Option<Reopen>,
    ahead: Option<Ahead>,
}

/// Opens a trace file again, with a position of its own. Returns `None` if that is not possible.
pub type Reopen = Box<dyn Fn() -> Option<Box<dyn Input>> + Send>;

/// Most bytes of recent blocks.
const RECENT_BYTES_MAX: usize = 4 << 20;

/// Why a block can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are not those that were written.
    #[error("block {index} at byte {at}: {why}")]
    Damaged {
        /// Index of the block.
        index: usize,
        /// Offset of the block in the file, in bytes.
        at: u64,
        /// The decoder's error.
        why: DecodeError,
    },
    /// The file has no block with this index.
    #[error("no block {index}, there are {count}")]
    NoSuchBlock {
        /// The index that was asked for.
        index: usize,
        /// Number of blocks in the file.
        count: usize,
    },
}

impl<R: Read + Seek> BlockFile<R> {
    /// Makes a file whose blocks are at `blocks`.
    pub(super) fn new(input: R, blocks: Arc<[BlockLocation]>) -> Self {
        Self {
            input,
            blocks,
            decoder: BlockDecoder::new(BLOCK_BYTES_MAX),
            compressed: Vec::new(),
            recent: VecDeque::new(),
            recent_bytes: 0,
            kept: Vec::new(),
            keep_bytes: 0,
            reopen: None,
            ahead: None,
        }
    }

    /// Lets a thread decode ahead from the next [`Self::begin_ahead`] on.
    pub(super) fn decode_ahead(&mut self, reopen: Reopen) {
        self.reopen = Some(reopen);
    }

    /// Keeps the first blocks of the file once they are decoded, up to `bytes` bytes in all.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.keep_bytes = bytes;
    }

    /// Opens the file again, for blobs that another thread asks for. Returns `None` if that is not possible.
    pub(super) fn beside(&self) -> Option<BlockFile<Box<dyn Input>>> {
        let input = self.reopen.as_ref()?()?;
        Some(BlockFile::new(input, Arc::clone(&self.blocks)))
    }

    /// Reads `len` bytes of the file.
    pub(super) fn read(&mut self, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        read_range(&mut self.input, offset, len)
    }

    /// Replaces the locations of the blocks by a longer list that begins with them.
    pub(super) fn grow(&mut self, blocks: Arc<[BlockLocation]>) {
        self.blocks = blocks;
    }

    /// Returns the frames from `offset` on, and the length of the file now, in bytes.
    pub(super) fn frames_from(&mut self, offset: u64) -> io::Result<(Frames, u64)> {
        let file_len = self.input.seek(SeekFrom::End(0))?;
        Ok((Frames::find(&mut self.input, offset, file_len)?, file_len))
    }

    /// Returns the locations of the blocks.
    pub(super) fn blocks(&self) -> &[BlockLocation] {
        &self.blocks
    }

    /// Returns the records of a block, whose checksum holds.
    ///
    /// # Errors
    /// [`BlockError`].
    pub(super) fn block(&mut self, index: usize) -> Result<Arc<Vec<u8>>, BlockError> {
        let Some(block) = self.blocks.get(index).copied() else {
            return Err(BlockError::NoSuchBlock { index, count: self.blocks.len() });
        };
        let recent = || self.recent.iter().find(|(at, _)| *at == index).map(|(_, raw)| raw);
        if let Some(raw) = self.kept.get(index).or_else(recent) {
            return Ok(Arc::clone(raw));
        }
        let ready = self.ahead.as_mut().and_then(|ahead| ahead.take(index));
        let raw = match ready {
            Some(raw) => raw,
            None => Arc::new(self.decode(index, block)?),
        };
        self.hold(index, &raw);
        Ok(raw)
    }

    fn decode(&mut self, index: usize, block: BlockLocation) -> Result<Vec<u8>, BlockError> {
        self.input.seek(SeekFrom::Start(block.offset))?;
        self.compressed.resize(block.compressed_len as usize, 0);
        self.input.read_exact(&mut self.compressed)?;
        let mut raw = Vec::new();
        let decoded = self.decoder.decode_into(&self.compressed, &mut raw);
        decoded.map_err(|why| BlockError::Damaged { index, at: block.offset, why })?;
        Ok(raw)
    }

    /// Starts a thread that decodes from block `first` on, except blocks that are kept. Does nothing if the
    /// file can't be opened again.
    pub(super) fn begin_ahead(&mut self, first: usize) {
        let first = first.max(self.kept.len());
        let input = self.reopen.as_ref().and_then(|reopen| reopen());
        self.ahead = input.and_then(|input| Ahead::begin(input, Arc::clone(&self.blocks), first));
    }

    /// Keeps a decoded block if it belongs to the first ones; otherwise lists it as recent and drops older
    /// ones beyond the limit.
    fn hold(&mut self, index: usize, raw: &Arc<Vec<u8>>) {
        if index == self.kept.len() && raw.len() <= self.keep_bytes {
            self.keep_bytes -= raw.len();
            self.kept.push(Arc::clone(raw));
            return;
        }
        self.recent_bytes += raw.len();
        self.recent.push_back((index, Arc::clone(raw)));
        while self.recent_bytes > RECENT_BYTES_MAX
            && let Some((_, oldest)) = self.recent.pop_front()
        {
            self.recent_bytes -= oldest.len();
            if let Some(ahead) = &self.ahead {
                ahead.give_back(oldest);
            }
        }
    }
}
