//! Simulation of the drain, the merge and the captures in one thread: programs, outputs and clients each take a step
//! when a seed says so, and the clock moves when the seed says so. A seed that fails fails again, at the same step.
//!
//! Programs write into real rings with the shim's own producers, between any two looks that the drain takes at the
//! rings. Outputs are files. The work of the daemon's threads is done in steps here. Not simulated: sockets, the
//! thread that compresses in advance, and how processors order memory, which the models in `ringbuf/tests` cover.

mod calls;
mod check;
mod client;
mod clock;
mod program;
mod random;
mod restart;
mod world;

use std::time::{Duration, Instant, SystemTime};

use crate::fault::Fault;
use crate::fault::putting_in;
use world::World;

/// Default time for which seeds are tried.
const SECONDS: u64 = 60;
const SECONDS_VARIABLE: &str = "GAPII_SIMULATION_SECONDS";
/// The environment variable with the only seed to try.
const SEED_VARIABLE: &str = "GAPII_SEED";
/// Number of seeds within which an injected fault must show.
const SEEDS_OF_FAULT: u64 = 2_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn unix_ns() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().expect("a calendar after 1970").as_nanos() as u64
}

/// Returns what goes wrong with this seed, if anything does.
fn failure(seed: u64, fault: Option<Fault>) -> Option<String> {
    putting_in::with(fault, || World::new(seed).run().err())
}

#[test]
fn seeds_keep_every_promise() {
    if let Some(seed) = number(SEED_VARIABLE) {
        assert_eq!(failure(seed, None), None, "{SEED_VARIABLE}={seed}");
        return;
    }
    // Always the same seeds, unless more time is given: then new ones, which a failure names.
    let asked = number(SECONDS_VARIABLE);
    let first = asked.map_or(0, |_| unix_ns());
    let time = Duration::from_secs(asked.unwrap_or(SECONDS));
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < time {
        let seed = first.wrapping_add(count);
        assert_eq!(failure(seed, None), None, "{SEED_VARIABLE}={seed}");
        count += 1;
    }
    println!("{count} seeds in {time:?}, the first one {first}");
}

#[test]
fn mistakes_that_are_put_in_are_found() {
    for fault in [
        Fault::OneReading,
        Fault::FreedUnread,
        Fault::BegunTooLate,
        Fault::MissedUncounted,
        Fault::SpaceKept,
        Fault::SpaceGivenEarly,
        Fault::NotAsked,
    ] {
        let found = (0..SEEDS_OF_FAULT).find_map(|seed| Some((seed, failure(seed, Some(fault))?)));
        let (seed, what) = found.unwrap_or_else(|| panic!("{fault:?} is not found"));
        println!("{fault:?} is found with seed {seed}: {what}");
        assert_eq!(failure(seed, Some(fault)), Some(what), "the seed fails otherwise again");
        assert_eq!(failure(seed, None), None, "the seed fails without the mistake");
    }
}
