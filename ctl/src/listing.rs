//! Lists commands, a line for each. Several threads format the lines, and compare them with the text that is searched; the
//! caller's thread reads the commands and writes the lines in their order.

use std::fs::File;
use std::io::{self, Write};

use gapii_trace::parallel::{self, Choice, Work};
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Commands};

/// Appends the line of a command.
pub type Format<'a> = &'a (dyn Fn(&Command<'_>, &mut Vec<u8>) -> io::Result<()> + Sync);

/// The text that commands are chosen by, and the most lines that are written.
pub struct Matching<'a> {
    /// Appends the line for people.
    line: Format<'a>,
    /// In lower case.
    text: String,
    lines_max: usize,
}

impl<'a> Matching<'a> {
    /// Takes commands whose line for people has `text`, in upper or lower case, and writes the first `lines_max` of them.
    pub fn new(text: &str, lines_max: usize, line: Format<'a>) -> Matching<'a> {
        Matching { line, text: text.to_ascii_lowercase(), lines_max }
    }

    fn fits(&self, command: &Command<'_>, scratch: &mut Vec<u8>) -> io::Result<bool> {
        scratch.clear();
        (self.line)(command, scratch)?;
        scratch.make_ascii_lowercase();
        Ok(String::from_utf8_lossy(scratch).contains(&self.text))
    }
}

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

/// Why no further command is read.
enum End {
    Stopped(Stopped),
    /// As many lines are written as were asked for.
    Enough,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Stopped(error.into())
    }
}

/// Writes the lines of the commands that `choose` takes and, with `matching`, that have its text. Before lines are written,
/// `progress` gets the number of commands that were read since it was called last, and whether there are lines. Returns the
/// number of lines.
pub fn write(
    commands: &mut Commands<'_, File>,
    format: Format<'_>,
    matching: Option<&Matching<'_>>,
    choose: impl FnMut(&Command<'_>, &Tracker) -> Choice,
    mut progress: impl FnMut(u64, bool),
    out: &mut dyn Write,
) -> Result<usize, Stopped> {
    let list = |work: Work<'_>| -> io::Result<(Vec<u8>, usize)> {
        let (mut lines, mut count, mut scratch) = (Vec::new(), 0, Vec::new());
        for command in work.commands() {
            if matching.is_none_or(|it| it.fits(&command, &mut scratch).unwrap_or(true)) {
                format(&command, &mut lines)?;
                count += 1;
            }
        }
        Ok((lines, count))
    };
    let lines_max = matching.map_or(usize::MAX, |matching| matching.lines_max);
    let mut written = 0;
    let write = |found: io::Result<(Vec<u8>, usize)>, read| {
        let unwritten = |error| End::Stopped(Stopped::Writing(error));
        let (mut lines, count) = found.map_err(unwritten)?;
        progress(read, !lines.is_empty());
        let room = lines_max - written;
        if count > room {
            lines.truncate(end_of_line(&lines, room));
        }
        written += count.min(room);
        out.write_all(&lines).map_err(unwritten)?;
        if written == lines_max { Err(End::Enough) } else { Ok(()) }
    };
    match commands.in_parallel(vec![list; parallel::cores()], choose, write) {
        Ok(()) | Err(End::Enough) => Ok(written),
        Err(End::Stopped(stopped)) => Err(stopped),
    }
}

/// Returns the number of bytes of the first `count` lines.
fn end_of_line(lines: &[u8], count: usize) -> usize {
    lines.split_inclusive(|byte| *byte == b'\n').take(count).map(<[u8]>::len).sum()
}
