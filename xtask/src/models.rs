//! loom models: the concurrent parts, run in every order of their threads' steps that the bounds allow.

use std::process::Command;

use crate::{step, tree};

/// What to type for the models alone.
pub const COMMAND: &str = "RUSTFLAGS='--cfg loom' cargo test --release -p gapii-edges -p gapii-ringbuf -p gapii-tracers --test 'loom_*'";

/// Builds and runs the models in a target folder of their own: the flag would rebuild everything else.
pub fn command() -> Command {
    let mut cargo = step::cargo(&["test", "--release"]);
    cargo.args(["-p", "gapii-edges", "-p", "gapii-ringbuf", "-p", "gapii-tracers"]);
    cargo.args(["--test", "loom_*"]);
    cargo.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", tree::target().join("loom"));
    cargo
}
