//! `report`: writes a report about a trace: one HTML file with graphs of the frames, thumbnails, statistics, problems,
//! the crash report beside the trace, and what is known of the system. The trace is read once, and replayed for the
//! thumbnails of at most 200 frames; if it cannot be replayed, the report says why and has the rest. The file has at most
//! `--max-bytes` (5,000,000 bytes by default). A damaged trace is reported up to the damage, with status 1.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gapii_analysis::frame_clock::FrameClock;
use gapii_analysis::graphics::{Graphics, Viewer};
use gapii_analysis::problems::{Finder, Problems};
use gapii_analysis::stats::{Counter, Stats};
use gapii_replay::Options;
use gapii_replay::images::{FrameOf, Images, Sheet};
use gapii_report::{FrameTime, Report as Subject, Thumbnail, notable_frames};
use gapii_trace::parallel::{Choice, Work};
use gapii_trace::{Info, Recorded};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Allowance, Force, Json, Trace};
use crate::crash_report;
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::local_time;
use crate::playing::{self, Stop};
use crate::reading_progress::ReadingProgress;
use crate::sandbox::{self, Needs};
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

/// Most thumbnails of a report.
const THUMBNAILS_MAX: usize = 200;
/// Width of a thumbnail, in pixels.
const THUMBNAIL_WIDTH: u32 = 192;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl report x.gapii -o x.html                       a file to open in a browser, and to send to others
  gapii-ctl report x.gapii -o x.html --no-thumbnails       without replaying the trace";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Report {
    #[command(flatten)]
    trace: Trace,

    /// HTML file to write, or - for standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    /// Do not replay the trace for thumbnails
    #[arg(long)]
    no_thumbnails: bool,

    /// Largest size of the file, in bytes: thumbnails and frames that do not fit are left out
    #[arg(long, value_name = "N", default_value_t = 5_000_000, value_parser = clap::value_parser!(u64).range(100_000..))]
    max_bytes: u64,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

/// A report that was written.
#[derive(Serialize, JsonSchema)]
pub struct Reported {
    /// File of the report.
    output: PathBuf,
    /// Its size.
    file_bytes: u64,
    /// Frames of the trace.
    frames: u64,
    /// Frames that the report lists.
    listed_frames: u64,
    /// Thumbnails in the report.
    thumbnails: u64,
    /// Why the report has no thumbnails; `None` if it has some.
    without_thumbnails: Option<String>,
    /// Problems of the severity `error`.
    errors: u64,
    /// Problems of the severity `warning`.
    warnings: u64,
    /// Problems of the severity `note`.
    notes: u64,
}

/// What one pass over a trace finds.
struct Findings {
    stats: Stats,
    problems: Problems,
    graphics: Graphics,
    frame_times: Vec<FrameTime>,
}

