//! Blocks: about 1 MiB of records or 200 ms of them, each one zstd frame with its content size and
//! a checksum of the content.
//!
//! Decides neither when a block ends nor what is in it.

use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// Where a writer ends a block, in bytes of records; the record that crosses it still belongs to it.
pub const BLOCK_TARGET_BYTES: usize = 1 << 20;
/// Longest block a reader takes, in bytes of records.
pub const BLOCK_BYTES_MAX: usize = 8 << 20;
/// zstd level for writers that do not say.
pub const DEFAULT_LEVEL: i32 = 1;

/// Compresses blocks; keeps its working memory between them.
pub struct BlockEncoder {
    compressor: Compressor<'static>,
}

/// Where a block is in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockLocation {
    /// Bytes from the file's start to the block's frame.
    pub offset: u64,
    /// Bytes of the frame.
    pub compressed_len: u32,
    /// Bytes of records.
    pub raw_len: u32,
}

/// Why a block could not be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("block of {len} bytes exceeds the {BLOCK_BYTES_MAX} a reader takes")]
    TooLong { len: usize },
    #[error("zstd: {0}")]
    Zstd(String),
}

/// Why the bytes of a block are refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("block frame does not say how long its content is")]
    NoContentSize,
    #[error("block frame has no checksum")]
    NoChecksum,
    #[error("block of {len} bytes exceeds the limit of {limit}")]
    TooLong { len: u64, limit: usize },
    #[error("block frame is {found} bytes where {expected} are expected")]
    FrameLength { expected: usize, found: usize },
    #[error("block has {found} bytes, its frame says {expected}")]
    ContentSize { expected: u64, found: usize },
    #[error("zstd: {0}")]
    Zstd(String),
}

/// Decompresses blocks; keeps its working memory between them.
pub struct BlockDecoder {
    decompressor: Decompressor<'static>,
    limit: usize,
}

impl BlockEncoder {
    /// An encoder at a zstd `level` (negative is faster, 3 is zstd's own default).
    pub fn new(level: i32) -> Result<Self, EncodeError> {
        let mut compressor = Compressor::new(level).map_err(encode_error)?;
        compressor.include_contentsize(true).map_err(encode_error)?;
        compressor.include_checksum(true).map_err(encode_error)?;
        Ok(Self { compressor })
    }

    /// Appends the frame for the records in `raw` to `out`; returns the frame's length in bytes.
    pub fn encode_into(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<usize, EncodeError> {
        if raw.len() > BLOCK_BYTES_MAX {
            return Err(EncodeError::TooLong { len: raw.len() });
        }
        let start = out.len();
        out.resize(start + zstd_safe::compress_bound(raw.len()), 0);
        let written =
            self.compressor.compress_to_buffer(raw, &mut out[start..]).map_err(encode_error);
        out.truncate(start + written.as_ref().map_or(0, |len| *len));
        written
    }

    /// The frame for the records in `raw`.
    pub fn encode(&mut self, raw: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        self.encode_into(raw, &mut out)?;
        Ok(out)
    }
}

/// The frame for the records in `raw`, at a zstd `level`. Writers of many use a [`BlockEncoder`].
pub fn encode_block(raw: &[u8], level: i32) -> Result<Vec<u8>, EncodeError> {
    BlockEncoder::new(level)?.encode(raw)
}

impl BlockDecoder {
    /// A decoder that takes blocks of up to `limit` bytes of records.
    pub fn new(limit: usize) -> Self {
        Self { decompressor: Decompressor::default(), limit }
    }

    /// Replaces `raw` with the content of the one frame that fills `frame`, checksum verified.
    /// Allocates the content's declared size, which must be within the limit.
    pub fn decode_into(&mut self, frame: &[u8], raw: &mut Vec<u8>) -> Result<(), DecodeError> {
        raw.clear();
        let expected = declared_content_size(frame, self.limit)?;
        let found = zstd_safe::find_frame_compressed_size(frame)
            .map_err(|code| DecodeError::Zstd(zstd_safe::get_error_name(code).to_owned()))?;
        if found != frame.len() {
            return Err(DecodeError::FrameLength { expected: frame.len(), found });
        }
        raw.reserve(expected);
        let found = match self.decompressor.decompress_to_buffer(frame, raw) {
            Ok(found) => found,
            Err(error) => {
                raw.clear();
                return Err(DecodeError::Zstd(error.to_string()));
            }
        };
        if found != expected {
            raw.clear();
            return Err(DecodeError::ContentSize { expected: expected as u64, found });
        }
        Ok(())
    }
}

/// Content size that the header of a data frame declares, within `limit`.
fn declared_content_size(frame: &[u8], limit: usize) -> Result<usize, DecodeError> {
    /// Bit of the frame header descriptor (RFC 8878, 3.1.1.1.1) that promises a checksum.
    const CHECKSUM_FLAG: u8 = 1 << 2;
    let Some(descriptor) = frame.get(4) else { return Err(DecodeError::NoContentSize) };
    if !frame.starts_with(&super::frame::DATA_MAGIC.to_le_bytes()) {
        return Err(DecodeError::Zstd("not a data frame".to_owned()));
    }
    if descriptor & CHECKSUM_FLAG == 0 {
        return Err(DecodeError::NoChecksum);
    }
    let Ok(Some(declared)) = zstd_safe::get_frame_content_size(frame) else {
        return Err(DecodeError::NoContentSize);
    };
    match usize::try_from(declared) {
        Ok(len) if len <= limit => Ok(len),
        _ => Err(DecodeError::TooLong { len: declared, limit }),
    }
}

fn encode_error(error: io::Error) -> EncodeError {
    EncodeError::Zstd(error.to_string())
}
