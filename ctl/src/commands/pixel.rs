//! `pixel`: which commands of a frame have changed a pixel. Plays the trace up to a command, and reads the pixel of the framebuffer
//! that is bound for drawing there, before and after each command of the frame that may write pixels. Status 1 if the framebuffer
//! has no such pixel, or if the command could not be played.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use gapii_analysis::history::may_write_pixels;
use gapii_replay::Options;
use gapii_replay::images::{Images, Seen, Watched};
use gapii_trace::Info;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Allowance, Json, Trace};
use crate::failure::Failure;
use crate::frame_ends;
use crate::playing;
use crate::sandbox::{self, Needs};
use crate::table::aligned;
use crate::text::{self, counted};
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl pixel x.gapii --at 4711 --pixel 120,80    which commands of its frame, up to 4711, changed this pixel";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Pixel {
    #[command(flatten)]
    trace: Trace,

    /// Command whose framebuffer is looked at; those of its frame up to it are played
    #[arg(long, value_name = "SEQ")]
    at: u64,

    /// Column and row of the pixel, from the lower left corner
    #[arg(long, value_name = "X,Y")]
    pixel: Place,

    /// Number of the colour attachment
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..32))]
    attachment: u32,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    json: Json,
}

/// Column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place([u32; 2]);

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let numbers = text.split_once(',').map(|(x, y)| [x, y].map(|it| it.trim().parse().ok()));
        match numbers {
            Some([Some(x), Some(y)]) => Ok(Place([x, y])),
            _ => Err("a pixel is X,Y, such as 120,80".to_owned()),
        }
    }
}

/// Red, green, blue and alpha; `None` for infinity, and for what is no number.
type Values = [Option<f64>; 4];

/// What happened to a pixel in a frame.
#[derive(Serialize, JsonSchema)]
pub struct PixelHistory {
    /// Number of the last command.
    at: u64,
    /// Column and row, from the lower left corner.
    pixel: [u32; 2],
    /// Number of the colour attachment.
    attachment: u32,
    /// Commands of the frame after which the pixel was read in this framebuffer.
    commands: u64,
    /// Red, green, blue and alpha before the first of them: from 0 to 1 for normalized formats, otherwise as they are; null for
    /// infinity, and for what is no number.
    before: Values,
    /// The commands that changed it, in order.
    changes: Vec<Change>,
    /// Remarks: what could not be read, and why.
    notes: Vec<String>,
}

/// A command that changed the pixel.
#[derive(Serialize, JsonSchema)]
struct Change {
    /// Number of the command.
    seq: u64,
    /// Name of the function.
    function: String,
    /// Red, green, blue and alpha after it.
    after: Values,
}

pub fn run(args: &Pixel) -> Result<u8, Failure> {
    let (path, at) = (&args.trace.trace, args.at);
    let needs = Needs { traces: &[path], folder: None, windows: false };
    sandbox::enter(args.allowance.sandbox, &needs)?;
    let stop = playing::hear_stops()?.within(&args.allowance);
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, None, Some(at))?;
    let candidates = candidates(path, &mut reader, at)?;
    let Place(place) = args.pixel;
    let watched = Watched::new(place, args.attachment, candidates.keys().copied().collect());
    let options =
        Options { stop_after: Some(at), images: Images::of_pixel(watched), ..Options::default() };
    let report = playing::play(path, &mut reader, options, stop)?;
    if report.cancelled {
        return Err(Failure::answer(format!("stopped before command {at}, as asked")));
    }
    let Some(last) = report.images.pixels.iter().rev().find(|seen| seen.seq == at) else {
        let why = report.notes.first().map_or_else(String::new, |note| format!(" ({note})"));
        return Err(Failure::no(format!(
            "no pixel {},{} could be read at command {at}{why}; `gapii-ctl replay FILE --images FOLDER --at {at}` shows what is \
             drawn to there",
            place[0], place[1]
        )));
    };
    let seen: Vec<&Seen> = report.images.pixels.iter().filter(|it| it.of == last.of).collect();
    let change = |it: &&Seen| {
        let candidate = candidates.get(&it.seq).filter(|it| it.writes)?;
        let bits = |values: [f64; 4]| values.map(f64::to_bits);
        let is_changed = bits(it.before) != bits(it.after);
        let function = candidate.function.clone();
        is_changed.then_some(Change { seq: it.seq, function, after: finite(it.after) })
    };
    let history = PixelHistory {
        at,
        pixel: place,
        attachment: args.attachment,
        commands: seen.len() as u64,
        before: finite(seen.first().map_or([0.0; 4], |first| first.before)),
        changes: seen.iter().filter_map(change).collect(),
        notes: report.notes.clone(),
    };
    match args.json.json {
        true => text::print_json(&history)?,
        false => text::print(|out| write!(out, "{}", history.describe()))?,
    }
    Ok(0)
}

