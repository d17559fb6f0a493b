//! Opens a trace file that the command line names, and reports how it ends. No trace, an empty file, a cut or damaged
//! one, and a frame or command that it lacks are status 1; a file that cannot be read, a folder or a pipe is status 3.
//!
//! The crate `gapii_trace` reads traces; this module only has the messages.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gapii_analysis::frame_guess::{FrameGuess, Guesser};
use gapii_trace::frame::Variety;
use gapii_trace::reader::OpenError;
use gapii_trace::{Command, FileAt, Info, Tail, TraceReader};

use crate::failure::Failure;
use crate::text::counted;

pub type Reader = TraceReader<File>;

/// Bytes of records, before compression, in which drivers, surfaces and contexts are looked for.
const LOOKED_AT_BYTES: u64 = 32 << 20;

/// Whether two paths lead to one file, which exists.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.metadata().map(|it| (it.dev(), it.ino())).ok();
    place(one).is_some_and(|it| place(other) == Some(it))
}

/// Opens a trace. A file that is not a trace is a negative answer (status 1); a file that can't be read is status 3.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    if path.as_os_str() == "-" && !path.exists() {
        return Err(Failure::usage(
            "a trace is read from a file, because its index is at its end, and not from standard input; write it to a file \
             first, with `gapii-ctl start -o FILE` or `cat > FILE`",
        ));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata();
    if metadata.as_ref().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::unreachable(format!(
            "can't read {0}: it is a folder; name a trace in it, as `{0}/x.gapii`",
            path.display()
        )));
    }
    if metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
        return Err(Failure::no(format!(
            "{} is empty: not a trace; `gapii-ctl run -o FILE -- CMD` records one",
            path.display()
        )));
    }
    let again = FileAt::of(&file).ok();
    let mut reader = TraceReader::open(file).map_err(|error| match error {
        OpenError::Io(error) => unreadable(path, &error),
        error => Failure::answer(format!("{}: {error}", path.display())),
    })?;
    if let Some(again) = again {
        reader.decode_ahead(Box::new(move || Some(Box::new(again.again().ok()?))));
    }
    Ok(reader)
}

/// Passes the commands of the first blocks to `look`, up to `LOOKED_AT_BYTES`. Returns whether these are all.
///
/// # Errors
/// An error of the file.
pub fn look_at_beginning(
    reader: &mut Reader,
    mut look: impl FnMut(&Command<'_>),
) -> io::Result<bool> {
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
            return Ok(false);
        }
        look(&commands.command());
    }
    Ok(true)
}

/// Guesses where frames end that no command has ended, from the beginning of the trace. `None` also for a filtered trace,
/// which lacks commands.
pub fn guess_frames(reader: &mut Reader) -> io::Result<Option<FrameGuess>> {
    if !reader.header().filter.is_empty() {
        return Ok(None);
    }
    let mut guesser = Guesser::default();
    let is_whole = look_at_beginning(reader, |command| guesser.look(command))?;
    Ok(guesser.guess(is_whole))
}

/// Fails if the trace is filtered and so lacks commands. `cannot` is the verb phrase of the message.
pub fn judge_filter(path: &Path, reader: &Reader, cannot: &str) -> Result<(), Failure> {
    let filter = &reader.header().filter;
    match filter.is_empty() {
        true => Ok(()),
        false => Err(Failure::no(format!(
            "{} {cannot}: it was recorded with a filter, and has only {filter}; `gapii-ctl run -o FILE -- CMD` records everything",
            path.display()
        ))),
    }
}

/// Fails if texts and memory of the trace are noise. `cannot` is the verb phrase of the message.
pub fn judge_contents(path: &Path, reader: &Reader, cannot: &str) -> Result<(), Failure> {
    let name = path.display();
    match reader.header().anonymised {
        false => Ok(()),
        true => Err(Failure::no(format!(
            "{name} {cannot}: it is anonymised, so that its shaders, textures and buffers are noise; `gapii-ctl stats {name}` and \
             other commands that play nothing read it"
        ))),
    }
}

/// Fails if the trace does not have the driver's times.
pub fn judge_times(path: &Path, reader: &Reader) -> Result<(), Failure> {
    let is_timed = match (Variety::of(reader.header().version), reader.footer()) {
        (Variety::Timed, _) => true,
        (Variety::Kept, Some(footer)) => footer.options.timing,
        // A saved trace that is cut does not say it.
        (Variety::Kept, None) => true,
        (Variety::Untimed, _) => false,
    };
    if is_timed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has no driver times to sort by; record it again with its times: `gapii-ctl run --timing -- CMD` or \
         `gapii-ctl start --timing`",
        path.display()
    )))
}

