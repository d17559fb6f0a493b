//! Why a recording is refused, in sentences for people. A file that ends within a call is no reason.

use std::io;

/// The versions that are read: version 4 is the first one with threads.
pub const VERSIONS: std::ops::RangeInclusive<u64> = 4..=6;

/// Why a `.trace` is not read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file ends within a call.
    #[error("the file ends within a call")]
    Cut,
    /// The file ends within its head.
    #[error("it has no call: the recorded program ended before apitrace wrote one")]
    Empty,
    /// The file does not begin with the letters.
    #[error("it does not begin as apitrace's recordings do")]
    NotATrace,
    /// The file has another version.
    #[error(
        "it has version {0} of apitrace's format; versions {from} to {to} are read",
        from = VERSIONS.start(),
        to = VERSIONS.end()
    )]
    Version(u64),
    /// The contents break the format.
    #[error("{why}, at byte {at} of the file")]
    Damaged {
        /// Position in the file: about where the damage is.
        at: u64,
        /// What was found.
        why: String,
    },
}
