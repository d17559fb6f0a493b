//! `info`: summarizes a trace in a few lines or one JSON object. A cut or damaged trace is summarized up to that place,
//! with status 1; its losses and waits are not known. Drivers and sizes of surfaces are looked for in the first blocks,
//! up to 32 MiB of records; a trace with `--gpu-timing` is read whole.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use clap::Args;
use gapii_abi::atom::{GpuTimesKind, Seam};
use gapii_analysis::frame_guess::FrameGuess;
use gapii_analysis::graphics::{Driver, Graphics, Size, Viewer};
use gapii_trace::clock::TraceClock;
use gapii_trace::footer::{LevelUse, Lost, ProcessEntry};
use gapii_trace::frame::Variety;
use gapii_trace::gpu_times::{GpuNote, GpuTimes};
use gapii_trace::{Info as TraceInfo, Recorded, Untrusted};
use indicatif::DecimalBytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::local_time;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

#[derive(Args, Debug)]
pub struct Info {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    json: Json,
}

/// Summary of a trace.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    #[serde(flatten)]
    info: TraceInfo,
    /// When the trace was recorded.
    recorded: Recorded,
    /// When the capture began, in nanoseconds of the trace's clock.
    #[serde(skip)]
    began_ns: u64,
    /// Times without a daemon, in the order of `seams`, in nanoseconds of Unix time; null where the trace does not have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seams_unix_ns: Vec<Period>,
    /// Bytes of the file's header and descriptions of the functions that occur in the trace.
    header_bytes: u64,
    /// Bytes of the file other than `header_bytes`, for each frame; `None` without a frame.
    bytes_per_frame: Option<u64>,
    #[serde(flatten)]
    graphics: Graphics,
    /// Where frames may end; null if the trace has frames, or if no command was found at which they would.
    frame_guess: Option<FrameGuess>,
    /// Times on the GPU; null unless the trace was recorded with `--gpu-timing`.
    gpu_times: Option<GpuSummary>,
}

/// A period of time.
#[derive(Serialize, JsonSchema)]
pub struct Period {
    /// Its begin.
    from: Option<u64>,
    /// Its end.
    to: Option<u64>,
}

/// Times on the GPU in a trace.
#[derive(Serialize, JsonSchema)]
pub struct GpuSummary {
    /// Commands with times.
    commands: u64,
    /// Their times: several of a command in a list that was executed several times.
    times: u64,
    /// What the trace says of commands without times, in its order.
    without: Vec<GpuWithout>,
}

/// Commands without times on the GPU.
#[derive(Serialize, JsonSchema)]
pub struct GpuWithout {
    /// Index of the process in the trace.
    process: u32,
    /// Handle of the context; of Level Zero that of the command list.
    context: u64,
    /// Why they have none: `disjoint` (the GPU's clock was interrupted), `full` (too many results were missing), `lost` (a list was
    /// executed again, emptied or destroyed before the results were there), `earlier` (they were in the list before the capture),
    /// or for all later commands of the context or list `no_extension`, `no_counter`, `own_queries` (the program uses timer queries
    /// itself), `own_commands` (the program numbers or clones the list's commands, or makes a graph of them) or `unknown_list` (the
    /// shim does not know the list).
    reason: &'static str,
    /// Number of the commands, as far as it is known.
    commands: u32,
    /// For `disjoint`, when the GPU was last asked before, in nanoseconds of `CLOCK_MONOTONIC`; otherwise null.
    from_ns: Option<u64>,
    /// For `disjoint`, when the GPU was asked; otherwise null.
    to_ns: Option<u64>,
}

impl GpuSummary {
    fn of(times: &GpuTimes) -> Self {
        let without = |note: &GpuNote| {
            let [from_ns, to_ns] =
                note.period_ns.map(|ns| (note.kind == GpuTimesKind::Disjoint).then_some(ns));
            let GpuNote { process, context, commands, .. } = *note;
            GpuWithout { process, context, reason: note.kind.name(), commands, from_ns, to_ns }
        };
        Self {
            commands: times.commands(),
            times: times.times(),
            without: times.notes().iter().map(without).collect(),
        }
    }

