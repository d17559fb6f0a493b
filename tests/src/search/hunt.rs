//! Tries seed after seed, and shortens the programs that fail.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::search::dialogue::Died;
use crate::search::driver::Driver;
use crate::search::fault::Fault;
use crate::search::generate;
use crate::search::lab::Lab;
use crate::search::program::{ATTACH, KEYFRAME, Program};
use crate::search::reduce::reduce;
use crate::search::world::Kind;

/// Captures that begin in the middle of each program.
pub const ATTACHES: usize = 3;

/// What to search, and for how long.
pub struct Hunt {
    pub driver: Driver,
    /// The APIs of the programs' contexts.
    pub kind: Kind,
    pub first_seed: u64,
    pub time: Duration,
    /// At most this many programs.
    pub programs: u64,
    /// Searches side by side, each with processes of its own. They wait for daemons most of the time, so there are more of
    /// them than processors.
    pub workers: usize,
    /// Actions of the generator that are left out, see [`generate::program_without`].
    pub left_out: Vec<String>,
    /// Known faults, see [`Lab::passing_over`].
    pub known: Vec<String>,
    /// Programs of each kind of fault that are shortened; others are only counted.
    pub shortened: usize,
    /// Stops after this many faults.
    pub faults: usize,
    /// Folder for shortened programs.
    pub found: Option<PathBuf>,
}

/// How long after the end of the search programs are still shortened.
const SHORTENING: Duration = Duration::from_secs(120);

/// How often a search says how far it is.
const REPORT: Duration = Duration::from_secs(600);

/// Workers per processor.
const WORKERS: usize = 3;

/// Returns the number of workers that keep this machine's processors busy.
pub fn workers() -> usize {
    WORKERS * std::thread::available_parallelism().map_or(1, usize::from)
}

/// What was tried and found.
pub struct Bag {
    pub driver: Driver,
    pub programs: u64,
    pub attaches: u64,
    /// Captures that begin with a keyframe.
    pub keyframes: u64,
    /// Programs that crash the driver by themselves, or answer differently each time.
    pub unusable: u64,
    pub faults: Vec<Found>,
    pub seconds: f64,
    /// Seconds on processors, of this process and of those that it has started.
    pub cpu_seconds: f64,
}

impl Bag {
    fn new(driver: Driver) -> Bag {
        Bag {
            driver,
            programs: 0,
            attaches: 0,
            keyframes: 0,
            unusable: 0,
            faults: Vec::new(),
            seconds: 0.0,
            cpu_seconds: 0.0,
        }
    }
}

/// A program that fails.
pub struct Found {
    pub seed: u64,
    pub fault: Fault,
    /// Shortened, unless there were enough of its kind.
    pub program: Option<Program>,
}

impl Hunt {
    /// Searches, and prints each fault when it is found.
    pub fn search(&self) -> Bag {
        let (began, next) = (Instant::now(), AtomicU64::new(self.first_seed));
        let reports = AtomicU64::new(0);
        let cpu_before = cpu_seconds();
        let (bag, kinds) = (Mutex::new(Bag::new(self.driver)), Mutex::new(HashMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..self.workers {
                scope.spawn(|| {
                    let mut lab = Lab::new(self.driver, &self.known);
                    let mut tried = 0;
                    let is_over = || {
                        let found = bag.lock().expect("no worker panics").faults.len();
                        began.elapsed() >= self.time || found >= self.faults
                    };
                    while !is_over() {
                        let seed = next.fetch_add(1, Relaxed);
                        if seed - self.first_seed >= self.programs {
                            break;
                        }
                        let deadline = began + self.time + SHORTENING;
                        self.try_seed(&mut lab, (seed, deadline), &bag, &kinds);
                        tried += 1;
                        if tried % self.driver.programs_per_process() == 0 {
                            lab.renew();
                        }
                        let due = began.elapsed().as_secs() / REPORT.as_secs();
                        if reports.fetch_max(due, Relaxed) < due {
                            let bag = bag.lock().expect("no worker panics");
                            let (programs, faults) = (bag.programs, bag.faults.len());
                            println!("seed {seed} reached: {programs} programs, {faults} faults");
                        }
                    }
                });
            }
        });
        let mut bag = bag.into_inner().expect("no worker panics");
        bag.seconds = began.elapsed().as_secs_f64();
        bag.cpu_seconds = cpu_seconds() - cpu_before;
        bag
    }

