//! `lint`: formatting and clippy, without warnings. The builds of the tests lint on the way: [`compile_with_clippy`].

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::Context;

use crate::step;

pub fn run() -> anyhow::Result<()> {
    install_components()?;
    format()?;
    clippy()
}

/// Command line that runs only rustfmt.
pub const FORMAT_COMMAND: &str = "cargo fmt --all --check";

pub fn format() -> anyhow::Result<()> {
    step::run(&mut format_command())
}

pub fn format_command() -> Command {
    step::cargo(&["fmt", "--all", "--check"])
}

/// Command line that runs only clippy.
pub const CLIPPY_COMMAND: &str = "cargo clippy --workspace --all-targets -- -D warnings";

pub fn clippy() -> anyhow::Result<()> {
    step::run(&mut clippy_command())
}

/// Clippy over all targets; a warning is a failure.
fn clippy_command() -> Command {
    step::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Has `cargo` compile the crates of the workspace with clippy's driver, which compiles as rustc does and lints on the
/// way. All lints are warnings then, so that a build fails for errors alone. Cargo keeps the results apart from those of
/// rustc.
pub fn compile_with_clippy(cargo: &mut Command) -> anyhow::Result<()> {
    install_components()?;
    let sysroot = step::output(&mut step::command("rustc", &["--print", "sysroot"]))?;
    cargo.env("RUSTC_WORKSPACE_WRAPPER", Path::new(sysroot.trim()).join("bin/clippy-driver"));
    // The driver's own way to separate arguments.
    cargo.env("CLIPPY_ARGS", "--cap-lints__CLIPPY_HACKERY__warn__CLIPPY_HACKERY__");
    Ok(())
}

/// A minimal toolchain comes without rustfmt and clippy.
pub fn install_components() -> anyhow::Result<()> {
    static ARE_PRESENT: OnceLock<()> = OnceLock::new();
    if ARE_PRESENT.get().is_some() {
        return Ok(());
    }
    let present = |tool: &str| {
        step::cargo(&[tool, "--version"]).output().is_ok_and(|output| output.status.success())
    };
    if !(present("fmt") && present("clippy")) {
        step::run(&mut step::command("rustup", &["component", "add", "rustfmt", "clippy"]))
            .context("rustfmt and clippy are needed")?;
    }
    ARE_PRESENT.get_or_init(|| ());
    Ok(())
}
