//! The long forms of the whole-system tests: hundreds of kills, of programs and of daemons, full-length orders, a thousand cuts,
//! captures begun and ended for minutes, attacks for half an hour.
//!
//! Stops at the first failure, having printed the seed that leads to it.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use gapii_tests::artifacts::artifact;
use gapii_tests::attaching::{attach_at_random, kill_who_attaches, run_idle, start_and_stop};
use gapii_tests::crowd::capture_crowd;
use gapii_tests::damage::Sample;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::kill::kill_once;
use gapii_tests::loading::offscreen;
use gapii_tests::order::{check_current, check_first_call, check_names, check_token};
use gapii_tests::process::{LIMIT, run};
use gapii_tests::programs::{apps_but, program};
use gapii_tests::random::Random;
use gapii_tests::remote::{Remote, save_through};
use gapii_tests::restarts::kill_daemons;
use gapii_tests::search::driver::Driver;
use gapii_tests::search::generate;
use gapii_tests::search::hunt::{self, Hunt};
use gapii_tests::search::lab::Lab;
use gapii_tests::search::planted::{self, Mistakes, Nursery};
use gapii_tests::search::program::Program;
use gapii_tests::search::world::Kind;
use gapii_tests::{headless, level_zero, tracers, trims};

/// Run the long forms of the whole-system tests
#[derive(Parser)]
#[command(name = "soak")]
struct Options {
    /// Only the parts whose names contain this
    only: Option<String>,

    /// Programs to kill
    #[arg(long, default_value_t = 200)]
    kills: u64,

    /// Daemons to kill in the middle of one capture
    #[arg(long, default_value_t = 200)]
    restarts: usize,

    /// Hops of each token
    #[arg(long, default_value_t = 250_000)]
    hops: u64,

    /// Cuts, and changed bytes
    #[arg(long, default_value_t = 1_000)]
    damages: u64,

    /// Captures begun and ended on one running program
    #[arg(long, default_value_t = 500)]
    captures: u64,

    /// Attaches to a running program in which the daemon, the client or both are killed
    #[arg(long, default_value_t = 100)]
    attaches: u64,

    /// Captures of a running program that are begun, ended and played
    #[arg(long, default_value_t = 1_000)]
    cycles: u64,

    /// Traces that are fetched through a proxy which cuts, delays and garbles
    #[arg(long, default_value_t = 200)]
    remotes: u64,

    /// Seconds for which sixteen programs are captured by eight clients
    #[arg(long, default_value_t = 300)]
    crowd_seconds: u64,

    /// Seconds for which hostile applications and clients attack a daemon
    #[arg(long, default_value_t = 1_800)]
    hostile_seconds: u64,

    /// Seconds for which seeds of each simulation are tried
    #[arg(long, default_value_t = 7_200)]
    simulation_seconds: u64,

    /// Seconds for which tracers come and go while threads call
    #[arg(long, default_value_t = 60)]
    tracer_seconds: u64,

    /// Seconds for which random programs are attached to
    #[arg(long, alias = "seconds", default_value_t = 7_200)]
    snapshot_seconds: u64,

    /// Seed of the first random program [default: from the clock]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Random programs that run side by side [default: three per processor]
    #[arg(long)]
    workers: Option<usize>,

    /// Random programs to attach to at most
    #[arg(long, default_value_t = u64::MAX)]
    programs: u64,

    /// Programs of each kind of fault that are shortened
    #[arg(long, default_value_t = 3)]
    shortened: usize,

    /// Stop the search after this many faults
    #[arg(long, default_value_t = usize::MAX)]
    faults: usize,

    /// Seconds in which the search has to find each mistake of tests/data/planted.txt
    #[arg(long, default_value_t = 600)]
    planted_seconds: u64,

    /// Contexts of OpenGL instead of OpenGL ES in the random programs
    #[arg(long)]
    desktop: bool,

    /// Run the random programs on Mesa's driver that draws nothing, where contents of objects are not compared
    #[arg(long)]
    no_op: bool,

