//! Prints to standard output, for people and for programs.
//!
//! A closed reader (`| head`) ends the command without a message; a full disk is reported.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use indicatif::HumanCount;
use serde::Serialize;

use crate::failure::Failure;

/// Prints what `write` writes, through a buffer.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::unreachable(format!("can't write to standard output: {error}")),
    })
}

/// Prints a message to standard error; a failure to print is ignored.
pub fn say(words: &impl Display) {
    let _ = writeln!(io::stderr(), "gapii-ctl: {words}");
}

/// Prints one JSON value and a newline.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}

/// Formats a count with its noun, such as `1 frame` or `2 frames`.
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", HumanCount(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_reader_has_status_0_and_a_full_disk_3() {
        let broken = |kind: io::ErrorKind| move |_: &mut dyn Write| Err(io::Error::from(kind));
        let status = |kind| print(broken(kind)).map_err(|failure| failure.status());
        assert_eq!(status(io::ErrorKind::BrokenPipe), Err(0));
        assert_eq!(status(io::ErrorKind::StorageFull), Err(3));
    }

    #[test]
    fn counts_have_a_plural_and_separators() {
        assert_eq!(counted(1, "frame"), "1 frame");
        assert_eq!(counted(0, "frame"), "0 frames");
        assert_eq!(counted(12_345, "frame"), "12,345 frames");
    }
}
