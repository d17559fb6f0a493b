//! `diff`: compares two traces: their commands, the frames that were observed in both, and, if the commands differ, the
//! frames that replays of both draw, unless `--no-frames`. Lists every difference, grouped by cause. Exits with status 1 if
//! commands or frames differ; different answers of the driver are listed and do not count. Lists up to 40 causes and 100
//! lines of differing frames; `--json` has all. A damaged trace is compared up to the damage, which then fails the command.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use clap::{Args, ValueHint};
use gapii_analysis::diff::{
    Cause, Comparer, Diff as Found, FunctionDiff, Reduced, Reducer, Side, Sides, Way,
};
use gapii_replay::images::Folder;
use gapii_trace::Info;
use gapii_trace::parallel::{Choice, Work};
use indicatif::HumanCount;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Allowance, Json};
use crate::call_text;
use crate::failure::Failure;
use crate::frame_differences::{self, FrameDifference, Source};
use crate::playing::{self, Stop};
use crate::reading_progress::ReadingProgress;
use crate::sandbox::{self, Needs};
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

/// Largest number of lines about differing frames.
const LISTED_MAX: usize = 100;
/// Batches of commands of a trace that are read before they are compared.
const BATCHES_AHEAD: usize = 4;
/// Largest number of causes that are listed.
const CAUSES_MAX: usize = 40;

const AFTER_HELP: &str = "\
Exit status: 0 if commands and frames are the same, 1 if they differ, 2 for wrong usage, 3 if a trace can't be
read to its end: then the part before it is compared.
Different answers of the driver, such as its name, are listed and do not count.

Examples:
  gapii-ctl diff a.gapii b.gapii                   all differences, grouped by cause
  gapii-ctl diff a.gapii b.gapii --images folder   pictures of the frames that differ, beside each other

To compare what two drivers drew, record on each with `gapii-ctl run --observe-frames 1 --frame-pixels`: a replay
shows what the driver of this machine draws.";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Diff {
    /// First trace
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Second trace
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Do not replay differing traces to compare their frames; recorded pixels are compared nevertheless
    #[arg(long)]
    no_frames: bool,

    /// Write a PNG for each differing frame to this folder: the frame of A, that of B, and where they differ
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    images: Option<PathBuf>,

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
    if let Some(folder) = &args.images {
        Folder::make(folder).map_err(Failure::system)?;
    }
    let needs =
        Needs { traces: &[&args.a, &args.b], folder: args.images.as_deref(), windows: false };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let (commands, frames, cut) = compare(args, &stop)?;
    // Equal commands with equal memory draw equal frames on one driver.
    let is_replayed = cut.is_none()
        && !commands.has_same_commands()
        && !args.no_frames
        && [frames.a, frames.b] != [commands.observed_frames; 2];
    let compared = match is_replayed || !commands.recorded.is_empty() {
        true => frames_of(args, &commands, is_replayed, &stop).map(Some),
        false => Ok((commands.observed_frames > 0).then(Vec::new)),
    };
    // The differences of the commands are printed also if a trace is cut, or if the frames can't be compared.
    let (frames, failure) = match compared {
        Ok(frames) => (frames, cut),
        Err(failure) => (None, Some(failure)),
    };
    let is_same = commands.is_same();
    let found = Differences { commands, frames };
    match args.json.json {
        true => text::print_json(&found)?,
        false => {
            let words = describe(args, &found)?;
            text::print(|out| out.write_all(words.as_bytes()))?;
            let shown = found.frames.iter().flatten().filter(|frame| frame.is_shown).count();
            if let Some(folder) = &args.images {
                text::say_written(shown as u64, folder);
            }
        }
    }
    failure.map_or(Ok(u8::from(!is_same)), Err)
}

/// Compares the frames.
fn frames_of(
    args: &Diff,
    commands: &Found,
    is_replayed: bool,
    stop: &Stop,
) -> Result<Vec<FrameDifference>, Failure> {
    let folder = args.images.as_deref().map(Folder::open).transpose();
    let folder = folder.map_err(Failure::system)?;
    frame_differences::find([&args.a, &args.b], commands, is_replayed, folder, stop)
}

