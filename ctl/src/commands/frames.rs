//! `frames`: lists the frames of a trace, with the number of the command that ended each, and how long it took. Frames of
//! several processes are in the order in which they ended. Read from the index; a trace whose index lacks these numbers, or
//! that has no index, is read whole, as is a trace with `--gpu-timing`. Older traces have no times. Status 1 if the trace has no frame.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use gapii_trace::Info;
use gapii_trace::gpu_times::GpuTimes;
use gapii_trace::index::FrameEnd;
use indicatif::HumanCount;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Json, Trace, one_or_more};
use crate::failure::Failure;
use crate::frame_ends;
use crate::table::aligned;
use crate::text;
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl frames x.gapii --sort duration --top 10    the ten longest frames
  gapii-ctl frames x.gapii --json                      all frames, for a program";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Frames {
    #[command(flatten)]
    trace: Trace,

    /// Order of the list [default: the order in which the frames ended]
    #[arg(long, value_enum, value_name = "BY")]
    sort: Option<Sort>,

    /// List only the first N frames of the order that --sort gives
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroUsize>)]
    top: Option<NonZeroUsize>,

    #[command(flatten)]
    json: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// The longest first
    Duration,
    /// The most commands first
    Commands,
}

/// Frames of a trace.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Number of the first command of the trace.
    first_seq: u64,
    /// Number behind the last command of the trace.
    end_seq: u64,
    /// The frames.
    frames: Vec<Frame>,
}

/// A frame that ended.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Frame {
    /// Index of the process in the trace.
    process: u32,
    /// Number of the frame, from 0.
    frame: u64,
    /// Number of the command that ended it.
    seq: u64,
    /// Commands since the frame before, of all processes.
    commands: u64,
    /// When it ended, in nanoseconds of `CLOCK_MONOTONIC`; null if the trace does not have the time.
    time_ns: Option<u64>,
    /// Nanoseconds since the frame of the process before; null for the first one, and without times.
    duration_ns: Option<u64>,
    /// Nanoseconds that the GPU took for the commands that were called in this frame; null if none has a time there.
    gpu_ns: Option<u64>,
}

pub fn run(args: &Frames) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let first_seq = reader.header().kept.map_or(0, |kept| kept.seq);
    let end_seq = first_seq.saturating_add(info.calls);
    let ends = frame_ends::of(path, &mut reader, &info)?;
    let mut frames = frames_of(&ends, first_seq);
    let gpu_times = GpuTimes::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let has_gpu_times = gpu_times.is_some();
    if let Some(times) = gpu_times {
        add_gpu_times(&mut frames, &times);
    }
    let has_none = frames.is_empty();
    match args.sort {
        None => {}
        Some(Sort::Duration) => frames.sort_by_key(|frame| Reverse(frame.duration_ns)),
        Some(Sort::Commands) => frames.sort_by_key(|frame| Reverse(frame.commands)),
    }
    frames.truncate(args.top.map_or(usize::MAX, NonZeroUsize::get));
    match args.json.json {
        true => text::print_json(&Answer { first_seq, end_seq, frames })?,
        false if has_none => {}
        false => {
            let began_ns = reader.header().started_ns;
            let rows = rows(&frames, began_ns);
            text::print(|out| match has_gpu_times {
                true => write!(out, "{}", aligned(rows)),
                false => write!(out, "{}", aligned(rows.map(|[row @ .., _]: [_; 7]| row))),
            })?;
        }
    }
    trace_file::judge_tail(path, reader.tail())?;
    match has_none {
        true => Err(trace_file::no_such_frame(path, &mut reader, &[])),
        false => Ok(0),
    }
}

fn frames_of(ends: &[FrameEnd], first_seq: u64) -> Vec<Frame> {
    let mut begun = first_seq;
    let mut before = BTreeMap::new();
    let frame = |end: &FrameEnd| {
        let FrameEnd { process, frame, time_ns, .. } = *end;
        let seq = end.seq?;
        let commands = seq.saturating_add(1).saturating_sub(begun);
        begun = seq.saturating_add(1);
        let last_ns = time_ns.and_then(|time_ns| before.insert(process, time_ns));
        let duration_ns = time_ns.zip(last_ns).map(|(end, begin)| end.saturating_sub(begin));
        Some(Frame { process, frame, seq, commands, time_ns, duration_ns, gpu_ns: None })
    };
    ends.iter().filter_map(frame).collect()
}

/// Adds the times on the GPU of a process' commands to the frames in which the driver was called for them, or for the execution
/// of their lists.
fn add_gpu_times(frames: &mut [Frame], times: &GpuTimes) {
    let mut ends: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
    for (at, frame) in frames.iter().enumerate() {
        if let Some(time_ns) = frame.time_ns {
            ends.entry(frame.process).or_default().push((time_ns, at));
        }
    }
    for (process, mut ends) in ends {
        ends.sort_unstable();
        for (called_ns, span) in times.spans_of(process) {
            let at_ns = span.submitted_ns.unwrap_or(called_ns);
            let next = ends.partition_point(|(end_ns, _)| *end_ns < at_ns);
            if let Some((_, at)) = ends.get(next) {
                let gpu_ns = frames[*at].gpu_ns.get_or_insert(0);
                *gpu_ns = gpu_ns.saturating_add(span.duration_ns);
            }
        }
    }
}

/// END is the time since the capture began.
fn rows(frames: &[Frame], began_ns: u64) -> impl Iterator<Item = [String; 7]> + '_ {
    let head = ["FRAME", "PROCESS", "SEQ", "COMMANDS", "END", "DURATION", "GPU"].map(str::to_owned);
    let row = move |frame: &Frame| {
        let Frame { process, frame, seq, commands, time_ns, duration_ns, gpu_ns } = *frame;
        let seconds = |ns: u64| format!("{:.6} s", Duration::from_nanos(ns).as_secs_f64());
        let milliseconds = |ns: u64| format!("{:.3} ms", ns as f64 / 1e6);
        let end = time_ns.map(|ns| seconds(ns.saturating_sub(began_ns)));
        let unknown = || "-".to_owned();
        [
            frame.to_string(),
            process.to_string(),
            seq.to_string(),
            HumanCount(commands).to_string(),
            end.unwrap_or_else(unknown),
            duration_ns.map_or_else(unknown, milliseconds),
            gpu_ns.map_or_else(unknown, milliseconds),
        ]
    };
    std::iter::once(head).chain(frames.iter().map(row))
}
