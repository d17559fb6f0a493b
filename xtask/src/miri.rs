//! `miri`: the unit tests that Miri can run, which are those without system calls.

use std::process::Command;

use anyhow::Context;

use crate::{step, tree};

/// Packages whose tests run under Miri. A test that needs files, processes or a second mapping is ignored there, with
/// a reason.
const PACKAGES: &[&str] = &["gapii-ringbuf"];

pub fn run() -> anyhow::Result<()> {
    install()?;
    let mut command = nightly(&["miri", "test"]);
    for package in PACKAGES {
        command.args(["-p", package]);
    }
    command.env("CARGO_TARGET_DIR", tree::target().join("miri"));
    step::run(&mut command)
}

/// Miri comes with nightly toolchains only.
fn install() -> anyhow::Result<()> {
    let version = nightly(&["miri", "--version"]).output();
    if version.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let profile = ["toolchain", "install", "nightly", "--profile", "minimal"];
    let components = ["--component", "miri", "--component", "rust-src"];
    step::run(step::command("rustup", &profile).args(components))
        .context("Miri needs a nightly toolchain")
}

/// Cargo of the nightly toolchain, whatever toolchain runs this program.
fn nightly(arguments: &[&str]) -> Command {
    let mut command = step::command("rustup", &["run", "nightly", "cargo"]);
    command.args(arguments);
    command
}
