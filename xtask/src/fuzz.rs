//! `check-fuzz`: the fuzzers compile. Running them takes `cargo fuzz`, a nightly toolchain and hours.

use std::path::PathBuf;

use anyhow::Context;

use crate::{step, tree};

/// Type-checks every fuzzer. They share one target folder, because their dependencies are mostly the same.
pub fn run() -> anyhow::Result<()> {
    for manifest in manifests()? {
        let mut cargo = step::cargo(&["check", "--locked", "--manifest-path"]);
        cargo.arg(manifest).env("CARGO_TARGET_DIR", tree::target().join("fuzz"));
        step::run(&mut cargo)?;
    }
    Ok(())
}

/// The manifests that git knows in folders named `fuzz`; each is a workspace of its own.
fn manifests() -> anyhow::Result<Vec<PathBuf>> {
    let listed = step::output(&mut step::command("git", &["ls-files", "*/fuzz/Cargo.toml"]))
        .context("can't list the fuzzers")?;
    Ok(listed.lines().map(PathBuf::from).collect())
}
