//! `save`: writes the kept frames of a program, whether it runs or has ended. The frames stay kept. Without `--last`
//! all are written; with it, from the keyframe before them. Without kept applications it fails with status 3, and with
//! status 1 if no frame is kept.

use std::num::NonZeroU64;

use clap::Args;
use gapii_control::{Event, KeptInfo, Request, SaveRequest, Target};

use crate::args::{App, Connect, Json, Output, one_or_more};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::keeping;
use crate::output_file::OutputFile;
use crate::text;

#[derive(Args, Debug)]
pub struct Save {
    #[command(flatten)]
    app: App,

    /// Save at least the last N frames, beginning at the keyframe before them [default: all kept frames]
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroU64>)]
    last: Option<NonZeroU64>,

    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Save, connect: &Connect) -> Result<u8, Failure> {
    args.output.must_leave_room_for(&args.json)?;
    let mut connection = Connection::open(connect)?;
    connection.must_keep()?;
    let kept = match connection.ask(&Request::Status)? {
        Event::Status(status) => status.kept,
        other => return Err(connection.out_of_turn(&other)),
    };
    if kept.is_empty() {
        return Err(Failure::unreachable(
            "no application is kept; start one with `gapii-ctl run --keep-frames N -- CMD`",
        ));
    }
    let wanted = args.app.app.clone();
    let output = OutputFile::open(&args.output, name_of(&kept, wanted.as_deref()))?;
    let target = wanted.map_or(Target::Only, Target::App);
    let request = SaveRequest { target, last: args.last.map(NonZeroU64::get) };
    let saved = keeping::save(&mut connection, request, output)?;
    if args.json.json {
        text::print_json(&saved)?;
    }
    match saved.summary.frames {
        0 => Err(Failure::no(format!(
            "no frame of {} is kept yet; `gapii-ctl status` shows how many are",
            saved.name
        ))),
        _ => Ok(0),
    }
}

/// Name from which the default file name is made.
fn name_of<'a>(kept: &'a [KeptInfo], wanted: Option<&'a str>) -> &'a str {
    let named = |app: &&KeptInfo| wanted.is_none_or(|wanted| app.pid.to_string() == wanted);
    kept.iter().rev().find(named).map_or(wanted.unwrap_or_default(), |app| app.name.raw())
}
