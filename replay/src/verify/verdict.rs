//! What a comparison came to.

use gapii_trace::Command;

use super::why::Why;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Equal,
    Different,
    /// Different if the driver is the one of the recording.
    Drivers,
    /// The driver wrote nothing.
    Unwritten,
    Tolerated(Why),
}

/// Whose errors a command makes: the process, and its context.
pub(super) fn key_of(command: &Command<'_>) -> (u32, u64) {
    (command.process, command.context)
}
