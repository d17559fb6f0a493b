//! `dump`: the commands of a trace, in the order in which they took effect.
//!
//! Lists what can be read of a damaged trace, and then says that it is damaged.

use std::io::Write;

use clap::Args;
use gapii_protocol::trace::{Command, json};

use crate::args::{Frames, Json, Trace};
use crate::call_text;
use crate::failure::Failure;
use crate::text;
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Dump {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Dump) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let commands = match &args.frames.frames {
        None => reader.commands(),
        Some(frames) => reader.commands_in_frames(frames.start..=frames.end - 1),
    };
    let mut commands = commands.map_err(|error| unreadable(path, &error))?;
    let write_line = |command: &Command<'_>, out: &mut dyn Write| match args.json.json {
        true => json::write_line(command, &mut &mut *out),
        false => call_text::write_line(command, out),
    };
    let mut problem = None;
    text::print(|out| {
        loop {
            match commands.next_command() {
                Ok(Some(command)) => write_line(&command, out)?,
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
    Ok(0)
}
