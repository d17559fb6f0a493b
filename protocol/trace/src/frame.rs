//! The zstd frames of a trace file: header, descriptions, index and footer are skippable frames with a tag, a checksum and a
//! version; blocks are data frames. This build writes the versions 14 for captures, 15 with `--timing`, 16 for saved traces
//! and 17 for saved traces with `--timing`. It reads the versions 2 to 17 (`FORMAT_VERSIONS`): 10 to 13 are 14 to 17 with the
//! whole description in the header, 5, 8, 7 and 9 are 10 to 13 without packed blocks, 2 to 4 are 5 to 7 without numbers of
//! blobs, and 6 is 8 without the begin of commands. A frame of another version, length, tag or checksum is refused.
//!
//! ```text
//!   0  u32  0x184D2A50 header, 0x184D2A51 index, 0x184D2A52 footer, 0x184D2A53 description
//!   4  u32  bytes that follow
//!   8  [8]  "GAPIIHDR", "GAPIIIDX", "GAPIIFTR", "GAPIICMD"
//!  16  u32  CRC-32 (IEEE) of the body
//!  20  u32  format version that a reader must know
//!  24       body
//!           the footer only: u64 offset of the index frame, u64 offset of this frame, "GAPIIEND"
//! ```
//!
//! Does not look into bodies.

use std::ops::RangeInclusive;

/// Format versions that this build reads.
pub const FORMAT_VERSIONS: RangeInclusive<u32> = 2..=17;
/// Format version of traces without times.
pub const UNTIMED_VERSION: u32 = 14;
/// Format version of traces whose leave records may have the driver's time and its begin.
pub const TIMED_VERSION: u32 = 15;
/// Format version of saved traces: they may begin at a keyframe, and have further ones.
pub const KEPT_VERSION: u32 = 16;
/// Format version of saved traces whose leave records may have the driver's time and its begin.
pub const KEPT_TIMED_VERSION: u32 = 17;

/// Kind of traces that a format version stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variety {
    /// Leave records have no times.
    Untimed,
    /// Leave records may have the driver's time.
    Timed,
    /// Saved: may begin at a keyframe, have further ones, and have times.
    Kept,
}

impl Variety {
    /// Returns the kind that `version` stands for; versions that this build does not read count as untimed.
    pub fn of(version: u32) -> Self {
        match version {
            3 | 6 | 8 | 11 | TIMED_VERSION => Self::Timed,
            4 | 7 | 9 | 12 | 13 | KEPT_VERSION | KEPT_TIMED_VERSION => Self::Kept,
            _ => Self::Untimed,
        }
    }
}

/// Returns whether leave records of traces of this version may have the begin of their command.
pub fn has_begins(version: u32) -> bool {
    matches!(version, 8 | 9 | 11 | 13 | TIMED_VERSION | KEPT_TIMED_VERSION)
}

/// Returns whether traces of this version may have packed blocks, and have columns in their index.
pub fn has_packed_blocks(version: u32) -> bool {
    version >= 10
}

/// Returns whether traces of this version describe functions in front of the block that first uses them, so that the header
/// need not describe any.
pub fn has_description_frames(version: u32) -> bool {
    version >= UNTIMED_VERSION
}

/// First word of a zstd data frame.
pub const DATA_MAGIC: u32 = 0xFD2F_B528;
/// First words of skippable frames, of this format and of others (RFC 8878, 3.1.2).
pub const SKIPPABLE_MAGICS: RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// Length of the header of a skippable frame, in bytes.
pub const SKIPPABLE_HEADER_BYTES: usize = 8;
/// Bytes before the body of a frame that is not a block.
pub const FRAME_HEADER_BYTES: usize = 24;
/// Bytes after the body of the footer frame.
pub const TRAILER_BYTES: usize = 24;
/// Last eight bytes of a finished trace file.
pub const END_TAG: [u8; 8] = *b"GAPIIEND";
/// Offset in the trailer of a file without an index.
pub const NO_INDEX: u64 = u64::MAX;

/// The frames that are not blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// First frame of the file.
    Header,
    /// Table of blocks, frames and blobs.
    Index,
    /// Last frame of the file.
    Footer,
    /// Descriptions of functions, in front of the first block that uses them.
    Description,
}

/// Why a frame that is not a block is rejected. `kind` is its name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// The magic or the tag is not that of the expected frame.
    #[error("not a {0} frame")]
    NotOne(&'static str),
    /// The frame is shorter than its fixed parts.
    #[error("{kind} frame of {len} bytes is too short")]
    Short {
        /// Name of the frame.
        kind: &'static str,
        /// Its length, in bytes.
        len: usize,
    },
    /// The frame's length word is wrong.
    #[error("{kind} frame says {declared} bytes where {len} are")]
    Length {
        /// Name of the frame.
        kind: &'static str,
        /// Length by the length word, in bytes.
        declared: u64,
        /// Length of the frame, in bytes.
        len: usize,
    },
    /// The checksum of the body is wrong.
    #[error("{kind} body has checksum {found:#010x}, its frame says {expected:#010x}")]
    Checksum {
        /// Name of the frame.
        kind: &'static str,
        /// Checksum in the frame.
        expected: u32,
        /// Checksum of the body.
        found: u32,
    },
    /// The frame needs a format version that this build does not read.
    #[error("{kind} needs format version {needed}, this reader knows {min} to {max}")]
    Version {
        /// Name of the frame.
        kind: &'static str,
        /// Version that a reader must know.
        needed: u32,
        /// Oldest version that this build reads.
        min: u32,
        /// Newest version that this build reads.
        max: u32,
    },
}

