//! `threads`: lists the threads of a trace with the frames in which they were active, and what happened: holds, waits, gaps,
//! keyframes, and marks of the program. Reads the whole trace. Lists the first events only, and says how many more there are.
//! Status 1 if the trace has no command.

use std::time::Duration;

use clap::Args;
use gapii_analysis::activity::{Activity, Counter, Happening, ThreadActivity};
use gapii_trace::Info;
use gapii_trace::clock::TraceClock;
use indicatif::HumanCount;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl threads x.gapii                  the threads, and what happened to them
  gapii-ctl threads x.gapii --json           also the frames in which each was active";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Threads {
    #[command(flatten)]
    trace: Trace,

    /// Most events, and most marks of the program, that are listed
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    events: usize,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Threads) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let began_ns = reader.header().started_ns;
    let clock = TraceClock::of(reader.header(), reader.footer());
    let mut progress = ReadingProgress::start(info.calls);
    let commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut commands = commands.with_events();
    let mut counter = Counter::keeping(args.events);
    while commands.advance().map_err(|error| unreadable(path, &error))? {
        progress.step();
        commands.drain_events().for_each(|event| counter.event(&event));
        counter.command(&commands.command());
    }
    commands.drain_events().for_each(|event| counter.event(&event));
    progress.clear();
    let activity = counter.finish(commands.assembler().tracker(), clock.as_ref());
    match args.json.json {
        true => text::print_json(&activity)?,
        false => text::print(|out| write!(out, "{}", describe(&activity, began_ns)))?,
    }
    let is_empty = activity.threads.iter().all(|thread| thread.commands == 0);
    trace_file::judge_tail(path, reader.tail())?;
    match is_empty {
        false => Ok(0),
        true => Err(Failure::no(format!(
            "{0} has no command of a program; `gapii-ctl info {0}` says what it has",
            path.display()
        ))),
    }
}

fn describe(activity: &Activity, began_ns: u64) -> String {
    let mut text = aligned(threads(&activity.threads));
    let lists = [
        ("EVENT", "event", &activity.events, activity.events_left_out),
        ("MARK", "mark", &activity.marks, activity.marks_left_out),
    ];
    for (head, what, list, left_out) in lists.into_iter().filter(|(.., list, _)| !list.is_empty()) {
        text.push('\n');
        text.push_str(&aligned(happenings(head, list, began_ns)));
        if left_out > 0 {
            text.push_str(&format!("{} more\n", counted(left_out, what)));
        }
    }
    text
}

fn threads(threads: &[ThreadActivity]) -> impl Iterator<Item = [String; 6]> {
    let head = ["THREAD", "PROCESS", "TID", "NAME", "COMMANDS", "DRIVER"].map(str::to_owned);
    let row = |thread: &ThreadActivity| {
        [
            thread.thread.to_string(),
            thread.process.to_string(),
            thread.tid.to_string(),
            thread.name.to_string(),
            HumanCount(thread.commands).to_string(),
            milliseconds(thread.driver_ns),
        ]
    };
    std::iter::once(head).chain(threads.iter().map(row))
}

/// AT is the time since the capture began.
fn happenings(head: &str, list: &[Happening], began_ns: u64) -> impl Iterator<Item = [String; 7]> {
    let head = [head, "THREAD", "FRAME", "SEQ", "AT", "DURATION", "TEXT"].map(str::to_owned);
    let row = move |it: &Happening| {
        let number = |number: Option<u64>| number.map_or_else(unknown, |it| it.to_string());
        let at = it.begin_ns.map(|ns| Duration::from_nanos(ns.saturating_sub(began_ns)));
        let lost = it.commands.map(|commands| format!(" ({commands} commands)"));
        let text = it.text.as_ref().map(ToString::to_string);
        [
            it.kind.to_owned(),
            number(it.thread.map(u64::from)),
            it.frame.to_string(),
            number(it.seq),
            at.map_or_else(unknown, |at| format!("{:.6} s", at.as_secs_f64())),
            milliseconds(it.duration_ns),
            text.unwrap_or_default() + &lost.unwrap_or_default(),
        ]
    };
    std::iter::once(head).chain(list.iter().map(row))
}

fn milliseconds(ns: Option<u64>) -> String {
    ns.map_or_else(unknown, |ns| format!("{:.3} ms", ns as f64 / 1e6))
}

fn unknown() -> String {
    "-".to_owned()
}
