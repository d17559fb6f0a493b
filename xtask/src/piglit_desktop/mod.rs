//! `piglit`: runs Debian's piglit programs of desktop OpenGL natively, recorded and as replays, and prints a table of the results.
//!
//! The folders of GLX, of display lists and of versions with fixed functions are taken whole; of the other programs as many as
//! asked for, in an order that a seed decides. Differences that are not in `tests/data/piglit_desktop.txt` make the command fail.

mod known;
mod list;
mod report;
mod trial;

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use clap::Args;

use known::Known;
use list::{Part, Test};
use report::{Report, Row};
use trial::Place;

use crate::build::{self, Tests};
use crate::tree::Profile;
use crate::xserver::XServer;
use crate::{packages, tree};

/// Folder in the build folder for the traces of tests that differ.
const KEPT: &str = "piglit/different";
/// So many tests pass before a line says how far the run is.
const PROGRESS: usize = 50;

#[derive(Args)]
pub struct Piglit {
    /// Print the results as JSON
    #[arg(long)]
    json: bool,

    /// Decides the order of the sample
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Programs of the sample that must pass natively
    #[arg(long, value_name = "N", default_value_t = 400)]
    sample: usize,

    /// Replay every Nth test that passes
    #[arg(long, value_name = "N", default_value_t = 1)]
    replay_every: usize,

    /// Only tests whose names contain one of these
    tests: Vec<String>,

    /// Window system: piglit's PIGLIT_PLATFORM
    #[arg(long, value_parser = ["glx", "x11_egl"], default_value = "glx")]
    platform: String,

    /// Tests that run side by side
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,

    /// Add the result of each test to this file, and pass over tests that are in it: an interrupted run is continued
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// What the workers share.
struct Run {
    left: VecDeque<(Part, Test)>,
    rows: Vec<Row>,
    results: Option<File>,
    /// Programs of the sample that still have to pass.
    sample: usize,
}

pub fn run(args: &Piglit) -> anyhow::Result<()> {
    let known = Known::read(&tree::root().join(known::FILE))?;
    packages::install(&[packages::DEMO, packages::TEST])?;
    build::dev(Tests::None)?;
    let piglit = trial::piglit()?;
    let is_wanted = |test: &Test| {
        args.tests.is_empty() || args.tests.iter().any(|part| test.name.contains(part))
    };
    let mut parts = list::divide(list::read(&piglit, &args.platform)?, args.seed);
    let all = Part::ALL.into_iter().flat_map(|part| {
        parts.remove(&part).unwrap_or_default().into_iter().map(move |test| (part, test))
    });
    let left: VecDeque<_> = all.filter(|(_, test)| is_wanted(test)).collect();
    let traces = tree::target().join(KEPT);
    fs::create_dir_all(&traces)?;
    let ctl = tree::artifacts(Profile::Dev).join("gapii-ctl");
    let place = Place { piglit, ctl, platform: args.platform.clone(), traces };
    let run = Mutex::new(Run::new(left, args)?);
    let done = std::thread::scope(|scope| {
        let work = || work(&run, &place, args.replay_every, &known);
        let workers: Vec<_> = (0..args.workers.max(1)).map(|_| scope.spawn(work)).collect();
        let ended =
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        ended.collect::<anyhow::Result<Vec<()>>>()
    });
    done?;
    let run = run.into_inner().unwrap_or_else(PoisonError::into_inner);
    let report = Report { rows: run.rows, known: &known };
    match args.json {
        true => println!("{:#}", report.json()),
        false => print!("{report}"),
    }
    match report.unexplained().len() {
        0 => Ok(()),
        count => bail!("{count} differences are not explained in {}", known::FILE),
    }
}

impl Run {
    /// Begins a run of the tests in `left` that the file of results does not have.
    fn new(mut left: VecDeque<(Part, Test)>, args: &Piglit) -> anyhow::Result<Self> {
        let mut rows = Vec::new();
        let mut results = None;
        if let Some(path) = &args.results {
            let file = OpenOptions::new().create(true).append(true).read(true).open(path);
            results = Some(file.with_context(|| format!("can't open {}", path.display()))?);
            let text = fs::read_to_string(path)?;
            rows = text
                .lines()
                .map(Row::parse)
                .collect::<Result<_, _>>()
                .with_context(|| path.display().to_string())?;
            left.retain(|(_, test)| !rows.iter().any(|row| row.test() == test.name));
        }
        let is_passed = |row: &&Row| row.passed() && row.part() == Part::Sample.name();
        let sample = args.sample.saturating_sub(rows.iter().filter(is_passed).count());
        Ok(Self { left, rows, results, sample })
    }

    fn next(&mut self) -> Option<(Part, Test)> {
        let (part, _) = self.left.front()?;
        if *part == Part::Sample {
            self.sample = self.sample.checked_sub(1)?;
        }
        self.left.pop_front()
    }

    fn add(&mut self, part: Part, row: Row) -> anyhow::Result<()> {
        if part == Part::Sample && !row.passed() {
            self.sample += 1;
        }
        if let Some(file) = &mut self.results {
            writeln!(file, "{}", row.line())?;
        }
        self.rows.push(row);
        if self.rows.len().is_multiple_of(PROGRESS) {
            eprintln!("{} tests run, at most {} left", self.rows.len(), self.left.len());
        }
        Ok(())
    }
}

/// Runs tests until none is left.
fn work(run: &Mutex<Run>, place: &Place, replay_every: usize, known: &Known) -> anyhow::Result<()> {
    let server = XServer::start()?;
    let locked = || run.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some((part, test)) = locked().next() else { return Ok(()) };
        let replays = locked().rows.len().is_multiple_of(replay_every.max(1));
        let row = match place.native(&test, &server)? {
            Err(said) => Row::unfit(part, &test, &said),
            Ok(native) => Row::of(part, &test, &place.record(&test, &native, replays, &server)?),
        };
        for (what, why) in row.differences() {
            match known.reason(&test.name, &what) {
                Some(_) => {}
                None => eprintln!("{}: {why}", test.name),
            }
        }
        locked().add(part, row)?;
    }
}
