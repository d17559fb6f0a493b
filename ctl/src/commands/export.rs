//! `export`: converts a trace to the format of another tool; tables in Parquet of many traces are another program's work
//! (tables.rs). A `.trace` holds one process, so with several `--pid` is required; a filtered trace is refused. Changes of tracers are in JSON only. The formats of Perfetto
//! and of the Firefox Profiler have only commands and frames with times, and what happened beside them. What the format or the
//! trace lacks is counted in a message. Exports the readable part of a damaged trace, then reports the damage.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gapii_analysis::marks::{self, Marked};
use gapii_analysis::stats;
use gapii_export::apitrace::{Exporter, Program, Summary};
use gapii_export::timeline::{self, Mark, Origin, Timeline};
use gapii_export::{firefox, perfetto, shader_test};
use gapii_replay::images::Folder;
use gapii_trace::clock::TraceClock;
use gapii_trace::footer::{Footer, ProcessEntry};
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::parallel::{Choice, Work};
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Commands, Info, json};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Force, Json};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::listing::{self, Stopped};
use crate::reading_progress::ReadingProgress;
use crate::tables::Tables;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl export x.gapii --format apitrace -o x.trace     for apitrace, qapitrace and eglretrace
  gapii-ctl export x.gapii --format json -o - | jq .name    the names of all functions
  gapii-ctl export x.gapii --format perfetto -o x.perfetto  for ui.perfetto.dev
  gapii-ctl export x.gapii --format firefox-profiler -o x.json  for profiler.firefox.com
  gapii-ctl export x.gapii --format shader-test -o folder   the programs, for shader_runner and shader-db
  gapii-ctl export traces/ --format parquet -o tables       tables of all traces in a folder, for DuckDB, Polars and Spark
  gapii-ctl export s3://lab/traces/ --format parquet -o s3://lab/tables --tag build=1.4.2";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Export {
    /// Trace file; with --format parquet several, and folders and URLs (s3://, gs://, az://, file://) of traces
    #[arg(value_name = "FILE", required = true)]
    traces: Vec<PathBuf>,

    /// Output format: apitrace's .trace, JSON with one line per command, the format of Perfetto or of the Firefox
    /// Profiler, with the times of frames and, from a trace with --timing, of commands, a folder with a .shader_test of
    /// each program, or tables in Parquet
    #[arg(long, value_enum)]
    format: Format,

    /// File to write, or - for standard output; for shader-test a folder, for parquet a folder or a URL
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    tables: Tables,

    #[command(flatten)]
    force: Force,

    /// Process to export; required if the trace has several processes and the format holds only one
    #[arg(long = "pid", alias = "process", value_name = "PID")]
    pid: Option<u32>,

    #[command(flatten)]
    json: Json,
}

/// An export that was written.
#[derive(Serialize, JsonSchema)]
pub struct Exported {
    /// File that was written, or folder.
    output: PathBuf,
    /// Commands in it.
    commands: u64,
    /// Commands that are left out, because the trace does not have their arguments.
    skipped: u64,
    /// Pieces of memory that are left out, because the trace does not have them.
    missing: u64,
    /// Pieces of memory that are left out, because the format has no call for them.
    unexpressed: u64,
    /// Frames in it; only in a format with frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    /// Programs in it; only in a format of programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    programs: Option<Programs>,
    /// Commands in it whose work on the GPU has a time; only in a format with times.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<u64>,
    /// Commands and frames that are left out, because the trace does not have their times; only in a format with times.
    #[serde(skip_serializing_if = "Option::is_none")]
    untimed: Option<Untimed>,
}

/// Programs of a trace.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Programs {
    /// Files that were written, one for each program.
    files: u64,
    /// Links of a program that is written already.
    repeated: u64,
    /// Links that had failed in the recording.
    failed: u64,
    /// Links without sources: of program binaries, and of shaders that the trace does not have.
    without_sources: u64,
}

/// Parts of a trace without times.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Untimed {
    /// Commands.
    commands: u64,
    /// Frames.
    frames: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Apitrace,
    Json,
    Perfetto,
    FirefoxProfiler,
    ShaderTest,
    Parquet,
}

