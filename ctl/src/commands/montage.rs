//! `montage`: writes a contact sheet of a trace: thumbnails of its frames with their numbers. At most `--count` frames
//! (20; 1 to 400), evenly spaced over all processes, `--columns` (5; 1 to 20) in a row, `--width` 240 pixels (16 to
//! 1,024). Replays the trace once, up to the last frame on the sheet. Commands that could not be played are counted; a
//! sheet without any frame is an error.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gapii_replay::Options;
use gapii_replay::images::{FrameOf, Images, Sheet, spread};
use gapii_trace::Info;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Allowance, Force, Frames, Json, Trace};
use crate::failure::Failure;
use crate::finished_file::{self, FinishedFile};
use crate::playing;
use crate::sandbox::{self, Needs};
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Montage {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// PNG file to write, or - for standard output
    #[arg(short, long, value_name = "SHEET", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    #[command(flatten)]
    force: Force,

    /// Number of frames on the sheet, evenly spaced over the trace
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=400))]
    count: u16,

    /// Number of frames in a row
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=20))]
    columns: u16,

    /// Width of each thumbnail, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 240, value_parser = clap::value_parser!(u16).range(16..=1024))]
    width: u16,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

/// A sheet of frames that was written.
#[derive(Serialize, JsonSchema)]
pub struct Sheeted {
    /// File of the sheet.
    output: PathBuf,
    /// Frames on the sheet.
    shown: u64,
    /// Frames of the trace.
    frames: u64,
    /// Commands that could not be played.
    skipped: u64,
}

/// Refuses names of other formats of pictures.
fn judge_name(output: &Path) -> Result<(), Failure> {
    const OTHERS: &[&str] = &[
        "avif", "bmp", "gif", "jpeg", "jpg", "jxl", "pdf", "ppm", "qoi", "svg", "tga", "tif",
        "tiff", "webp",
    ];
    let ending = output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match OTHERS.contains(&ending.as_str()) {
        true => Err(Failure::usage(format!(
            "a contact sheet is a PNG picture; write it to another file: `-o {}`",
            output.with_extension("png").display()
        ))),
        false => Ok(()),
    }
}

pub fn run(args: &Montage) -> Result<u8, Failure> {
    args.json.must_have_standard_output(&args.output)?;
    let path = &args.trace.trace;
    let name = path.display();
    finished_file::check(&args.output, "a picture")?;
    judge_name(&args.output)?;
    let mut reader = trace_file::open(path)?;
    let mut file = FinishedFile::create_apart(&args.output, args.force.force)?;
    let needs = Needs { traces: &[path], folder: None, windows: false };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let wanted = args.frames.frames.clone().unwrap_or(0..u64::MAX);
    let numbers = trace_file::numbers_of_frames(&reader, &info);
    let frames = chosen(&numbers, &wanted, args.count.into());
    let Some(end) = frames.iter().map(|(_, frame)| frame.saturating_add(1)).max() else {
        return Err(trace_file::no_such_frame(path, &mut reader, &numbers));
    };
    let sheet = Sheet::new(args.columns.into(), args.width.into());
    let options = Options {
        frames: Some(0..end),
        images: Images::of_sheet(sheet, frames),
        ..Options::default()
    };
    let report = playing::play(path, &mut reader, options, stop)?;
    if report.cancelled {
        return Err(Failure::answer("stopped before the sheet was complete, as asked"));
    }
    let Some(sheet) = report.images.sheet.filter(|sheet| !sheet.is_empty()) else {
        let why = report.notes.first().map(|note| format!(": {note}")).unwrap_or_default();
        return Err(Failure::answer(format!("no frame of {name} could be shown{why}")));
    };
    let failed = |error: io::Error| finished_file::writing_failure(&args.output, &error);
    let mut png = Vec::new();
    sheet.picture().write_png(&mut png).map_err(failed)?;
    file.write_all(&png).and_then(|()| file.finish()).map_err(failed)?;
    let skipped = match report.skipped {
        0 => String::new(),
        skipped => format!("; {} could not be played", counted(skipped, "command")),
    };
    if args.json.json {
        let output = args.output.clone();
        let (shown, frames) = (sheet.len() as u64, info.frames);
        text::print_json(&Sheeted { output, shown, frames, skipped: report.skipped })?;
    } else {
        let shown = counted(sheet.len() as u64, "frame");
        let place = finished_file::name_of(&args.output);
        text::say(&format!("{place} shows {shown} of {}{skipped}", info.frames));
    }
    if let Some(key) = key(&info) {
        text::say(&key);
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

/// Chooses the frames to show, evenly spaced over the requested frames of each process.
/// `numbers` are those of each process.
fn chosen(numbers: &[Range<u64>], wanted: &Range<u64>, most: u64) -> Vec<FrameOf> {
    let parts: Vec<(u32, Range<u64>)> = (0..)
        .zip(numbers)
        .map(|(process, it)| (process, wanted.start.max(it.start)..wanted.end.min(it.end)))
        .filter(|(_, frames)| !frames.is_empty())
        .collect();
    let len = |frames: &Range<u64>| frames.end - frames.start;
    let total = parts.iter().fold(0, |total: u64, (_, part)| total.saturating_add(len(part)));
    let nth = |mut number: u64| {
        let mut parts = parts.iter();
        parts.find_map(|(process, frames)| match number < len(frames) {
            true => Some((*process, frames.start + number)),
            false => {
                number -= len(frames);
                None
            }
        })
    };
    spread(0..total, most).into_iter().filter_map(nth).collect()
}

/// Prints which process is which, if the sheet shows several.
fn key(info: &Info) -> Option<String> {
    let named = (0u32..).zip(&info.processes).filter(|(_, process)| process.frames > 0);
    let words: Vec<String> =
        named.map(|(at, process)| format!("P{at} is {} {}", process.pid, process.name)).collect();
    (words.len() > 1 || words.first().is_some_and(|word| !word.starts_with("P0 ")))
        .then(|| words.join(", "))
}
