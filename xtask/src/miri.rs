//! `miri`: the tests that Miri can run, which are those without system calls, of the packages in `PACKAGES`; no
//! examples in docs. Installs a nightly toolchain if there is none.

use std::process::Command;

use anyhow::Context;

use crate::{step, tree};

/// Packages whose tests run under Miri, with flags for Miri. A test that needs files, processes or a second mapping is
/// ignored there, with a reason.
const PACKAGES: &[(&str, &str)] = &[
    ("gapii-ringbuf", ""),
    // A thread's state stays mapped for the life of its process.
    ("gapii-recorder", "-Zmiri-ignore-leaks"),
];

pub fn run() -> anyhow::Result<()> {
    install()?;
    for (package, flags) in PACKAGES {
        let mut command = nightly(&["miri", "test", "--tests", "-p", package]);
        command.env("MIRIFLAGS", flags).env("CARGO_TARGET_DIR", tree::target().join("miri"));
        step::run(&mut command)?;
    }
    Ok(())
}

/// Miri comes with nightly toolchains only.
fn install() -> anyhow::Result<()> {
    let version = nightly(&["miri", "--version"]).output();
    if version.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let mut rustup = match nightly(&["--version"]).output() {
        Ok(output) if output.status.success() => step::command(
            "rustup",
            &["component", "add", "--toolchain", "nightly", "miri", "rust-src"],
        ),
        _ => {
            let profile = ["toolchain", "install", "nightly", "--profile", "minimal"];
            let components = ["--component", "miri", "--component", "rust-src"];
            let mut rustup = step::command("rustup", &profile);
            rustup.args(components);
            rustup
        }
    };
    step::run(&mut rustup).context("Miri needs a nightly toolchain")
}

/// Cargo of the nightly toolchain, whatever toolchain runs this program.
fn nightly(arguments: &[&str]) -> Command {
    let mut command = step::command("rustup", &["run", "nightly", "cargo"]);
    command.args(arguments);
    command
}