/// Commands by number.
type Commands = BTreeMap<u64, Candidate>;

/// A command before and after which the pixel is read.
struct Candidate {
    function: String,
    /// False for the last command if it writes no pixels.
    writes: bool,
}

/// Returns the commands of the frame of `at`, up to it, that may write pixels, and `at` itself.
fn candidates(path: &Path, reader: &mut Reader, at: u64) -> Result<Commands, Failure> {
    let failed = |error| unreadable(path, &error);
    let info = Info::of(reader).map_err(failed)?;
    let ends = frame_ends::of(path, reader, &info)?;
    let first = match process_of(path, reader, at)? {
        Some(process) => {
            let own = ends.iter().filter(|end| end.process == process);
            own.filter_map(|end| end.seq).filter(|seq| *seq < at).max()
        }
        None => None,
    };
    let wanted = first.map_or(0, |end| end + 1)..at.saturating_add(1);
    let mut commands = reader.commands_numbered(wanted.clone()).map_err(failed)?;
    let mut found = Commands::new();
    while let Some(command) = commands.next_command().map_err(failed)? {
        let Some(seq) = command.seq.filter(|seq| wanted.contains(seq)) else { continue };
        // The commands that describe a program's state are not the program's.
        let writes = may_write_pixels(&command) && !command.is_setup;
        if seq == at || writes {
            let function = command.name().to_owned();
            found.insert(seq, Candidate { function, writes });
        }
    }
    Ok(found)
}

fn process_of(path: &Path, reader: &mut Reader, at: u64) -> Result<Option<u32>, Failure> {
    let failed = |error| unreadable(path, &error);
    let mut commands = reader.commands_numbered(at..at.saturating_add(1)).map_err(failed)?;
    while let Some(command) = commands.next_command().map_err(failed)? {
        if command.seq == Some(at) {
            return Ok(Some(command.process));
        }
    }
    Ok(None)
}

impl PixelHistory {
    fn describe(&self) -> String {
        let Self { pixel: [x, y], attachment, commands, changes, before, .. } = self;
        let looked = counted(*commands, "command");
        let head = format!(
            "pixel {x},{y} of colour attachment {attachment}, before and after {looked} of the frame up to {}\n\n",
            self.at
        );
        let heads = ["SEQ", "FUNCTION", "PIXEL"].map(str::to_owned);
        let first = ["-".to_owned(), "before the frame".to_owned(), colour(*before)];
        let rows =
            changes.iter().map(|it| [it.seq.to_string(), it.function.clone(), colour(it.after)]);
        head + &aligned([heads, first].into_iter().chain(rows))
    }
}

fn finite(values: [f64; 4]) -> Values {
    values.map(|value| Some(value).filter(|value| value.is_finite()))
}

fn colour(values: Values) -> String {
    let word = |value: f64| format!("{value:.4}");
    values.map(|value| value.map_or_else(|| "not-finite".to_owned(), word)).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixel_is_two_numbers() {
        assert_eq!("12,0".parse(), Ok(Place([12, 0])));
        assert_eq!("12, 7".parse(), Ok(Place([12, 7])));
        for text in ["", "12", "12,", ",7", "-1,7", "12,7,3", "a,b"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
