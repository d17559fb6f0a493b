//! Examples in docstrings, compiled and run.

use std::process::Command;

use crate::step;

/// Command line that runs only the examples.
pub const COMMAND: &str = "cargo test --doc --workspace";

pub fn command() -> Command {
    step::cargo(&["test", "--doc", "--workspace"])
}
