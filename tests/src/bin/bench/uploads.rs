//! Measures uploads: what they add to the program's thread, beside a copy and a read of the same bytes in the same run.

use std::collections::BTreeMap;

use gapii_tests::bench::{self, Way, median};
use serde_json::{Value, json};

use crate::bars::{Bar, Limit, Row, print_bars};
use crate::options::Options;

/// Sizes of uploads, in bytes.
const SIZES: [u64; 4] = [4 << 10, 64 << 10, 1 << 20, 4 << 20];
/// Runs of each measurement: of 4 KiB, a capture remembers all that they upload.
const RUNS: u64 = 40;
/// What an upload of 4 KiB may cost besides its copy, in nanoseconds.
const SMALL_NS: f64 = 300.0;

/// Nanoseconds of the program's lines of every round, by name.
type Lines = BTreeMap<String, Vec<f64>>;

/// Figures of the program of uploads, by size and way.
pub struct Figures {
    ways: Vec<Way>,
    lines: BTreeMap<(u64, Way), Lines>,
}

/// Runs the program of uploads natively, captured and under apitrace, round after round, and prints the results.
pub fn measure(options: &Options) {
    let figures = Figures::run(options);
    println!("CPU time of the calling thread for one upload, median of {} rounds", options.rounds);
    println!(
        "added: more than natively; a copy and a read of as many bytes in the same captured run"
    );
    figures.print();
    print_bars(&figures.bars());
    if options.json {
        println!("{}", figures.as_json());
    }
}

impl Figures {
    /// Runs every combination once a round.
    pub fn run(options: &Options) -> Self {
        let mut ways = vec![Way::Native, Way::Captured];
        if !options.without_apitrace {
            ways.push(Way::Apitrace);
        }
        let mut lines: BTreeMap<(u64, Way), Lines> = BTreeMap::new();
        for round in 1..=options.rounds {
            for size in SIZES {
                for &way in &ways {
                    eprintln!("round {round} of {}: {size} bytes, {}", options.rounds, way.name());
                    let lines = lines.entry((size, way)).or_default();
                    for (name, ns) in bench::uploads(way, size, RUNS) {
                        lines.entry(name).or_default().push(ns);
                    }
                }
            }
        }
        Self { ways, lines }
    }

    /// The bars of all sizes.
    pub fn bars(&self) -> Vec<Bar> {
        let bars = SIZES.into_iter().flat_map(|size| {
            let (copy, read) = self.beside(size, Way::Captured);
            let (new, known) = self.added(size, Way::Captured);
            bars_of(size, (copy, new), (known, read))
        });
        bars.collect()
    }

    /// The time of a copy of 64 KiB, and the time that apitrace adds to the upload of a new one. Without a bar.
    pub fn peers(&self) -> [Row; 2] {
        const SIZE: u64 = 64 << 10;
        let (copy, _) = self.beside(SIZE, Way::Captured);
        let copy = Row::measured("peer: memcpy of 64 KiB, ns", copy, Limit::Any);
        let what = "peer: apitrace, new, 64 KiB: copies";
        let (new, _) = self.added(SIZE, Way::Apitrace);
        let (own_copy, _) = self.beside(SIZE, Way::Apitrace);
        let apitrace = match self.ways.contains(&Way::Apitrace) {
            true => Row::measured(what, new / own_copy, Limit::Any),
            false => Row::missing(what, "without apitrace", Limit::Any),
        };
        [copy, apitrace]
    }

    /// Nanoseconds of a copy and of a read in the same runs.
    fn beside(&self, size: u64, way: Way) -> (f64, f64) {
        (self.figure(size, way, "memcpy"), self.figure(size, way, "read"))
    }

    /// Nanoseconds that uploads of new and of known memory take more than natively.
    fn added(&self, size: u64, way: Way) -> (f64, f64) {
        let added = |name| self.figure(size, way, name) - self.figure(size, Way::Native, name);
        (added("new"), added("known"))
    }

    fn figure(&self, size: u64, way: Way, name: &str) -> f64 {
        let lines = self.lines.get(&(size, way)).and_then(|all| all.get(name));
        median(lines.into_iter().flatten().copied())
    }

    fn print(&self) {
        println!(
            "    bytes  way        copy ns   read ns  new: added  of copy  known: added  of read"
        );
        for (size, way) in self.added_ways() {
            let ((copy, read), (new, known)) = (self.beside(size, way), self.added(size, way));
            println!(
                "{size:9}  {:9}{copy:9.0} {read:9.0} {new:11.0} {:8.2} {known:13.0} {:8.2}",
                way.name(),
                new / copy,
                known / read,
            );
        }
        println!();
    }

    fn as_json(&self) -> Value {
        let row = |(size, way)| {
            let ((copy, read), (new, known)) = (self.beside(size, way), self.added(size, way));
            json!({
                "bytes": size, "way": way.name(), "copy_ns": copy, "read_ns": read,
                "new_added_ns": new, "known_added_ns": known,
            })
        };
        self.added_ways().map(row).collect()
    }

    /// Every size in every way that adds something.
    fn added_ways(&self) -> impl Iterator<Item = (u64, Way)> {
        SIZES.into_iter().flat_map(|size| self.ways[1..].iter().map(move |&way| (size, way)))
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
