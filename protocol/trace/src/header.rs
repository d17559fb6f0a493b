//! The header of a trace file: its writer, and up to format version 13 the description of every command in it. Later
//! versions describe commands in front of the blocks that use them (description_frame.rs). At most 16 MiB, compressed and
//! decompressed; unknown fields are ignored. A body that states an older version than its frame is refused. How the
//! capture went is in the footer.
//!
//! The body is one zstd frame of MessagePack.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::block::{BlockDecoder, DecodeError, EncodeError, encode_block};
use super::description::Description;
use super::description_frame::{DescriptionWriter, is_name};
use super::frame::{
    FrameError, FrameKind, UNTIMED_VERSION, decode_versioned, encode_frame, has_description_frames,
};
use super::moment::Moment;
use super::story::Begin;
use crate::filter::Filter;
use crate::known_tables::{self, Read, Written};
use crate::untrusted::Untrusted;

/// Longest header frame that a reader accepts, in bytes.
pub const HEADER_FRAME_BYTES_MAX: usize = 16 << 20;
/// Longest decompressed header body that a reader accepts, in bytes.
pub const HEADER_BODY_BYTES_MAX: usize = 16 << 20;
/// The zstd level of headers: a low one, because programs wait for the capture to begin, and some kilobytes
/// more do no harm.
const HEADER_LEVEL: i32 = 3;

/// The body of the header, the first frame of a trace file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceHeader {
    /// Format version of the writer. At least the version in the frame, which a reader must know.
    pub version: u32,
    /// Name and version of the program that wrote the trace, for people.
    #[serde(default)]
    pub writer: Untrusted,
    /// Name of the machine on which the trace was recorded; empty if unknown.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub host: Untrusted,
    /// The daemon's session, as 32 hexadecimal digits.
    #[serde(default)]
    pub session: String,
    /// When the capture began, in nanoseconds of Unix time.
    #[serde(default)]
    pub started_unix_ns: u64,
    /// The same moment in nanoseconds of `CLOCK_MONOTONIC`.
    #[serde(default)]
    pub started_ns: u64,
    /// The same moment in nanoseconds of `CLOCK_BOOTTIME`; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub started_boot_ns: u64,
    /// Number of the capture in the session; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub capture: u64,
    /// For a saved trace: where in its capture the trace begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptFrom>,
    /// Filter that selected the trace's commands; empty if the trace has all.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    /// True if texts and memory of the trace are noise (`gapii-ctl anonymise`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymised: bool,
    /// The functions, enums and C structs that the records refer to. The last field, because a reader of the build that
    /// wrote it stops before it. This build's description is not written from format version 14 on: [`DescriptionWriter`] writes the
    /// parts of it that a trace needs. A reader adds them.
    #[serde(default = "no_description", skip_serializing_if = "is_own")]
    pub description: Cow<'static, Description>,
}

/// Where in its capture a saved trace begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptFrom {
    /// Number of the first block.
    pub block: u64,
    /// Commands that took effect before it.
    pub seq: u64,
    /// True if the first block begins at a keyframe; false if it begins with the capture.
    pub is_keyframe: bool,
}

/// Why a header is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HeaderError {
    /// The frame around it is invalid.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The body can't be decompressed.
    #[error("header body: {0}")]
    Body(#[from] DecodeError),
    /// The body is not valid MessagePack of a header.
    #[error("header body: {0}")]
    MessagePack(String),
    /// The body has no description, and the format version has no other place for it.
    #[error("header body has no description")]
    Undescribed,
    /// A name in the description is not printable ASCII.
    #[error("header body: {0:?} is no name of an API")]
    Name(Untrusted),
    /// The body states an older version than the frame needs.
    #[error("header body of format version {stated} is in a frame that needs {needed}")]
    Version {
        /// Version in the body.
        stated: u32,
        /// Version in the frame.
        needed: u32,
    },
}

/// This build's description, which a header that states this build's tables has.
fn own_description() -> Cow<'static, Description> {
    Cow::Borrowed(Description::built_in())
}

fn no_description() -> Cow<'static, Description> {
    Cow::Owned(Description::default())
}

fn is_own(description: &Description) -> bool {
    std::ptr::eq(description, Description::built_in())
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TraceHeader {
    /// Makes the header of an untimed trace, with the descriptions of this build.
    pub fn new(writer: &str, session: [u8; 16], started_unix_ns: u64, started_ns: u64) -> Self {
        Self {
            version: UNTIMED_VERSION,
            writer: writer.into(),
            host: Untrusted::default(),
            session: session.iter().map(|byte| format!("{byte:02x}")).collect(),
            started_unix_ns,
            started_ns,
            started_boot_ns: 0,
            capture: 0,
            kept: None,
            filter: Filter::default(),
            anonymised: false,
            description: own_description(),
        }
    }

    /// Returns when the capture began.
    pub fn began(&self) -> Moment {
        Moment {
            monotonic_ns: self.started_ns,
            unix_ns: self.started_unix_ns,
            boot_ns: self.started_boot_ns,
        }
    }

    /// Returns where in its capture the trace's first block begins.
    pub fn begin(&self) -> Begin {
        match self.kept {
            Some(KeptFrom { is_keyframe: true, .. }) => Begin::Keyframe,
            Some(_) => Begin::Kept,
            None => Begin::Capture,
        }
    }

    /// Whether the description is this build's.
    pub(super) fn is_own(&self) -> bool {
        is_own(&self.description)
    }

    /// Returns what must describe the functions of the trace's blocks. `None` if the header describes them all.
    pub fn description_writer(&self) -> Option<DescriptionWriter> {
        (self.is_own() && has_description_frames(self.version)).then(DescriptionWriter::default)
    }

    /// Returns the whole frame.
    ///
    /// # Errors
    /// [`EncodeError`] if the body can't be compressed.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let tables = self.is_own().then(known_tables::digest);
        let whole = (self.is_own() && !has_description_frames(self.version)).then(|| Self {
            description: Cow::Owned(Description::built_in().clone()),
            ..self.clone()
        });
        let written = Written { tables, header: whole.as_ref().unwrap_or(self) };
        let body = rmp_serde::to_vec_named(&written).expect("a header has no unserializable value");
        Ok(encode_frame(FrameKind::Header, self.version, &encode_block(&body, HEADER_LEVEL)?, None))
    }

    /// Returns the header whose frame fills `frame`. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn decode(frame: &[u8]) -> Result<Self, HeaderError> {
        let (body, needed) = decode_versioned(FrameKind::Header, frame)?;
        let mut raw = Vec::new();
        BlockDecoder::new(HEADER_BODY_BYTES_MAX).decompress_into(body, &mut raw)?;
        let Read { mut header, are_known, is_described } =
            rmp_serde::from_slice::<Read<Self>>(&raw)
                .map_err(|error| HeaderError::MessagePack(error.to_string()))?;
        let stated = header.version;
        if stated < needed {
            return Err(HeaderError::Version { stated, needed });
        }
        if !is_described && !has_description_frames(needed) {
            return Err(HeaderError::Undescribed);
        }
        if are_known {
            header.description = own_description();
            return Ok(header);
        }
        let strange = header.description.names().find(|name| !is_name(name));
        match strange.map(Untrusted::from) {
            Some(name) => Err(HeaderError::Name(name)),
            None => Ok(header),
        }
    }
}
