//! The header of a trace file: who wrote it, and the description of every command in it.
//!
//! The body is one zstd frame of MessagePack. Says nothing about how the capture went; that is the
//! footer's.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::block::{BlockDecoder, DecodeError, EncodeError, encode_block};
use super::description::Description;
use super::frame::{FrameError, FrameKind, UNTIMED_VERSION, decode_versioned, encode_frame};
use super::story::Begin;
use crate::filter::Filter;

/// Longest header frame a reader takes, in bytes.
pub const HEADER_FRAME_BYTES_MAX: usize = 16 << 20;
/// Longest header body a reader takes, decompressed, in bytes.
pub const HEADER_BODY_BYTES_MAX: usize = 16 << 20;
/// Programs wait for a capture to begin: a header is to take little time, and may take some kilobytes.
const HEADER_LEVEL: i32 = 3;

/// First frame of a trace file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceHeader {
    /// Format version of the writer; at least the one a reader must know.
    pub version: u32,
    /// Program and version, for people.
    #[serde(default)]
    pub writer: String,
    /// The daemon's session, as 32 hexadecimal digits.
    #[serde(default)]
    pub session: String,
    /// When the capture began, in nanoseconds of Unix time.
    #[serde(default)]
    pub started_unix_ns: u64,
    /// The same moment on `CLOCK_MONOTONIC`, in nanoseconds.
    #[serde(default)]
    pub started_ns: u64,
    /// The capture's number in the session; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub capture: u64,
    /// Of a trace that was kept: where in its capture it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptFrom>,
    /// What of the programs' commands is in the trace, where that is not all.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    pub description: Cow<'static, Description>,
}

/// Where in its capture a trace begins that was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptFrom {
    /// Number of the first block.
    pub block: u64,
    /// Commands that took effect before it.
    pub seq: u64,
    /// The first block begins with a keyframe, and not with the capture.
    pub is_keyframe: bool,
}

/// Why a header is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HeaderError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("header body: {0}")]
    Body(#[from] DecodeError),
    #[error("header body: {0}")]
    MessagePack(String),
    #[error("header body of format version {stated} is in a frame that needs {needed}")]
    Version { stated: u32, needed: u32 },
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TraceHeader {
    /// A header of an untimed trace, with the descriptions this build knows.
    pub fn new(writer: &str, session: [u8; 16], started_unix_ns: u64, started_ns: u64) -> Self {
        Self {
            version: UNTIMED_VERSION,
            writer: writer.to_owned(),
            session: session.iter().map(|byte| format!("{byte:02x}")).collect(),
            started_unix_ns,
            started_ns,
            capture: 0,
            kept: None,
            filter: Filter::default(),
            description: Cow::Borrowed(Description::built_in()),
        }
    }

    /// Where in its capture the trace begins, for who reads it from its first block.
    pub fn begin(&self) -> Begin {
        match self.kept {
            Some(KeptFrom { is_keyframe: true, .. }) => Begin::Keyframe,
            Some(_) => Begin::Kept,
            None => Begin::Capture,
        }
    }

    /// The whole frame, for readers that know the header's version.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let body = rmp_serde::to_vec_named(self).expect("a header has no unserializable value");
        Ok(encode_frame(FrameKind::Header, self.version, &encode_block(&body, HEADER_LEVEL)?, None))
    }

    /// The header whose frame fills `frame`. Fields it does not know are passed over.
    pub fn decode(frame: &[u8]) -> Result<Self, HeaderError> {
        let (body, needed) = decode_versioned(FrameKind::Header, frame)?;
        let mut raw = Vec::new();
        BlockDecoder::new(HEADER_BODY_BYTES_MAX).decode_into(body, &mut raw)?;
        let header: Self = rmp_serde::from_slice(&raw)
            .map_err(|error| HeaderError::MessagePack(error.to_string()))?;
        let stated = header.version;
        if stated < needed { Err(HeaderError::Version { stated, needed }) } else { Ok(header) }
    }
}
