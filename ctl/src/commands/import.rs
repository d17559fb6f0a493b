//! `import`: makes a trace of a recording of apitrace. What the trace does not have of the recording is counted in messages:
//! calls of functions that this build does not know (status 1 without `--skip-unknown`), and the call within which a
//! recording ends (status 1). A recording through WGL or CGL, and one with damage, is refused; then no file is left.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::Args;
use gapii_import::apitrace::{self, ImportError, Imported, Made, ReadError, Unknown};
use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Force, Json};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::reading_progress::ReadingProgress;
use crate::text::{self, counted};

const AFTER_HELP: &str = "\
Examples:
  apitrace trace --api egl -o x.trace PROGRAM
  gapii-ctl import x.trace -o x.gapii                       then dump, replay, diff, ui … read x.gapii
  gapii-ctl import x.trace -o x.gapii --skip-unknown        status 0 even if some calls are not known";

/// Most names of unknown functions in a message; `--json` has all.
const NAMES_MAX: usize = 5;

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Import {
    /// Recording of apitrace (.trace), of a program with EGL or GLX and OpenGL or OpenGL ES
    #[arg(value_name = "FILE")]
    recording: PathBuf,

    /// Trace to write, or - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    /// Leave out calls of functions that this build does not know, and end with status 0 nevertheless
    #[arg(long)]
    skip_unknown: bool,

    #[command(flatten)]
    json: Json,
}

/// An import that was written.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Trace that was written.
    output: PathBuf,
    /// Name of the recorded program; empty if the recording does not have it.
    program: Untrusted,
    /// Commands in the trace.
    commands: u64,
    /// Of these, commands that apitrace added, and that the program did not call.
    fake: u64,
    /// Frames in the trace.
    frames: u64,
    /// Threads in the trace.
    threads: u64,
    /// Calls that are left out, because this build does not know their function, or does not record it: their number, by name.
    unknown: BTreeMap<String, u64>,
    /// Calls that are left out, because their arguments have more memory than a trace can hold.
    too_long: u64,
    /// Calls that are left out, because they were made within another call of their thread.
    nested: u64,
    /// Calls that are left out, because they did not end though their thread went on.
    unended: u64,
    /// Writes to mapped memory, and vertex arrays, that no command in the trace reads.
    unread: u64,
    /// Whether the recording ends within a call; the trace has the calls before it.
    cut: bool,
}

pub fn run(args: &Import) -> Result<u8, Failure> {
    args.json.must_have_standard_output(&args.output)?;
    let path = &args.recording;
    let input = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = input.metadata().map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return Err(unreadable(path, &io::Error::from(io::ErrorKind::IsADirectory)));
    }
    finished_file::check(&args.output, "a trace")?;
    let file = FinishedFile::create(&args.output, args.force.force)?;
    let out = BufWriter::with_capacity(256 << 10, file);
    let written_at = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let made = Made { unix_ns: written_at.map_or(0, |at| at.as_nanos() as u64) };
    let mut progress = ReadingProgress::of_bytes(metadata.len());
    let input = BufReader::with_capacity(256 << 10, input);
    let imported = apitrace::import(input, out, made, |read| progress.set(read));
    progress.clear();
    let (out, imported) = imported.map_err(|error| failed(args, &error))?;
    let unwritable = |error: &io::Error| finished_file::writing_failure(&args.output, error);
    let file = out.into_inner().map_err(|error| unwritable(error.error()))?;
    file.finish().map_err(|error| unwritable(&error))?;
    let answer = Answer::of(args, &imported);
    match args.json.json {
        true => text::print_json(&answer)?,
        false => answer.say(),
    }
    judge(args, &answer)
}

