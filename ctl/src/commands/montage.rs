//! `montage`: a contact sheet of a trace: small pictures of its frames, with their numbers.
//!
//! Plays the trace for it, once, up to the last frame that is shown.

use std::io::BufWriter;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use gapii_protocol::trace::Info;
use gapii_replay::Options;
use gapii_replay::images::{Images, Sheet, spread};

use crate::args::{Frames, Trace};
use crate::failure::Failure;
use crate::finished_file::FinishedFile;
use crate::playing;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Montage {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// The picture to write, a PNG, or - for standard output
    #[arg(short, long, value_name = "SHEET", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// How many frames it shows, spread evenly over those there are
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=400))]
    count: u16,

    /// How many of them are side by side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=20))]
    columns: u16,

    /// Width of each, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 240, value_parser = clap::value_parser!(u16).range(16..=1024))]
    width: u16,
}

pub fn run(args: &Montage) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let name = path.display();
    let stop = playing::hear_stops()?;
    let mut reader = trace_file::open(path)?;
    let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
    let count = info.processes.iter().map(|process| process.frames).max().unwrap_or(0);
    let wanted = args.frames.frames.clone().unwrap_or(0..u64::MAX);
    let frames = spread(wanted.start.min(count)..wanted.end.min(count), args.count.into());
    let Some(last) = frames.last().copied() else {
        return Err(Failure::no(match count {
            0 => format!("{name} shows no frame: the program never swapped"),
            _ => format!("{name} has no such frame; it has {}", counted(count, "frame")),
        }));
    };
    let sheet = Sheet::new(args.columns.into(), args.width.into());
    let options = Options {
        frames: Some(0..last.saturating_add(1)),
        images: Images::of_sheet(sheet, frames),
        ..Options::default()
    };
    let report = playing::play(path, &mut reader, options, stop)?;
    if report.cancelled {
        return Err(Failure::no("stopped before the sheet was complete, as asked"));
    }
    let Some(sheet) = report.images.sheet.filter(|sheet| !sheet.is_empty()) else {
        let why = report.notes.first().map(|note| format!(": {note}")).unwrap_or_default();
        return Err(Failure::no(format!("no frame of {name} could be shown{why}")));
    };
    let failed = |error: std::io::Error| {
        Failure::unreachable(format!("can't write {}: {error}", args.output.display()))
    };
    let mut out = BufWriter::new(FinishedFile::create(&args.output)?);
    sheet.picture().write_png(&mut out).map_err(failed)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.finish().map_err(failed)?;
    let skipped = match report.skipped {
        0 => String::new(),
        skipped => format!("; {} could not be played", counted(skipped, "command")),
    };
    let shown = counted(sheet.len() as u64, "frame");
    text::say(&format!("{} shows {shown} of {count}{skipped}", args.output.display()));
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}
