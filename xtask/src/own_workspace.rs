//! Builds programs whose workspaces are their own, and puts them beside the control tool, which becomes them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::tree::Profile;
use crate::{step, tree};

/// A workspace beside the product's.
pub struct OwnWorkspace {
    pub manifest: &'static str,
    /// Its folder in the build folder.
    target: &'static str,
    /// The programs that are put beside the control tool.
    programs: &'static [&'static str],
}

/// The server for agents.
pub const MCP: OwnWorkspace =
    OwnWorkspace { manifest: "mcp/Cargo.toml", target: "mcp", programs: &[gapii_package::MCP] };

/// Programs for many traces and many machines.
pub const FLEET: OwnWorkspace = OwnWorkspace {
    manifest: "fleet/Cargo.toml",
    target: "fleet",
    programs: &[gapii_package::TABLES, gapii_package::UPLOAD],
};

impl OwnWorkspace {
    /// Builds the programs, and puts them beside the control tool.
    pub fn build(&self, profile: Profile) -> anyhow::Result<()> {
        let mut cargo = self.cargo(&["build"]);
        let folder = match profile {
            Profile::Dev => "debug",
            Profile::Release => {
                cargo.arg("--release");
                "release"
            }
        };
        step::run(&mut cargo)?;
        for program in self.programs {
            let built = self.own_target().join(folder).join(program);
            let place = tree::artifacts(profile).join(program);
            fs::copy(&built, &place).with_context(|| format!("can't make {}", place.display()))?;
        }
        Ok(())
    }

    /// Lints the workspace, checks its format, and runs its tests.
    pub fn check(&self) -> anyhow::Result<()> {
        step::run(self.cargo(&["clippy", "--all-targets"]).args(["--", "-D", "warnings"]))?;
        step::run(step::cargo(&["fmt", "--all", "--check", "--manifest-path"]).arg(self.manifest))?;
        step::run(&mut self.cargo(&["test"]))
    }

    /// Cargo in the workspace.
    pub fn cargo(&self, words: &[&str]) -> Command {
        let mut cargo = step::cargo(words);
        cargo.args(["--locked", "--manifest-path", self.manifest]);
        cargo.env("CARGO_TARGET_DIR", self.own_target());
        cargo
    }

    fn own_target(&self) -> PathBuf {
        tree::target().join(self.target)
    }
}