/// The end of a finished file: where index and footer are, in bytes from the file's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trailer {
    /// Offset of the index frame; [`NO_INDEX`] if there is none.
    pub index_offset: u64,
    /// Offset of the footer frame.
    pub footer_offset: u64,
}

impl FrameKind {
    /// Returns the first word of the frame.
    pub const fn magic(self) -> u32 {
        match self {
            Self::Header => 0x184D_2A50,
            Self::Index => 0x184D_2A51,
            Self::Footer => 0x184D_2A52,
            Self::Description => 0x184D_2A53,
        }
    }

    /// Returns the first eight bytes of the frame's content.
    pub const fn tag(self) -> [u8; 8] {
        match self {
            Self::Header => *b"GAPIIHDR",
            Self::Index => *b"GAPIIIDX",
            Self::Footer => *b"GAPIIFTR",
            Self::Description => *b"GAPIICMD",
        }
    }

    /// Returns `header`, `index`, `footer` or `description`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Index => "index",
            Self::Footer => "footer",
            Self::Description => "description",
        }
    }
}

impl Trailer {
    /// Returns the trailer as it stands in the file.
    pub fn to_bytes(self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..8].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.footer_offset.to_le_bytes());
        bytes[16..].copy_from_slice(&END_TAG);
        bytes
    }

    /// Reads a trailer. Returns `None` unless the bytes end in [`END_TAG`].
    pub fn from_bytes(bytes: &[u8; TRAILER_BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        (bytes[16..] == END_TAG).then(|| Self { index_offset: word(0), footer_offset: word(8) })
    }
}

/// Returns a whole frame with this body and, of a footer, this trailer. `version` is the version that
/// readers must know.
pub(crate) fn encode_frame(
    kind: FrameKind,
    version: u32,
    body: &[u8],
    trailer: Option<Trailer>,
) -> Vec<u8> {
    let trailer_bytes = if trailer.is_some() { TRAILER_BYTES } else { 0 };
    let content = FRAME_HEADER_BYTES - SKIPPABLE_HEADER_BYTES + body.len() + trailer_bytes;
    let content_u32 = u32::try_from(content).expect("a frame body is far below 4 GiB");
    let mut out = Vec::with_capacity(SKIPPABLE_HEADER_BYTES + content);
    out.extend_from_slice(&kind.magic().to_le_bytes());
    out.extend_from_slice(&content_u32.to_le_bytes());
    out.extend_from_slice(&kind.tag());
    out.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(body);
    if let Some(trailer) = trailer {
        out.extend_from_slice(&trailer.to_bytes());
    }
    out
}

/// Returns the body of the frame that fills `bytes`, if length, tag, version and checksum are valid.
pub(crate) fn decode_frame(kind: FrameKind, bytes: &[u8]) -> Result<&[u8], FrameError> {
    decode_versioned(kind, bytes).map(|(body, _)| body)
}

/// Like [`decode_frame`]; also returns the version that readers must know.
pub(crate) fn decode_versioned(kind: FrameKind, bytes: &[u8]) -> Result<(&[u8], u32), FrameError> {
    let name = kind.name();
    let trailer = if kind == FrameKind::Footer { TRAILER_BYTES } else { 0 };
    if bytes.len() < FRAME_HEADER_BYTES + trailer {
        return Err(FrameError::Short { kind: name, len: bytes.len() });
    }
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    if word(0) != kind.magic() || bytes[8..16] != kind.tag() {
        return Err(FrameError::NotOne(name));
    }
    let declared = u64::from(word(4)) + SKIPPABLE_HEADER_BYTES as u64;
    if declared != bytes.len() as u64 {
        return Err(FrameError::Length { kind: name, declared, len: bytes.len() });
    }
    let (needed, min, max) = (word(20), *FORMAT_VERSIONS.start(), *FORMAT_VERSIONS.end());
    if !FORMAT_VERSIONS.contains(&needed) {
        return Err(FrameError::Version { kind: name, needed, min, max });
    }
    let body = &bytes[FRAME_HEADER_BYTES..bytes.len() - trailer];
    let (expected, found) = (word(16), crc32fast::hash(body));
    if expected != found {
        return Err(FrameError::Checksum { kind: name, expected, found });
    }
    Ok((body, needed))
}