/// Reads both traces, and compares them in step, one command of each at a time. Returns the differences of their
/// commands, how many frames each trace has, and that a trace is cut or damaged, if one is.
fn compare(args: &Diff, stop: &Stop) -> Result<(Found, Sides<u64>, Option<Failure>), Failure> {
    let (mut a, mut b) = (trace_file::open(&args.a)?, trace_file::open(&args.b)?);
    let info = Info::of(&mut a).map_err(|error| unreadable(&args.a, &error))?;
    let of_b = Info::of(&mut b).map_err(|error| unreadable(&args.b, &error))?;
    let frames = Sides { a: info.frames, b: of_b.frames };
    let mut progress = ReadingProgress::start(info.calls);
    let mut comparer = Comparer::default();
    let compared = thread::scope(|scope| {
        // In step: which commands of long frames are compared together depends on how far each trace has been read.
        let mut sides = [
            (Side::A, reduce_ahead(scope, &mut a), &args.a),
            (Side::B, reduce_ahead(scope, &mut b), &args.b),
        ];
        loop {
            let mut is_over = true;
            for (side, commands, path) in &mut sides {
                match commands.next().map_err(|error| unreadable(path, &error))? {
                    Some(command) => {
                        if let Some(command) = command {
                            comparer.add(*side, command);
                        }
                        is_over = false;
                    }
                    None => comparer.end(*side),
                }
            }
            if is_over {
                return Ok(());
            }
            progress.step();
            if stop.is_asked() {
                return Err(Failure::answer("stopped before the commands were compared, as asked"));
            }
        }
    });
    progress.clear();
    compared?;
    let whole = trace_file::judge_tail(&args.a, a.tail())
        .and_then(|()| trace_file::judge_tail(&args.b, b.tail()));
    let cut = whole
        .err()
        .map(|why| Failure::system(format!("{why}; the traces were compared up to there")));
    Ok((comparer.finish(), frames, cut))
}

/// The commands of a trace, reduced on other threads. `None` stands for a command that took no effect.
struct Ahead {
    batches: Receiver<io::Result<Vec<Option<Reduced>>>>,
    batch: std::vec::IntoIter<Option<Reduced>>,
}

