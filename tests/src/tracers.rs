//! Programs of `tests/tracers/`, which set tracers around their own calls.

use std::process::Command;
use std::time::Duration;

use crate::gapii::Session;
use crate::level_zero::{Costs, counts_of_churn};
use crate::loading::offscreen;
use crate::process::{Finished, LIMIT, Running, run};
use crate::programs::{Driver, fake_driver, tracers};

/// A case of a program of `tests/tracers/`, on llvmpipe.
pub fn case(program: &str, case: &str) -> Command {
    offscreen(&tracers(program), [case])
}

/// Runs threads that call while other threads create, enable, disable and destroy tracers; returns the counts of both.
#[track_caller]
pub fn churn(time: Duration) -> String {
    let session = Session::new();
    let mut command = case("churn", &time.as_secs().to_string());
    session.adopt(&mut command);
    counts_of_churn(&Running::start(&mut command).finish(time + LIMIT).ok())
}

/// Measures `calls` calls of OpenGL ES on a driver that does nothing.
pub fn costs(calls: u64) -> Costs {
    let session = Session::new();
    let mut command = Command::new(tracers("bench_tracers"));
    session.adopt(command.env("LD_LIBRARY_PATH", fake_driver(Driver::Bare)));
    Costs::said(&run(command.arg(calls.to_string())).ok())
}

/// Runs a case without a daemon.
#[track_caller]
pub fn run_case(program: &str, name: &str) -> Finished {
    let session = Session::new();
    let mut command = case(program, name);
    session.adopt(&mut command);
    run(&mut command).ok()
}

/// The case says `expected`.
#[track_caller]
pub fn says(program: &str, name: &str, expected: &[&str]) {
    let said = run_case(program, name).stdout;
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{program} {name}");
}
