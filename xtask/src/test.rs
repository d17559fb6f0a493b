//! `test`: every check, one after the other, each under a heading.
//!
//! A check that fails does not keep the others from running; at the end stands which failed and
//! the command that runs each again.

use std::time::{Duration, Instant};

use anyhow::bail;

use crate::generate::{self, Generate};
use crate::{build, check_api, lint, packages, step, tree};

struct Check {
    name: &'static str,
    /// What to type to run it again.
    again: &'static str,
    run: fn() -> anyhow::Result<()>,
}

/// Cheap ones first.
const CHECKS: &[Check] = &[
    Check { name: "formatting", again: "cargo fmt --all --check", run: lint::format },
    Check {
        name: "form of the descriptions",
        again: "cargo xtask generate --format --check",
        run: || generate::run(&Generate { check: true, format: true }),
    },
    Check {
        name: "extents of the descriptions",
        again: "cargo xtask check-api",
        run: check_api::run,
    },
    Check {
        name: "generated code",
        again: "cargo xtask generate --check",
        run: || generate::run(&Generate { check: true, format: false }),
    },
    Check { name: "release build", again: "cargo xtask build", run: build::run },
    Check {
        name: "clippy",
        again: "cargo clippy --workspace --all-targets -- -D warnings",
        run: lint::clippy,
    },
    Check {
        name: "unit tests",
        again: "cargo test --workspace --exclude gapii-shim --exclude gapii-tests",
        run: unit_tests,
    },
    Check { name: "unit tests of the shim", again: "cargo test -p gapii-shim", run: shim_tests },
    Check {
        name: "models of the ring, the merge and the tracers",
        again: "RUSTFLAGS='--cfg loom' cargo test --release -p gapii-ringbuf -p gapii-tracers --test 'loom_*'",
        run: models,
    },
    Check {
        name: "whole-system tests",
        again: "cargo xtask build && cargo test --release -p gapii-tests",
        run: system_tests,
    },
];

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST])?;
    lint::install_components()?;
    let began = Instant::now();
    let results: Vec<_> = CHECKS.iter().map(|check| (check, run_one(check))).collect();
    println!("\n== summary");
    for (check, (passed, took)) in &results {
        let verdict = if *passed { "ok" } else { "FAILED" };
        println!("{verdict:8}{:36}{:>5} s", check.name, took.as_secs());
    }
    let failed: Vec<_> =
        results.iter().filter(|(_, (passed, _))| !passed).map(|(check, _)| check).collect();
    println!("{:8}{:36}{:>5} s", "", "all", began.elapsed().as_secs());
    println!("checks: {} passed, {} failed", results.len() - failed.len(), failed.len());
    if failed.is_empty() {
        return Ok(());
    }
    let again: Vec<_> = failed.iter().map(|check| format!("\n  {}", check.again)).collect();
    bail!("run again what failed:{}", again.concat())
}

fn run_one(check: &Check) -> (bool, Duration) {
    println!("\n== {}", check.name);
    let began = Instant::now();
    let done = (check.run)();
    if let Err(error) = &done {
        eprintln!("{}: {error:#}", check.name);
    }
    (done.is_ok(), began.elapsed())
}

/// Without optimisation, with overflow checks and debug assertions.
fn unit_tests() -> anyhow::Result<()> {
    let without = ["--exclude", "gapii-shim", "--exclude", "gapii-tests"];
    step::run(step::cargo(&["test", "--no-fail-fast", "--workspace"]).args(without))
}

/// By themselves: together with the tools the shim would get their features.
fn shim_tests() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["test", "-p", "gapii-shim"]))
}

/// In a target folder of their own, since the flag would rebuild everything twice.
fn models() -> anyhow::Result<()> {
    let packages = ["-p", "gapii-ringbuf", "-p", "gapii-tracers"];
    let mut cargo = step::cargo(&["test", "--release"]);
    cargo.args(packages).args(["--test", "loom_*"]);
    cargo.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", tree::target().join("loom"));
    step::run(&mut cargo)
}

/// Against the release build; they bring their own displays and daemons.
fn system_tests() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["test", "--no-fail-fast", "--release", "-p", "gapii-tests"]))
}