/// Returns a clause about where the frames of a trace without frames may end, behind a semicolon; empty if that is not known.
pub fn guess_clause(reader: &mut Reader) -> String {
    match guess_frames(reader) {
        Ok(Some(guess)) => format!("; {guess}"),
        _ => String::new(),
    }
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
    // A trace that was kept begins in the middle of the program.
    let first = reader.header().kept.map_or(0, |kept| kept.seq);
    let end = first.saturating_add(info.calls);
    if let Some(seq) = seq.filter(|seq| !(first..end).contains(seq)) {
        let name = path.display();
        return Err(Failure::no(match info.calls {
            0 => format!("{name} has no command; `gapii-ctl info {name}` says how it ended"),
            _ if seq < first => format!(
                "{name} has no command {seq}; its first one is {first}; `gapii-ctl dump {name} --commands {first}` shows it"
            ),
            _ => format!(
                "{name} has no command {seq}; its last one is {0}; `gapii-ctl dump {name} --commands {0}` shows it",
                end - 1
            ),
        }));
    }
    let numbers = numbers_of_frames(reader, &info);
    // Commands of a program that never swaps belong to frame 0.
    let has_none = numbers.iter().all(Range::is_empty);
    let is_there = |wanted: &Range<u64>| {
        numbers.iter().any(|it| wanted.start < it.end && it.start < wanted.end)
            || (has_none && wanted.start == 0)
    };
    match frames.is_none_or(is_there) {
        true => Ok(()),
        false => Err(no_such_frame(path, reader, &numbers)),
    }
}

/// Returns the numbers of the frames of each process, in the order of the processes. They begin at 0, except in a trace that
/// was kept.
pub fn numbers_of_frames(reader: &Reader, info: &Info) -> Vec<Range<u64>> {
    let ends = reader.index().map_or(&[][..], |index| &index.frame_ends);
    (0u32..)
        .zip(&info.processes)
        .map(|(process, entry)| {
            let own = ends.iter().filter(|end| end.process == process).map(|end| end.frame);
            match own.clone().min().zip(own.max()) {
                Some((first, last)) => first..last.saturating_add(1),
                None => 0..entry.frames,
            }
        })
        .collect()
}

/// Returns the failure for a frame that no process has. In a trace without frames it says where they may end.
pub fn no_such_frame(path: &Path, reader: &mut Reader, numbers: &[Range<u64>]) -> Failure {
    let name = path.display();
    let longest = numbers.iter().max_by_key(|it| it.end.saturating_sub(it.start));
    Failure::no(match longest.filter(|it| !it.is_empty()) {
        None => match guess_frames(reader) {
            Ok(Some(guess)) => format!("{name} has no frame: no command in it ended one; {guess}"),
            _ => format!(
                "{name} has no frame: no command in it ended one; `gapii-ctl info {name}` says how it ended"
            ),
        },
        Some(Range { start, end }) => {
            let has = counted(end - start, "frame");
            format!(
                "{name} has no such frame; it has {has}, the first is number {start}; type `--frames {start}`"
            )
        }
    })
}

/// Returns the failure for a trace that is cut or damaged.
pub fn judge_tail(path: &Path, tail: &Tail) -> Result<(), Failure> {
    let name = path.display();
    match tail {
        Tail::Complete => Ok(()),
        Tail::Truncated { at } => Err(Failure::answer(format!(
            "{name} is cut at byte {at}; everything before it is complete"
        ))),
        Tail::Damaged { at, why } => Err(Failure::answer(format!(
            "{name} is damaged from byte {at} on, and complete before it: {why}"
        ))),
    }
}

pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    Failure::unreachable(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no file {name}; `gapii-ctl run -o FILE -- CMD` records one")
        }
        io::ErrorKind::PermissionDenied => {
            format!("not allowed to read {name}; its owner can allow it with `chmod a+r {name}`")
        }
        io::ErrorKind::NotSeekable => format!(
            "can't read {name}: a trace is read from a file; save it first, with `cat > FILE`"
        ),
        _ => return Failure::system(format!("can't read {name}: {error}")),
    })
}
