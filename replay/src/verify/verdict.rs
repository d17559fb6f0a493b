//! Verdicts of comparisons.

use gapii_trace::Command;

use super::why::Why;

/// Verdict of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Equal,
    Different,
    /// Different if the driver is that of the recording.
    Drivers,
    /// The driver wrote nothing.
    Unwritten,
    Tolerated(Why),
}

/// Process and context whose errors a command sets.
pub(super) fn key_of(command: &Command<'_>) -> (u32, u64) {
    (command.process, command.context)
}
