//! loom models: the concurrent parts, run in every order of their threads' steps that the bounds allow: targets
//! `loom_*` of edges, ringbuf and tracers. With `--long` the slowest ones have all their preemptions.

use std::process::Command;

use clap::Args;

use crate::{step, tree};

#[derive(Args)]
pub struct Models {
    /// Allow the slowest models all their preemptions, which takes minutes
    #[arg(long)]
    long: bool,
}

/// The command that runs the models alone.
pub const COMMAND: &str = "cargo xtask models";

pub fn run(args: &Models) -> anyhow::Result<()> {
    step::run(&mut command(args.long))
}

/// Builds and runs the models. They have a target folder of their own, because the flag would rebuild everything else.
pub fn command(long: bool) -> Command {
    let mut cargo = step::cargo(&["test", "--profile", "models"]);
    cargo.args(["-p", "gapii-edges", "-p", "gapii-ringbuf", "-p", "gapii-tracers"]);
    cargo.args(["--test", "loom_*"]);
    cargo.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", tree::target().join("loom"));
    if long {
        cargo.env("GAPII_LONG_MODELS", "1");
    }
    cargo
}