    fn try_seed(
        &self,
        lab: &mut Lab,
        (seed, deadline): (u64, Instant),
        bag: &Mutex<Bag>,
        kinds: &Mutex<HashMap<String, usize>>,
    ) {
        let generated = generate::program_without(self.kind, seed, &self.left_out);
        let native = match lab.native(&generated.program) {
            Ok(native) => native,
            Err(died) => {
                println!("seed {seed} ends natively: {}", died.0);
                bag.lock().expect("no worker panics").unusable += 1;
                return;
            }
        };
        bag.lock().expect("no worker panics").programs += 1;
        let places = generated.attaches(seed, ATTACHES);
        let keyframe = places.last().map(|place| (*place, KEYFRAME));
        // A program that fails in the same way wherever a capture begins has one fault.
        let mut seen = Vec::new();
        for (place, beginning) in places.iter().map(|place| (*place, ATTACH)).chain(keyframe) {
            {
                let mut bag = bag.lock().expect("no worker panics");
                bag.attaches += u64::from(place != 0 && beginning == ATTACH);
                bag.keyframes += u64::from(beginning == KEYFRAME);
            }
            let captured = generated.program.captured_at(place, beginning);
            let Err(fault) = lab.check(&captured, &native) else { continue };
            if seen.contains(&fault.kind()) {
                continue;
            }
            seen.push(fault.kind());
            if let Some(why) = why_unusable(lab, &generated.program, &native) {
                println!("seed {seed} {why}");
                let mut bag = bag.lock().expect("no worker panics");
                (bag.programs, bag.unusable) = (bag.programs - 1, bag.unusable + 1);
                return;
            }
            let nth = {
                let mut kinds = kinds.lock().expect("no worker panics");
                let nth = kinds.entry(fault.kind()).or_default();
                *nth += 1;
                *nth
            };
            println!("seed {seed}, before step {place}, {beginning}: {fault}");
            let program = (nth <= self.shortened).then(|| {
                let (program, fault) = reduce(lab, &captured, &fault, deadline);
                self.keep(seed, place, &program, &fault);
                program
            });
            bag.lock().expect("no worker panics").faults.push(Found { seed, fault, program });
        }
    }

    fn keep(&self, seed: u64, place: usize, program: &Program, fault: &Fault) {
        let text = format!("# Seed {seed}, before step {place}.\n# {fault}\n{program}");
        println!("{text}");
        if let Some(folder) = &self.found {
            std::fs::create_dir_all(folder).expect("the folder can be made");
            let beginning = program.beginning().unwrap_or_default().trim_start_matches('@');
            let path = folder.join(format!("{seed}-{place}-{beginning}.txt"));
            std::fs::write(path, text).expect("the folder is writable");
        }
    }
}

/// Why a program that fails says nothing about the shim: natively, too, its answers depend on the time, or on what its
/// memory held before.
fn why_unusable(lab: &mut Lab, program: &Program, native: &[String]) -> Option<String> {
    let why = |again: Result<Vec<String>, Died>| match again {
        Err(died) => Some(format!("ends natively: {}", died.0)),
        Ok(again) if again != native => {
            let differs = native.iter().zip(&again).find(|(first, second)| first != second);
            Some(format!("answers differently each time: {differs:?}"))
        }
        Ok(_) => None,
    };
    why(lab.native(program)).or_else(|| why(lab.native_elsewhere(program)))
}

/// Seconds on processors of this process, and of ended children that it has waited for.
fn cpu_seconds() -> f64 {
    /// Linux counts them in hundredths of a second for all programs.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // utime, stime, cutime and cstime: proc(5). The second field is a name in parentheses.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(4);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

impl Display for Bag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bag { driver, programs, attaches, keyframes, unusable, faults, .. } = self;
        let rate = *programs as f64 / self.seconds.max(1e-9) * 3600.0;
        let cpu = self.cpu_seconds / (*programs).max(1) as f64;
        write!(
            f,
            "{programs} programs on {driver}, {attaches} attaches, {keyframes} keyframes, {} faults, {unusable} programs unusable; {rate:.0} programs per hour, {cpu:.2} s on processors per program",
            faults.len()
        )
    }
}
