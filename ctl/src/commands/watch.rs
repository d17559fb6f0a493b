//! `watch`: shows rates of the connected applications, by the daemon's status page, every `--interval` seconds (1; 0.1 to
//! 86,400). On a terminal it is the view of `ctl/src/view/mod.rs`, which also captures; with `--count` the last rates stay there as a
//! table. Otherwise one line per application, or one line of JSON for all. A refresh that a slow answer delayed is not made
//! up for. Ends at `--count`, on Ctrl-C, or when the daemon is gone; while it is stopped or hangs, its last rates are shown,
//! and a line says how old they are.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use clap::Args;
use gapii_control::{CaptureInfo, KeptInfo};
use indicatif::{DecimalBytes, HumanCount};
use rustix::event::{PollFd, PollFlags};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Connect, Json, one_or_more};
use crate::commands::apps;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::rate_table::{COLUMNS, waits};
use crate::rates::Rates;
use crate::signals::Signals;
use crate::table;
use crate::text;
use crate::view::{self, Last, Refreshes};
use crate::wait;

/// Parses the refresh interval, in seconds.
const INTERVALS: RangeInclusive<f64> = 0.1..=86_400.0;

#[derive(Args, Debug)]
pub struct Watch {
    /// Seconds between refreshes
    #[arg(long, value_name = "S", default_value = "1", value_parser = interval, allow_negative_numbers = true)]
    interval: Duration,

    /// Exit after N refreshes [default: run until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroU64>)]
    count: Option<NonZeroU64>,

    #[command(flatten)]
    json: Json,
}

/// The programs and captures at one refresh.
#[derive(Serialize, JsonSchema)]
pub struct Refresh<'a> {
    /// The connected programs.
    apps: &'a [Rates],
    /// Running captures.
    captures: &'a [CaptureInfo],
    /// Programs whose last frames are kept.
    kept: &'a [KeptInfo],
    /// How old these are, in a sentence, if the daemon is stopped or hangs; otherwise null.
    outdated: Option<&'a str>,
}

pub fn run(args: &Watch, connect: &Connect) -> Result<u8, Failure> {
    let keyboard = if args.json.json { None } else { view::keyboard() };
    let Some(keyboard) = keyboard else { return print(args, connect) };
    let refreshes = Refreshes { interval: args.interval, count: args.count };
    let Last { rates, left_out } = view::show(keyboard, connect, &refreshes)?;
    if args.count.is_some() {
        text::print(|out| write!(out, "{}{}", rows(&rates), table::and_more(left_out)))?;
    }
    Ok(0)
}

/// Prints the programs at each refresh.
fn print(args: &Watch, connect: &Connect) -> Result<u8, Failure> {
    let signals = Signals::block()
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    let mut observer = Observer::open(connect)?;
    let (mut before, mut rates) = (Vec::new(), Vec::new());
    let (mut report, mut was_outdated) = (None, false);
    let mut next = Instant::now();
    for refresh in 1.. {
        let status = observer.look()?;
        // A report that was shown already has no rates.
        if status.report.is_none() || status.report != report {
            rates = Rates::between(&before, &status.info.apps);
        }
        let is_news = status.outdated.is_some() && !was_outdated;
        was_outdated = status.outdated.is_some();
        status.outdated.iter().filter(|_| is_news).for_each(text::say);
        match args.json.json {
            true => text::print_json_line(&Refresh {
                apps: &rates,
                captures: &status.info.captures,
                kept: &status.info.kept,
                outdated: status.outdated.as_deref(),
            })?,
            false => {
                let more = table::and_more(status.info.left_out.apps);
                text::print(|out| write!(out, "{}{more}", lines(&rates)))?;
            }
        }
        if args.count.is_some_and(|count| refresh >= count.get()) {
            break;
        }
        report = status.report;
        before = status.info.apps;
        // A refresh that a slow answer delayed is not made up for.
        next = (next + args.interval).max(Instant::now());
        let mut watched = [PollFd::new(&signals, PollFlags::IN)];
        let is_asked_to_end = wait::until_ready(&mut watched, Some(next))
            .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        if is_asked_to_end {
            break;
        }
    }
    Ok(0)
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is expected".to_owned())?;
    match INTERVALS.contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => {
            Err(format!("between two refreshes lie {} to {} s", INTERVALS.start(), INTERVALS.end()))
        }
    }
}

