//! `check-api`: the API descriptions, parsed and checked; nothing is generated. Fails for a mistake, and for pointer
//! parameters without an extent, which it lists.

use std::io::{IsTerminal as _, stderr};

use anyhow::bail;
use apigen::Error;

use crate::tree;

pub fn run() -> anyhow::Result<()> {
    let root = tree::root();
    let registry = apigen::registry_files(&tree::target())?;
    let coverage = match apigen::coverage(&apigen::Inputs::read(root, &registry)?) {
        Ok(coverage) => coverage,
        Err(Error::Descriptions(report)) => {
            eprintln!("{}", report.render(stderr().is_terminal()));
            bail!("{} mistakes in the descriptions", report.diagnostics.len());
        }
        Err(error) => return Err(error.into()),
    };
    println!("{coverage}");
    if !coverage.is_complete() {
        bail!("pointer parameters without an extent");
    }
    Ok(())
}
