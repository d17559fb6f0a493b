//! Measures uploads: what they add to the program's thread, beside a copy and a read of the same bytes in the same run.

use std::collections::BTreeMap;

use gapii_tests::bench::{self, Way, median};
use serde_json::{Value, json};

use crate::bars::{Bar, print_bars};
use crate::options::Options;

/// Sizes of uploads, in bytes.
const SIZES: [u64; 4] = [4 << 10, 64 << 10, 1 << 20, 4 << 20];
/// Runs of each measurement: of 4 KiB, a capture remembers all that they upload.
const RUNS: u64 = 40;
/// What an upload of 4 KiB may cost besides its copy, in nanoseconds.
const SMALL_NS: f64 = 300.0;

/// Nanoseconds of the program's lines, by name, of every round.
type Figures = BTreeMap<String, Vec<f64>>;

/// Runs the program of uploads natively, captured and under apitrace, round after round, and prints the results.
pub fn measure(options: &Options) {
    let mut ways = vec![Way::Native, Way::Captured];
    if !options.without_apitrace {
        ways.push(Way::Apitrace);
    }
    let mut figures: BTreeMap<(u64, Way), Figures> = BTreeMap::new();
    for round in 1..=options.rounds {
        for size in SIZES {
            for &way in &ways {
                eprintln!("round {round} of {}: {size} bytes, {}", options.rounds, way.name());
                let figures = figures.entry((size, way)).or_default();
                for (name, ns) in bench::uploads(way, size, RUNS) {
                    figures.entry(name).or_default().push(ns);
                }
            }
        }
    }
    let figure = |size, way, name: &str| {
        median(
            figures.get(&(size, way)).and_then(|all| all.get(name)).into_iter().flatten().copied(),
        )
    };
    println!("CPU time of the calling thread for one upload, median of {} rounds", options.rounds);
    println!(
        "added: more than natively; a copy and a read of as many bytes in the same captured run"
    );
    println!("    bytes  way        copy ns   read ns  new: added  of copy  known: added  of read");
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    for size in SIZES {
        for &way in &ways[1..] {
            let [copy, read] = ["memcpy", "read"].map(|name| figure(size, way, name));
            let [new, known] = ["new", "known"]
                .map(|name| figure(size, way, name) - figure(size, Way::Native, name));
            let (of_copy, of_read) = (new / copy, known / read);
            println!(
                "{size:9}  {:9}{copy:9.0} {read:9.0} {new:11.0} {of_copy:8.2} {known:13.0} {of_read:8.2}",
                way.name()
            );
            rows.push(json!({
                "bytes": size, "way": way.name(), "copy_ns": copy, "read_ns": read,
                "new_added_ns": new, "known_added_ns": known,
            }));
            if way == Way::Captured {
                bars.extend(bars_of(size, (copy, new), (known, read)));
            }
        }
    }
    println!();
    print_bars(&bars);
    if options.json {
        println!("{}", Value::from(rows));
    }
}

/// Returns the bars of a size.
fn bars_of(size: u64, (copy, new): (f64, f64), (known, read): (f64, f64)) -> Vec<Bar> {
    let bar =
        |what: String, measured, limit| Bar { what: what.into(), measured, limit, least: false };
    match size {
        ..65_536 => vec![bar(format!("new, {size} bytes: ns above a copy"), new - copy, SMALL_NS)],
        _ => vec![
            bar(format!("new, {size} bytes: copies"), new / copy, 1.5),
            bar(format!("known, {size} bytes: reads"), known / read, 1.5),
        ],
    }
}
