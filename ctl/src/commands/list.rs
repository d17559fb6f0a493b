//! `list`: lists the running captures. State: paused, else missing records, else waiting for a trigger, else recording.
//! Names at most three programs of a capture.

use clap::Args;
use gapii_control::{AppInfo, CaptureInfo, Event, Progress, Request};
use gapii_trace::Untrusted;
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Connect, Json};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::table;
use crate::text;

/// Largest number of programs that a capture's line names.
const PROGRAMS_MAX: usize = 3;

#[derive(Args, Debug)]
pub struct List {
    #[command(flatten)]
    json: Json,
}

pub fn run(args: &List, connect: &Connect) -> Result<u8, Failure> {
    let mut connection = Connection::open(connect)?;
    let info = match connection.ask(&Request::Status)? {
        Event::Status(info) => info,
        other => return Err(connection.out_of_turn(&other)),
    };
    if args.json.json {
        text::print_json(&info.captures)?;
    } else {
        text::print(|out| write!(out, "{}", rows(&info.captures, &info.apps)))?;
    }
    Ok(0)
}

fn rows(captures: &[CaptureInfo], apps: &[AppInfo]) -> String {
    if captures.is_empty() {
        return "nothing is being captured\n".to_owned();
    }
    let head = [
        "NUMBER", "NAME", "PROGRAMS", "CLIENT", "FOR", "FRAMES", "BYTES", "ASIDE", "LOST", "STATE",
    ];
    let rows = captures.iter().map(|capture| {
        let progress = &capture.progress;
        let state = match progress {
            Progress { is_paused: true, .. } => "paused",
            Progress { is_missing: true, .. } => "missing",
            Progress { is_waiting: true, .. } => "waiting",
            _ => "recording",
        };
        [
            capture.capture.to_string(),
            capture.name.as_ref().map_or_else(|| "-".to_owned(), Untrusted::to_string),
            programs(&capture.pids, apps),
            capture.client.to_string(),
            format!("{}s", capture.running_ns / 1_000_000_000),
            progress.frames.to_string(),
            DecimalBytes(progress.file_bytes).to_string(),
            DecimalBytes(progress.spilled_bytes).to_string(),
            HumanCount(progress.lost_calls).to_string(),
            state.to_owned(),
        ]
    });
    table::aligned(std::iter::once(head.map(str::to_owned)).chain(rows))
}

fn programs(pids: &[u32], apps: &[AppInfo]) -> String {
    let named = |pid: &u32| match apps.iter().find(|app| app.pid == *pid) {
        Some(app) => format!("{} ({pid})", app.name),
        None => pid.to_string(),
    };
    let names: Vec<_> = pids.iter().take(PROGRAMS_MAX).map(named).collect();
    match pids.len() - names.len() {
        _ if names.is_empty() => "-".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use gapii_control::Progress;

    use super::*;

    #[test]
    fn a_few_programs_are_named_and_the_others_counted() {
        assert_eq!(programs(&[], &[]), "-");
        assert_eq!(programs(&[1, 2, 3], &[]), "1, 2, 3");
        assert_eq!(programs(&[1, 2, 3, 4, 5], &[]), "1, 2, 3 and 2 more");
    }

    #[test]
    fn captures_are_listed_with_what_they_take_and_miss() {
        assert_eq!(rows(&[], &[]), "nothing is being captured\n");
        let app = AppInfo { pid: 7, name: "gears".into(), ..AppInfo::default() };
        let progress = Progress {
            frames: 12,
            file_bytes: 3_000_000,
            spilled_bytes: 2_000,
            lost_calls: 5,
            is_missing: true,
            ..Progress::default()
        };
        let slow = CaptureInfo {
            capture: 4,
            name: Some("slow".into()),
            client: 99,
            pids: vec![7, 8],
            running_ns: 61_000_000_000,
            progress: progress.clone(),
        };
        let paused = Progress { is_paused: true, ..progress };
        let paused = CaptureInfo { progress: paused, ..slow.clone() };
        let text = rows(&[slow, paused], &[app]);
        assert!(text.ends_with("paused\n"), "{text}");
        let line: Vec<_> = text.lines().nth(1).unwrap().split("  ").map(str::trim).collect();
        let cells: Vec<_> = line.into_iter().filter(|cell| !cell.is_empty()).collect();
        assert_eq!(
            cells,
            ["4", "slow", "gears (7), 8", "99", "61s", "12", "3.00 MB", "2.00 kB", "5", "missing"]
        );
    }
}
