//! The tests of the uploads that need an S3 server: moto, of PyPI.

use crate::own_workspace::FLEET;
use crate::{python, step, tree};

/// What the server is made of, for S3 alone.
const SERVER: [&str; 3] = ["moto", "flask", "flask_cors"];

/// Runs the tests.
pub fn check() -> anyhow::Result<()> {
    let python = python::with(&SERVER, &tree::target().join("fleet-check/moto"))?;
    let mut tests = FLEET.cargo(&["test", "--package", "gapii-upload", "--test", "upload"]);
    step::run(tests.args(["--", "--ignored", "--test-threads=2"]).env("GAPII_MOTO", python))
}
