//! Builds `gapii-mcp`, whose workspace is its own, and puts it beside the control tool.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::tree::Profile;
use crate::{step, tree};

/// The server's workspace.
pub const MANIFEST: &str = "mcp/Cargo.toml";

/// Builds the server, and puts it beside the control tool.
pub fn build(profile: Profile) -> anyhow::Result<()> {
    let mut cargo = cargo(&["build"]);
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => {
            cargo.arg("--release");
            "release"
        }
    };
    step::run(&mut cargo)?;
    let built = own_target().join(folder).join(gapii_package::MCP);
    let place = tree::artifacts(profile).join(gapii_package::MCP);
    fs::copy(&built, &place).with_context(|| format!("can't make {}", place.display())).map(drop)
}

/// Cargo in the server's workspace.
pub fn cargo(words: &[&str]) -> Command {
    let mut cargo = step::cargo(words);
    cargo.args(["--locked", "--manifest-path", MANIFEST]).env("CARGO_TARGET_DIR", own_target());
    cargo
}

fn own_target() -> PathBuf {
    tree::target().join("mcp")
}
