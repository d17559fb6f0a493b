//! Measures commands that the shim tracks while nothing is recorded.

use gapii_tests::bench::{self, On, Way, median};
use serde_json::{Value, json};

use crate::bars::verdict;
use crate::options::{Options, describe};

/// Runs the program of tracked commands natively and with the shim loaded, asleep and not, round after
/// round, and prints the results.
pub fn measure(options: &Options) {
    const CALLS: u64 = 10_000_000;
    const WAYS: [Way; 3] = [Way::Native, Way::Asleep, Way::Idle];
    /// Nanoseconds that the shim may add: asleep; idle to the first command, which is not tracked; idle to others.
    const MOST: (f64, [f64; 2]) = (2.0, [2.0, 12.0]);
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        eprintln!("round {number} of {}", options.rounds);
        rounds.push(WAYS.map(|way| bench::tracked(way, CALLS)));
    }
    println!("driver: {}", describe(On::Bare));
    println!("median of {} rounds, {CALLS} calls each: added nanoseconds\n", options.rounds);
    println!("command                      native   asleep      bar     idle      bar");
    let native = rounds.first().map(|[native, ..]| native.clone()).unwrap_or_default();
    let mut figures = Vec::new();
    for (at, (name, _)) in native.iter().enumerate() {
        let [native, asleep, idle] = [0, 1, 2].map(|way: usize| {
            median(rounds.iter().filter_map(|round| Some(round.get(way)?.get(at)?.1)))
        });
        let (of_asleep, of_idle) = (MOST.0, MOST.1[usize::from(at > 0)]);
        let bar =
            |added: f64, most: f64| format!("{added:9.2}  {most:2} {:4}", verdict(added, most));
        let (asleep_bar, idle_bar) = (bar(asleep - native, of_asleep), bar(idle - native, of_idle));
        println!("{name:26}{native:9.2}{asleep_bar}{idle_bar}");
        figures.push(json!({
            "command": name, "native_ns": native, "asleep_ns": asleep, "idle_ns": idle,
        }));
    }
    if options.json {
        println!("{}", Value::from(figures));
    }
}
