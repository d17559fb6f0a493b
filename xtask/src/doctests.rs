//! Examples in docstrings, compiled and run.

use std::process::Command;

use crate::step;

/// What to type for the examples alone.
pub const COMMAND: &str = "cargo test --doc --workspace";

pub fn command() -> Command {
    step::cargo(&["test", "--doc", "--workspace"])
}
