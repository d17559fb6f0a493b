//! Blocks: about 1 MiB of records or 200 ms of them, each one zstd frame with its content size and a checksum of the
//! content, which is the records or, from format version 10 on, their packed form. A reader refuses a block without
//! them, above `BLOCK_BYTES_MAX`, 8 MiB, or of another length than it states; a writer refuses to encode one above 8 MiB.
//! Default level: 1.
//!
//! Compresses and decompresses; decides neither where a block ends nor what is in it.

use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

use super::frame::has_packed_blocks;
use super::packed::{Packer, UnpackError, is_packed, unpack};
use super::used::Used;

/// Bytes of records at which a writer ends a block. The record that crosses this limit still belongs to the
/// block.
pub const BLOCK_TARGET_BYTES: usize = 1 << 20;
/// Longest block that a reader accepts, in bytes of records.
pub const BLOCK_BYTES_MAX: usize = 8 << 20;
/// The zstd level of writers whose user chose none.
pub const DEFAULT_LEVEL: i32 = 1;

/// The zstd level at which a writer falls behind least. It still halves records, and leaves most memory as it is.
pub const FAST_LEVEL: i32 = -3;

/// Compresses blocks. Keeps its working memory from one block to the next.
pub struct BlockEncoder {
    compressor: Compressor<'static>,
    /// `None` for traces of a format version without packed blocks.
    packer: Option<Packer>,
}

/// Where a block is in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockLocation {
    /// Offset of the block's zstd frame from the file's start, in bytes.
    pub offset: u64,
    /// Length of the zstd frame, in bytes.
    pub compressed_len: u32,
    /// Length of the block's records, in bytes; of a file without an index, their packed length.
    pub raw_len: u32,
}

/// Why a block could not be compressed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    /// The block is longer than [`BLOCK_BYTES_MAX`].
    #[error("block of {len} bytes exceeds the {BLOCK_BYTES_MAX} a reader takes")]
    TooLong {
        /// Length of its records, in bytes.
        len: usize,
    },
    /// zstd failed, with this message.
    #[error("zstd: {0}")]
    Zstd(String),
}

/// Why the bytes of a block are rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The header of the zstd frame has no content size.
    #[error("block frame does not say how long its content is")]
    NoContentSize,
    /// The zstd frame has no checksum.
    #[error("block frame has no checksum")]
    NoChecksum,
    /// The content is longer than the decoder accepts.
    #[error("block of {len} bytes exceeds the limit of {limit}")]
    TooLong {
        /// Content size by the frame's header, in bytes.
        len: u64,
        /// The decoder's limit, in bytes.
        limit: usize,
    },
    /// The zstd frame does not fill the bytes.
    #[error("block frame is {found} bytes where {expected} are expected")]
    FrameLength {
        /// Bytes that it should fill.
        expected: usize,
        /// Bytes that it fills.
        found: usize,
    },
    /// The content has another size than the frame's header says.
    #[error("block has {found} bytes, its frame says {expected}")]
    ContentSize {
        /// Size by the header, in bytes.
        expected: u64,
        /// Size of the content, in bytes.
        found: usize,
    },
    /// The packed records are wrong.
    #[error(transparent)]
    Packed(#[from] UnpackError),
    /// zstd failed, with this message; for example because the checksum is wrong.
    #[error("zstd: {0}")]
    Zstd(String),
}

/// Decompresses blocks. Keeps its working memory from one block to the next.
pub struct BlockDecoder {
    decompressor: Decompressor<'static>,
    limit: usize,
    /// The last block's packed form.
    packed: Vec<u8>,
}

impl BlockEncoder {
    /// Makes an encoder with a zstd `level`, for traces of this build's format versions: negative levels are faster, and
    /// 3 is zstd's own default.
    ///
    /// # Errors
    /// [`EncodeError::Zstd`].
    pub fn new(level: i32) -> Result<Self, EncodeError> {
        Ok(Self { packer: Some(Packer::default()), ..Self::without_packing(level)? })
    }