    /// One line on the times, and one for each reason why commands have none.
    fn lines(&self) -> Vec<String> {
        let mut reasons: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for without in &self.without {
            let (times, commands) = reasons.entry(without.reason).or_default();
            *times += 1;
            *commands += u64::from(without.commands);
        }
        let timed = counted(self.commands, "command");
        let mut line = format!("gpu        {timed} with times on the GPU");
        if self.times > self.commands {
            line += &format!(", {} with those of lists", counted(self.times, "execution"));
        }
        let mut lines = vec![line];
        lines.extend(reasons.into_iter().map(|(reason, (times, commands))| {
            let commands = counted(commands, "command");
            match reason {
                "disjoint" => {
                    let periods = counted(times, "interruption");
                    format!("gpu        {periods} of the GPU's clock: {commands} without times")
                }
                "full" => format!("gpu        too many missing results: {commands} without times"),
                "lost" => {
                    let executions = counted(times, "execution");
                    format!(
                        "gpu        no results of {executions} of lists: {commands} without times"
                    )
                }
                "earlier" => {
                    format!("gpu        in lists before the capture: {commands} without times")
                }
                reason => {
                    // Without a counter: contexts and lists.
                    let place = match reason {
                        "own_commands" | "unknown_list" => "list",
                        "no_counter" => "place",
                        _ => "context",
                    };
                    format!("gpu        {} without times: {reason}", counted(times, place))
                }
            }
        }));
        lines
    }
}

pub fn run(args: &Info) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let answer = Answer::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    if args.json.json {
        text::print_json(&answer)?;
    } else {
        text::print(|out| write!(out, "{}", answer.describe()))?;
    }
    match answer.info.tail {
        None => Ok(0),
        Some(tail) => {
            let name = path.display();
            Err(Failure::answer(format!(
                "{name} is {tail}; the summary covers the part before that"
            )))
        }
    }
}

impl Answer {
    fn of(reader: &mut Reader) -> io::Result<Answer> {
        let info = TraceInfo::of(reader)?;
        let recorded = Recorded::of(reader)?;
        let header_bytes = reader.header_bytes();
        let bytes_per_frame = info.file_bytes.saturating_sub(header_bytes).checked_div(info.frames);
        let graphics = graphics(reader)?;
        let gpu_times = GpuTimes::of(reader)?.as_ref().map(GpuSummary::of);
        let frame_guess = match info.frames {
            0 => trace_file::guess_frames(reader)?,
            _ => None,
        };
        let clock = TraceClock::of(reader.header(), reader.footer());
        let unix_ns = |ns| clock.and_then(|clock| clock.unix_ns(ns));
        let period = |seam: &Seam| Period { from: unix_ns(seam.from_ns), to: unix_ns(seam.to_ns) };
        let seams_unix_ns = info.seams.iter().map(period).collect();
        let began_ns = reader.header().started_ns;
        Ok(Answer {
            frame_guess,
            info,
            recorded,
            began_ns,
            seams_unix_ns,
            header_bytes,
            bytes_per_frame,
            graphics,
            gpu_times,
        })
    }

    /// Says which commands end frames, if not swaps; in a trace without frames, which may.
    fn frame_ends(&self) -> String {
        match (&self.frame_guess, &self.info.frame_rule) {
            (Some(guess), _) => format!("; {guess}"),
            (None, rule) if !rule.is_empty() => format!(", which end at {rule}"),
            _ => String::new(),
        }
    }

