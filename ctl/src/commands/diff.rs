//! `diff`: finds the first difference between two traces, and replays both to compare their frames if the commands
//! differ, unless `--no-frames`. Exits with status 1 if the commands differ. Lists up to 100 lines of differing frames;
//! `--json` has all. A damaged trace is compared up to the damage, which then fails the command.

use std::path::{Path, PathBuf};

use clap::Args;
use gapii_analysis::diff::{Comparer, Diff as Found, FunctionDiff, Side, Sides};
use gapii_trace::Info;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Allowance, Json};
use crate::call_text;
use crate::failure::Failure;
use crate::frame_differences::{self, FrameDifference};
use crate::playing::{self, Stop};
use crate::reading_progress::ReadingProgress;
use crate::sandbox::{self, Needs};
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

/// Largest number of lines about differing frames.
const LISTED_MAX: usize = 100;

#[derive(Args, Debug)]
pub struct Diff {
    /// First trace
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Second trace
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Compare commands only; do not replay differing traces to compare their frames
    #[arg(long)]
    no_frames: bool,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

/// Differences between two traces.
#[derive(Serialize, JsonSchema)]
pub struct Differences {
    #[serde(flatten)]
    commands: Found,
    /// Frames that differ; `None` if frames were not compared.
    frames: Option<Vec<FrameDifference>>,
}

pub fn run(args: &Diff) -> Result<u8, Failure> {
    let needs = Needs { traces: &[&args.a, &args.b], folder: None, windows: false };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let commands = compare(args, &stop)?;
    // Equal commands with equal memory draw equal frames.
    let frames = match commands.is_same() || args.no_frames {
        true => None,
        false => Some(frame_differences::find([&args.a, &args.b], &stop)?),
    };
    let is_same = commands.is_same();
    let found = Differences { commands, frames };
    match args.json.json {
        true => text::print_json(&found)?,
        false => {
            let words = describe(args, &found)?;
            text::print(|out| out.write_all(words.as_bytes()))?;
        }
    }
    Ok(u8::from(!is_same))
}

/// Reads both traces in step, one command of each at a time.
fn compare(args: &Diff, stop: &Stop) -> Result<Found, Failure> {
    let (mut a, mut b) = (trace_file::open(&args.a)?, trace_file::open(&args.b)?);
    let info = Info::of(&mut a).map_err(|error| unreadable(&args.a, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    let mut a = a.commands().map_err(|error| unreadable(&args.a, &error))?;
    let mut b = b.commands().map_err(|error| unreadable(&args.b, &error))?;
    let mut comparer = Comparer::default();
    loop {
        let mut is_over = true;
        let sides = [(Side::A, &mut a, &args.a), (Side::B, &mut b, &args.b)];
        for (side, commands, path) in sides {
            if let Some(command) =
                commands.next_command().map_err(|error| unreadable(path, &error))?
            {
                comparer.take(side, &command);
                is_over = false;
            }
        }
        if is_over {
            break;
        }
        progress.step();
        if stop.is_asked() {
            progress.clear();
            return Err(Failure::no("stopped before the commands were compared, as asked"));
        }
    }
    progress.clear();
    trace_file::judge_tail(&args.a, a.tail())?;
    trace_file::judge_tail(&args.b, b.tail())?;
    Ok(comparer.finish())
}

fn describe(args: &Diff, found: &Differences) -> Result<String, Failure> {
    let Differences { commands: found, frames } = found;
    let mut text = String::new();
    match found.first {
        None => text += &format!("the same {}\n", counted(found.commands.a, "command")),
        Some(Sides { a, b }) => {
            text += "first difference:\n";
            text += &format!("A  {}", command_line(&args.a, a)?);
            text += &format!("B  {}", command_line(&args.b, b)?);
        }
    }
    if let Some(Sides { a, b }) = found.first_answer {
        text +=
            &format!("{} returned something else, the first:\n", counted(found.answers, "command"));
        text += &format!("A  {}", command_line(&args.a, Some(a))?);
        text += &format!("B  {}", command_line(&args.b, Some(b))?);
    }
    if !found.functions.is_empty() {
        let head = ["FUNCTION", "IN A", "IN B"].map(str::to_owned);
        let rows = found.functions.iter().map(|FunctionDiff { name, commands }| {
            [name.clone(), commands.a.to_string(), commands.b.to_string()]
        });
        text += &aligned(std::iter::once(head).chain(rows));
    }
    if let Some(frames) = frames {
        text += &describe_frames(frames);
    }
    Ok(text)
}

fn describe_frames(frames: &[FrameDifference]) -> String {
    if frames.is_empty() {
        return "no frame differs\n".to_owned();
    }
    let mut rows = vec![["FRAME", "DIFFERENCE"].map(str::to_owned)];
    let mut rest = frames;
    while let [first, next @ ..] = rest
        && rows.len() <= LISTED_MAX
    {
        let run = first.run_of(next);
        let until = run.last().map(|last| format!(" to {}", last.name)).unwrap_or_default();
        rows.push([format!("{}{until}", first.name), first.to_string()]);
        rest = &next[run.len()..];
    }
    let mut text = aligned(rows.into_iter());
    if !rest.is_empty() {
        text += &format!("and {} more; --json has all\n", counted(rest.len() as u64, "frame"));
    }
    text
}

/// Returns the command with this number as `dump` prints it.
fn command_line(path: &Path, seq: Option<u64>) -> Result<String, Failure> {
    let Some(seq) = seq else { return Ok("no more commands of the thread\n".to_owned()) };
    let mut reader = trace_file::open(path)?;
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    while let Some(command) = commands.next_command().map_err(|error| unreadable(path, &error))? {
        if command.seq == Some(seq) {
            let mut line = Vec::new();
            call_text::write_line(&command, &mut line).map_err(|error| unreadable(path, &error))?;
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
    }
    Ok(format!("command {seq}\n"))
}
