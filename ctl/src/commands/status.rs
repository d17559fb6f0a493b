//! `status`: shows the daemon's counters and captures, by its status page, also if the daemon is stopped or hangs; then
//! the first line says how old they are. A daemon that has no page here is asked. If none runs, it fails with status 3.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use gapii_control::{CaptureInfo, KeptInfo, StatusInfo};
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Connect, Json};
use crate::commands::apps;
use crate::failure::Failure;
use crate::observer::{self, Observer};
use crate::table;
use crate::text::{self, counted};

#[derive(Args, Debug)]
pub struct Status {
    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Status, connect: &Connect) -> Result<u8, Failure> {
    let observer::Status { info, outdated, .. } = Observer::open(connect)?.look()?;
    outdated.iter().for_each(text::say);
    if args.json.json {
        text::print_json(&info)?;
    } else {
        text::print(|out| write!(out, "{}", describe(&info)))?;
    }
    Ok(0)
}

fn describe(info: &StatusInfo) -> String {
    let mut text = format!("gapiid {} is process {}", info.daemon_version, info.pid);
    let (totals, rejected) = (&info.totals, &info.rejected);
    // Writing to a string can't fail.
    let _ = writeln!(
        text,
        "\n\nrecorded   {}, {}, {} ({} of it memory) in {}\nwaits      {} ({:.1?})\nlost       {} ({})",
        counted(totals.frames, "frame"),
        counted(totals.calls, "command"),
        DecimalBytes(totals.raw_bytes),
        DecimalBytes(totals.blob_bytes),
        DecimalBytes(totals.file_bytes),
        HumanCount(totals.waits),
        Duration::from_nanos(totals.wait_ns),
        counted(totals.lost.calls, "command"),
        DecimalBytes(totals.lost.bytes),
    );
    let _ = writeln!(
        text,
        "rejected   {}, {}, {}",
        counted(rejected.app_hellos + rejected.app_versions + rejected.app_timeouts, "application"),
        counted(rejected.ctl_messages + rejected.ctl_peers + rejected.ctl_timeouts, "client"),
        counted(rejected.rings, "ring"),
    );
    text.extend(info.captures.iter().filter(|capture| !capture.keeps).map(capture_line));
    text.push_str(&table::and_more(info.left_out.captures));
    text.extend(info.kept.iter().map(kept_line));
    text.push_str(&table::and_more(info.left_out.kept));
    let _ = write!(text, "\n{}", apps::rows(info));
    text
}

fn kept_line(kept: &KeptInfo) -> String {
    let has = if kept.is_running { "kept" } else { "kept until its end" };
    format!(
        "process {}  ({}) is {has}: {} from {} on, in {} of {}; last keyframe held it for {:.1?}\n",
        kept.pid,
        kept.name,
        counted(kept.frames, "frame"),
        counted(kept.keyframes, "keyframe"),
        DecimalBytes(kept.bytes),
        DecimalBytes(kept.limits.bytes),
        Duration::from_micros(kept.held_us),
    )
}

fn capture_line(capture: &CaptureInfo) -> String {
    let pids: Vec<_> = capture.pids.iter().map(u32::to_string).collect();
    let pids = match (pids.is_empty(), capture.pids_left_out) {
        (true, _) => "no process yet".to_owned(),
        (_, 0) => pids.join(", "),
        (_, more) => format!("{} and {more} more", pids.join(", ")),
    };
    let progress = &capture.progress;
    let done = match progress.describing {
        true => format!("{} of the program's state", DecimalBytes(progress.blob_bytes)),
        false => counted(progress.frames, "frame"),
    };
    format!(
        "capture {}  of {pids} for {:.1?}: {done}, {} in {}\n",
        capture.capture,
        Duration::from_nanos(capture.running_ns),
        DecimalBytes(progress.raw_bytes),
        DecimalBytes(progress.file_bytes),
    )
}
