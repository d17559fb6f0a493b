//! `check-api`: the API descriptions, parsed and checked; nothing is generated.

use std::io::{IsTerminal as _, stderr};

use anyhow::bail;
use apigen::Error;

use crate::tree;

pub fn run() -> anyhow::Result<()> {
    let root = tree::root();
    let registry = apigen::registry_files(&tree::target())?;
    let program = match apigen::check(&apigen::Inputs::read(root, &registry)?) {
        Ok(program) => program,
        Err(Error::Language(report)) => {
            eprintln!("{}", report.render(stderr().is_terminal()));
            bail!("{} mistakes in the descriptions", report.diagnostics.len());
        }
        Err(error) => return Err(error.into()),
    };
    let described = program.commands.iter().filter(|command| command.described_by.is_some());
    println!("commands: {}, {} of them described", program.commands.len(), described.count());
    Ok(())
}
