//! `gapii-tables`: writes traces as tables in Parquet, for DuckDB, Polars and Spark. `gapii-ctl export --format parquet` starts it.
//! It is a program of its own, so that the crates of Parquet and of object stores are no part of that one.
//!
//! Reads traces, and plays none. Changes nothing but the tables.

mod answer;
mod columns;
mod input;
mod output;
mod partition;
mod rows;
mod schema;
mod table_file;
mod trace_tables;

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clap::Parser;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::answer::Answer;
use crate::input::Input;
use crate::output::Output;
use crate::trace_tables::{Exporter, Failure, Wish};

/// Exit status of a negative answer: a trace is damaged, or none.
const NO: u8 = 1;
/// Exit status if the tables cannot be written.
const UNUSABLE: u8 = 3;
/// Exit status of wrong usage.
const WRONG_USAGE: u8 = 2;
/// Exit status if the user has stopped the program.
const STOPPED: u8 = 130;

#[derive(Parser)]
#[command(name = "gapii-tables", version, about = "Write traces as tables in Parquet")]
struct Options {
    /// Folder or URL for the tables
    #[arg(short, long, value_name = "FOLDER|URL")]
    output: String,

    /// Also write the table of commands
    #[arg(long)]
    commands: bool,

    /// Write the arguments of commands
    #[arg(long, requires = "commands")]
    arguments: bool,

    /// What is known of the traces, for the column `tags`
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(String, String)>,

    /// Traces that are read at the same time
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Export only part I of N, from 0: a share of the traces, chosen by their paths and URLs
    #[arg(long, value_name = "I/N", value_parser = part)]
    part: Option<Part>,

    /// Print the answer as JSON, with this version
    #[arg(long, value_name = "VERSION")]
    json: Option<u32>,

    /// Traces, folders and URLs
    #[arg(value_name = "TRACE|FOLDER|URL", required = true)]
    inputs: Vec<String>,
}

/// A share of the traces, for machines that export together.
#[derive(Clone, Copy, Debug)]
struct Part {
    number: u64,
    of: u64,
}

impl Part {
    fn has(self, input: &Input) -> bool {
        let digest = blake3::hash(input.name.as_bytes());
        let first = digest.as_bytes().first_chunk().copied().map(u64::from_le_bytes);
        first.is_some_and(|number| number % self.of == self.number)
    }
}

fn part(text: &str) -> Result<Part, String> {
    let parts = text
        .split_once('/')
        .and_then(|(number, of)| Some(Part { number: number.parse().ok()?, of: of.parse().ok()? }));
    parts
        .filter(|part| part.number < part.of)
        .ok_or_else(|| "a part is I/N, such as 0/4 for the first of four".to_owned())
}

fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a tag is KEY=VALUE".to_owned()),
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let voice = Voice { json_version: options.json };
    let done = run(&options, voice);
    ExitCode::from(done.unwrap_or_else(|(status, why)| {
        voice.fail(&why, status);
        status
    }))
}