impl Ahead {
    /// Returns the next command; the outer `None` is the end.
    fn next(&mut self) -> io::Result<Option<Option<Reduced>>> {
        loop {
            if let Some(command) = self.batch.next() {
                return Ok(Some(command));
            }
            match self.batches.recv() {
                Ok(batch) => self.batch = batch?.into_iter(),
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Reads and reduces the commands of a trace on threads of their own, up to `BATCHES_AHEAD` batches ahead.
fn reduce_ahead<'s>(scope: &'s thread::Scope<'s, '_>, reader: &'s mut Reader) -> Ahead {
    let (to, batches) = sync_channel(BATCHES_AHEAD);
    scope.spawn(move || {
        let mut reducer = Reducer::default();
        // One worker: the objects of a command are those that commands before it have made.
        let reduce = |work: Work<'_>| -> Vec<_> {
            work.commands().map(|command| reducer.reduce(&command)).collect()
        };
        let read = reader.commands().and_then(|mut commands| {
            commands.in_parallel(
                vec![reduce],
                |_, _| Choice::Take,
                |batch, _| to.send(Ok(batch)).map_err(|_| io::ErrorKind::BrokenPipe.into()),
            )
        });
        // Nobody waits for the error if nobody takes the commands any more.
        if let Err(error) = read {
            _ = to.send(Err(error));
        }
    });
    Ahead { batches, batch: Vec::new().into_iter() }
}

fn describe(args: &Diff, found: &Differences) -> Result<String, Failure> {
    let Differences { commands: found, frames } = found;
    let (answers, differences): (Vec<&Cause>, Vec<&Cause>) =
        found.causes.iter().partition(|cause| cause.way == Way::Answered);
    let shown = || differences.iter().take(CAUSES_MAX).chain(answers.iter().take(CAUSES_MAX));
    let seqs = |of: fn(&Sides<Option<u64>>) -> Option<u64>| {
        shown().filter_map(|cause| of(&cause.first)).collect::<BTreeSet<u64>>()
    };
    let a = command_lines(&args.a, &seqs(|first| first.a))?;
    let b = command_lines(&args.b, &seqs(|first| first.b))?;
    let mut text = String::new();
    let Sides { a: of_a, b: of_b } = found.commands;
    if differences.is_empty() {
        text += &format!("the same {}\n", counted(of_a, "command"));
    } else {
        let (differing, causes) = (found.differing, differences.len() as u64);
        let verb = if differing == 1 { "differs" } else { "differ" };
        text += &format!(
            "{} {verb} between the {} of A and the {} of B; by cause ({causes}):\n",
            counted(differing, "command"),
            HumanCount(of_a),
            HumanCount(of_b),
        );
        text += &list(&differences, &a, &b);
    }
    if !answers.is_empty() {
        let (count, causes) = (counted(found.answers, "command"), answers.len());
        text += &format!(
            "the driver answered {count} otherwise, which is no difference of the traces; by cause ({causes}):\n"
        );
        text += &list(&answers, &a, &b);
    }
    if !found.functions.is_empty() {
        let head = ["FUNCTION", "IN A", "IN B"].map(str::to_owned);
        let rows = found.functions.iter().map(|FunctionDiff { name, commands }| {
            [name.clone(), commands.a.to_string(), commands.b.to_string()]
        });
        text += &aligned(std::iter::once(head).chain(rows));
    }
    text += &match frames {
        Some(frames) => describe_frames(frames, found.observed_frames, args.images.is_some()),
        None if differences.is_empty() => "frames were not compared: on one driver, the same commands draw the same \
             frames; to compare what two drivers drew, record with --observe-frames 1 --frame-pixels\n"
            .to_owned(),
        None => String::new(),
    };
    Ok(text)
}

/// Lists causes with the first command of each.
fn list(causes: &[&Cause], a: &BTreeMap<u64, String>, b: &BTreeMap<u64, String>) -> String {
    let mut text = String::new();
    for cause in causes.iter().take(CAUSES_MAX) {
        let commands = counted(cause.commands, "command");
        let frames = match cause.frames {
            1 => format!("in frame {}", cause.first_frame),
            frames => format!("in {}, from frame {}", counted(frames, "frame"), cause.first_frame),
        };
        let first = if cause.commands == 1 { "" } else { ", the first" };
        text += &format!("{}: {commands} {frames}{first}:\n", words_of(cause));
        for (side, seq, lines) in [("A", cause.first.a, a), ("B", cause.first.b, b)] {
            if let Some(seq) = seq {
                let line = lines.get(&seq).cloned().unwrap_or_else(|| format!("command {seq}\n"));
                text += &format!("  {side}  {line}");
            }
        }
    }
    if let Some(more @ 1..) = causes.len().checked_sub(CAUSES_MAX) {
        text += &format!("and {} more; --json has all\n", counted(more as u64, "cause"));
    }
    text
}

/// Says how the commands of a cause differ.
fn words_of(cause: &Cause) -> String {
    let Cause { function, way, parts, objects, .. } = cause;
    let part = |name: &String| match objects.contains(name) {
        true => format!("{name} (another object)"),
        false => name.clone(),
    };
    let parts = parts.iter().map(part).collect::<Vec<_>>().join(", ");
    match way {
        Way::Changed => format!("{function} with different {parts}"),
        Way::OnlyInA => format!("{function} in A only"),
        Way::OnlyInB => format!("{function} in B only"),
        Way::Answered => format!("{function} gave different {parts}"),
    }
}

fn describe_frames(frames: &[FrameDifference], observed: u64, has_pictures: bool) -> String {
    if frames.is_empty() {
        return match observed {
            0 => "no frame differs\n".to_owned(),
            _ => format!("no frame differs; {} as recorded\n", counted(observed, "frame")),
        };
    }
    let mut rows = vec![["FRAME", "DIFFERENCE", "SEEN IN"].map(str::to_owned)];
    let mut rest = frames;
    while let [first, next @ ..] = rest
        && rows.len() <= LISTED_MAX
    {
        let run = first.run_of(next);
        let until = run.last().map(|last| format!(" to {}", last.frame)).unwrap_or_default();
        let source = match first.from {
            Source::Recording => "the recordings",
            Source::Replay => "replays on this machine",
        };
        rows.push([format!("{}{until}", first.number()), first.to_string(), source.to_owned()]);
        rest = &next[run.len()..];
    }
    let mut text = aligned(rows.into_iter());
    if !rest.is_empty() {
        text += &format!("and {} more; --json has all\n", counted(rest.len() as u64, "frame"));
    }
    let hidden = frames.iter().filter(|frame| !frame.is_shown).count() as u64;
    if has_pictures && hidden > 0 {
        text += &format!(
            "{} without a picture: one of the traces does not have the frame or its pixels (--frame-pixels)\n",
            counted(hidden, "frame")
        );
    }
    text
}

/// Returns these commands as `dump` prints them, by `seq`. Reads the trace up to the last of them.
fn command_lines(path: &Path, seqs: &BTreeSet<u64>) -> Result<BTreeMap<u64, String>, Failure> {
    let mut lines = BTreeMap::new();
    if seqs.is_empty() {
        return Ok(lines);
    }
    let mut reader = trace_file::open(path)?;
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    while lines.len() < seqs.len()
        && let Some(command) = commands.next_command().map_err(|error| unreadable(path, &error))?
    {
        let Some(seq) = command.seq.filter(|seq| seqs.contains(seq)) else { continue };
        let mut line = Vec::new();
        call_text::write_line(&command, None, &mut line)
            .map_err(|error| unreadable(path, &error))?;
        lines.insert(seq, String::from_utf8_lossy(&line).into_owned());
    }
    Ok(lines)
}
