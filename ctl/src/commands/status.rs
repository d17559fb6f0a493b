//! `status`: shows the daemon's counters and captures. If the daemon listens but does not answer, its status page in
//! shared memory has the counters, unless `--connect` or `--via` was given; if none listens, it fails with status 3.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use gapii_control::status::StatusPage;
use gapii_control::{CaptureInfo, Event, KeptInfo, Lost, Request, StatusInfo, Totals};
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Connect, Json};
use crate::commands::apps;
use crate::connection::{self, ConnectError, Connection};
use crate::failure::Failure;
use crate::launch;
use crate::status_page;
use crate::text::{self, counted};

#[derive(Args, Debug)]
pub struct Status {
    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Status, connect: &Connect) -> Result<u8, Failure> {
    let connection = match connect.via {
        Some(_) => Connection::open(connect).map_err(ConnectError::Unusable),
        None => Connection::to_path(&connection::socket_path(connect)),
    };
    let answer = match connection {
        // The page may belong to a daemon with sockets in another folder.
        Err(ConnectError::Absent(failure)) => return Err(failure),
        Err(error) => Err(error.into()),
        Ok(connection) => ask(connection),
    };
    let (info, asked) = match answer {
        Ok(info) => (info, true),
        Err(failure) if connect.connect.is_some() || connect.via.is_some() => return Err(failure),
        Err(failure) => (from_page(&status_page::read().ok_or(failure)?), false),
    };
    if args.json.json {
        text::print_json(&info)?;
    } else {
        text::print(|out| write!(out, "{}", describe(&info, asked)))?;
    }
    Ok(0)
}

fn ask(mut connection: Connection) -> Result<StatusInfo, Failure> {
    match connection.ask(&Request::Status)? {
        Event::Status(info) => Ok(info),
        other => Err(connection.out_of_turn(&other)),
    }
}

fn from_page(page: &StatusPage) -> StatusInfo {
    StatusInfo {
        pid: page.pid,
        session: launch::hex(&page.session),
        totals: Totals {
            frames: page.frames,
            calls: page.calls,
            records: page.records,
            raw_bytes: page.raw_bytes,
            blob_bytes: page.blob_bytes,
            file_bytes: page.file_bytes,
            lost: Lost { calls: page.lost_calls, bytes: page.lost_bytes },
            waits: page.waits,
            wait_ns: page.wait_ns,
            ..Totals::default()
        },
        ..StatusInfo::default()
    }
}

fn describe(info: &StatusInfo, asked: bool) -> String {
    let mut text = match asked {
        true => format!("gapiid {} is process {}", info.daemon_version, info.pid),
        false => format!(
            "gapiid is process {}; it does not answer; these are the counters of its status page",
            info.pid
        ),
    };
    let totals = &info.totals;
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
    if asked {
        let rejected = &info.rejected;
        let _ = writeln!(
            text,
            "rejected   {}, {}, {}",
            counted(
                rejected.app_hellos + rejected.app_versions + rejected.app_timeouts,
                "application"
            ),
            counted(rejected.ctl_messages + rejected.ctl_peers + rejected.ctl_timeouts, "client"),
            counted(rejected.rings, "ring"),
        );
        text.extend(info.captures.iter().map(capture_line));
        text.extend(info.kept.iter().map(kept_line));
        let _ = write!(text, "\n{}", apps::rows(&info.apps));
    }
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
    let pids = if pids.is_empty() { "no process yet".to_owned() } else { pids.join(", ") };
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
