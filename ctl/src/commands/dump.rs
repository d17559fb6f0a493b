//! `dump`: lists the commands of a trace, in the order in which they took effect or by their time in the driver. Lists
//! the readable part of a damaged trace, and then reports the damage with status 1. A choice that no command fits has
//! status 1, too; a function that the trace does not describe, and a sort order by times that the trace lacks, have
//! status 2. `--resources` replays up to `--at`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use gapii_analysis::command_role::CommandRole;
use gapii_analysis::object_names::ObjectNames;
use gapii_replay::Options;
use gapii_replay::images::{At, Folder, Images};
use gapii_trace::Command;
use gapii_trace::filter::Filter;
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::parallel::Choice;
use gapii_trace::tracker::Tracker;
use rustix::fs::FileType;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::{Frames, Json, Trace, command_range, one_or_more};
use crate::call_text;
use crate::commands::replay::judge_pictures;
use crate::failure::Failure;
use crate::listing::{self, Format, Matching, Stopped};
use crate::longest::Longest;
use crate::named_json;
use crate::playing;
use crate::reading_progress::ReadingProgress;
use crate::sandbox::{self, Needs, Wish};
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl dump x.gapii --frames 10                        the commands of frame 10
  gapii-ctl dump x.gapii --commands 4700..4720              the commands with these numbers
  gapii-ctl dump x.gapii --function 'glDraw*' --json        all draws, a line of JSON for each
  gapii-ctl dump x.gapii --sort driver-time --top 20        the 20 longest commands, with --timing recorded
  gapii-ctl dump x.gapii --at 4711 --resources folder       textures, buffers and shaders after command 4711";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Dump {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// Commands from number A up to, not including, B; A-B includes B; either bound may be omitted; or one command
    #[arg(long, visible_alias = "calls", value_name = "A..B|A-B|A", value_parser = command_range)]
    commands: Option<Range<u64>>,

    /// List only this function, by name (* and ? match); may be repeated
    #[arg(long = "function", value_name = "NAME|GLOB")]
    functions: Vec<String>,

    /// List only commands of this thread, by thread id or name (* and ? match); may be repeated
    ///
    /// --frames, --commands, --function, --thread, --role and --match combine: a command is listed if it matches each option that
    /// is given.
    #[arg(long = "thread", value_name = "TID|NAME")]
    threads: Vec<String>,

    /// List only commands of this role; may be repeated
    #[arg(long = "role", value_name = "ROLE", value_parser = role_parser())]
    roles: Vec<CommandRole>,

    /// List only commands whose text has these characters, in upper or lower case: names, arguments, strings, results
    ///
    /// The text is that of the list without --json, from the function's name on.
    #[arg(long = "match", value_name = "TEXT", conflicts_with = "sort")]
    matching: Option<String>,

    /// Order of the list [default: the order in which the commands took effect]
    #[arg(long, value_enum, value_name = "BY")]
    sort: Option<Sort>,

    /// List only the first N commands: of the trace, or of the order that --sort gives
    ///
    /// With --sort and without --top, the whole list is held in memory before it is printed.
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroUsize>)]
    top: Option<NonZeroUsize>,

    #[command(flatten)]
    json: Json,

    /// Instead of listing commands, replay the trace up to --at and write the current context's resources to
    /// this folder: textures as PNG, buffers as raw bytes, shaders as text
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "at")]
    #[arg(conflicts_with_all = ["frames", "commands", "functions", "threads", "roles", "matching", "sort", "top"])]
    resources: Option<PathBuf>,

    /// Command after which the resources are written, by its number in `dump`
    #[arg(long, value_name = "SEQ", requires = "resources")]
    at: Option<u64>,
}

/// Resources that were written.
#[derive(Serialize, JsonSchema)]
pub struct Written {
    /// Folder of the files.
    folder: PathBuf,
    /// Files that were written.
    files: u64,
    /// Commands that could not be played.
    skipped: u64,
    /// Remarks: what could not be written, and why.
    notes: Vec<String>,
}

