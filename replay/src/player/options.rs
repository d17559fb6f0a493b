//! Options of a replay, and errors that prevent it: an unreadable trace, a function with other parameters, a missing
//! library or driver feature, a picture that can't be written, memory that can't be reserved.

use std::collections::HashSet;
use std::io;
use std::ops::Range;

use crate::benchmark::Benchmark;
use crate::images::{Checksums, Images};
use crate::limits::Limits;
use crate::memory::Unknown;
use crate::names::Kind;
use crate::verify::Verifier;

/// Options of a replay.
#[derive(Default)]
pub struct Options {
    /// Frames of each process to show. Playing always begins with the first command; each process
    /// ends after its last wanted frame.
    pub frames: Option<Range<u64>>,
    /// `seq` of the last command to play.
    pub stop_after: Option<u64>,
    /// How often the last frame of those that are played is played again.
    pub repeats: u64,
    /// Where the replay is held once, for [`Events::held`](crate::Events::held).
    pub hold: Option<Hold>,
    /// Whether windows of the trace become windows.
    pub window: bool,
    /// Limits on memory, threads and so on.
    pub limits: Limits,
    /// Pictures to take.
    pub images: Images,
    /// Checksums to compute of frames.
    pub checksums: Checksums,
    /// Whether to measure how long frames take.
    pub benchmark: Benchmark,
    /// Whether to compare the driver's answers.
    pub verify: Verifier,
    /// What the driver finds at addresses whose memory the trace does not have.
    pub unknown: Unknown,
    /// What the trace lacks, for a recorder of this replay: a sentence each.
    pub lacks: Vec<String>,
}

/// Where a replay is held.
#[derive(Clone, Debug)]
pub struct Hold {
    /// `seq` of the first command before which the replay may be held.
    pub before: u64,
    /// Whether a snapshot can be made where the replay is held: no thread is between glBegin and glEnd or compiles a display
    /// list, and no snapshot of the trace is half played. The replay is held at the first such command.
    pub is_for_snapshot: bool,
    /// Recorded names that later commands have. If it is `Some`, textures, buffers and renderbuffers with other names are
    /// deleted there, unless the state leads to them.
    pub used: Option<HashSet<(Kind, u64)>>,
}

/// Error that prevents a replay or ends it.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A function has other parameters than this build knows.
    #[error("{name} of the trace has other parameters than this build knows: {why}")]
    Signature { name: String, why: String },
    /// The system lacks a library.
    #[error("{0}")]
    Library(String),
    /// The driver lacks something that the trace needs.
    #[error("{0}")]
    Missing(String),
    /// A picture can't be written.
    #[error("{0}")]
    Images(String),
    /// Addresses for the player's memory can't be reserved.
    #[error("can't reserve memory to play in: {0}")]
    Memory(io::Error),
}
