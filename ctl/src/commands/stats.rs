//! `stats`: what a trace consists of, as a table or as one JSON object.

use std::cmp::Reverse;

use clap::Args;
use gapii_analysis::stats::{Counter, FrameStats, FunctionStats, Stats as TraceStats};
use gapii_protocol::trace::Info;
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Stats {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Stats) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    let mut counter = Counter::default();
    while let Some(command) = commands.next_command().map_err(|error| unreadable(path, &error))? {
        counter.count(&command);
        progress.step();
    }
    progress.clear();
    let stats = counter.finish();
    match args.json.json {
        true => text::print_json(&stats)?,
        false => text::print(|out| write!(out, "{}", describe(&stats)))?,
    }
    trace_file::judge_tail(path, commands.tail())?;
    Ok(0)
}

fn describe(stats: &TraceStats) -> String {
    let mut text = aligned(summary(stats).into_iter());
    text.push('\n');
    let mut functions: Vec<&FunctionStats> = stats.functions.iter().collect();
    functions.sort_by_key(|function| Reverse(function.commands));
    let head = ["FUNCTION", "COMMANDS", "READ", "WRITTEN", "REDUNDANT"].map(str::to_owned);
    text + &aligned(std::iter::once(head).chain(functions.into_iter().map(function_row)))
}

fn summary(stats: &TraceStats) -> Vec<[String; 2]> {
    let row = |name: &str, value: String| [name.to_owned(), value];
    let frames = &stats.frames;
    let mut rows = vec![
        row("commands", format!("{} in {}", HumanCount(stats.commands), counted_frames(frames))),
        row("a frame", spread(frames, |frame| frame.commands)),
        row(
            "draws",
            format!("{}; a frame {}", HumanCount(stats.draws), spread(frames, |f| f.draws)),
        ),
        row("dispatches", HumanCount(stats.dispatches).to_string()),
        row(
            "uploaded",
            format!(
                "{} to buffers and textures, {} by draws from client memory",
                DecimalBytes(stats.uploaded_bytes),
                DecimalBytes(stats.client_bytes)
            ),
        ),
        row("read back", DecimalBytes(stats.read_back_bytes).to_string()),
        row(
            "state",
            format!(
                "{}, {} of them to what it was already",
                counted(stats.state_changes, "change"),
                HumanCount(stats.redundant_changes)
            ),
        ),
    ];
    rows.extend(stats.threads.iter().map(|thread| {
        let commands = counted(thread.commands, "command");
        row("thread", format!("{}: {commands}, {}", thread.tid, counted(thread.draws, "draw")))
    }));
    rows
}

fn counted_frames(frames: &[FrameStats]) -> String {
    counted(frames.len() as u64, "frame")
}

/// Least, middle and most of a figure over the frames.
fn spread(frames: &[FrameStats], figure: impl Fn(&FrameStats) -> u64) -> String {
    let mut figures: Vec<u64> = frames.iter().map(figure).collect();
    figures.sort_unstable();
    match (figures.first(), figures.get(figures.len() / 2), figures.last()) {
        (Some(least), Some(middle), Some(most)) => format!(
            "{} to {}, half of them up to {}",
            HumanCount(*least),
            HumanCount(*most),
            HumanCount(*middle)
        ),
        _ => "0".to_owned(),
    }
}

fn function_row(function: &FunctionStats) -> [String; 5] {
    let bytes = |bytes: u64| match bytes {
        0 => "-".to_owned(),
        bytes => DecimalBytes(bytes).to_string(),
    };
    let redundant = match function.redundant {
        0 => "-".to_owned(),
        count => HumanCount(count).to_string(),
    };
    [
        function.name.clone(),
        HumanCount(function.commands).to_string(),
        bytes(function.read_bytes),
        bytes(function.written_bytes),
        redundant,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_by_how_often_they_occur() {
        let function = |name: &str, commands| FunctionStats {
            name: name.to_owned(),
            commands,
            ..FunctionStats::default()
        };
        let stats = TraceStats {
            functions: vec![function("glClear", 2), function("glFlush", 30)],
            ..TraceStats::default()
        };
        let text = describe(&stats);
        assert!(text.find("glFlush") < text.find("glClear"), "{text}");
    }

    #[test]
    fn spread_has_least_middle_and_most() {
        let frame = |commands| FrameStats { commands, ..FrameStats::default() };
        let frames = [frame(9), frame(1), frame(4)];
        assert_eq!(spread(&frames, |frame| frame.commands), "1 to 9, half of them up to 4");
        assert_eq!(spread(&[], |frame| frame.commands), "0");
    }
}
