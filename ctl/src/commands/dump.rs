//! `dump`: lists the commands of a trace in the order in which they took effect. Lists the readable part of a damaged
//! trace, and then reports the damage with status 1; frames that the trace does not have are an error, too.
//! `--resources` replays up to `--at`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gapii_replay::Options;
use gapii_replay::images::{At, Folder, Images};
use gapii_trace::{Command, json};

use crate::args::{Frames, Json, Trace};
use crate::call_text;
use crate::commands::replay::judge_pictures;
use crate::failure::Failure;
use crate::playing;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Dump {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    #[command(flatten)]
    json: Json,

    /// Instead of listing commands, replay the trace up to --at and write the current context's resources to
    /// this folder: textures as PNG, buffers as raw bytes, shaders as text
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "at")]
    #[arg(conflicts_with_all = ["frames", "json"])]
    resources: Option<PathBuf>,

    /// Command after which the resources are written, by its number in `dump`
    #[arg(long, value_name = "SEQ", requires = "resources")]
    at: Option<u64>,
}

pub fn run(args: &Dump) -> Result<u8, Failure> {
    if let (Some(folder), Some(seq)) = (&args.resources, args.at) {
        return write_resources(args, folder, seq);
    }
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let commands = match &args.frames.frames {
        None => reader.commands(),
        Some(frames) => reader.commands_in_frames(frames.start..=frames.end - 1),
    };
    let mut commands = commands.map_err(|error| unreadable(path, &error))?.with_tracers();
    let write_line = |command: &Command<'_>, out: &mut dyn Write| match args.json.json {
        true => json::write_line(command, &mut &mut *out),
        false => call_text::write_line(command, out),
    };
    let (mut problem, mut is_empty) = (None, true);
    text::print(|out| {
        loop {
            match commands.next_command() {
                Ok(Some(command)) => {
                    is_empty = false;
                    write_line(&command, out)?;
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    problem = Some(unreadable(path, &error));
                    return Ok(());
                }
            }
        }
    })?;
    problem.map_or(Ok(()), Err)?;
    trace_file::judge_tail(path, commands.tail())?;
    if is_empty && let Some(frames) = &args.frames.frames {
        trace_file::judge_wish(path, &mut reader, Some(frames), None)?;
    }
    Ok(0)
}

fn write_resources(args: &Dump, folder: &Path, seq: u64) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let stop = playing::hear_stops()?;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_wish(path, &mut reader, None, Some(seq))?;
    let at = At {
        seq,
        colors: false,
        depth: false,
        stencil: false,
        resources: true,
        folder: Folder::open(folder).map_err(Failure::unreachable)?,
    };
    let options =
        Options { stop_after: Some(seq), images: Images::of_command(at), ..Options::default() };
    let report = playing::play(path, &mut reader, options, stop)?;
    for note in &report.notes {
        text::say(note);
    }
    if report.cancelled {
        return Err(Failure::no(format!("stopped before command {seq}, as asked")));
    }
    judge_pictures(&report, seq)?;
    let skipped = match report.skipped {
        0 => String::new(),
        skipped => format!("; {} could not be played", counted(skipped, "command")),
    };
    let files = counted(report.images.files, "file");
    text::say(&format!("wrote {files} to {}{skipped}", folder.display()));
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}
