//! The rows of a trace in each table, in the order of the columns (schema.rs).

use std::collections::BTreeMap;

use gapii_analysis::examiner::Examined;
use gapii_analysis::object_lives::ObjectLife;
use gapii_analysis::problems::Problem;
use gapii_analysis::stats::{self, Durations, FrameStats, FunctionStats};
use gapii_trace::clock::TraceClock;
use gapii_trace::{Command, Info, Recorded, Untrusted};

use crate::columns::Cell;

/// Longest text of a cell, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// What a trace is known by before its commands are read.
pub struct About<'a> {
    /// Its digest.
    pub trace: &'a str,
    pub file: &'a str,
    pub info: &'a Info,
    pub recorded: &'a Recorded,
    pub command_line: &'a [Untrusted],
    pub tags: &'a [(String, String)],
}

/// When a frame ended, and how long it took, by process and number.
pub type FrameTimes = BTreeMap<(u32, u64), FrameTime>;

/// When a frame ended, in nanoseconds of `CLOCK_MONOTONIC`, and how long it took.
pub struct FrameTime {
    pub end_ns: u64,
    pub duration_ns: Option<u64>,
}

/// The row of the table `traces`.
pub fn trace<'a>(
    about: &About<'a>,
    damage: Option<&'a str>,
    examined: &'a Examined,
) -> [Cell<'a>; 45] {
    let About { trace, file, info, recorded, command_line, tags } = *about;
    let Examined { stats, problems, graphics, objects_left_out } = examined;
    let process = info.processes.first();
    let driver = graphics.drivers.first();
    let surface = graphics.surface_sizes.first();
    let drivers = graphics.drivers.len() as u64;
    [
        trace.into(),
        file.into(),
        process.map_or("", |process| cut(&process.name)).into(),
        process.map_or("", |process| cut(&process.exe)).into(),
        process.map(|process| process.pid).into(),
        (info.processes.len() as u64).into(),
        info.threads.into(),
        texts(command_line),
        texts(&info.apis),
        driver.and_then(|driver| driver.renderer.as_ref()).map(cut).into(),
        driver.and_then(|driver| driver.version.as_ref()).map(cut).into(),
        drivers.into(),
        surface.map(|surface| surface.width).into(),
        surface.map(|surface| surface.height).into(),
        Cell::Tags(tags),
        recorded.began_unix_ns.map_or(Cell::None, Cell::Moment),
        recorded.duration_ns.into(),
        info.frames.into(),
        stats.commands.into(),
        stats.setup_commands.into(),
        stats.draws.into(),
        stats.dispatches.into(),
        stats.state_changes.into(),
        stats.redundant_changes.into(),
        stats.uploaded_bytes.into(),
        stats.client_bytes.into(),
        stats.read_back_bytes.into(),
        stats.driver.map(|it| it.total_ns).into(),
        stats.gpu.map(|it| it.total_ns).into(),
        info.end_of_stream.reason.map(|reason| reason.name()).into(),
        // Signals are small numbers.
        info.end_of_stream.signal.map(i32::unsigned_abs).into(),
        damage.is_none().into(),
        damage.into(),
        (!info.filter.is_empty()).into(),
        info.anonymised.into(),
        info.lost.calls.into(),
        info.lost.bytes.into(),
        problems.errors.into(),
        problems.warnings.into(),
        problems.notes.into(),
        (*objects_left_out).into(),
        info.file_bytes.into(),
        info.raw_bytes.into(),
        info.format_version.into(),
        cut(&info.writer).into(),
    ]
}

/// The row of a frame in the table `frames`.
pub fn frame<'a>(
    trace: &'a str,
    frame: &FrameStats,
    times: &FrameTimes,
    clock: Option<TraceClock>,
) -> [Cell<'a>; 11] {
    let time = times.get(&(frame.process, frame.frame));
    let ended = time.zip(clock).and_then(|(time, clock)| clock.unix_ns(time.end_ns));
    [
        trace.into(),
        frame.process.into(),
        frame.frame.into(),
        frame.is_complete.into(),
        ended.map_or(Cell::None, Cell::Moment),
        time.and_then(|time| time.duration_ns).into(),
        frame.commands.into(),
        frame.draws.into(),
        frame.uploaded_bytes.into(),
        frame.driver_ns.into(),
        frame.gpu_ns.into(),
    ]
}