pub fn run(args: &Report) -> Result<u8, Failure> {
    args.json.must_have_standard_output(&args.output)?;
    let path = &args.trace.trace;
    finished_file::check(&args.output, "a report")?;
    let mut reader = trace_file::open(path)?;
    let mut file = FinishedFile::create_apart(&args.output, args.force.force)?;
    let needs = Needs { traces: &[path], folder: None, windows: false };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let recorded = Recorded::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let crash = crash_report::text_beside(path);
    let found = look(path, &mut reader, &info, &stop)?;
    let (thumbnails, without_thumbnails) = match args.no_thumbnails {
        true => (Vec::new(), Some("The report was made without thumbnails.".to_owned())),
        false => match thumbnails(path, &mut reader, &found, &stop) {
            Ok(thumbnails) => (thumbnails, None),
            Err(why) => (Vec::new(), Some(format!("The report has no thumbnails: {why}."))),
        },
    };
    if stop.is_asked() {
        return Err(stopped());
    }
    let subject = Subject {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        recorded: recorded_words(&recorded),
        info: &info,
        graphics: &found.graphics,
        stats: &found.stats,
        problems: &found.problems,
        frame_times: &found.frame_times,
        crash: crash.as_deref(),
        thumbnails: &thumbnails,
        without_thumbnails: without_thumbnails.clone(),
        made_by: concat!("gapii ", env!("CARGO_PKG_VERSION")).to_owned(),
        max_bytes: args.max_bytes,
    };
    let page = subject.page();
    let failed = |error: io::Error| finished_file::writing_failure(&args.output, &error);
    file.write_all(page.html.as_bytes()).and_then(|()| file.finish()).map_err(failed)?;
    if args.json.json {
        text::print_json(&Reported {
            output: args.output.clone(),
            file_bytes: page.html.len() as u64,
            frames: info.frames,
            listed_frames: page.frames as u64,
            thumbnails: page.thumbnails as u64,
            without_thumbnails,
            errors: found.problems.errors,
            warnings: found.problems.warnings,
            notes: found.problems.notes,
        })?;
    } else {
        let place = finished_file::name_of(&args.output);
        let problems = counted(found.problems.problems.len() as u64, "problem");
        let thumbnails = counted(page.thumbnails as u64, "thumbnail");
        text::say(&format!("{place} has {problems} and {thumbnails}"));
        if let Some(why) = without_thumbnails.filter(|_| !args.no_thumbnails) {
            text::say(&why.trim_end_matches('.'));
        }
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

fn stopped() -> Failure {
    Failure::answer("stopped before the report was complete, as asked")
}

/// Reads the trace once.
fn look(path: &Path, reader: &mut Reader, info: &Info, stop: &Stop) -> Result<Findings, Failure> {
    let mut finder = Finder::default().of_filtered_trace(!info.filter.is_empty());
    let (mut counter, mut viewer) = (Counter::default(), Viewer::default());
    let (mut clock, mut frame_times) = (FrameClock::default(), Vec::new());
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    // One worker: problems of a command, and what it changes, depend on those before it.
    let look = |work: Work<'_>| {
        for command in work.commands() {
            counter.count(&command);
            finder.look(&command);
            viewer.look(&command);
            if let Some(time_ns) = clock.look(&command) {
                let (process, frame) = (command.process, command.frame);
                frame_times.push(FrameTime { process, frame, time_ns });
            }
        }
    };
    let looked: io::Result<()> = commands.in_parallel(
        vec![look],
        |_, _| Choice::Take,
        |(), read| {
            progress.add(read);
            match stop.is_asked() {
                true => Err(ErrorKind::Interrupted.into()),
                false => Ok(()),
            }
        },
    );
    progress.clear();
    if stop.is_asked() {
        return Err(stopped());
    }
    looked.map_err(|error| unreadable(path, &error))?;
    finder.note_losses(info);
    Ok(Findings {
        stats: counter.finish(),
        problems: finder.finish(),
        graphics: viewer.finish(),
        frame_times,
    })
}

/// Replays the trace for small pictures of the most notable frames, in the order of their weight.
///
/// # Errors
/// Why there are none, as a clause.
fn thumbnails(
    path: &Path,
    reader: &mut Reader,
    found: &Findings,
    stop: &Stop,
) -> Result<Vec<Thumbnail>, String> {
    let complete: Vec<_> =
        found.stats.frames.iter().filter(|frame| frame.is_complete).copied().collect();
    let times = found.frame_times.iter().map(|it| ((it.process, it.frame), it.time_ns));
    let times: std::collections::BTreeMap<FrameOf, u64> = times.collect();
    let times: Vec<_> = complete
        .iter()
        .map(|frame| times.get(&(frame.process, frame.frame)).copied().or(frame.driver_ns))
        .collect();
    let chosen = notable_frames(&complete, &times, THUMBNAILS_MAX);
    let chosen: Vec<FrameOf> =
        chosen.into_iter().map(|at| (complete[at].process, complete[at].frame)).collect();
    let Some(end) = chosen.iter().map(|(_, frame)| frame.saturating_add(1)).max() else {
        return Err("the trace has no frame".to_owned());
    };
    let options = Options {
        frames: Some(0..end),
        images: Images::of_sheet(Sheet::new(1, THUMBNAIL_WIDTH), chosen.iter().copied()),
        ..Options::default()
    };
    let report = playing::play(path, reader, options, stop.clone())
        .map_err(|failure| failure.sentence.clone())?;
    let sheet = report.images.sheet.filter(|sheet| !sheet.is_empty()).ok_or_else(|| {
        let why = report.notes.first().map(|note| format!(": {note}")).unwrap_or_default();
        format!("no frame could be shown{why}")
    })?;
    let mut thumbnails = Vec::new();
    for ((process, frame), picture) in sheet.pictures() {
        let mut png = Vec::new();
        picture.write_png(&mut png).map_err(|error| error.to_string())?;
        let size = [picture.width, picture.height];
        thumbnails.push(Thumbnail { process, frame, size, png });
    }
    let weight = |it: &Thumbnail| chosen.iter().position(|one| *one == (it.process, it.frame));
    thumbnails.sort_by_key(weight);
    Ok(thumbnails)
}

fn recorded_words(recorded: &Recorded) -> Option<String> {
    let began = recorded.began_unix_ns?;
    let seconds = recorded.duration_ns.map_or(0, |ns| ns / 1_000_000_000);
    let lasted = if seconds > 0 { format!(" for {seconds} s") } else { String::new() };
    Some(format!("{}{lasted}", local_time::day_and_time(began / 1_000_000_000)))
}
