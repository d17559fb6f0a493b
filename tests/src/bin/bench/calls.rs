//! Measures the program of cheap calls in every way.

use std::collections::BTreeMap;

use gapii_tests::bench::{Load, Sample, Way, median, sample};
use serde_json::{Value, json};

use crate::bars::{Bar, print_bars};
use crate::options::{Options, describe};

/// Samples of every round, by number of threads and way.
pub type Samples = BTreeMap<(u64, Way), Vec<Sample>>;

/// Runs and prints everything.
pub fn measure(options: &Options) {
    let (burst, sustained) = rounds(options, &Way::ALL);
    println!("driver: {}", describe(options.driver));
    println!("median of {} rounds\n", options.rounds);
    print_burst(&burst);
    print_sustained(options, &sustained);
    let bars = bars(&burst, &sustained);
    print_bars(&bars);
    if options.json {
        println!("{}", as_json(options, &burst, &sustained, &bars));
    }
}

/// Runs every combination of threads and `ways` once a round, in bursts and without pauses.
pub fn rounds(options: &Options, ways: &[Way]) -> (Samples, Samples) {
    let (mut burst, mut sustained) = (Samples::new(), Samples::new());
    let left_out = |way: Way| options.without_apitrace && way == Way::Apitrace;
    let ways: Vec<Way> = ways.iter().copied().filter(|&way| !left_out(way)).collect();
    for round in 1..=options.rounds {
        for &threads in &options.threads {
            for &way in &ways {
                eprintln!("round {round} of {}: {threads} threads, {}", options.rounds, way.name());
                let load = Load::burst(threads, options.burst_runs);
                let load = if way == Way::Timed { load.halved() } else { load };
                burst.entry((threads, way)).or_default().push(sample(options.driver, way, load));
                let load = Load::sustained(threads, sustained_calls(options, way));
                sustained.entry((threads, way)).or_default().push(sample(
                    options.driver,
                    way,
                    load,
                ));
            }
        }
    }
    (burst, sustained)
}

fn sustained_calls(options: &Options, way: Way) -> u64 {
    if way == Way::Apitrace { options.apitrace_calls } else { options.sustained_calls }
}

fn middle(samples: &Samples, threads: u64, way: Way, figure: impl Fn(&Sample) -> f64) -> f64 {
    median(samples.get(&(threads, way)).into_iter().flatten().map(figure))
}

fn cpu_ns(samples: &Samples, threads: u64, way: Way) -> f64 {
    middle(samples, threads, way, |sample| sample.cpu_ns_per_call)
}

fn print_burst(burst: &Samples) {
    println!("burst: CPU time of a thread, runs of half a ring");
    println!("threads  way        ns/call    added    ratio    waits");
    for &(threads, way) in burst.keys() {
        let (ours, native) = (cpu_ns(burst, threads, way), cpu_ns(burst, threads, Way::Native));
        let waits = middle(burst, threads, way, |sample| sample.waits as f64);
        let (added, ratio) = (ours - native, ours / native);
        println!("{threads:7}  {:9}{ours:9.2}{added:9.2}{ratio:9.1}{waits:9.0}", way.name());
    }
    println!();
}

fn print_sustained(options: &Options, sustained: &Samples) {
    println!(
        "sustained: wall time, {} calls in all (apitrace {}), nothing lost",
        options.sustained_calls, options.apitrace_calls
    );
    println!("threads  way       M calls/s   ns/call    ratio    waits  waiting  bytes/call");
    for &(threads, way) in sustained.keys() {
        let rate = |way| middle(sustained, threads, way, |sample| sample.calls_per_second);
        let (ours, native) = (rate(way), rate(Way::Native));
        let waits = middle(sustained, threads, way, |sample| sample.waits as f64);
        let wall_ns = sustained_calls(options, way) as f64 / ours * 1e9;
        let waiting = middle(sustained, threads, way, |sample| sample.wait_ns as f64);
        let waiting = 100.0 * waiting / (wall_ns * threads as f64);
        let bytes = middle(sustained, threads, way, |sample| sample.bytes_per_call);
        println!(
            "{threads:7}  {:9}{:10.2}{:10.1}{:9.1}{waits:9.0}{waiting:8.0}%{bytes:12.2}",
            way.name(),
            ours / 1e6,
            1e9 / ours,
            native / ours,
        );
    }
    println!();
}

/// The bars of commands that are captured, and of those that are not.
pub fn bars(burst: &Samples, sustained: &Samples) -> Vec<Bar> {
    let added = |threads, way| added_ns(burst, threads, way);
    let captured =
        |threads, figure: fn(&Sample) -> f64| middle(sustained, threads, Way::Captured, figure);
    let most = |what: &'static str, measured, limit| Bar {
        what: what.into(),
        measured,
        limit,
        least: false,
    };
    let least = |what: &'static str, measured, limit| Bar {
        what: what.into(),
        measured,
        limit,
        least: true,
    };
    let rate = |threads| captured(threads, |s| s.calls_per_second) / 1e6;
    vec![
        most("idle, one thread: ns added", added(1, Way::Idle), 2.0),
        most("captured, burst, one thread: ns added", added(1, Way::Captured), 4.0),
        most("captured, burst, each of two threads: ns added", added(2, Way::Captured), 9.0),
        least("captured, sustained: M commands/s", rate(1), 60.0),
        least("captured, sustained, two threads: M commands/s", rate(2), 45.0),
        most("captured, sustained: bytes a command", captured(1, |s| s.bytes_per_call), 1.5),
        most("captured, sustained: commands lost", captured(1, |s| s.lost_calls as f64), 0.0),
    ]
}

/// CPU time that a way adds to a command in bursts, in nanoseconds.
pub fn added_ns(burst: &Samples, threads: u64, way: Way) -> f64 {
    cpu_ns(burst, threads, way) - cpu_ns(burst, threads, Way::Native)
}

fn as_json(options: &Options, burst: &Samples, sustained: &Samples, bars: &[Bar]) -> Value {
    let list = |samples: &Samples| -> Vec<Value> {
        samples
            .keys()
            .map(|&(threads, way)| {
                let middle = |figure: fn(&Sample) -> f64| middle(samples, threads, way, figure);
                json!({
                    "threads": threads,
                    "way": way.name(),
                    "cpu_ns_per_call": middle(|s| s.cpu_ns_per_call),
                    "calls_per_second": middle(|s| s.calls_per_second),
                    "waits": middle(|s| s.waits as f64),
                    "wait_ns": middle(|s| s.wait_ns as f64),
                    "bytes_per_call": middle(|s| s.bytes_per_call),
                })
            })
            .collect()
    };
    let bars: Vec<_> = bars
        .iter()
        .map(|bar| json!({"what": &*bar.what, "measured": bar.measured, "limit": bar.limit, "reached": bar.reached()}))
        .collect();
    json!({
        "driver": format!("{:?}", options.driver).to_lowercase(),
        "rounds": options.rounds,
        "sustained_calls": options.sustained_calls,
        "apitrace_calls": options.apitrace_calls,
        "burst": list(burst),
        "sustained": list(sustained),
        "bars": bars,
    })
}