/// A command of the trace.
// Only a schema: `gapii_trace::json` writes the line.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields are printed elsewhere")]
pub struct Line {
    /// Number of the command in the trace; null for a command that took no effect.
    seq: Option<u64>,
    /// Process id of the operating system.
    pid: u32,
    /// Thread id of the operating system.
    tid: u32,
    /// Handle of the context that was current; 0 without one.
    context: u64,
    /// Frame of the process, from 0.
    frame: u64,
    /// Stamps of the enter and the leave record; null for a record that is missing.
    stamps: [Option<u64>; 2],
    /// Name of the function.
    name: String,
    /// Arguments by name. Memory that an argument points at has the form that docs/trace-format.md describes.
    args: BTreeMap<String, Value>,
    /// Arguments as the program passed them, if a tool changed any.
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<BTreeMap<String, Value>>,
    /// Result; null if the function has none, or did not return.
    result: Value,
    /// Result that the program got, if a tool changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<Value>,
    /// Words for the objects that arguments name, by the names of the arguments, and `result`: numbers of handles of EGL by
    /// kind, such as `context 2`, and labels of objects. Only if the list begins with the first command of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<BTreeMap<String, String>>,
    /// What it does in its frame: `draw`, `dispatch`, `group-begin` and `group-end` for debug groups of the program, and `mark`
    /// for a moment that the program marks. Most commands do none of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// What the program says with a `group-begin` or a `mark`, up to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Addresses of arguments that are shown as memory, by the name of the argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<BTreeMap<String, String>>,
    /// Memory that the command read, besides its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Vec<Value>>,
    /// Memory that the command wrote, besides its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<Vec<Value>>,
    /// The frame that was read back before a swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_frame: Option<Value>,
    /// When the command ended a frame, in nanoseconds of `CLOCK_MONOTONIC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ns: Option<u64>,
    /// When the driver was called, in nanoseconds of `CLOCK_MONOTONIC`, from a trace with `--timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    begin_ns: Option<u64>,
    /// Nanoseconds in the driver, from a trace with `--timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    driver_ns: Option<u64>,
    /// When the GPU had executed all commands before, in nanoseconds of `CLOCK_MONOTONIC`, from a trace with `--gpu-timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_begin_ns: Option<u64>,
    /// Nanoseconds until the GPU had executed the command, from a trace with `--gpu-timing`; the sum of all executions of a
    /// command in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_ns: Option<u64>,
    /// The executions of a command in a list that was executed several times, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_executions: Option<Vec<Execution>>,
    /// True for a command of a snapshot, which the program did not call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    setup: bool,
    /// True for a command that a tool kept from the driver.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skipped: bool,
    /// True for a command that a tool called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tracer: bool,
    /// True for a command that had not returned when the capture ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_flight: bool,
    /// True for a command whose enter record is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    enter_missing: bool,
}

/// An execution of a command in a list.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields are printed elsewhere")]
pub struct Execution {
    /// When the GPU had executed all commands before, in nanoseconds of `CLOCK_MONOTONIC`.
    begin_ns: u64,
    /// Nanoseconds until the GPU had executed the command.
    gpu_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The longest time in the driver first; needs a trace that was recorded with --timing
    DriverTime,
}

