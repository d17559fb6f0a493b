//! `MapError`: why shared memory was not mapped: a failed system call, no seal against shrinking, another length,
//! magic, version or size than was agreed.

use std::{fmt, io};

use crate::layout::SEGMENT_VERSION;

/// Why shared memory was not mapped.
#[derive(Debug)]
pub enum MapError {
    /// A system call failed.
    Io(io::Error),
    /// Not a memory file, or not sealed against shrinking.
    NotSealed,
    /// The file has another length than was agreed.
    Length {
        /// Length of the file in bytes.
        found: u64,
        /// Agreed length in bytes.
        expected: u64,
    },
    /// The first word is not [`SEGMENT_MAGIC`](crate::layout::SEGMENT_MAGIC).
    Magic(u64),
    /// The version is not [`SEGMENT_VERSION`].
    Version(u32),
    /// The header states other sizes than were agreed.
    Sizes {
        /// Number of slots that the header states.
        slot_count: u32,
        /// Bytes in a ring that the header states.
        ring_bytes: u64,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot map shared memory: {error}"),
            Self::NotSealed => write!(f, "shared memory is not sealed against shrinking"),
            Self::Length { found, expected } => {
                write!(f, "shared memory has {found} bytes where {expected} were agreed")
            }
            Self::Magic(found) => write!(f, "segment begins with {found:#018x}"),
            Self::Version(found) => {
                write!(f, "segment has version {found}, not {SEGMENT_VERSION}")
            }
            Self::Sizes { slot_count, ring_bytes } => {
                write!(
                    f,
                    "segment states {slot_count} slots of {ring_bytes} bytes, which were not agreed"
                )
            }
        }
    }
}

impl std::error::Error for MapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for MapError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
