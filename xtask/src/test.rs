//! `test`: every check, and `test --release`: the whole-system tests of the product as it ships.
//!
//! A failing check does not stop the others; the end lists the failed checks, each with the command
//! that runs it again. Measures nothing but time: `bench` has the bars of speed.

use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;

use crate::generate::{self, Generate};
use crate::suite::{self, Executable};
use crate::tree::Profile;
use crate::{build, check_api, child, doctests, lint, models, packages, tidy, tree};

/// System tests wait for other processes half of their time, so more of them run than there are cores.
const JOBS_PER_CORE: usize = 2;

/// Longest time that a command beside the tests may take.
const LIMIT_ASIDE: Duration = Duration::from_secs(1800);

#[derive(Args)]
pub struct Test {
    /// Build the product in release, and run the whole-system tests against it; nothing else
    #[arg(long)]
    release: bool,
    /// Whole-system tests to run at a time [default: twice the number of cores]
    #[arg(long)]
    jobs: Option<usize>,
    /// Only the whole-system tests whose names contain one of these, such as `daemon::keep`; with no
    /// other check
    only: Vec<String>,
}

/// One line of the summary.
struct Verdict {
    name: &'static str,
    /// The command that runs the check again.
    again: &'static str,
    passed: bool,
    took: Duration,
    /// None for a check that ran beside others in this process.
    cpu_seconds: Option<f64>,
}

#[derive(Default)]
struct Summary {
    verdicts: Mutex<Vec<Verdict>>,
}

pub fn run(args: &Test) -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST])?;
    let began = Instant::now();
    let summary = Summary::default();
    if args.release {
        release_form(&summary, args);
    } else if !args.only.is_empty() {
        only_system_tests(&summary, args);
    } else {
        lint::install_components()?;
        every_check(&summary, args);
    }
    summary.finish(began.elapsed())
}

fn every_check(summary: &Summary, args: &Test) {
    summary.check("formatting", "cargo fmt --all --check", lint::format);
    summary.check("form of the descriptions", "cargo xtask generate --format --check", || {
        generate::run(&Generate { check: true, format: true })
    });
    summary.check("extents of the descriptions", "cargo xtask check-api", check_api::run);
    summary.check("generated code", "cargo xtask generate --check", || {
        generate::run(&Generate { check: true, format: false })
    });
    summary.check("tidy", "cargo xtask tidy", tidy::run);
    let mut tests = Vec::new();
    summary.check("build of products and tests", "cargo xtask build --dev", || {
        tests = build_everything()?;
        Ok(())
    });
    // Compilers beside tests: many tests wait, and the compilers take what is left of the cores.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            summary.check_aside(
                "clippy",
                lint::CLIPPY_COMMAND,
                lint::clippy_command(&["--workspace"]),
            );
            summary.check_aside("examples in docs", doctests::COMMAND, doctests::command());
            summary.check_aside("models", models::COMMAND, models::command());
        });
        summary.check_measured("unit tests", "cargo test --workspace", || unit_tests(&tests));
        summary.check_measured("whole-system tests", "cargo xtask test ::", || {
            system_tests(&tests, Profile::Dev, args)
        });
    });
}

fn release_form(summary: &Summary, args: &Test) {
    let mut tests = Vec::new();
    summary.check("release build", "cargo xtask build", || {
        build::run(Profile::Release)?;
        tests = suite::build(&["build", "-p", suite::SYSTEM, "--tests"])?;
        Ok(())
    });
    let again = "cargo xtask test --release";
    summary.check_measured("whole-system tests of the release build", again, || {
        system_tests(&tests, Profile::Release, args)
    });
}

fn only_system_tests(summary: &Summary, args: &Test) {
    let mut tests = Vec::new();
    summary.check("build", "cargo xtask build --dev", || {
        build::run(Profile::Dev)?;
        tests = suite::build(&["build", "-p", suite::SYSTEM, "--tests"])?;
        Ok(())
    });
    summary.check_measured("whole-system tests", "cargo xtask test NAME", || {
        system_tests(&tests, Profile::Dev, args)
    });
}

