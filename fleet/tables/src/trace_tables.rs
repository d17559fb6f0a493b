//! Writes the tables of one trace, in one pass over its commands. The file of the table `traces` is published last, so that a trace
//! that is in it is in all tables.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gapii_analysis::examiner::{Examined, Examiner};
use gapii_analysis::frame_clock::FrameClock;
use gapii_trace::clock::TraceClock;
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::{Command, FileAt, Info, Recorded, Tail, TraceReader, json};

use crate::output::Output;
use crate::partition::Partition;
use crate::rows::{self, About, FrameTime, FrameTimes};
use crate::schema::{COMMANDS, FRAMES, FUNCTIONS, OBJECTS, PROBLEMS, TABLES, TRACES, Table};
use crate::table_file::{TableFile, Written};

/// Longest text of a command's arguments, in bytes.
const ARGUMENTS_BYTES_MAX: usize = 64 << 10;
/// Commands between two looks at whether to stop.
const COMMANDS_AT_ONCE: u64 = 4096;

/// What is written of each trace.
#[derive(Debug, Default)]
pub struct Wish {
    /// Whether the table `commands` is written.
    pub commands: bool,
    /// Whether it has arguments.
    pub arguments: bool,
    /// What the user says of the traces.
    pub tags: Vec<(String, String)>,
}

/// Writes traces' tables. Threads share it.
pub struct Exporter<'a> {
    pub wish: &'a Wish,
    pub output: &'a Output,
    /// Set once the user wants the program to end.
    pub stop: &'a AtomicBool,
    /// Digests of the traces that are written or being written.
    pub begun: Mutex<BTreeSet<String>>,
}

/// What became of a trace.
#[derive(Debug, Default)]
pub struct Exported {
    /// True if the trace was exported before, under another name.
    pub is_repeated: bool,
    /// Where it is cut or damaged; then its tables have the part before.
    pub damage: Option<String>,
    /// Rows in each table, in the order of [`TABLES`].
    pub rows: [u64; TABLES.len()],
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes of the trace.
    pub trace_bytes: u64,
}

/// Why a trace was not exported.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It is no trace, or cannot be read.
    #[error("{0}")]
    Trace(String),
    /// The tables cannot be written, and so no other trace's.
    #[error("{0}")]
    Output(String),
    /// The user wanted it.
    #[error("stopped, as asked")]
    Stopped,
}

/// A trace whose commands are not read yet.
struct Opened<'a> {
    /// Its path or URL.
    name: &'a str,
    reader: TraceReader<File>,
    /// Its digest.
    trace: String,
    info: Info,
    recorded: Recorded,
    clock: Option<TraceClock>,
    partition: Partition,
}

/// A trace whose commands were read. The files have its objects and commands.
struct Read {
    objects: TableFile,
    commands: Option<TableFile>,
    examined: Examined,
    frame_times: FrameTimes,
    damage: Option<String>,
}

