//! `frames`: lists the frames of a trace, with the number of the command that ended each. Frames of several processes are in
//! the order in which they ended. Read from the index; a trace whose index lacks these numbers, or that has no index, is read
//! whole. Status 1 if it has no frame.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use clap::Args;
use gapii_trace::{Command, Info};
use indicatif::HumanCount;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Json, Trace, one_or_more};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::table::aligned;
use crate::text;
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl frames x.gapii --sort commands --top 10         the ten frames with the most commands
  gapii-ctl frames x.gapii --json                           all frames, for a program";

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
}

pub fn run(args: &Frames) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let first_seq = reader.header().kept.map_or(0, |kept| kept.seq);
    let end_seq = first_seq.saturating_add(info.calls);
    let mut frames = of_commands(args, &mut reader, &info, first_seq)?;
    let has_none = frames.is_empty();
    match args.sort {
        None => {}
        Some(Sort::Commands) => frames.sort_by_key(|frame| Reverse(frame.commands)),
    }
    frames.truncate(args.top.map_or(usize::MAX, NonZeroUsize::get));
    match args.json.json {
        true => text::print_json(&Answer { first_seq, end_seq, frames })?,
        false => text::print(|out| write!(out, "{}", aligned(rows(&frames))))?,
    }
    trace_file::judge_tail(path, reader.tail())?;
    match has_none {
        true => Err(trace_file::no_such_frame(path, &[])),
        false => Ok(0),
    }
}

/// Finds the ends of frames among all commands.
fn of_commands(
    args: &Frames,
    reader: &mut Reader,
    info: &Info,
    first_seq: u64,
) -> Result<Vec<Frame>, Failure> {
    let path = &args.trace.trace;
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    let (mut frames, mut begun) = (Vec::new(), first_seq);
    while commands.advance().map_err(|error| unreadable(path, &error))? {
        progress.step();
        let command = commands.command();
        let Some(seq) = command.seq.filter(|_| command.ends_frame) else { continue };
        let end = seq.saturating_add(1);
        let Command { process, frame, .. } = command;
        frames.push(Frame { process, frame, seq, commands: end.saturating_sub(begun) });
        begun = end;
    }
    progress.clear();
    Ok(frames)
}

fn rows(frames: &[Frame]) -> impl Iterator<Item = [String; 4]> {
    let head = ["FRAME", "PROCESS", "SEQ", "COMMANDS"].map(str::to_owned);
    let row = |frame: &Frame| {
        let Frame { process, frame, seq, commands } = frame;
        [frame.to_string(), process.to_string(), seq.to_string(), HumanCount(*commands).to_string()]
    };
    std::iter::once(head).chain(frames.iter().map(row))
}