pub fn run(args: &Export) -> Result<u8, Failure> {
    if args.format == Format::Parquet {
        return export_tables(args);
    }
    args.tables.must_be_empty()?;
    args.json.must_have_standard_output(&args.output)?;
    let [path] = &args.traces[..] else {
        return Err(Failure::usage(
            "this format holds one trace; export one after the other, or tables of all with `--format parquet`",
        ));
    };
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let process = process(args, &info.processes)?;
    if args.format == Format::Apitrace {
        finished_file::check(&args.output, "a .trace")?;
        trace_file::judge_filter(path, &reader, "cannot be exported as .trace")?;
        trace_file::judge_contents(path, &reader, "cannot be exported as .trace")?;
    }
    if args.format == Format::ShaderTest {
        trace_file::judge_contents(path, &reader, "has no programs to export")?;
        return export_programs(args, &mut reader, process, &info);
    }
    let file = FinishedFile::create(&args.output, args.force.force)?;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let mut progress = ReadingProgress::start(info.calls);
    let written = match args.format {
        Format::Json => write_json(args, &mut reader, process, &mut out, &mut progress),
        Format::Apitrace => write_apitrace(args, &mut reader, process, &mut out, &mut progress),
        Format::Perfetto => write_perfetto(args, &mut reader, process, &mut out, &mut progress),
        Format::FirefoxProfiler => {
            write_firefox(args, &mut reader, process, &mut out, &mut progress)
        }
        Format::ShaderTest | Format::Parquet => unreachable!("it has a folder"),
    };
    progress.clear();
    let written = written?;
    let file = out.into_inner().map_err(|error| unwritable(args, error.error()))?;
    file.finish().map_err(|error| unwritable(args, &error))?;
    match args.json.json {
        true => text::print_json(&written)?,
        false => warn(&written),
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Returns the process to export; `None` means all processes.
fn process<'p>(
    args: &Export,
    processes: &'p [ProcessEntry],
) -> Result<Option<&'p ProcessEntry>, Failure> {
    let name = args.trace().display();
    let list = || {
        let named = processes.iter().map(|process| format!("{} ({})", process.pid, process.name));
        named.collect::<Vec<_>>().join(", ")
    };
    match (args.pid, processes) {
        (Some(pid), _) => match processes.iter().find(|process| process.pid == pid) {
            Some(process) => Ok(Some(process)),
            None => Err(Failure::no(format!(
                "{name} has no process with the id {pid}; choose one with `--pid PID`: {}",
                list()
            ))),
        },
        (None, [_, _, ..]) if args.format == Format::Apitrace => Err(Failure::usage(format!(
            "a .trace holds one process; choose one of {name}'s with `--pid PID`: {}",
            list()
        ))),
        (None, [only]) => Ok(Some(only)),
        (None, _) => Ok(None),
    }
}

fn write_json(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    out: &mut impl Write,
    progress: &mut ReadingProgress,
) -> Result<Exported, Failure> {
    let list = |commands: Commands<'_, File>, choose: Choose<'_>| {
        let mut commands = commands.with_tracers();
        let progress = |read, _| progress.add(read);
        listing::write(&mut commands, &json::append_line, None, choose, progress, out).map(|_| ())
    };
    let commands = each_command(args, reader, process, list)?;
    Ok(Exported::of(args, commands, None))
}

fn write_apitrace(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    out: &mut (impl Write + Send),
    progress: &mut ReadingProgress,
) -> Result<Exported, Failure> {
    let name = process.map_or("", |p| if p.exe.is_empty() { p.name.raw() } else { p.exe.raw() });
    let program = Program { name: name.to_owned() };
    let failed = |error: io::Error| unwritable(args, &error);
    let description = &reader.header().description;
    let mut exporter = Exporter::begin(out, &program, description).map_err(failed)?;
    // One worker: each command is written with what those before it have set.
    let write = |work: Work<'_>| work.commands().try_for_each(|command| exporter.command(&command));
    let export = |mut commands: Commands<'_, File>, choose: Choose<'_>| {
        commands.in_parallel(vec![write], choose, |written: io::Result<()>, read| {
            progress.add(read);
            written.map_err(Stopped::Writing)
        })
    };
    let commands = each_command(args, reader, process, export)?;
    let (_, summary) = exporter.finish().map_err(failed)?;
    Ok(Exported::of(args, commands, Some(&summary)))
}

