//! A trace file named on the command line: opened, and its end judged.
//!
//! What a trace means is `gapii_protocol`'s; here are only the sentences about it.

use std::fs::File;
use std::io;
use std::path::Path;

use gapii_protocol::trace::reader::OpenError;
use gapii_protocol::trace::{Tail, TraceReader};

use crate::failure::Failure;

pub type Reader = TraceReader<File>;

/// Opens a trace; a file that is none is an answer, a file that can't be read is not.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::unreachable(format!("can't read {}: it is a folder", path.display())));
    }
    TraceReader::open(file).map_err(|error| match error {
        OpenError::Io(error) => unreadable(path, &error),
        error => Failure::no(format!("{}: {error}", path.display())),
    })
}

/// What is to be said of a trace that does not end as it was meant to.
pub fn judge_tail(path: &Path, tail: &Tail) -> Result<(), Failure> {
    let name = path.display();
    match tail {
        Tail::Complete => Ok(()),
        Tail::Truncated { at } => Err(Failure::no(format!(
            "{name} is cut: what begins at byte {at} is missing, what is before it is whole"
        ))),
        Tail::Damaged { at, why } => Err(Failure::no(format!(
            "{name} is damaged from byte {at} on, what is before it is whole: {why}"
        ))),
    }
}

pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    Failure::unreachable(match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {name}"),
        io::ErrorKind::PermissionDenied => format!("not allowed to read {name}"),
        io::ErrorKind::NotSeekable => format!("can't read {name}: a trace is read from a file"),
        _ => format!("can't read {name}: {error}"),
    })
}