    /// Leave out actions of the generator whose names contain this, for example buffers::map
    #[arg(long, value_name = "TEXT")]
    without: Vec<String>,

    /// Pass over replays' differences in commands, and missing things, whose text contains this
    #[arg(long, value_name = "TEXT")]
    known: Vec<String>,

    /// Only print the program of --seed
    #[arg(long)]
    print: bool,

    /// Only check this program, and keep its trace as FILE.gapii
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// Folder for shortened programs that fail
    #[arg(long, value_name = "DIR")]
    found: Option<PathBuf>,

    /// Seconds for which a connected program does nothing
    #[arg(long, default_value_t = 60)]
    idle_seconds: u64,
}

impl Options {
    /// The driver of the random programs.
    fn driver(&self) -> Driver {
        if self.no_op { Driver::NoOp } else { Driver::Llvmpipe }
    }

    /// The APIs of the random programs' contexts.
    fn kind(&self) -> Kind {
        if self.desktop { Kind::Desktop } else { Kind::Es }
    }
}

type Part = (&'static str, fn(&Options));

const PARTS: &[Part] = &[
    ("orders", orders),
    ("kills", kills),
    ("restarts", restarts),
    ("damage", damage),
    ("captures", captures),
    ("attaches", attaches),
    ("cycles", cycles),
    ("killed attaches", killed_attaches),
    ("remote", remote),
    ("crowd", crowd),
    ("hostile", hostile),
    ("simulation", simulation),
    ("tracers", tracers),
    ("snapshots", snapshots),
    ("planted", planted),
    ("trims", trims),
    ("idle", idle),
];

fn main() {
    let options = Options::parse();
    if let Some(seed) = options.seed.filter(|_| options.print) {
        let generated = generate::program_without(options.kind(), seed, &options.without);
        return print!("{}", generated.program);
    }
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    for (name, part) in PARTS.iter().filter(|(name, _)| wanted(name)) {
        let began = Instant::now();
        part(&options);
        println!("{name}: {:.0} s", began.elapsed().as_secs_f64());
    }
    println!(
        "fuzzing runs by itself: cargo +nightly fuzz run TARGET, in apigen, protocol, remote, replay and ringbuf"
    );
}

fn orders(options: &Options) {
    check_token("threads", "up", 4, options.hops);
    check_token("threads", "down", 4, options.hops);
    check_token("processes", "up", 2, options.hops);
    check_token("processes", "up", 4, options.hops);
    check_names(4 * options.hops);
    check_current(options.hops);
    check_first_call(options.hops / 25);
}

fn kills(options: &Options) {
    let mut random = Random::seeded("kill");
    (0..options.kills).for_each(|_| kill_once(&mut random, 300_000, &[]));
}

fn restarts(options: &Options) {
    kill_daemons(4, options.restarts);
}

fn damage(options: &Options) {
    let sample = Sample::record(10_000);
    let mut random = Random::seeded("damage");
    for number in 0..options.damages {
        sample.check_cut(random.below(sample.len()), number % 10 == 0);
        sample.check_flip(&mut random);
    }
}

/// A program that draws on, captured again and again; in the end the daemon has no more files open
/// and about as much memory as after the first captures.
fn captures(options: &Options) {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let mut process = Command::new(program("draw_forever"));
    process.arg("3");
    let page = session.path("page");
    fake_driver::use_in(&mut process, Some(&page));
    let _page = Page::new(&page);
    let _running = run_idle(&session, &process);
    let mut random = Random::seeded("captures");
    let mut before = None;
    for number in 0..options.captures {
        let trace = Trace::new(session.path("captured.gapii"));
        let frames = (1 + random.below(30)).to_string();
        run(session.ctl(["start", "--frames", &frames, "--force", "-o"]).arg(&trace.path)).ok();
        trace.is_whole("frames");
        if number == 20 {
            before = Some(footprint(daemon.pid()));
        }
    }
    let after = footprint(daemon.pid());
    if let Some((files, bytes)) = before {
        assert!(after.0 <= files, "{} open files, not {files}", after.0);
        assert!(after.1 <= 2 * bytes, "{} bytes resident, not about {bytes}", after.1);
    }
}

fn attaches(options: &Options) {
    (2..=4).for_each(|threads| attach_at_random(threads, options.attaches));
}

fn cycles(options: &Options) {
    start_and_stop(options.cycles);
}

fn killed_attaches(options: &Options) {
    kill_who_attaches(options.attaches);
}

/// Traces that are fetched over connections which are cut, delayed and garbled at random: each is the
/// one that the daemon has.
fn remote(options: &Options) {
    let remote = Remote::new();
    let sum = save_through(&remote, &mut Random::seeded("remote"), options.remotes);
    println!("remote: {sum}");
}

fn crowd(options: &Options) {
    const THREADS: usize = 4;
    let crowd = capture_crowd(THREADS, Duration::from_secs(options.crowd_seconds));
    println!("crowd: {crowd}");
}

fn tracers(options: &Options) {
    let time = Duration::from_secs(options.tracer_seconds);
    println!("tracers of Level Zero: {}", level_zero::churn(time));
    println!("tracers of OpenGL ES: {}", tracers::churn(time));
}

/// Random programs, attached to at random commands: none is disturbed, and each capture replays exactly.
fn snapshots(options: &Options) {
    if let Some(file) = &options.program {
        return check_program(file, options);
    }
    let clock = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.as_secs());
    let hunt = Hunt {
        driver: options.driver(),
        kind: options.kind(),
        first_seed: options.seed.unwrap_or_else(clock),
        time: Duration::from_secs(options.snapshot_seconds),
        programs: options.programs,
        workers: options.workers.unwrap_or_else(hunt::workers),
        shortened: options.shortened,
        faults: options.faults,
        left_out: options.without.clone(),
        known: options.known.clone(),
        found: options.found.clone(),
    };
    println!("snapshots: from seed {}", hunt.first_seed);
    let bag = hunt.search();
    println!("snapshots: {bag}");
    assert!(bag.faults.is_empty(), "{bag}");
    assert!(bag.programs > 0 && bag.unusable * 10 < bag.programs, "{bag}");
}