pub fn run(args: &Dump) -> Result<u8, Failure> {
    if let (Some(folder), Some(seq)) = (&args.resources, args.at) {
        return write_resources(args, folder, seq);
    }
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let chosen = chosen(args, &reader)?;
    if args.sort == Some(Sort::DriverTime) {
        trace_file::judge_times(path, &reader)?;
    }
    let mut progress = listing_progress(args, &reader);
    let is_to_file = is_to_file();
    let gpu_times = GpuTimes::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let commands = match (&args.frames.frames, &args.commands) {
        (Some(frames), _) => reader.commands_in_frames(frames.start..=frames.end - 1),
        (None, Some(numbers)) => reader.commands_numbered(numbers.clone()),
        (None, None) => reader.commands(),
    };
    let commands = commands.map_err(|error| unreadable(path, &error))?;
    let mut commands = commands.with_tracers().with_gpu_times(gpu_times);
    let top = args.top.map_or(usize::MAX, NonZeroUsize::get);
    let names = knows_objects(args).then(RwLock::<ObjectNames>::default);
    let words = || names.as_ref().map(|names| names.read().unwrap_or_else(PoisonError::into_inner));
    let for_people = |command: &Command<'_>, line: &mut Vec<u8>| {
        call_text::write_line(command, words().as_deref(), line)
    };
    let for_programs = |command: &Command<'_>, line: &mut Vec<u8>| {
        named_json::append_line(command, words().as_deref(), line)
    };
    let matched = |command: &Command<'_>, line: &mut Vec<u8>| {
        call_text::write_call(command, words().as_deref(), line)
    };
    let matching = args.matching.as_deref().map(|text| Matching::new(text, top, &matched));
    let mut longest = args.sort.map(|Sort::DriverTime| Longest::new(top));
    let line: Format<'_> = if args.json.json { &for_programs } else { &for_people };
    let (mut problem, mut is_empty, mut listed) = (None, true, 0);
    let mut unwritten = Ok(());
    text::print(|out| {
        let choose = |command: &Command<'_>, tracker: &Tracker| {
            is_empty = false;
            if let Some(names) = names.as_ref().filter(|_| ObjectNames::is_told_by(command)) {
                names.write().unwrap_or_else(PoisonError::into_inner).learn(command);
            }
            if let (Some(wanted), Some(seq)) = (&args.commands, command.seq)
                && seq >= wanted.end
            {
                return Choice::Stop;
            }
            // A command that took no effect has no number.
            let has_number =
                |wanted: &Range<u64>| command.seq.is_some_and(|it| wanted.contains(&it));
            if !args.commands.as_ref().is_none_or(has_number)
                || !fits(&chosen, &args.roles, command, tracker)
            {
                return Choice::Leave;
            }
            listed += 1;
            match &mut longest {
                None if listed >= top && matching.is_none() => Choice::Last,
                None => Choice::Take,
                Some(longest) => match longest.offer(command.driver_ns, |out| line(command, out)) {
                    Ok(()) => Choice::Leave,
                    Err(error) => {
                        unwritten = Err(error);
                        Choice::Stop
                    }
                },
            }
        };
        let count = |read, has_lines: bool| {
            // What reads the lines shows that the command goes on.
            if has_lines
                && !is_to_file
                && let Some(mut progress) = progress.take()
            {
                progress.clear();
            }
            progress.iter_mut().for_each(|progress| progress.add(read));
        };
        match listing::write(&mut commands, line, matching.as_ref(), choose, count, out) {
            Ok(lines) if matching.is_some() => listed = lines,
            Ok(_) => {}
            Err(Stopped::Reading(error)) => problem = Some(unreadable(path, &error)),
            Err(Stopped::Writing(error)) => return Err(error),
        }
        if let Some(mut progress) = progress.take() {
            progress.clear();
        }
        std::mem::replace(&mut unwritten, Ok(()))?;
        longest.take().map_or(Ok(()), |longest| longest.write(out))
    })?;
    problem.map_or(Ok(()), Err)?;
    trace_file::judge_tail(path, commands.tail())?;
    if is_empty && let Some(frames) = &args.frames.frames {
        trace_file::judge_wish(path, &mut reader, Some(frames), None)?;
    }
    let is_choosing = !chosen.is_empty() || !args.roles.is_empty() || args.matching.is_some();
    if let Some(wanted) = args.commands.as_ref().filter(|_| listed == 0 && !is_choosing) {
        trace_file::judge_wish(path, &mut reader, None, Some(wanted.start))?;
    }
    match listed == 0 && (is_choosing || args.commands.is_some()) {
        false => Ok(0),
        true => Err(nothing_fits(path, &chosen, args)),
    }
}

/// Shows how much of the trace was read, until the first line is listed; if the list goes to a file, or is sorted, until the
/// end. `None` for a range of frames or numbers, which is found without reading the trace before it.
fn listing_progress(args: &Dump, reader: &Reader) -> Option<ReadingProgress> {
    let commands = reader.footer()?.totals.calls;
    let is_near = args.frames.frames.is_some() || args.commands.is_some();
    (!is_near).then(|| ReadingProgress::start(commands))
}

/// Whether the list reads all commands before those that it shows, and so learns the words for objects.
fn knows_objects(args: &Dump) -> bool {
    let ranges = [&args.frames.frames, &args.commands];
    ranges.iter().all(|range| range.as_ref().is_none_or(|range| range.start == 0))
}

