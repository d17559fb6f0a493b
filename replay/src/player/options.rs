//! What is to be played, and why it can't be.

use std::io;
use std::ops::Range;

use crate::images::Images;
use crate::limits::Limits;
use crate::verify::Verifier;

/// What is to be played, and how.
#[derive(Default)]
pub struct Options {
    /// Frames of each process that are shown; playing begins with the first command in any case, and
    /// each process ends behind them.
    pub frames: Option<Range<u64>>,
    /// Play up to this command.
    pub stop_after: Option<u64>,
    /// Surfaces are real windows.
    pub window: bool,
    pub limits: Limits,
    pub images: Images,
    pub verify: Verifier,
}

/// Why a trace can't be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{name} of the trace has other parameters than this build knows: {why}")]
    Signature { name: String, why: String },
    #[error("{0}")]
    Library(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Images(String),
    #[error("can't reserve memory to play in: {0}")]
    Memory(io::Error),
}