/// Puts mistakes into copies of the shim, and searches until each is found.
fn planted(options: &Options) {
    let Mistakes(mistakes) = include_str!("../../data/planted.txt").parse().expect("a list");
    let (nursery, seed) = (Nursery::new(), options.seed.unwrap_or(1));
    let time = Duration::from_secs(options.planted_seconds);
    let found = mistakes.iter().filter(|mistake| {
        let find = planted::find(&nursery.build(mistake), seed, time);
        match &find {
            Some(find) => {
                let (after, seed) = (find.after.as_secs_f64(), find.seed);
                println!("planted: {}: found after {after:.0} s, seed {seed}", mistake.name);
                println!("    before step {}", find.fault);
            }
            None => println!("planted: {}: not found in {time:?}", mistake.name),
        }
        find.is_some()
    });
    assert_eq!(found.count(), mistakes.len(), "mistakes that were found");
}

/// Trims the programs of `tests/apps/`, as many at a time as there are processors. Goes on after a failure.
fn trims(_: &Options) {
    let names = Mutex::new(apps_but(&[]).into_iter());
    let [checked, failed] = [const { AtomicUsize::new(0) }; 2];
    let check_next = || {
        let name = names.lock().ok()?.next()?;
        match catch_unwind(|| trims::check_app(&name)) {
            Ok(None) => println!("trims: {name}: too few frames"),
            Ok(Some(smaller)) => {
                checked.fetch_add(1, Relaxed);
                println!("trims: {name}: exact; {smaller} of 5 parts are smaller than the whole");
            }
            Err(_) => {
                failed.fetch_add(1, Relaxed);
                println!("trims: {name}: failed");
            }
        }
        Some(())
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| while check_next().is_some() {});
        }
    });
    let (checked, failed) = (checked.into_inner(), failed.into_inner());
    println!("trims: {checked} programs are exact");
    assert!(failed == 0 && checked >= 20, "{failed} programs failed");
}