fn write_perfetto(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    out: &mut impl Write,
    progress: &mut ReadingProgress,
) -> Result<Exported, Failure> {
    let (clock, footer) = origin(reader);
    let origin = Origin { clock, footer: footer.as_ref() };
    let exporter = perfetto::begin(out, origin).map_err(|error| unwritable(args, &error))?;
    write_timeline(args, reader, process, exporter, progress)
}

fn write_firefox(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    out: &mut impl Write,
    progress: &mut ReadingProgress,
) -> Result<Exported, Failure> {
    let (clock, footer) = origin(reader);
    let origin = Origin { clock, footer: footer.as_ref() };
    let spool = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        Failure::system(format!("can't create a file in {}: {error}", folder.display()))
    })?;
    let exporter = firefox::begin(out, spool, origin);
    write_timeline(args, reader, process, exporter, progress)
}

/// Writes a file for each program into the folder.
fn export_programs(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    info: &Info,
) -> Result<u8, Failure> {
    let path = args.trace();
    let folder = &args.output;
    if folder.as_os_str() == "-" {
        return Err(Failure::usage(
            "programs are written to a file each; choose a folder for them with `-o DIR`",
        ));
    }
    Folder::make(folder).map_err(Failure::system)?;
    let unread = |error: io::Error| unreadable(path, &error);
    let mut progress = ReadingProgress::start(info.calls);
    let mut exporter =
        shader_test::Exporter::begin(|name, text| std::fs::write(folder.join(name), text));
    let mut commands = reader.commands().map_err(unread)?;
    let mut count = 0;
    while commands.advance().map_err(unread)? {
        let command = commands.command();
        progress.step();
        if process.is_none_or(|process| process.pid == command.pid) {
            count += 1;
            exporter.command(&command).map_err(|error| unwritable(args, &error))?;
        }
    }
    let summary = exporter.finish().map_err(|error| unwritable(args, &error))?;
    progress.clear();
    let shader_test::Summary { files, repeated, failed, without_sources } = summary;
    let programs = Some(Programs { files, repeated, failed, without_sources });
    let written = Exported { programs, ..Exported::of(args, count, None) };
    match args.json.json {
        true => text::print_json(&written)?,
        false => warn(&written),
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Returns the clock of a trace, and its footer.
fn origin(reader: &Reader) -> (Option<TraceClock>, Option<Footer>) {
    (TraceClock::of(reader.header(), reader.footer()), reader.footer().cloned())
}

/// Writes the times of frames and commands, and of what happened beside them.
fn write_timeline<T: Timeline>(
    args: &Export,
    reader: &mut Reader,
    process: Option<&ProcessEntry>,
    mut exporter: timeline::Exporter<'_, T>,
    progress: &mut ReadingProgress,
) -> Result<Exported, Failure> {
    let failed = |error: io::Error| unwritable(args, &error);
    let unread = |error: io::Error| unreadable(args.trace(), &error);
    let gpu_times = GpuTimes::of(reader).map_err(unread)?;
    let commands = reader.commands().map_err(unread)?;
    let mut commands = commands.with_events().with_gpu_times(gpu_times);
    let is_wanted = |pid: u32| process.is_none_or(|process| process.pid == pid);
    let mut happened = Vec::new();
    loop {
        let is_over = !commands.advance().map_err(unread)?;
        happened.extend(commands.drain_events());
        let tracker = commands.assembler().tracker();
        for event in happened.drain(..) {
            let process = event.process.and_then(|process| tracker.process_at(process));
            if process.is_some_and(|process| is_wanted(process.pid)) {
                exporter.happened(&event, tracker).map_err(failed)?;
            }
        }
        if is_over {
            break;
        }
        let command = commands.command();
        progress.step();
        if is_wanted(command.pid) {
            let uploaded_bytes = stats::uploaded_bytes(&command);
            exporter.command(&command, tracker, uploaded_bytes).map_err(failed)?;
            if let Some(marked) = marks::marked(&command) {
                let text = marks::text_of(&command);
                let mark = match marked {
                    Marked::Moment => Mark::Moment(&text),
                    Marked::Begin => Mark::Begin(&text),
                    Marked::End => Mark::End,
                };
                exporter.mark(&command, tracker, mark).map_err(failed)?;
            }
        }
    }
    let (_, summary) = exporter.finish().map_err(failed)?;
    let timeline::Summary { commands, untimed, gpu, frames, untimed_frames } = summary;
    Ok(Exported {
        frames: Some(frames),
        gpu: Some(gpu),
        untimed: Some(Untimed { commands: untimed, frames: untimed_frames }),
        ..Exported::of(args, commands, None)
    })
}

/// Becomes the program that writes tables.
fn export_tables(args: &Export) -> Result<u8, Failure> {
    if args.pid.is_some() {
        return Err(Failure::usage(
            "tables have all processes of a trace; leave out `--pid`, and select rows by the column `process`",
        ));
    }
    args.tables.export(&args.traces, &args.output, args.json.json)
}

impl Export {
    /// The trace of a format that holds one.
    fn trace(&self) -> &Path {
        &self.traces[0]
    }
}

impl Exported {
    /// Describes an export of `commands` commands, and what the format's `summary` says that it lacks.
    fn of(args: &Export, commands: u64, summary: Option<&Summary>) -> Exported {
        let lacks = |count: fn(&Summary) -> u64| summary.map_or(0, count);
        let skipped = lacks(|summary| summary.skipped);
        Exported {
            output: args.output.clone(),
            commands: commands - skipped,
            skipped,
            missing: lacks(|summary| summary.missing),
            unexpressed: lacks(|summary| summary.unexpressed),
            frames: None,
            programs: None,
            gpu: None,
            untimed: None,
        }
    }
}

/// Chooses the commands of an export.
type Choose<'a> = &'a mut dyn FnMut(&Command<'_>, &Tracker) -> Choice;

/// Lets `export` write the commands of `process`, and returns how many there were.
fn each_command<'r>(
    args: &Export,
    reader: &'r mut Reader,
    process: Option<&ProcessEntry>,
    export: impl FnOnce(Commands<'r, File>, Choose<'_>) -> Result<(), Stopped>,
) -> Result<u64, Failure> {
    let failed = |error: &io::Error| unreadable(args.trace(), error);
    let commands = reader.commands().map_err(|error| failed(&error))?;
    let mut count = 0;
    let mut choose = |command: &Command<'_>, _: &Tracker| {
        let is_chosen = process.is_none_or(|process| process.pid == command.pid);
        count += u64::from(is_chosen);
        if is_chosen { Choice::Take } else { Choice::Leave }
    };
    export(commands, &mut choose).map_err(|stopped| match stopped {
        Stopped::Reading(error) => failed(&error),
        Stopped::Writing(error) => unwritable(args, &error),
    })?;
    Ok(count)
}

/// Reports what the export leaves out, without failing.
fn warn(summary: &Exported) {
    if summary.skipped > 0 {
        let commands = counted(summary.skipped, "command");
        text::say(&format!("left out {commands}, whose arguments the trace does not have"));
    }
    if let Some(programs) = summary.programs {
        text::say(&format!(
            "wrote {} to {}",
            counted(programs.files, "program"),
            summary.output.display()
        ));
        if programs.failed > 0 {
            let links = counted(programs.failed, "link");
            text::say(&format!("left out {links} that had failed in the recording"));
        }
        if programs.without_sources > 0 {
            let links = counted(programs.without_sources, "link");
            text::say(&format!("left out {links} without sources"));
        }
    }
    if summary.missing > 0 {
        let pieces = counted(summary.missing, "piece");
        text::say(&format!("left out {pieces} of memory that the trace does not have"));
    }
    if let Some(untimed) = summary.untimed.filter(|untimed| untimed.frames > 0) {
        let frames = counted(untimed.frames, "frame");
        text::say(&format!("left out {frames}, whose times the trace does not have"));
    }
    if let Some(untimed) = summary.untimed.filter(|untimed| untimed.commands > 0) {
        let commands = counted(untimed.commands, "command");
        let hint = if summary.commands == 0 { "; record with `--timing` to have them" } else { "" };
        text::say(&format!("left out {commands}, whose times the trace does not have{hint}"));
    }
    if summary.unexpressed > 0 {
        let pieces = counted(summary.unexpressed, "piece");
        text::say(&format!("left out {pieces} of memory for which the format has no call"));
    }
}

fn unwritable(args: &Export, error: &io::Error) -> Failure {
    finished_file::writing_failure(&args.output, error)
}
