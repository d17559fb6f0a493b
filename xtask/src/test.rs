//! `test`: every check, and `test --release`: the whole-system tests of the product as it ships; `test NAME`: the
//! whole-system tests whose names contain it, and no other check. One more whole-system test runs at a time than there
//! are cores. `test --target` is in [`arm64`].
//!
//! Measures nothing but time: `bench` has the bars of speed.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};
use clap::Args;

use crate::build::{self, Tests};
use crate::generate;
use crate::suite::{self, Built, Executable};
use crate::summary::Summary;
use crate::tidy::Tidy;
use crate::tree::Profile;
use crate::{arm64, doctests, lint, models, packages, step, tidy, tree};

/// Many whole-system tests wait for other processes, so one more runs than there are cores.
const JOBS_BESIDES_CORES: usize = 1;

#[derive(Args)]
pub struct Test {
    /// Build the product in release, and run the whole-system tests against it; nothing else
    #[arg(long)]
    release: bool,
    /// Only tests of programs for this processor, built for it and run with qemu, in a folder with Debian for it
    #[arg(long, value_name = "PROCESSOR", value_parser = [arm64::PROCESSOR], conflicts_with = "release")]
    target: Option<String>,
    /// Whole-system tests to run at a time [default: one more than there are cores]
    #[arg(long)]
    jobs: Option<usize>,
    /// Only the whole-system tests whose names contain one of these, such as `daemon::keep`; with no
    /// other check
    only: Vec<String>,
}

pub fn run(args: &Test) -> anyhow::Result<()> {
    if args.target.is_some() {
        return arm64::run(&args.only, args.jobs.unwrap_or(cores()));
    }
    packages::install(&[packages::DEMO, packages::TEST])?;
    let summary = Summary::default();
    if args.release {
        release_form(&summary, args);
    } else if !args.only.is_empty() {
        only_system_tests(&summary, args);
    } else {
        lint::install_components()?;
        every_check(&summary, args)?;
    }
    summary.finish()
}

fn every_check(summary: &Summary, args: &Test) -> anyhow::Result<()> {
    let examples = doctests::command()?;
    summary.check("formatting", lint::FORMAT_COMMAND, lint::format);
    summary.check("tidy", "cargo xtask tidy", || tidy::run(&Tidy::default()));
    let mut built = Built::default();
    summary.check("build of products and tests", "cargo xtask build --dev", || {
        built = build::dev(Tests::All)?;
        Ok(())
    });
    summary.check("clippy", lint::CLIPPY_COMMAND, || built.require_no_warnings());
    let tests = built.tests;
    // Compilers beside tests: many tests wait, and the compilers take what is left of the cores.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (name, again, arguments) in generate::CHECKS {
                summary.check_aside(name, again, step::own(arguments));
            }
            summary.check_aside("examples in docs", doctests::COMMAND, examples);
            summary.check_aside("models", models::COMMAND, models::command(false));
        });
        summary.check_measured("unit tests", "cargo test --workspace", || unit_tests(&tests));
        summary.check_measured("whole-system tests", "cargo xtask test ::", || {
            system_tests(&tests, Profile::Dev, &args.only, args.jobs)
        });
    });
    Ok(())
}

fn release_form(summary: &Summary, args: &Test) {
    let mut tests = Vec::new();
    summary.check("release build", "cargo xtask build", || {
        build::product(Profile::Release)?;
        tests = build::unit_tests(&BTreeSet::from([suite::SYSTEM.to_owned()]))?.tests;
        Ok(())
    });
    let again = "cargo xtask test --release";
    summary.check_measured("whole-system tests of the release build", again, || {
        system_tests(&tests, Profile::Release, &args.only, args.jobs)
    });
}

fn only_system_tests(summary: &Summary, args: &Test) {
    let mut tests = Vec::new();
    summary.check("build", "cargo xtask build --dev", || {
        tests = build::dev(Tests::System)?.tests;
        Ok(())
    });
    summary.check_measured("whole-system tests", "cargo xtask test NAME", || {
        system_tests(&tests, Profile::Dev, &args.only, args.jobs)
    });
}

/// Runs the unit tests of every executable.
pub fn unit_tests(tests: &[Executable]) -> anyhow::Result<f64> {
    require_built(tests)?;
    let tests = tests.iter().filter(|test| !test.is_system());
    let jobs = tests.map(|test| test.whole(&Executable::here, 4)).collect::<Result<_, _>>()?;
    suite::require_success(&suite::run(jobs, cores())?)
}

fn require_built(tests: &[Executable]) -> anyhow::Result<()> {
    ensure!(!tests.is_empty(), "no test ran, because the build has failed");
    Ok(())
}

/// Runs the whole-system tests whose names contain one of `only`, against the product of `profile`; all
/// tests where `only` is empty. Runs `jobs` at a time, or a number that suits the machine.
pub fn system_tests(
    tests: &[Executable],
    profile: Profile,
    only: &[String],
    jobs: Option<usize>,
) -> anyhow::Result<f64> {
    require_built(tests)?;
    let width = jobs.unwrap_or(cores() + JOBS_BESIDES_CORES);
    let is_wanted =
        |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let mut jobs = Vec::new();
    for test in tests.iter().filter(|test| test.is_system()) {
        jobs.extend(test.each(&Executable::here, is_wanted)?);
    }
    if jobs.is_empty() {
        bail!("no whole-system test has such a name");
    }
    // What several tests need is made once, and removed at the end.
    let once = tempfile::tempdir().context("a folder for what tests share")?;
    for job in &mut jobs {
        job.set("GAPII_ARTIFACTS", tree::artifacts(profile));
        job.set("GAPII_TEST_ONCE", once.path());
        if profile == Profile::Dev {
            // Most test programs run each of their shaders once: llvmpipe's optimiser takes longer than it saves.
            job.set("GALLIVM_PERF", "nopt");
            if only.is_empty() {
                // Programs that several tests take through the same steps go through one of them (tests/src/turns.rs).
                job.set("GAPII_TEST_TURNS", "1");
            }
        }
    }
    suite::require_success(&suite::run(jobs, width)?)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
