//! Programs of Level Zero: through Debian's loader, on the null driver, under a tracing layer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::artifacts::artifact;
use crate::process::{Finished, LIMIT, Running, run};
use crate::programs::level_zero;

/// The tracing layer that the loader finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Ours,
    /// The layer that comes with Debian's loader.
    Debians,
}

/// `program` with tracing on.
pub fn traced(layer: Layer, program: &Path) -> Command {
    let mut command = on_null_driver(program);
    command.env("ZE_ENABLE_TRACING_LAYER", "1");
    if layer == Layer::Ours {
        command.env("LD_LIBRARY_PATH", artifact("level-zero"));
    }
    command
}

/// The null driver.
pub const DRIVER: &str = "libze_gapii_null.so";

/// `program` on the null driver, without a layer.
pub fn on_null_driver(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("ZE_ENABLE_ALT_DRIVERS", artifact(DRIVER));
    for inherited in ["LD_LIBRARY_PATH", "ZE_ENABLE_TRACING_LAYER"] {
        command.env_remove(inherited);
    }
    command
}

/// Nanoseconds per call.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub untraced_ns: f64,
    /// With a tracer; without a layer no tracer can exist.
    pub traced_ns: Option<f64>,
}

/// Measures `calls` calls.
pub fn costs(layer: Option<Layer>, calls: u64) -> Costs {
    let program = level_zero("bench_tracers");
    let mut command =
        layer.map_or_else(|| on_null_driver(&program), |layer| traced(layer, &program));
    Costs::said(&run(command.arg(calls.to_string())).ok())
}

impl Costs {
    /// Parses a program's output, one figure per line.
    #[track_caller]
    pub fn said(finished: &Finished) -> Self {
        let figure = |wanted: &str| {
            let lines = finished.stdout.lines().filter_map(|line| line.split_once(' '));
            let (_, ns) = lines.into_iter().find(|(name, _)| *name == wanted)?;
            ns.parse().ok()
        };
        let untraced_ns = figure("untraced").expect("bench_tracers says what a call takes");
        Self { untraced_ns, traced_ns: figure("traced") }
    }
}

/// The counts that a program `churn` prints: calls, tracers and pairs of callbacks, each at least 100.
///
/// # Panics
/// If a count is smaller, or if a prologue had no epilogue.
#[track_caller]
pub fn counts_of_churn(finished: &Finished) -> String {
    const LEAST: u64 = 100;
    assert_eq!(finished.stdout, "every prologue had its epilogue\n", "{finished}");
    let said = finished.stderr.trim_end();
    let numbers = said.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok());
    let numbers: Vec<u64> = numbers.collect();
    assert!(numbers.len() == 3 && numbers.iter().all(|number| *number >= LEAST), "{finished}");
    said.to_owned()
}

/// Runs threads that call while other threads create, enable, disable and destroy tracers, under our layer; returns the
/// counts of both.
#[track_caller]
pub fn churn(time: Duration) -> String {
    let mut program = traced(Layer::Ours, &level_zero("churn"));
    let running = Running::start(program.arg(time.as_secs().to_string()));
    counts_of_churn(&running.finish(time + LIMIT).ok())
}

/// Output of a case of a program of `tests/level-zero/`.
#[track_caller]
pub fn said(layer: Layer, program: &str, case: &str) -> String {
    run(traced(layer, &level_zero(program)).arg(case)).ok().stdout
}

/// The case says `expected` under our layer.
#[track_caller]
pub fn ours_says(program: &str, case: &str, expected: &[&str]) {
    check(Layer::Ours, program, case, expected);
}

/// The case says `expected` under either layer.
#[track_caller]
pub fn both_say(program: &str, case: &str, expected: &[&str]) {
    check(Layer::Ours, program, case, expected);
    check(Layer::Debians, program, case, expected);
}

/// The case says `ours` under our layer, and `debians` under the other.
#[track_caller]
pub fn they_say(program: &str, case: &str, ours: &[&str], debians: &[&str]) {
    check(Layer::Ours, program, case, ours);
    check(Layer::Debians, program, case, debians);
}

#[track_caller]
fn check(layer: Layer, program: &str, case: &str, expected: &[&str]) {
    let said = said(layer, program, case);
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{program} {case} under {layer:?}");
}

/// Runs a case of `layer_tables`, which needs no loader, with `library` of the build.
pub fn layer_tables(case: &str, library: &str) -> Finished {
    run(Command::new(level_zero("layer_tables")).arg(case).arg(artifact(library))).ok()
}
