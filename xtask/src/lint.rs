//! `lint`: formatting and clippy, without warnings.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Context;

use crate::step;

pub fn run() -> anyhow::Result<()> {
    install_components()?;
    format()?;
    clippy()
}

pub fn format() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["fmt", "--all", "--check"]))
}

/// Command line that runs only clippy.
pub const CLIPPY_COMMAND: &str = "cargo clippy --workspace --all-targets -- -D warnings";

pub fn clippy() -> anyhow::Result<()> {
    step::run(&mut clippy_command())
}

/// Clippy over all targets; a warning is a failure.
pub fn clippy_command() -> Command {
    step::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Clippy over all targets of some packages, and not of those that depend on them; a warning is a failure.
pub fn clippy_command_for(packages: &BTreeSet<String>) -> Command {
    let mut cargo = step::cargo(&["clippy", "--all-targets"]);
    cargo.args(packages.iter().flat_map(|package| ["-p", package]));
    cargo.args(["--", "-D", "warnings"]);
    cargo
}

/// A minimal toolchain comes without rustfmt and clippy.
pub fn install_components() -> anyhow::Result<()> {
    let present = |tool: &str| {
        step::cargo(&[tool, "--version"]).output().is_ok_and(|output| output.status.success())
    };
    if present("fmt") && present("clippy") {
        return Ok(());
    }
    step::run(&mut step::command("rustup", &["component", "add", "rustfmt", "clippy"]))
        .context("rustfmt and clippy are needed")
}