impl Exporter<'_> {
    /// Writes the tables of a trace. `name` is its path or URL.
    ///
    /// # Errors
    /// [`Failure`]. None of the trace's files is published then, unless publishing itself has failed.
    pub fn export(&self, name: &str, file: File) -> Result<Exported, Failure> {
        let mut opened = Opened::of(name, file)?;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !begun.insert(opened.trace.clone()) {
            return Ok(Exported { is_repeated: true, ..Exported::default() });
        }
        drop(begun);
        let read = self.read(&mut opened)?;
        self.write(&opened, read)
    }

    /// Reads the commands.
    fn read(&self, opened: &mut Opened<'_>) -> Result<Read, Failure> {
        let mut objects = self.begin(&OBJECTS, opened)?;
        let mut calls = self.wish.commands.then(|| self.begin(&COMMANDS, opened)).transpose()?;
        let Opened { name, reader, trace, info, clock, .. } = opened;
        let unread = |error: io::Error| unread(name, &error);
        let mut written = Ok(());
        let mut examiner = Examiner::new(!info.filter.is_empty());
        let (mut frame_clock, mut frame_times) = (FrameClock::default(), FrameTimes::new());
        let gpu_times = GpuTimes::of(reader).map_err(unread)?;
        let commands = reader.commands().map_err(unread)?;
        let mut commands = commands.with_gpu_times(gpu_times);
        let mut count = 0_u64;
        while commands.advance().map_err(unread)? {
            // Relaxed: a flag on its own.
            if count.is_multiple_of(COMMANDS_AT_ONCE) && self.stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            count += 1;
            let command = commands.command();
            examiner.look(&command, |life| {
                keep(&mut written, || objects.add(rows::object(trace, &life)));
            });
            let duration_ns = frame_clock.look(&command);
            if let Some(end_ns) = command.frame_end_ns {
                let time = FrameTime { end_ns, duration_ns };
                frame_times.insert((command.process, command.frame), time);
            }
            if let Some(calls) = &mut calls {
                let arguments = self.wish.arguments.then(|| arguments(&command)).flatten();
                let row = rows::command(trace, &command, *clock, arguments.as_deref());
                keep(&mut written, || calls.add(row));
            }
        }
        let damage = match commands.tail() {
            Tail::Complete => info.tail.clone(),
            Tail::Truncated { at } => Some(format!("cut at byte {at}")),
            Tail::Damaged { at, why } => Some(format!("damaged at byte {at}: {why}")),
        };
        let examined = examiner.finish(info, |life| {
            keep(&mut written, || objects.add(rows::object(trace, &life)));
        });
        written.map_err(|error| unwritten(name, &error))?;
        Ok(Read { objects, commands: calls, examined, frame_times, damage })
    }

    /// Writes the other tables, and publishes all.
    fn write(&self, opened: &Opened<'_>, read: Read) -> Result<Exported, Failure> {
        let Read { objects, commands, examined, frame_times, damage } = read;
        let Opened { name, reader, trace, info, recorded, clock, partition } = opened;
        let unwritten = |error: io::Error| unwritten(name, &error);
        let mut frames = self.begin(&FRAMES, opened)?;
        for frame in &examined.stats.frames {
            frames.add(rows::frame(trace, frame, &frame_times, *clock)).map_err(unwritten)?;
        }
        let mut functions = self.begin(&FUNCTIONS, opened)?;
        for function in &examined.stats.functions {
            functions.add(rows::function(trace, function)).map_err(unwritten)?;
        }
        let mut problems = self.begin(&PROBLEMS, opened)?;
        for problem in &examined.problems.problems {
            let severity = problem.severity.to_string();
            problems.add(rows::problem(trace, problem, &severity)).map_err(unwritten)?;
        }
        let mut traces = self.begin(&TRACES, opened)?;
        let command_line = reader.footer().map_or(&[][..], |footer| &footer.options.command);
        let tags = &self.wish.tags;
        let about = About { trace, file: name, info, recorded, command_line, tags };
        traces.add(rows::trace(&about, damage.as_deref(), &examined)).map_err(unwritten)?;

        let files =
            [Some(traces), Some(frames), Some(functions), Some(objects), Some(problems), commands];
        let mut exported = Exported { trace_bytes: info.file_bytes, ..Exported::default() };
        let mut finished = Vec::new();
        for ((file, table), rows) in files.into_iter().zip(TABLES).zip(&mut exported.rows) {
            let Some(file) = file else { continue };
            let Written { draft, rows: count, bytes } = file.finish().map_err(unwritten)?;
            *rows = count;
            exported.files += 1;
            exported.bytes += bytes;
            finished.push((draft, partition.path(table.name, trace)));
        }
        // The table of traces is the first of the list.
        for (draft, path) in finished.into_iter().rev() {
            self.output.publish(draft, &path).map_err(Failure::Output)?;
        }
        Ok(Exported { damage, ..exported })
    }

    fn begin(&self, table: &'static Table, of: &Opened<'_>) -> Result<TableFile, Failure> {
        let path = of.partition.path(table.name, &of.trace);
        let draft = self.output.draft(&path).map_err(Failure::Output)?;
        TableFile::begin(table, &of.trace, draft)
            .map_err(|error| Failure::Output(format!("can't write {path}: {error}")))
    }
}

impl<'a> Opened<'a> {
    fn of(name: &'a str, file: File) -> Result<Self, Failure> {
        let unread = |error: io::Error| unread(name, &error);
        let again = FileAt::of(&file).map_err(unread)?;
        let mut whole = again.again().map_err(unread)?;
        let mut reader =
            TraceReader::open(file).map_err(|error| Failure::Trace(format!("{name}: {error}")))?;
        reader.decode_ahead(Box::new(move || Some(Box::new(again.again().ok()?))));
        let digest = match reader.identity().map_err(unread)? {
            Some(identity) => identity,
            // It is cut: of all its bytes.
            None => {
                let mut hasher = blake3::Hasher::new();
                hasher.update_reader(&mut whole).map_err(unread)?;
                *hasher.finalize().as_bytes()
            }
        };
        let trace = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let info = Info::of(&mut reader).map_err(unread)?;
        let recorded = Recorded::of(&mut reader).map_err(unread)?;
        let clock = TraceClock::of(reader.header(), reader.footer());
        let partition = Partition::of(reader.header());
        Ok(Self { name, reader, trace, info, recorded, clock, partition })
    }
}

fn unread(name: &str, error: &io::Error) -> Failure {
    Failure::Trace(format!("can't read {name}: {error}"))
}

fn unwritten(name: &str, error: &io::Error) -> Failure {
    Failure::Output(format!("can't write the tables of {name}: {error}"))
}

/// Does the next thing unless something has failed.
fn keep(so_far: &mut io::Result<()>, next: impl FnOnce() -> io::Result<()>) {
    if so_far.is_ok() {
        *so_far = next();
    }
}

/// Returns the arguments of a command as JSON; `None` if they are too long.
fn arguments(command: &Command<'_>) -> Option<String> {
    let mut text = Vec::new();
    json::append_args(command, &mut text).ok()?;
    String::from_utf8(text).ok().filter(|text| text.len() <= ARGUMENTS_BYTES_MAX)
}
