//! The table of bars: measures uploads, calls, readers of traces, an attach and instructions one after the other, with
//! peers in the same run, and prints a line with a verdict for each.

use std::fs;

use gapii_tests::bench::{Way, median};
use gapii_tests::instruction_counts::{Counted, expected};
use gapii_tests::process::missing;
use gapii_tests::{attach_cost, lttng};
use serde_json::json;

use crate::bars::{Limit, Row, print_rows, rows_as_json};
use crate::options::Options;
use crate::{calls, immediate, readers, scenes, uploads};

/// Sizes of what a program holds when it is attached to, in MiB, and the milliseconds for which it may be held.
const HELD_MAX_MS: [(u64, f64); 3] = [(16, 20.0), (256, 50.0), (2048, 100.0)];
const HELD_FORMATS: [&str; 2] = ["buffers", "rgba8"];
/// Percent by which instructions may differ from the expected ones.
const INSTRUCTIONS_PERCENT: f64 = 3.0;

/// Measures everything, and prints the table. A missing peer has a line that says so.
pub fn measure(options: &Options) {
    let rows = |options: &Options| {
        let mut rows = Vec::new();
        rows.extend(upload_rows(options));
        rows.extend(call_rows(options));
        rows.extend(immediate_rows(options));
        rows.extend(readers::rows(options));
        rows.extend(attach_rows(options));
        rows.extend(scene_rows(options));
        rows.extend(instruction_rows());
        rows
    };
    print(options, rows);
}

/// Measures immediate mode and display lists alone, and prints their part of the table.
pub fn measure_immediate(options: &Options) {
    print(options, immediate_rows);
}

fn print(options: &Options, rows: impl Fn(&Options) -> Vec<Row>) {
    let without = missing("apitrace").filter(|_| !options.without_apitrace);
    let options = &Options {
        without_apitrace: options.without_apitrace || without.is_some(),
        ..options.clone()
    };
    let load_before = load_average();
    let rows = rows(options);
    let load_after = load_average();
    println!("processor: {}", processor());
    println!("load average: {} before, {} after", words(&load_before), words(&load_after));
    println!("medians of {} rounds; ns: CPU time of the calling thread\n", options.rounds);
    print_rows(&rows);
    if let Some(what_to_do) = without {
        println!("\n{what_to_do}");
    }
    if options.json {
        println!(
            "{}",
            json!({
                "processor": processor(),
                "load_average": [load_before, load_after],
                "rounds": options.rounds,
                "rows": rows_as_json(&rows),
            })
        );
    }
}

fn immediate_rows(options: &Options) -> Vec<Row> {
    immediate::rows(options).into_iter().chain(immediate::list_rows(options)).collect()
}

fn upload_rows(options: &Options) -> Vec<Row> {
    let figures = uploads::Figures::run(options);
    figures.bars().into_iter().map(Row::from).chain(figures.peers()).collect()
}

fn call_rows(options: &Options) -> Vec<Row> {
    const WAYS: [Way; 4] = [Way::Native, Way::Idle, Way::Captured, Way::Apitrace];
    const TRACEPOINT: &str = "peer: a tracepoint of LTTng-UST, burst: ns";
    const APITRACE: &str = "peer: apitrace, burst, one thread: ns added";
    let (burst, sustained) = calls::rounds(options, &WAYS);
    let mut rows: Vec<Row> = calls::bars(&burst, &sustained).into_iter().map(Row::from).collect();
    let four = calls::added_ns(&burst, 4, Way::Captured);
    rows.push(Row::measured("captured, burst, each of four threads: ns added", four, Limit::Any));
    for row in rows.iter_mut().filter(|row| row.measured.is_err()) {
        row.measured = Err("left out by --threads".to_owned());
    }
    rows.push(match options.without_apitrace {
        true => Row::missing(APITRACE, "without apitrace", Limit::Any),
        false => Row::measured(APITRACE, calls::added_ns(&burst, 1, Way::Apitrace), Limit::Any),
    });
    let tracepoints = (0..options.rounds).map(|_| lttng::tracepoint_ns(options.burst_runs));
    rows.push(match tracepoints.collect::<Result<Vec<_>, _>>() {
        Ok(all) => Row::measured(TRACEPOINT, median(all), Limit::Any),
        Err(why) => Row::missing(TRACEPOINT, why, Limit::Any),
    });
    rows
}

/// The longer of the two attaches counts.
fn attach_rows(options: &Options) -> Vec<Row> {
    let row = |(mib, most): (u64, f64), format: &str| {
        let what = format!("attach, {mib} MiB of {format}: ms held");
        let held = (1..=options.rounds).map(|round| {
            eprintln!("round {round} of {}: {what}", options.rounds);
            let attaches = attach_cost::to_images(format, mib);
            1e3 * attaches.map(|attach| attach.held.as_secs_f64()).into_iter().fold(0.0, f64::max)
        });
        let held = median(held);
        Row::measured(what, held, Limit::AtMost(most))
    };
    let all = HELD_FORMATS.into_iter();
    all.flat_map(|format| HELD_MAX_MS.map(|size| row(size, format))).collect()
}

fn scene_rows(options: &Options) -> Vec<Row> {
    match options.glmark2 {
        true => scenes::rows(&scenes::run(options, true)),
        // Their bars are listed all the same.
        false => scenes::rows(&[])
            .into_iter()
            .map(|row| Row::missing(row.what, "only with --bars --glmark2", row.limit))
            .collect(),
    }
}

fn instruction_rows() -> Vec<Row> {
    if let Some(what_to_do) = missing("valgrind") {
        return vec![Row::missing("instructions", what_to_do, Limit::Any)];
    }
    let (found, expected) = (Counted::now(), expected());
    let is_comparable = found.build == expected.build;
    let row = |(name, count): (&String, &u64)| {
        let what = format!("instructions: {name}");
        let limit = match expected.instructions.get(name) {
            Some(before) if is_comparable => Limit::Near(*before as f64, INSTRUCTIONS_PERCENT),
            _ => Limit::Any,
        };
        Row::measured(what, *count as f64, limit)
    };
    found.instructions.iter().map(row).collect()
}

/// Load of the last minute, of 5 and of 15 minutes.
fn load_average() -> Vec<f64> {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).filter_map(|word| word.parse().ok()).collect()
}

fn words(load: &[f64]) -> String {
    load.iter().map(|load| format!("{load:.2}")).collect::<Vec<_>>().join(" ")
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named =
        |line: &str| line.strip_prefix("model name")?.split_once(": ").map(|it| it.1.to_owned());
    let name = text.lines().find_map(named).unwrap_or_else(|| "unknown".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}
