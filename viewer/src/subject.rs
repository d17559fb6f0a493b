//! `Subject`: the traces that a viewer shows.

use std::path::PathBuf;

/// Commands that a driver plays in about a second.
const SHORT: u64 = 200_000;

/// The traces that a viewer shows.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The trace, as an absolute path.
    pub trace: PathBuf,
    /// A second trace, which is compared with the first; an absolute path.
    pub other: Option<PathBuf>,
    /// Number of the command below which the trace is played from its beginning for each picture; behind it, a part of the
    /// trace is cut out first.
    pub whole_below: u64,
}

impl Subject {
    /// One trace.
    pub fn of(trace: PathBuf) -> Self {
        Self { trace, other: None, whole_below: SHORT }
    }
}