/// Checks one program that was found, and keeps its trace.
fn check_program(file: &Path, options: &Options) {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let program: Program = text.parse().unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let mut lab = Lab::new(options.driver(), &options.known);
    let native = lab.native(&program).expect("the program runs natively");
    let outcome = lab.check(&program, &native);
    let trace = file.with_extension("gapii");
    let kept = std::fs::copy(&lab.trace().path, &trace);
    // Without a capture there is no trace, and the fault says why.
    if let Err(fault) = outcome {
        panic!("{}: {fault}", file.display());
    }
    kept.expect("the trace can be copied");
    println!("{} is captured exactly", file.display());
}

/// All hostile applications and clients at once, which is a test of the daemon, beside honest programs with the shim.
fn hostile(options: &Options) {
    let session = Session::new();
    let credentials = session.path("remote");
    let mut pair = session.ctl(["pair", "new", "client", "--folder"]);
    run(pair.arg(&credentials).arg("-o").arg(session.path("client.json"))).ok();
    let program = headless::on_fake_driver(None);
    let mut variables = program.get_envs();
    let driver = variables.find_map(|(name, value)| value.filter(|_| name == "LD_LIBRARY_PATH"));
    let mut cargo = Command::new("cargo");
    cargo.env("GAPII_HOSTILE_PROGRAM", program.get_program());
    cargo.env("GAPII_HOSTILE_DRIVER", driver.expect("the program has a driver"));
    cargo.env("GAPII_HOSTILE_SHIM", artifact("libgapii.so"));
    cargo.env("GAPII_HOSTILE_CREDENTIALS", &credentials);
    cargo.args(["test", "--quiet", "-p", "gapiid", "--test", "all", "hostile_together"]);
    cargo.args(["--", "--nocapture"]);
    cargo.env("GAPII_HOSTILE_SECONDS", options.hostile_seconds.to_string());
    let done = cargo.status().expect("cargo can be started");
    assert!(done.success(), "{done}");
}

/// New seeds of the simulations of the drain and of a program's daemon, which are parts of unit tests.
fn simulation(options: &Options) {
    for (package, test) in
        [("gapii-capture", "simulation::seeds"), ("gapii-shim", "simulation::program_goes_on")]
    {
        let (began, time) = (Instant::now(), Duration::from_secs(options.simulation_seconds));
        // A process tries a limited number of seeds.
        while began.elapsed() < time {
            let left = time.saturating_sub(began.elapsed()).as_secs();
            let mut cargo = Command::new("cargo");
            cargo.args(["test", "--quiet", "--release", "-p", package, "--lib"]);
            cargo.args([test, "--", "--nocapture"]);
            cargo.env("GAPII_SIMULATION_SECONDS", (left + 1).to_string());
            let done = cargo.status().expect("cargo can be started");
            assert!(done.success(), "{done}");
        }
    }
}

/// Open files and resident bytes.
fn footprint(pid: u32) -> (usize, u64) {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    let pages = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    (files, 4096 * pages)
}

fn idle(options: &Options) {
    let watched = Duration::from_secs(options.idle_seconds);
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let idle = run_idle(&session, &offscreen(&program("idle"), [""; 0]));
    idle.wait_for_words("idle", LIMIT);
    let before = daemon.cpu_time();
    assert!(!idle.ended_within(watched), "the program was to wait for its input");
    let used = daemon.cpu_time() - before;
    println!("{used:?} of CPU in {watched:?} of doing nothing");
    assert!(used.as_secs_f64() < 0.1 / 60.0 * watched.as_secs_f64(), "{used:?} in {watched:?}");
    idle.finish(LIMIT).ok();
}
