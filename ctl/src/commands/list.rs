//! `list`: lists the running captures, by the daemon's status page. State: keeping frames in memory, else paused, else
//! missing records, else waiting for a trigger, else recording. Names at most three programs of a capture.

use clap::Args;
use gapii_control::{AppInfo, CaptureInfo, Progress, StatusInfo};
use gapii_trace::Untrusted;
use indicatif::{DecimalBytes, HumanCount};

use crate::args::{Connect, Json};
use crate::failure::Failure;
use crate::observer::{Observer, Status};
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
    let Status { info, outdated, .. } = Observer::open(connect)?.look()?;
    outdated.iter().for_each(text::say);
    if args.json.json {
        text::print_json(&info.captures)?;
    } else {
        text::print(|out| write!(out, "{}", rows(&info)))?;
    }
    Ok(0)
}

fn rows(StatusInfo { captures, apps, left_out, .. }: &StatusInfo) -> String {
    if captures.is_empty() {
        return "nothing is being captured\n".to_owned();
    }
    let head = [
        "NUMBER", "NAME", "PROGRAMS", "CLIENT", "FOR", "FRAMES", "BYTES", "ASIDE", "LOST", "STATE",
    ];
    let rows = captures.iter().map(|capture| {
        let progress = &capture.progress;
        [
            capture.capture.to_string(),
            capture.name.as_ref().map_or_else(|| "-".to_owned(), Untrusted::to_string),
            programs(capture, apps),
            client(capture),
            format!("{}s", capture.running_ns / 1_000_000_000),
            progress.frames.to_string(),
            DecimalBytes(progress.file_bytes).to_string(),
            DecimalBytes(progress.spilled_bytes).to_string(),
            HumanCount(progress.lost_calls).to_string(),
            state(capture).to_owned(),
        ]
    });
    let head = std::iter::once(head.map(str::to_owned));
    table::aligned(head.chain(rows)) + &table::and_more(left_out.captures)
}

/// Returns the state of a capture, as the file's head lists them.
pub fn state(capture: &CaptureInfo) -> &'static str {
    match &capture.progress {
        _ if capture.keeps => "keeping",
        Progress { is_paused: true, .. } => "paused",
        Progress { is_missing: true, .. } => "missing",
        Progress { is_waiting: true, .. } => "waiting",
        _ => "recording",
    }
}

/// Returns the pid of the client; frames are kept for none, so they stay when the client is gone.
fn client(capture: &CaptureInfo) -> String {
    if capture.keeps { "-".to_owned() } else { capture.client.to_string() }
}

/// Names the programs of a capture, the first few of them.
pub fn programs(CaptureInfo { pids, pids_left_out, .. }: &CaptureInfo, apps: &[AppInfo]) -> String {
    let named = |pid: &u32| match apps.iter().find(|app| app.pid == *pid) {
        Some(app) => format!("{} ({pid})", app.name),
        None => pid.to_string(),
    };
    let names: Vec<_> = pids.iter().take(PROGRAMS_MAX).map(named).collect();
    match (pids.len() - names.len()) as u64 + pids_left_out {
        _ if names.is_empty() => "-".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use gapii_control::LeftOut;

    use super::*;

    #[test]
    fn a_few_programs_are_named_and_the_others_counted() {
        let check = |pids: &[u32], pids_left_out, expected: &str| {
            let capture =
                CaptureInfo { pids: pids.to_vec(), pids_left_out, ..CaptureInfo::default() };
            assert_eq!(programs(&capture, &[]), expected);
        };
        check(&[], 0, "-");
        check(&[1, 2, 3], 0, "1, 2, 3");
        check(&[1, 2, 3, 4, 5], 0, "1, 2, 3 and 2 more");
        check(&[1, 2, 3, 4, 5], 7, "1, 2, 3 and 9 more");
    }

    #[test]
    fn captures_are_listed_with_what_they_take_and_miss() {
        assert_eq!(rows(&StatusInfo::default()), "nothing is being captured\n");
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
            ..CaptureInfo::default()
        };
        let paused = Progress { is_paused: true, ..progress };
        let paused = CaptureInfo { progress: paused, ..slow.clone() };
        let keeps = CaptureInfo { capture: 6, keeps: true, client: 0, ..slow.clone() };
        let left_out = LeftOut { captures: 2, ..LeftOut::default() };
        let captures = vec![slow, paused, keeps];
        let text =
            rows(&StatusInfo { captures, apps: vec![app], left_out, ..StatusInfo::default() });
        assert!(text.contains("paused\n6 "), "{text}");
        assert!(text.ends_with("keeping\n… and 2 more\n"), "{text}");
        let line: Vec<_> = text.lines().nth(1).unwrap().split("  ").map(str::trim).collect();
        let cells: Vec<_> = line.into_iter().filter(|cell| !cell.is_empty()).collect();
        assert_eq!(
            cells,
            ["4", "slow", "gears (7), 8", "99", "61s", "12", "3.00 MB", "2.00 kB", "5", "missing"]
        );
    }
}