impl Answer {
    fn of(args: &Import, imported: &Imported) -> Self {
        let calls = |(name, unknown): (&String, &Unknown)| (name.clone(), unknown.calls);
        Self {
            output: args.output.clone(),
            program: imported.program.as_str().into(),
            commands: imported.commands,
            fake: imported.fake,
            frames: imported.frames,
            threads: imported.threads,
            unknown: imported.unknown.iter().map(calls).collect(),
            too_long: imported.too_long,
            nested: imported.nested,
            unended: imported.unended,
            unread: imported.unread,
            cut: imported.is_cut,
        }
    }

    /// Says what was written, and what is left out.
    fn say(&self) {
        let Self { commands, frames, threads, output, .. } = self;
        let (commands, frames) = (counted(*commands, "command"), counted(*frames, "frame"));
        let threads = counted(*threads, "thread");
        let name = finished_file::name_of(output);
        text::say(&format!("{frames}, {commands} of {threads} -> {name}"));
        if self.too_long > 0 {
            let calls = counted(self.too_long, "call");
            text::say(&format!("left out {calls}, whose arguments have too much memory"));
        }
        if self.nested > 0 {
            let calls = counted(self.nested, "call");
            text::say(&format!("left out {calls} within other calls of the same thread"));
        }
        if self.unended > 0 {
            let calls = counted(self.unended, "call");
            text::say(&format!("left out {calls} that did not end"));
        }
        if self.unread > 0 {
            let pieces = counted(self.unread, "piece");
            text::say(&format!("left out {pieces} of memory that no command reads"));
        }
    }

    /// Lists the functions that this build does not know: those with the most calls first.
    fn unknown_names(&self) -> String {
        let mut unknown: Vec<_> = self.unknown.iter().collect();
        unknown.sort_by_key(|(name, calls)| (std::cmp::Reverse(**calls), *name));
        let named = unknown.iter().take(NAMES_MAX);
        let named =
            named.map(|(name, calls)| format!("{} ({calls})", Untrusted::from(name.as_str())));
        let mut names: Vec<_> = named.collect();
        if unknown.len() > NAMES_MAX {
            names.push(format!("and {} more", unknown.len() - NAMES_MAX));
        }
        names.join(", ")
    }
}

/// Returns the status of an import that was written.
fn judge(args: &Import, answer: &Answer) -> Result<u8, Failure> {
    let name = args.recording.display();
    if answer.cut {
        return Err(Failure::answer(format!(
            "{name} ends within a call; the trace has the calls before it"
        )));
    }
    if answer.unknown.is_empty() || args.skip_unknown && args.json.json {
        return Ok(0);
    }
    let calls = counted(answer.unknown.values().sum(), "call");
    let names = answer.unknown_names();
    let sentence = format!("left out {calls} of functions that gapii does not record: {names}");
    if args.skip_unknown {
        text::say(&sentence);
        return Ok(0);
    }
    Err(Failure::no(format!("{sentence}; the rest is written; `--skip-unknown` accepts that")))
}

fn failed(args: &Import, error: &ImportError) -> Failure {
    let path = &args.recording;
    let name = path.display();
    match error {
        ImportError::Writing(error) => finished_file::writing_failure(&args.output, error),
        ImportError::Reading(ReadError::Io(error)) => unreadable(path, error),
        ImportError::Reading(ReadError::NotATrace) => Failure::no(format!(
            "{name}: {error}; if apitrace reads it, `apitrace repack {name} OUT.trace` converts it"
        )),
        ImportError::Reading(error) => Failure::answer(format!("{name}: {error}")),
        ImportError::OtherWindows => Failure::no(format!(
            "{name}: {error}, which gapii does not support; record a program of EGL or GLX, with \
             `apitrace trace --api egl` or `--api gl`"
        )),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::unreachable(format!(
            "there is no file {name}; `apitrace trace --api egl -o {name} PROGRAM` records one"
        )),
        io::ErrorKind::PermissionDenied => Failure::unreachable(format!(
            "not allowed to read {name}; its owner can allow it with `chmod a+r {name}`"
        )),
        _ => Failure::system(format!("can't read {name}: {error}")),
    }
}