    fn describe(&self) -> String {
        let Answer { info, .. } = self;
        let per_frame =
            self.bytes_per_frame.map(|bytes| format!("; {} a frame", DecimalBytes(bytes)));
        let mut lines = vec![
            format!("frames     {}{}", info.frames, self.frame_ends()),
            format!(
                "commands   {} of {}{}",
                info.calls,
                counted(info.threads, "thread"),
                if info.snapshot {
                    ", with those that set up the state it begins with (`stats` counts them apart)"
                } else {
                    ""
                }
            ),
            format!(
                "bytes      {} in {} ({} of them describe commands), {}{}",
                DecimalBytes(info.raw_bytes),
                DecimalBytes(info.file_bytes),
                DecimalBytes(self.header_bytes),
                counted(info.blocks, "block"),
                per_frame.unwrap_or_default()
            ),
            format!(
                "memory     {} observed; {} of {}, {} saved",
                DecimalBytes(info.memory.totals.observed_bytes),
                counted(info.memory.totals.blobs, "blob"),
                DecimalBytes(info.memory.totals.blob_bytes),
                DecimalBytes(info.memory.saved_bytes),
            ),
            format!("zstd       {}", levels(&info.levels)),
            format!("apis       {}", listed(&info.apis)),
            format!(
                "begins     {}",
                match info.snapshot {
                    true => format!(
                        "with a snapshot, for which a thread was held {:.1?}",
                        Duration::from_micros(info.held_us)
                    ),
                    false => "without snapshot".to_owned(),
                }
            ),
            format!("ended      {}", ending(info)),
            format!("waits      {}", waits(info)),
            format!("lost       {}", losses(info)),
            format!("written by {}, format {}", info.writer, format_named(info.format_version)),
        ];
        lines.splice(0..0, recorded_line(&self.recorded, &info.host));
        lines.extend(surfaces_line(&self.graphics.surface_sizes));
        lines.extend(self.graphics.drivers.iter().map(driver_line));
        lines.extend(self.gpu_times.iter().flat_map(GpuSummary::lines));
        lines.extend(peculiarities(info, self.began_ns));
        lines.join("\n") + "\n"
    }
}

/// Returns the drivers and sizes of surfaces that the first blocks tell of.
fn graphics(reader: &mut Reader) -> io::Result<Graphics> {
    let mut viewer = Viewer::default();
    trace_file::look_at_beginning(reader, |command| viewer.look(command))?;
    Ok(viewer.finish())
}

/// The lines that only some traces have.
fn peculiarities(info: &TraceInfo, began_ns: u64) -> Vec<String> {
    let mut lines = Vec::new();
    if info.anonymised {
        lines.push(
            "anonymised texts, memory and names are noise (`gapii-ctl anonymise`)".to_owned(),
        );
    }
    if !info.filter.is_empty() {
        let kept = if info.frame_rule.is_empty() { "swaps" } else { "ends of frames" };
        lines.push(format!("filtered   only {}, and {kept}", info.filter));
    }
    if info.reentrant_calls > 0 {
        let commands = counted(info.reentrant_calls, "command");
        lines
            .push(format!("inside     {commands} that other commands called are not in the trace"));
    }
    if info.foreign_calls > 0 {
        let commands = counted(info.foreign_calls, "command");
        lines.push(format!(
            "foreign    {commands} of OpenGL without a recorded context are not in the trace"
        ));
    }
    if info.memory.totals.incomplete > 0 {
        let draws = counted(info.memory.totals.incomplete, "draw");
        lines.push(format!(
            "incomplete {draws} without vertices, because their indices are unknown"
        ));
    }
    if info.set_back_ns > 0 {
        let back = Duration::from_nanos(info.set_back_ns);
        lines.push(format!(
            "clock      was set back by {back:.1?} during the capture; times of commands come from another clock"
        ));
    }
    lines.extend(info.seams.iter().map(|seam| seam_line(seam, began_ns)));
    lines.extend(info.missing.iter().map(|sentence| format!("missing    {sentence}")));
    lines.extend(info.processes.iter().map(process_line));
    lines.extend(
        info.end_of_stream
            .in_flight
            .iter()
            .map(|command| format!("in flight  {} of thread {}", command.name, command.tid)),
    );
    lines
}

fn recorded_line(recorded: &Recorded, host: &Untrusted) -> Option<String> {
    let began =
        recorded.began_unix_ns.map(|unix_ns| local_time::day_and_time(unix_ns / 1_000_000_000));
    let least = if recorded.is_least { "at least " } else { "" };
    // A trace of one block that is cut does not tell how long it lasted.
    let duration = recorded.duration_ns.filter(|ns| *ns > 0);
    let duration = duration.map(Duration::from_nanos);
    let duration = duration.map(|duration| format!("for {least}{duration:.1?}"));
    let host = (!host.is_empty()).then(|| format!("on {host}"));
    let parts: Vec<_> = began.into_iter().chain(duration).chain(host).collect();
    (!parts.is_empty()).then(|| format!("recorded   {}", parts.join(", ")))
}

