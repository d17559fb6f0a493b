//! `Subject`: the traces that a viewer shows, and the program that reads them.

use std::path::PathBuf;

/// The traces that a viewer shows, and the program that reads them.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The executable `gapii-ctl`.
    pub tool: PathBuf,
    /// The trace, as an absolute path.
    pub trace: PathBuf,
    /// A second trace, which is compared with the first; an absolute path.
    pub other: Option<PathBuf>,
    /// Number of the command below which the trace is played from its beginning for each picture; behind it, a part of the
    /// trace is cut out first.
    pub whole_below: u64,
}
