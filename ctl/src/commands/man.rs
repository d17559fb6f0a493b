//! `man`: writes `gapii-ctl.1` and one page per command into a folder.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::failure::Failure;

#[derive(Args, Debug)]
pub struct Man {
    /// Folder to write to, which is made if it is missing
    folder: PathBuf,
}

/// Writes one page for `command_line` and one for each of its subcommands.
pub fn run(args: &Man, command_line: Command) -> Result<u8, Failure> {
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command_line, &args.folder));
    written.map_err(|error| {
        Failure::system(format!("can't write man pages to {}: {error}", args.folder.display()))
    })?;
    Ok(0)
}
