//! Lists commands, a line for each. Several threads format the lines; the caller's thread reads the commands and writes the
//! lines in their order.

use std::fs::File;
use std::io::{self, Write};

use gapii_trace::parallel::{self, Choice, Work};
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Commands};

/// Appends the line of a command.
pub type Format = fn(&Command<'_>, &mut Vec<u8>) -> io::Result<()>;

/// What ended a list early.
pub enum Stopped {
    /// The trace can't be read. The lines of the commands before are written.
    Reading(io::Error),
    /// The lines can't be written.
    Writing(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Reading(error)
    }
}

/// Writes the lines of the commands that `choose` takes. Before lines are written, `progress` gets the number of commands
/// that were read since it was called last, and whether there are lines.
pub fn write(
    commands: &mut Commands<'_, File>,
    format: Format,
    choose: impl FnMut(&Command<'_>, &Tracker) -> Choice,
    mut progress: impl FnMut(u64, bool),
    out: &mut dyn Write,
) -> Result<(), Stopped> {
    let list = |work: Work<'_>| {
        let mut lines = Vec::new();
        work.commands().try_for_each(|command| format(&command, &mut lines)).map(|()| lines)
    };
    commands.in_parallel(vec![list; parallel::cores()], choose, |lines, read| {
        let lines = lines.map_err(Stopped::Writing)?;
        progress(read, !lines.is_empty());
        out.write_all(&lines).map_err(Stopped::Writing)
    })
}
