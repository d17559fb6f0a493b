//! Simulation of a daemon that stops, answers late, answers nonsense, fills its queue of connections, dies and comes back,
//! while a program with the shim runs its safe points. The shim's code is the real one, and so are sockets, messages and
//! shared memory; the clock moves only when the program does something else, or waits. A seed that fails fails again, at the
//! same step.
//!
//! Promises: the program waits at most 20 ms in any second for the daemon; a command returns; nothing but a daemon's whole
//! answer connects the process, and no second hello is sent while the first may be answered; a daemon that is well is found;
//! a capture whose daemon is gone ends; daemons that die young cost few connections.
//!
//! Not simulated: other threads, the wait for ring space, `GAPII_WAIT`, and commands that are recorded.

mod daemon;
mod program;
mod random;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::fault::Fault;
use crate::process;
use program::Program;
use world::World;

/// Number of seeds that are tried, always the same ones.
const SEEDS: u64 = 300;
/// Most seeds in a process: connections stay mapped for the life of a process.
const SEEDS_MAX: u64 = 1_000;
/// The environment variable with the seconds for which new seeds are tried instead.
const SECONDS_VARIABLE: &str = "GAPII_SIMULATION_SECONDS";
/// The environment variable with the only seed to try.
const SEED_VARIABLE: &str = "GAPII_SEED";

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
    static PUT_IN: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Held by a test that changes the connection, the capture or the table of commands, which are the process' own.
pub static ALONE: Mutex<()> = Mutex::new(());

/// Returns the world of the simulation that runs in this thread.
pub fn running() -> Option<Rc<World>> {
    WORLD.with_borrow(Clone::clone)
}

/// Returns the fault that is injected in this thread.
pub fn fault() -> Option<Fault> {
    PUT_IN.get()
}

/// Returns what goes wrong with this seed, if anything does.
fn failure(seed: u64, fault: Option<Fault>) -> Option<String> {
    simulate(seed, fault, Program::run).err()
}

/// Has the program of a seed do something.
fn simulate<T>(seed: u64, fault: Option<Fault>, act: impl FnOnce(Program) -> T) -> T {
    PUT_IN.set(fault);
    let world = Rc::new(World::new(seed));
    WORLD.set(Some(world.clone()));
    let done = act(Program::new(world, seed));
    WORLD.set(None);
    PUT_IN.set(None);
    done
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn keeps_every_promise(seed: u64) {
    assert_eq!(failure(seed, None), None, "{SEED_VARIABLE}={seed}");
}

/// Connections stay mapped, so each that a daemon accepts and loses costs mappings.
#[test]
fn daemons_that_die_young_again_and_again_cost_few_connections() {
    const MINUTE: Duration = Duration::from_secs(60);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = |fault, time: Duration| {
        simulate(0, fault, |program| {
            let made = program.with_daemons_that_die_young(time);
            let later = program.with_daemons_that_die_young(60 * MINUTE);
            process::forget();
            [made, later]
        })
    };
    let [first, later] = made(None, 10 * MINUTE);
    // Four at once, then after 2, 4, … and 64 s.
    assert!((8..=20).contains(&first), "{first} connections in the first 10 minutes");
    assert!((40..=60).contains(&later), "{later} connections in the hour after that");
    let [first, _] = made(Some(Fault::NoGrowingPause), 10 * MINUTE);
    assert!(first > 200, "{first} connections in 10 minutes, one every two seconds");
    let [day, later] = made(None, 24 * 60 * MINUTE);
    assert_eq!([day, later], [process::CONNECTIONS_MAX, 0], "in a day, and in the hour after it");
}

/// One test, because the words of the connection are the process' own.
#[test]
fn program_goes_on_whatever_its_daemon_does() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seed) = number(SEED_VARIABLE) {
        return keeps_every_promise(seed);
    }
    if let Some(seconds) = number(SECONDS_VARIABLE) {
        let first = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_nanos() as u64;
        let (began, time, mut count) = (Instant::now(), Duration::from_secs(seconds), 0);
        while began.elapsed() < time && count < SEEDS_MAX {
            keeps_every_promise(first.wrapping_add(count));
            count += 1;
        }
        println!("{count} seeds in {:?}, the first one {first}", began.elapsed());
        return;
    }
    (0..SEEDS).for_each(keeps_every_promise);
    for fault in [
        Fault::AnswerWithoutLimit,
        Fault::BlockingSocket,
        Fault::NoPause,
        Fault::WaitsAgain,
        Fault::LooksForEver,
        Fault::LateAnswerLost,
        Fault::AnyLength,
    ] {
        let found = (0..SEEDS).find_map(|seed| Some((seed, failure(seed, Some(fault))?)));
        let (seed, what) = found.unwrap_or_else(|| panic!("{fault:?} is not found"));
        println!("{fault:?} is found with seed {seed}: {what}");
        assert_eq!(failure(seed, Some(fault)), Some(what), "the seed fails otherwise again");
    }
}