/// Formats the applications as a table.
fn rows(rates: &[Rates]) -> String {
    if rates.is_empty() {
        return format!("{}\n", apps::NO_APP);
    }
    let head = COLUMNS.each_ref().map(|column| column.head.to_owned());
    let rows = rates.iter().map(|rates| COLUMNS.each_ref().map(|column| (column.cell)(rates)));
    table::aligned(std::iter::once(head).chain(rows))
}

/// Formats the applications, one line each.
fn lines(rates: &[Rates]) -> String {
    if rates.is_empty() {
        return format!("{}\n", apps::NO_APP);
    }
    let mut text = String::new();
    for rates in rates {
        let Rates { pid, mode, frames_per_s, .. } = rates;
        let (name, apis) = (&rates.name, rates.apis.join(","));
        // Writing to a string can't fail.
        let _ = write!(text, "{pid} {name} {apis} {mode}: {frames_per_s:.1} frames/s");
        if let (Some(calls), Some(bytes), Some(since), Some(total)) =
            (rates.calls_per_s, rates.ring_bytes_per_s, &rates.since, &rates.total)
        {
            let _ = write!(
                text,
                ", {} commands/s, {}/s into rings, waits {}, lost {}",
                HumanCount(calls as u64),
                DecimalBytes(bytes as u64),
                waits(since),
                HumanCount(total.lost_calls)
            );
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use gapii_control::{AppCounts, AppInfo};

    use super::*;

    fn gears() -> Rates {
        let counts = AppCounts {
            calls: 6000,
            ring_bytes: 3_000_000,
            waits: 2,
            wait_ns: 1_500_000,
            lost_calls: 7,
            lost_bytes: 700,
        };
        let app = AppInfo {
            pid: 41,
            name: "gears\u{1b}[2J".into(),
            apis: vec!["egl".into(), "gl".into()],
            frames: 120,
            mode: "capturing".into(),
            connected_ns: 2_000_000_000,
            counts: Some(counts),
            ..AppInfo::default()
        };
        Rates::between(&[], &[app]).remove(0)
    }

    #[test]
    fn table_and_lines_say_what_each_program_does() {
        let table = rows(&[gears()]);
        let row = table.lines().nth(1).unwrap();
        let cells: Vec<_> =
            row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let expected = [
            "41",
            "gears\\u{1b}[2J",
            "egl,gl",
            "capturing",
            "60.0",
            "3,000",
            "1.50 MB",
            "2 (1.5ms)",
            "7",
        ];
        assert_eq!(cells, expected);
        assert_eq!(
            lines(&[gears()]),
            "41 gears\\u{1b}[2J egl,gl capturing: 60.0 frames/s, 3,000 commands/s, 1.50 MB/s into \
             rings, waits 2 (1.5ms), lost 7\n"
        );
    }

    #[test]
    fn what_an_older_daemon_does_not_count_is_left_open() {
        let older = Rates {
            calls_per_s: None,
            ring_bytes_per_s: None,
            since: None,
            total: None,
            ..gears()
        };
        assert!(
            rows(std::slice::from_ref(&older))
                .ends_with("60.0      -           -        -      -\n")
        );
        assert!(lines(&[older]).ends_with("capturing: 60.0 frames/s\n"));
    }

    #[test]
    fn nobody_to_watch_is_said_in_one_line() {
        for text in [rows(&[]), lines(&[])] {
            assert!(text.starts_with("no application is connected") && text.lines().count() == 1);
        }
    }

    #[test]
    fn interval_is_a_time_to_wait() {
        let check = |text: &str, expected| assert_eq!(interval(text).ok(), expected, "{text}");
        check("1", Some(Duration::from_secs(1)));
        check("0.25", Some(Duration::from_millis(250)));
        for text in ["0", "0.05", "-1", "nan", "inf", "1e30", "soon", ""] {
            check(text, None);
        }
    }
}
