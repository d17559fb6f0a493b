//! `problems`: lists what a graphics engineer should look at in a trace, as a table or as one JSON object: errors, then
//! warnings, then notes. Problems are an answer, not a failure: the status is 0. A damaged trace is looked at up to the
//! damage, with status 1. With `--frames` what the whole trace lacks is left out, and the whole trace is read nevertheless.

use std::io;
use std::ops::Range;
use std::path::Path;

use clap::Args;
use gapii_analysis::problems::{Finder, Problem, Problems as Found};
use gapii_trace::Info;
use gapii_trace::parallel::{Choice, Work};
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Frames, Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::table::{aligned, and_more};
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

/// Longest text of a driver in the table, in bytes.
const DETAIL_BYTES_MAX: usize = 160;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl problems x.gapii                     errors, warnings and notes, each with its first command
  gapii-ctl problems x.gapii --frames 100..200   those in these frames";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Problems {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Problems) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, args.frames.frames.as_ref(), None)?;
    let found = find(path, &mut reader, args.frames.frames.as_ref())?;
    match args.json.json {
        true => text::print_json(&found)?,
        false => text::print(|out| write!(out, "{}", describe(&found)))?,
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Returns the problems of a trace, or those in some frames of it.
pub fn find(
    path: &Path,
    reader: &mut Reader,
    frames: Option<&Range<u64>>,
) -> Result<Found, Failure> {
    let info = Info::of(reader).map_err(|error| unreadable(path, &error))?;
    let wanted = frames.cloned().unwrap_or(0..u64::MAX);
    let mut finder = Finder::within(wanted).of_filtered_trace(!info.filter.is_empty());
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    // One worker: problems of a command depend on those before it.
    let look = |work: Work<'_>| work.commands().for_each(|command| finder.look(&command));
    let looked: io::Result<()> = commands.in_parallel(
        vec![look],
        |_, _| Choice::Take,
        |(), read| {
            progress.add(read);
            Ok(())
        },
    );
    progress.clear();
    looked.map_err(|error| unreadable(path, &error))?;
    if frames.is_none() {
        finder.note_losses(&info);
    }
    Ok(finder.finish())
}

fn describe(found: &Found) -> String {
    if found.problems.is_empty() {
        return "no problem found\n".to_owned();
    }
    let head = ["SEVERITY", "COUNT", "FRAMES", "SEQ", "THREAD", "PROBLEM"].map(str::to_owned);
    let rows = found.problems.iter().map(row);
    let counts = [
        counted(found.errors, "error"),
        counted(found.warnings, "warning"),
        counted(found.notes, "note"),
    ];
    let table = aligned(std::iter::once(head).chain(rows));
    format!("{}\n\n{table}{}", counts.join(", "), and_more(found.left_out))
}

fn row(problem: &Problem) -> [String; 6] {
    let or_none = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    let frames = problem.frame.map(|first| match problem.last_frame {
        Some(last) if last != first => format!("{first}..{}", last.saturating_add(1)),
        _ => first.to_string(),
    });
    let seq = problem.seq.map(|seq| match problem.since {
        Some(since) if since != seq => format!("{since}..{}", seq.saturating_add(1)),
        _ => seq.to_string(),
    });
    let wasted = problem.bytes.map(|bytes| format!("; {} in vain", DecimalBytes(bytes)));
    let detail = problem.detail.clone().map(|detail| format!(": {}", detail.cut(DETAIL_BYTES_MAX)));
    [
        problem.severity.to_string(),
        HumanCount(problem.count).to_string(),
        or_none(frames),
        or_none(seq),
        or_none(problem.tid.map(|tid| tid.to_string())),
        format!("{}{}{}", problem.sentence, detail.unwrap_or_default(), wasted.unwrap_or_default()),
    ]
}
