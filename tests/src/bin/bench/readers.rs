//! Measures readers of a large trace: commands by wall time, with standard output to nowhere.

use std::ffi::OsStr;

use gapii_tests::bench::{self, Load, On, median};
use gapii_tests::gapii::{Session, Trace};

use crate::bars::{Limit, Row};
use crate::options::Options;

/// Commands of `gapii-ctl` before the trace, and the millions of commands per second that each has to read.
/// `diff` gets the trace twice.
const READERS: &[(&[&str], f64)] = &[
    (&["verify"], 12.0),
    (&["stats"], 6.0),
    (&["dump", "--json"], 2.0),
    (&["export", "--format", "json"], 2.0),
    (&["export", "--format", "apitrace"], 2.0),
    (&["diff", "--no-frames"], 2.0),
];

/// Records a trace, runs every reader once a round, and returns the medians.
pub fn rows(options: &Options) -> Vec<Row> {
    let session = Session::new();
    let path = session.path("large.gapii");
    let load = Load::sustained(1, options.trace_calls);
    eprintln!("a trace of {} commands", options.trace_calls);
    bench::record(On::Bare, &path, load);
    let commands = Trace::new(path.clone()).info()["commands"].as_u64();
    let commands = commands.expect("a number in info --json") as f64;
    let mut rates = vec![Vec::new(); READERS.len()];
    for round in 1..=options.rounds {
        for ((words, _), rates) in READERS.iter().zip(&mut rates) {
            eprintln!("round {round} of {}: {}", options.rounds, words.join(" "));
            let mut all: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
            match words[0] {
                "export" => all.extend(["-o", "-"].map(OsStr::new)),
                "diff" => all.push(path.as_os_str()),
                _ => {}
            }
            all.push(path.as_os_str());
            rates.push(commands / bench::seconds_of_ctl(&all) / 1e6);
        }
    }
    let row = |((words, least), rates): (&(&[&str], f64), Vec<f64>)| {
        let what = format!("{}: M commands/s", words.join(" "));
        Row::measured(what, median(rates), Limit::AtLeast(*least))
    };
    READERS.iter().zip(rates).map(row).collect()
}
