//! `browser`: the tests of the viewer's page in Chromium, and with `--screenshots` the pictures in docs/viewer/. Not part of
//! `test`: a browser takes more packages and more time than all other checks have.

use clap::Args;

use crate::tree::{self, Profile};
use crate::{build, packages, step};

/// The tests' workspace.
const MANIFEST: &str = "tests/browser/Cargo.toml";

#[derive(Args)]
pub struct Browser {
    /// Make the pictures of docs/viewer.md anew, instead of testing
    #[arg(long)]
    screenshots: bool,
    /// Only the tests whose names contain this
    only: Option<String>,
}

pub fn run(args: &Browser) -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST, packages::BROWSER])?;
    build::product(Profile::Dev)?;
    let mut cargo = match args.screenshots {
        true => step::cargo(&["run", "--quiet", "--bin", "screenshots"]),
        false => step::cargo(&["test"]),
    };
    cargo.args(["--locked", "--manifest-path", MANIFEST]);
    cargo.args(&args.only);
    cargo
        .env("CARGO_TARGET_DIR", tree::target().join("browser"))
        .env("GAPII_ARTIFACTS", tree::artifacts(Profile::Dev));
    step::run(&mut cargo)
}