/// Products, unit tests and whole-system tests in one profile, so that each crate is compiled once.
fn build_everything() -> anyhow::Result<Vec<Executable>> {
    let everything = ["build", "--workspace", "--lib", "--bins", "--tests", "--examples"];
    let tests = suite::build(&everything)?;
    build::lay_out(Profile::Dev)?;
    Ok(tests)
}

fn unit_tests(tests: &[Executable]) -> anyhow::Result<f64> {
    let jobs = tests.iter().filter(|test| !test.is_system()).map(|test| test.whole(2)).collect();
    suite::require_success(&suite::run(jobs, cores())?)
}

fn system_tests(tests: &[Executable], profile: Profile, args: &Test) -> anyhow::Result<f64> {
    let is_wanted = |name: &str| {
        args.only.is_empty() || args.only.iter().any(|part| name.contains(part.as_str()))
    };
    let mut jobs = Vec::new();
    for test in tests.iter().filter(|test| test.is_system()) {
        jobs.extend(test.each(is_wanted)?);
    }
    if jobs.is_empty() {
        bail!("no whole-system test has such a name");
    }
    for job in &mut jobs {
        job.set("GAPII_ARTIFACTS", tree::artifacts(profile));
    }
    suite::require_success(&suite::run(jobs, args.jobs.unwrap_or(JOBS_PER_CORE * cores()))?)
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Summary {
    /// Runs a check that prints as it goes, while nothing else runs in this process.
    fn check(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<()>,
    ) {
        let cpu_before = child::own_cpu_seconds();
        self.check_measured(name, again, || {
            run()?;
            Ok(child::own_cpu_seconds() - cpu_before)
        });
    }

    /// Runs a check that prints as it goes and returns the CPU seconds that it used.
    fn check_measured(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<f64>,
    ) {
        println!("\n== {name}");
        let began = Instant::now();
        let done = run();
        if let Err(error) = &done {
            eprintln!("{name}: {error:#}");
        }
        let (passed, took, cpu_seconds) = (done.is_ok(), began.elapsed(), done.ok());
        self.add(Verdict { name, again, passed, took, cpu_seconds });
    }

    /// Runs a command beside other checks; its output is printed whole at its end.
    fn check_aside(&self, name: &'static str, again: &'static str, mut command: Command) {
        let verdict = match child::run(&mut command, LIMIT_ASIDE) {
            Ok(ended) => {
                let passed = ended.status.success() && !ended.is_late;
                let (took, cpu_seconds) = (ended.took, Some(ended.cpu_seconds));
                // One call, so that lines of other checks stay outside.
                print!("\n== {name}\n{}", if passed { "" } else { &ended.output });
                Verdict { name, again, passed, took, cpu_seconds }
            }
            Err(error) => {
                eprintln!("{name}: {error:#}");
                Verdict { name, again, passed: false, took: Duration::ZERO, cpu_seconds: None }
            }
        };
        self.add(verdict);
    }

    fn add(&self, verdict: Verdict) {
        self.verdicts.lock().expect("no check panics").push(verdict);
    }

    /// Prints the table; fails if a check failed.
    fn finish(self, took: Duration) -> anyhow::Result<()> {
        let verdicts = self.verdicts.into_inner().expect("no check panics");
        println!("\n== summary          {:>25}  {:>5}", "seconds", "CPU");
        for Verdict { name, passed, took, cpu_seconds, .. } in &verdicts {
            let word = if *passed { "ok" } else { "FAILED" };
            let cpu = cpu_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.0}"));
            println!("{word:8}{name:36}{:>5}  {cpu:>5}", took.as_secs());
        }
        println!("{:8}{:36}{:>5}  {:>5.0}", "", "all", took.as_secs(), child::own_cpu_seconds());
        let failed: Vec<_> = verdicts.iter().filter(|verdict| !verdict.passed).collect();
        println!("checks: {} passed, {} failed", verdicts.len() - failed.len(), failed.len());
        if failed.is_empty() {
            return Ok(());
        }
        let again: Vec<_> = failed.iter().map(|failed| format!("\n  {}", failed.again)).collect();
        bail!("run again what failed:{}", again.concat())
    }
}