    /// Makes an encoder for blocks of a trace of format version `version`.
    ///
    /// # Errors
    /// [`EncodeError::Zstd`].
    pub fn for_version(level: i32, version: u32) -> Result<Self, EncodeError> {
        if has_packed_blocks(version) { Self::new(level) } else { Self::without_packing(level) }
    }

    fn without_packing(level: i32) -> Result<Self, EncodeError> {
        let mut compressor = Compressor::new(level).map_err(encode_error)?;
        compressor.include_contentsize(true).map_err(encode_error)?;
        compressor.include_checksum(true).map_err(encode_error)?;
        Ok(Self { compressor, packer: None })
    }

    /// Sets the zstd level of the next blocks.
    ///
    /// # Errors
    /// [`EncodeError::Zstd`].
    pub fn set_level(&mut self, level: i32) -> Result<(), EncodeError> {
        self.compressor.set_compression_level(level).map_err(encode_error)
    }

    /// Appends the compressed block of the records `raw` to `out`. Returns the appended length in bytes.
    ///
    /// # Errors
    /// [`EncodeError`]; `out` is then as before.
    pub fn encode_into(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<usize, EncodeError> {
        if raw.len() > BLOCK_BYTES_MAX {
            return Err(EncodeError::TooLong { len: raw.len() });
        }
        let packed = self.packer.as_mut().and_then(|packer| packer.pack(raw));
        let content = packed.unwrap_or(raw);
        let start = out.len();
        out.resize(start + zstd_safe::compress_bound(content.len()), 0);
        let written =
            self.compressor.compress_to_buffer(content, &mut out[start..]).map_err(encode_error);
        out.truncate(start + written.as_ref().map_or(0, |len| *len));
        written
    }

    /// Returns what the records of the last block need of a description; nothing if blocks are not packed.
    pub fn used(&self) -> Used {
        self.packer.as_ref().map(Packer::used).unwrap_or_default()
    }

    /// Returns the compressed block of the records `raw`.
    ///
    /// # Errors
    /// [`EncodeError`].
    pub fn encode(&mut self, raw: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        self.encode_into(raw, &mut out)?;
        Ok(out)
    }
}

/// Returns the compressed block of the records `raw`, not packed, at a zstd `level`. A [`BlockEncoder`] is faster for
/// many blocks.
///
/// # Errors
/// [`EncodeError`].
pub fn encode_block(raw: &[u8], level: i32) -> Result<Vec<u8>, EncodeError> {
    BlockEncoder::without_packing(level)?.encode(raw)
}

impl BlockDecoder {
    /// Makes a decoder that accepts blocks of up to `limit` bytes of records.
    pub fn new(limit: usize) -> Self {
        Self { decompressor: Decompressor::default(), limit, packed: Vec::new() }
    }

    /// Replaces `raw` with the records of the block whose zstd frame fills `frame`, and verifies their
    /// checksum. Unpacks them if they are packed. Allocates the size that the frame's header declares, if it is within
    /// the limit.
    ///
    /// # Errors
    /// [`DecodeError`]; `raw` is then empty.
    pub fn decode_into(&mut self, frame: &[u8], raw: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.decompress_into(frame, raw)?;
        if is_packed(raw) {
            std::mem::swap(raw, &mut self.packed);
            raw.clear();
            unpack(&self.packed, self.limit, raw).inspect_err(|_| raw.clear())?;
        }
        Ok(())
    }

    /// Does the same without unpacking.
    ///
    /// # Errors
    /// [`DecodeError`]; `raw` is then empty.
    pub fn decompress_into(&mut self, frame: &[u8], raw: &mut Vec<u8>) -> Result<(), DecodeError> {
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

/// Returns the content size that the header of a zstd frame declares.
///
/// # Errors
/// [`DecodeError`] if there is no size or no checksum, or the size exceeds `limit`.
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