/// Returns the exit status; of a failure with a sentence.
fn run(options: &Options, voice: Voice) -> Result<u8, (u8, String)> {
    let unusable = |why: String| (UNUSABLE, why);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second one ends the program at once.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| unusable(format!("can't hear signals: {error}")))?;
    }
    let output = Output::open(&options.output).map_err(unusable)?;
    let mut answer = Answer::new(options.json.unwrap_or_default(), &options.output);
    let mut inputs = VecDeque::new();
    for named in &options.inputs {
        match Input::find(named) {
            Ok(found) => {
                let is_in_part = |input: &Input| options.part.is_none_or(|part| part.has(input));
                inputs.extend(found.into_iter().filter(is_in_part));
            }
            Err(why) => {
                voice.say(&why);
                answer.fail(named, why);
            }
        }
    }
    let mut tags = options.tags.clone();
    tags.sort();
    if let Some(twice) = tags.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let key = &twice[0].0;
        return Err((WRONG_USAGE, format!("the tag {key} has two values; leave out one `--tag`")));
    }
    let wish = Wish { commands: options.commands, arguments: options.arguments, tags };
    let exporter = Exporter { wish: &wish, output: &output, stop: &stop, begun: Mutex::default() };
    let jobs = options.jobs.or_else(|| thread::available_parallelism().ok());
    let jobs = jobs.map_or(1, NonZeroUsize::get).min(inputs.len());
    let work = Work { left: inputs, answer, failure: None, voice, line: Line::default() };
    let work = Mutex::new(work);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| while work_on(&exporter, &work) {});
        }
    });
    let mut work = work.into_inner().unwrap_or_else(PoisonError::into_inner);
    work.line.clear();
    if let Some(failure) = work.failure {
        let status = if matches!(failure, Failure::Stopped) { STOPPED } else { UNUSABLE };
        return Err((status, failure.to_string()));
    }
    work.answer.sort();
    print(options, &work.answer)
        .map_err(|error| unusable(format!("can't print the answer: {error}")))?;
    Ok(if work.answer.is_whole() { 0 } else { NO })
}

fn print(options: &Options, answer: &Answer) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match options.json {
        Some(_) => writeln!(out, "{}", serde_json::to_string(answer)?),
        None => write!(out, "{}", answer.describe()),
    }
}

/// What the threads share.
struct Work {
    left: VecDeque<Input>,
    answer: Answer,
    /// Why all threads end early.
    failure: Option<Failure>,
    voice: Voice,
    line: Line,
}

/// Exports the next trace. Returns false if none is left.
fn work_on(exporter: &Exporter<'_>, work: &Mutex<Work>) -> bool {
    let locked = || work.lock().unwrap_or_else(PoisonError::into_inner);
    let next = {
        let Work { left, failure, .. } = &mut *locked();
        // Relaxed: a flag on its own.
        if exporter.stop.load(Ordering::Relaxed) && !left.is_empty() {
            failure.get_or_insert(Failure::Stopped);
        }
        if failure.is_none() { left.pop_front() } else { None }
    };
    let Some(input) = next else { return false };
    let exported = match input.open() {
        Ok(file) => exporter.export(&input.name, file),
        Err(why) => Err(Failure::Trace(why)),
    };
    let Work { left, answer, failure, voice, line } = &mut *locked();
    match exported {
        Ok(exported) => {
            if let Some(damage) = &exported.damage {
                line.clear();
                voice.say(&format!("{} is {damage}; its tables have the part before", input.name));
            }
            answer.add(&input.name, exported);
        }
        Err(Failure::Trace(why)) => {
            line.clear();
            voice.say(&why);
            answer.fail(&input.name, why);
        }
        Err(other) => {
            failure.get_or_insert(other);
        }
    }
    line.show(answer, left.len());
    true
}

/// A line on a terminal that says how far the export is.
#[derive(Default)]
struct Line {
    is_shown: bool,
}

impl Line {
    fn show(&mut self, answer: &Answer, left: usize) {
        if io::stderr().is_terminal() {
            eprint!("\r\x1b[K{} exported, {left} left", answer.traces());
            self.is_shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            eprint!("\r\x1b[K");
        }
    }
}

/// Speaks on standard error: in sentences, or with `--json` in documents (docs/json.md).
#[derive(Clone, Copy)]
struct Voice {
    json_version: Option<u32>,
}

impl Voice {
    fn say(self, sentence: &str) {
        match self.json_version {
            None => eprintln!("gapii-tables: {sentence}"),
            Some(version) => {
                eprintln!("{}", json!({ "json_version": version, "message": sentence }))
            }
        }
    }

    fn fail(self, why: &str, status: u8) {
        match self.json_version {
            None => self.say(why),
            Some(version) => {
                let kind = if status == WRONG_USAGE { "usage" } else { "unreachable" };
                let error = json!({
                    "command": "export", "message": why, "try": [], "kind": kind, "status": status, "reason": null,
                });
                eprintln!("{}", json!({ "json_version": version, "error": error }));
            }
        }
    }
}