/// The row of a function in the table `functions`.
pub fn function<'a>(trace: &'a str, function: &'a FunctionStats) -> [Cell<'a>; 12] {
    let times = |times: Option<Durations>| {
        let commands = times.map_or(0, |it| it.commands);
        [commands.into(), times.map(|it| it.total_ns).into(), times.map(|it| it.max_ns).into()]
    };
    let [driver_commands, driver_ns, driver_max_ns] = times(function.driver);
    let [gpu_commands, gpu_ns, gpu_max_ns] = times(function.gpu);
    [
        trace.into(),
        function.name.as_str().into(),
        function.commands.into(),
        function.read_bytes.into(),
        function.written_bytes.into(),
        function.redundant.into(),
        driver_commands,
        driver_ns,
        driver_max_ns,
        gpu_commands,
        gpu_ns,
        gpu_max_ns,
    ]
}

/// The row of an object in the table `objects`.
pub fn object<'a>(trace: &'a str, object: &ObjectLife) -> [Cell<'a>; 14] {
    [
        trace.into(),
        object.process.into(),
        object.kind.into(),
        object.name.into(),
        object.context.into(),
        object.made.and_then(|made| made.seq).into(),
        object.made.map(|made| made.frame).into(),
        object.is_setup.into(),
        object.deleted.and_then(|deleted| deleted.seq).into(),
        object.deleted.map(|deleted| deleted.frame).into(),
        object.changes.into(),
        object.uploads.into(),
        object.uploaded_bytes.into(),
        object.last_frame.into(),
    ]
}

/// The row of a problem in the table `problems`. `severity` is the name of its severity.
pub fn problem<'a>(trace: &'a str, problem: &'a Problem, severity: &'a str) -> [Cell<'a>; 15] {
    [
        trace.into(),
        problem.kind.name().into(),
        severity.into(),
        cut(&problem.sentence).into(),
        problem.detail.as_ref().map(cut).into(),
        problem.seq.into(),
        problem.since.into(),
        problem.process.into(),
        problem.frame.into(),
        problem.last_frame.into(),
        problem.tid.into(),
        problem.count.into(),
        problem.frames.into(),
        problem.bytes.into(),
        Cell::Numbers(&problem.examples),
    ]
}

/// The row of a command in the table `commands`.
pub fn command<'a>(
    trace: &'a str,
    command: &Command<'a>,
    clock: Option<TraceClock>,
    arguments: Option<&'a str>,
) -> [Cell<'a>; 14] {
    let began = command.begin_ns.zip(clock).and_then(|(ns, clock)| clock.unix_ns(ns));
    let gpu_ns = command.gpu.iter().map(|span| span.duration_ns).reduce(u64::saturating_add);
    [
        trace.into(),
        command.seq.into(),
        command.process.into(),
        command.tid.into(),
        command.frame.into(),
        command.context.into(),
        command.name().into(),
        command.is_setup.into(),
        command.ends_frame.into(),
        began.map_or(Cell::None, Cell::Moment),
        command.driver_ns.into(),
        gpu_ns.into(),
        stats::uploaded_bytes(command).into(),
        arguments.into(),
    ]
}

fn texts(texts: &[Untrusted]) -> Cell<'_> {
    Cell::Texts(texts.iter().map(cut).collect())
}

/// Returns a text, cut to the longest that a cell takes.
fn cut(text: &Untrusted) -> &str {
    let text = text.raw();
    match text.len() <= TEXT_BYTES_MAX {
        true => text,
        false => {
            let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at));
            &text[..end.unwrap_or(0)]
        }
    }
}
