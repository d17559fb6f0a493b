//! `man`: writes `gapii-ctl.1` and one page per command into a folder.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::failure::Failure;

#[derive(Args, Debug)]
pub struct Man {
    /// The folder, which is there already
    folder: PathBuf,
}

pub fn run(args: &Man) -> Result<u8, Failure> {
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(|error| {
        Failure::unreachable(format!("can't write man pages to {}: {error}", args.folder.display()))
    })?;
    Ok(0)
}
