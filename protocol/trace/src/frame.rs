//! The frames a trace file is made of: ours are skippable frames with a tag, a checksum and a
//! version; data are standard zstd frames.
//!
//! ```text
//!   0  u32  0x184D2A50 header, 0x184D2A51 index, 0x184D2A52 footer
//!   4  u32  bytes that follow
//!   8  [8]  "GAPIIHDR", "GAPIIIDX", "GAPIIFTR"
//!  16  u32  CRC-32 (IEEE) of the body
//!  20  u32  format version a reader must know
//!  24       body
//!           the footer only: u64 offset of the index frame, u64 offset of this frame, "GAPIIEND"
//! ```
//!
//! Knows nothing of what a body says.

use std::ops::RangeInclusive;

/// Format versions this code reads.
pub const FORMAT_VERSIONS: RangeInclusive<u32> = 2..=4;
/// Format version of traces without times, whose readers need know no other.
pub const UNTIMED_VERSION: u32 = 2;
/// Format version of traces in which records may have the driver's time.
pub const TIMED_VERSION: u32 = 3;
/// Format version of traces that were kept: they may begin at a keyframe, and have more of them.
pub const KEPT_VERSION: u32 = 4;
/// First word of a zstd data frame.
pub const DATA_MAGIC: u32 = 0xFD2F_B528;
/// First words of skippable frames, ours and others'.
pub const SKIPPABLE_MAGICS: RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// Bytes of a skippable frame before its content.
pub const SKIPPABLE_HEADER_BYTES: usize = 8;
/// Bytes of our frames before the body.
pub const FRAME_HEADER_BYTES: usize = 24;
/// Bytes of the footer frame after the body.
pub const TRAILER_BYTES: usize = 24;
/// Last eight bytes of a finished trace file.
pub const END_TAG: [u8; 8] = *b"GAPIIEND";
/// What the trailer says when the file has no index.
pub const NO_INDEX: u64 = u64::MAX;

/// The three frames of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    Header,
    Index,
    Footer,
}

/// Why a frame of ours is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    #[error("not a {0} frame")]
    NotOne(&'static str),
    #[error("{kind} frame of {len} bytes is too short")]
    Short { kind: &'static str, len: usize },
    #[error("{kind} frame says {declared} bytes where {len} are")]
    Length { kind: &'static str, declared: u64, len: usize },
    #[error("{kind} body has checksum {found:#010x}, its frame says {expected:#010x}")]
    Checksum { kind: &'static str, expected: u32, found: u32 },
    #[error("{kind} needs format version {needed}, this reader knows {min} to {max}")]
    Version { kind: &'static str, needed: u32, min: u32, max: u32 },
}

/// Where the trailer of a finished file says things are, in bytes from the file's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trailer {
    /// [`NO_INDEX`] where there is none.
    pub index_offset: u64,
    pub footer_offset: u64,
}

impl FrameKind {
    /// First word of the frame.
    pub const fn magic(self) -> u32 {
        match self {
            Self::Header => 0x184D_2A50,
            Self::Index => 0x184D_2A51,
            Self::Footer => 0x184D_2A52,
        }
    }

    /// First eight bytes of the frame's content.
    pub const fn tag(self) -> [u8; 8] {
        match self {
            Self::Header => *b"GAPIIHDR",
            Self::Index => *b"GAPIIIDX",
            Self::Footer => *b"GAPIIFTR",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Index => "index",
            Self::Footer => "footer",
        }
    }
}

impl Trailer {
    pub fn to_bytes(self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..8].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.footer_offset.to_le_bytes());
        bytes[16..].copy_from_slice(&END_TAG);
        bytes
    }

    /// `None` unless the bytes end in [`END_TAG`].
    pub fn from_bytes(bytes: &[u8; TRAILER_BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        (bytes[16..] == END_TAG).then(|| Self { index_offset: word(0), footer_offset: word(8) })
    }
}

/// A whole frame of ours around `body`, with `trailer` after it; `version` is what readers must know.
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

/// The body of the frame that fills `bytes`, once length, tag, version and checksum agree.
pub(crate) fn decode_frame(kind: FrameKind, bytes: &[u8]) -> Result<&[u8], FrameError> {
    decode_versioned(kind, bytes).map(|(body, _)| body)
}

/// The same, and the version that readers must know.
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