/// Whether standard output is a regular file.
fn is_to_file() -> bool {
    let found = rustix::fs::fstat(rustix::stdio::stdout());
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_file())
}

/// Returns the choice of commands. Fails for a function that neither the trace nor this build describes.
fn chosen(args: &Dump, reader: &Reader) -> Result<Filter, Failure> {
    let chosen = Filter {
        threads: args.threads.clone(),
        functions: args.functions.clone(),
        ..Filter::default()
    };
    match chosen.mistake(&reader.header().description) {
        None => Ok(chosen),
        Some(mistake) => Err(Failure::usage(format!(
            "{mistake}; `gapii-ctl stats {}` lists the functions of the trace",
            args.trace.trace.display()
        ))),
    }
}

fn role_parser() -> impl TypedValueParser<Value = CommandRole> {
    let words = PossibleValuesParser::new(CommandRole::ALL.map(CommandRole::word));
    words.try_map(|word| CommandRole::named(&word).ok_or("no such role"))
}

fn fits(chosen: &Filter, roles: &[CommandRole], command: &Command<'_>, tracker: &Tracker) -> bool {
    if !roles.is_empty() && !CommandRole::of(command).is_some_and(|role| roles.contains(&role)) {
        return false;
    }
    command.fits(chosen, tracker)
}

fn nothing_fits(path: &Path, chosen: &Filter, args: &Dump) -> Failure {
    let name = path.display();
    let frames = if args.frames.frames.is_some() { " in these frames" } else { "" };
    let numbers = if args.commands.is_some() { " with these numbers" } else { "" };
    if let Some(text) = &args.matching {
        let of = if chosen.is_empty() { String::new() } else { format!(" of {chosen}") };
        return Failure::no(format!(
            "{name} has no command{numbers}{frames}{of} whose text has \"{}\"; `gapii-ctl dump {name} --top 20` shows how \
             commands are written",
            text.escape_debug()
        ));
    }
    if !args.roles.is_empty() {
        let words: Vec<_> = args.roles.iter().map(|role| role.word()).collect();
        let of = if chosen.is_empty() { String::new() } else { format!(" of {chosen}") };
        return Failure::no(format!(
            "{name} has no command{numbers}{frames}{of} with the role {}; `gapii-ctl dump {name} --top 20` lists commands of \
             any",
            words.join(" or ")
        ));
    }
    match chosen.is_empty() {
        true => Failure::no(format!(
            "{name} has no command{numbers}{frames}; `gapii-ctl info {name}` says how many it has"
        )),
        false => Failure::no(format!(
            "{name} has no command{numbers}{frames} of {chosen}; `gapii-ctl stats {name}` lists its functions and threads"
        )),
    }
}

fn write_resources(args: &Dump, folder: &Path, seq: u64) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    Folder::make(folder).map_err(Failure::system)?;
    let needs = Needs { traces: &[path], folder: Some(folder), windows: false };
    sandbox::enter(Wish::Auto, &needs)?;
    let stop = playing::hear_stops()?;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, None, Some(seq))?;
    let at = At {
        seq,
        is_before: false,
        colors: false,
        depth: false,
        stencil: false,
        resources: true,
        folder: Folder::open(folder).map_err(Failure::system)?,
    };
    let options =
        Options { stop_after: Some(seq), images: Images::of_command(at), ..Options::default() };
    let report = playing::play(path, &mut reader, options, stop)?;
    if !args.json.json {
        report.notes.iter().for_each(text::say);
    }
    if report.cancelled {
        return Err(Failure::answer(format!("stopped before command {seq}, as asked")));
    }
    judge_pictures(&report, seq)?;
    if args.json.json {
        let (folder, files) = (folder.to_owned(), report.images.files);
        let (skipped, notes) = (report.skipped, report.notes);
        text::print_json(&Written { folder, files, skipped, notes })?;
    } else {
        if report.skipped > 0 {
            let skipped = counted(report.skipped, "command");
            text::say(&format!("{skipped} could not be played"));
        }
        text::say_written(report.images.files, folder);
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}