/// `None` if the trace tells no size.
fn surfaces_line(sizes: &[Size]) -> Option<String> {
    let sizes: Vec<_> =
        sizes.iter().map(|size| format!("{} x {}", size.width, size.height)).collect();
    (!sizes.is_empty()).then(|| format!("surfaces   {}", sizes.join(", ")))
}

fn driver_line(driver: &Driver) -> String {
    let answers = driver.renderer.iter().chain(&driver.version);
    let answers: Vec<_> = answers.map(Untrusted::to_string).collect();
    format!("driver     {}", answers.join("; "))
}

/// A trace without a footer does not have the threads' counts.
fn waits(info: &TraceInfo) -> String {
    match info.lost_is_known {
        true if info.waits > 0 => format!(
            "{} ({:.1?}); `threads` says when",
            info.waits,
            Duration::from_nanos(info.wait_ns)
        ),
        true => "0".to_owned(),
        false => not_known(info),
    }
}

/// A trace without a footer has the losses that its threads could record, and no others.
fn losses(info: &TraceInfo) -> String {
    let lost = &info.lost;
    let known =
        format!("{}, {}{}", counted(lost.calls, "command"), DecimalBytes(lost.bytes), causes(info));
    match (info.lost_is_known, lost.records) {
        (true, _) => known,
        (false, 0) => not_known(info),
        (false, _) => format!("{}; before that {known}", not_known(info)),
    }
}

/// Says why the trace does not have what its footer would have.
fn not_known(info: &TraceInfo) -> String {
    let is_cut = info.tail.as_ref().is_some_and(|tail| tail.starts_with("cut"));
    format!("not known: the trace is {}", if is_cut { "cut off" } else { "damaged" })
}

fn listed(texts: &[Untrusted]) -> String {
    texts.iter().map(Untrusted::to_string).collect::<Vec<_>>().join(", ")
}

/// The causes of losses, each with its number of records.
fn causes(info: &TraceInfo) -> String {
    let cause =
        |(name, lost): (&String, &Lost)| format!("{name} {}", counted(lost.records, "record"));
    let causes: Vec<_> = info.lost_by_cause.iter().map(cause).collect();
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) }
}

/// AT is the time since the capture began, as in `gapii-ctl threads`.
fn seam_line(seam: &Seam, began_ns: u64) -> String {
    let away = Duration::from_nanos(seam.away_ns());
    let at = Duration::from_nanos(seam.from_ns.saturating_sub(began_ns));
    let absent = match seam.absent {
        0 => String::new(),
        count => format!(", {} did not come back", counted(count.into(), "program")),
    };
    format!("seam       {away:.1?} without a daemon, at {:.6} s{absent}", at.as_secs_f64())
}

fn process_line(process: &ProcessEntry) -> String {
    let name = if process.exe.is_empty() { &process.name } else { &process.exe };
    format!("process    {} {name}, {}", process.pid, counted(process.frames, "frame"))
}

fn ending(info: &TraceInfo) -> String {
    let end = &info.end_of_stream;
    let reason = match end.reason {
        Some(reason) => reason.name(),
        None => return not_known(info),
    };
    let signal = end.signal.map(|signal| format!(", signal {signal}")).unwrap_or_default();
    format!("{reason}{signal}")
}

/// Lists the levels of compression, the most used first.
fn levels(levels: &[LevelUse]) -> String {
    let mut levels: Vec<&LevelUse> = levels.iter().collect();
    levels.sort_by_key(|used| std::cmp::Reverse(used.raw_bytes));
    match levels[..] {
        [] => "levels not known".to_owned(),
        [only] => format!("level {}", only.level),
        [..] => {
            let each = levels
                .iter()
                .map(|used| format!("level {} for {}", used.level, DecimalBytes(used.raw_bytes)));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Names a format version by what its traces may have.
fn format_named(version: u32) -> String {
    match Variety::of(version) {
        Variety::Timed => format!("{version} (with times of the driver)"),
        Variety::Kept => format!("{version} (saved frames)"),
        Variety::Untimed => version.to_string(),
    }
}
