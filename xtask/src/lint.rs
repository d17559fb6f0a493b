//! `lint`: formatting and clippy, without warnings.

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

pub fn clippy() -> anyhow::Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    step::run(&mut step::cargo(&arguments))
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
