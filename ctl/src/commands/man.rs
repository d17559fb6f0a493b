//! `man`: writes `gapii-ctl.1` and one page per command into a folder.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::failure::Failure;

#[derive(Args, Debug)]
pub struct Man {
    /// Existing folder to write to
    folder: PathBuf,
}

/// Writes one page for `command_line` and one for each of its subcommands.
pub fn run(args: &Man, command_line: Command) -> Result<u8, Failure> {
    clap_mangen::generate_to(command_line, &args.folder).map_err(|error| {
        Failure::system(format!("can't write man pages to {}: {error}", args.folder.display()))
    })?;
    Ok(0)
}
