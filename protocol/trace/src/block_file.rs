//! The blocks of an open file: read, decompressed, and held while they may be needed again.
//!
//! Looks into no record.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::ahead::{Ahead, Input};
use super::block::{BLOCK_BYTES_MAX, BlockDecoder, BlockLocation, DecodeError};

/// A file and where its blocks are.
pub(super) struct BlockFile<R> {
    input: R,
    blocks: Arc<[BlockLocation]>,
    decoder: BlockDecoder,
    compressed: Vec<u8>,
    /// The blocks read last: commands refer to blobs that have just gone by.
    recent: VecDeque<(usize, Arc<Vec<u8>>)>,
    recent_bytes: usize,
    /// The first blocks of the file, decompressed, for who reads it again.
    kept: Vec<Arc<Vec<u8>>>,
    /// Bytes that may still be kept.
    keep_bytes: usize,
    /// Opens the file again, for a thread that decodes ahead.
    reopen: Option<Reopen>,
    ahead: Option<Ahead>,
}

/// Opens a trace's file again, with a position of its own; `None`: that can't be done.
pub type Reopen = Box<dyn Fn() -> Option<Box<dyn Input>> + Send>;

/// Bytes of blocks that are kept decompressed.
const RECENT_BYTES_MAX: usize = 4 << 20;

/// Why a block can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("block {index} at byte {at}: {why}")]
    Damaged { index: usize, at: u64, why: DecodeError },
    #[error("no block {index}, there are {count}")]
    NoSuchBlock { index: usize, count: usize },
}

impl<R: Read + Seek> BlockFile<R> {
    /// A file whose blocks are at these places.
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

    /// Has blocks decoded by a thread of their own from the next [`Self::begin_ahead`] on.
    pub(super) fn decode_ahead(&mut self, reopen: Reopen) {
        self.reopen = Some(reopen);
    }

    /// Keeps the first blocks of the file decompressed once they are read, up to so many bytes in all.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.keep_bytes = bytes;
    }

    pub(super) fn blocks(&self) -> &[BlockLocation] {
        &self.blocks
    }

    /// The records of a block, checksum verified.
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

    /// From block `first` on a thread decodes ahead what is not kept, if the file can be opened again.
    pub(super) fn begin_ahead(&mut self, first: usize) {
        let first = first.max(self.kept.len());
        let input = self.reopen.as_ref().and_then(|reopen| reopen());
        self.ahead = input.and_then(|input| Ahead::begin(input, Arc::clone(&self.blocks), first));
    }

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
