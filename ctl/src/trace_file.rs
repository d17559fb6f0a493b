//! Opens a trace file that the command line names, and reports how it ends. No trace, an empty file, a cut or damaged
//! one, and a frame or command that it lacks are status 1; a file that cannot be read, a folder or a pipe is status 3.
//!
//! The crate `gapii_trace` reads traces; this module only has the messages.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use gapii_trace::frame::{KEPT_VERSION, TIMED_VERSION};
use gapii_trace::reader::OpenError;
use gapii_trace::{Command, FileAt, Info, Tail, TraceReader};

use crate::failure::Failure;
use crate::text::counted;

pub type Reader = TraceReader<File>;

/// Bytes of records, before compression, in which drivers, surfaces and contexts are looked for.
const LOOKED_AT_BYTES: u64 = 32 << 20;

/// Opens a trace. A file that is not a trace is a negative answer (status 1); a file that can't be read is status 3.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata();
    if metadata.as_ref().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::unreachable(format!("can't read {}: it is a folder", path.display())));
    }
    if metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
        return Err(Failure::no(format!("{} is empty: not a trace", path.display())));
    }
    let again = FileAt::of(&file).ok();
    let mut reader = TraceReader::open(file).map_err(|error| match error {
        OpenError::Io(error) => unreadable(path, &error),
        error => Failure::no(format!("{}: {error}", path.display())),
    })?;
    if let Some(again) = again {
        reader.decode_ahead(Box::new(move || Some(Box::new(again.again().ok()?))));
    }
    Ok(reader)
}

/// Passes the commands of the first blocks to `look`, up to `LOOKED_AT_BYTES`.
///
/// # Errors
/// An error of the file.
pub fn look_at_beginning(
    reader: &mut Reader,
    mut look: impl FnMut(&Command<'_>),
) -> io::Result<()> {
    let mut bytes = 0;
    let near = reader.blocks().iter().take_while(|block| {
        bytes += u64::from(block.raw_len);
        bytes <= LOOKED_AT_BYTES
    });
    let end = near.count().max(1) as u64 + reader.header().kept.map_or(0, |kept| kept.block);
    let mut commands = reader.commands()?;
    while commands.advance()? {
        let block = commands.assembler().tracker().current_block();
        if block.is_some_and(|block| block.number >= end) {
            break;
        }
        look(&commands.command());
    }
    Ok(())
}

/// Fails if the trace is filtered and so lacks commands. `cannot` is the verb phrase of the message.
pub fn judge_filter(path: &Path, reader: &Reader, cannot: &str) -> Result<(), Failure> {
    let filter = &reader.header().filter;
    match filter.is_empty() {
        true => Ok(()),
        false => Err(Failure::no(format!(
            "{} {cannot}: it was recorded with a filter, and has only {filter}",
            path.display()
        ))),
    }
}

/// Fails if the trace does not have the driver's times.
pub fn judge_times(path: &Path, reader: &Reader) -> Result<(), Failure> {
    let is_timed = match (reader.header().version, reader.footer()) {
        (TIMED_VERSION, _) => true,
        (KEPT_VERSION, Some(footer)) => footer.options.timing,
        // A saved trace that is cut does not say it.
        (KEPT_VERSION, None) => true,
        _ => false,
    };
    if is_timed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has no driver times to sort by; record it again with --timing: `gapii-ctl run --timing -- CMD` or \
         `gapii-ctl start --timing`",
        path.display()
    )))
}

/// Checks that the trace has a requested frame and command, before it is replayed up to them.
pub fn judge_wish(
    path: &Path,
    reader: &mut Reader,
    frames: Option<&Range<u64>>,
    seq: Option<u64>,
) -> Result<(), Failure> {
    if frames.is_none() && seq.is_none() {
        return Ok(());
    }
    let info = Info::of(reader).map_err(|error| unreadable(path, &error))?;
    if let Some(seq) = seq.filter(|seq| *seq >= info.calls) {
        let name = path.display();
        return Err(Failure::no(match info.calls {
            0 => format!("{name} has no command"),
            calls => format!("{name} has no command {seq}; its last one is {}", calls - 1),
        }));
    }
    let count = frames_of_longest(&info);
    // Commands of a program that never swaps belong to frame 0.
    match frames.is_none_or(|frames| frames.start < count.max(1)) {
        true => Ok(()),
        false => Err(no_such_frame(path, count)),
    }
}

/// Returns the largest number of frames of any process.
pub fn frames_of_longest(info: &Info) -> u64 {
    info.processes.iter().map(|process| process.frames).max().unwrap_or(0)
}

pub fn no_such_frame(path: &Path, count: u64) -> Failure {
    let name = path.display();
    Failure::no(match count {
        0 => format!("{name} has no frame: no swap and no submit in it ended one"),
        _ => {
            let has = counted(count, "frame");
            format!("{name} has no such frame; it has {has}, the first is number 0")
        }
    })
}

/// Returns the failure for a trace that is cut or damaged.
pub fn judge_tail(path: &Path, tail: &Tail) -> Result<(), Failure> {
    let name = path.display();
    match tail {
        Tail::Complete => Ok(()),
        Tail::Truncated { at } => Err(Failure::no(format!(
            "{name} is cut at byte {at}; everything before it is complete"
        ))),
        Tail::Damaged { at, why } => Err(Failure::no(format!(
            "{name} is damaged from byte {at} on, and complete before it: {why}"
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
