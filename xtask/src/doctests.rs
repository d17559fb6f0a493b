//! Examples in docstrings, compiled and run.

use std::process::Command;

use crate::{lint, step};

/// Command line that runs only the examples.
pub const COMMAND: &str = "cargo test --doc --workspace";

/// The libraries are those of the tests' build.
pub fn command() -> anyhow::Result<Command> {
    let mut cargo = step::cargo(&["test", "--doc", "--workspace"]);
    lint::compile_with_clippy(&mut cargo)?;
    Ok(cargo)
}
