//! `man`: writes `gapii-ctl.1` and one page per command into a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};

use crate::failure::Failure;

#[derive(Args, Debug)]
pub struct Man {
    /// Folder to write to, which is made if it is missing
    folder: PathBuf,
}

/// Writes one page for `command_line` and one for each of its subcommands.
pub fn run(args: &Man, command_line: Command) -> Result<u8, Failure> {
    let written = fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command_line, &args.folder));
    written.map_err(|error| {
        Failure::system(format!("can't write man pages to {}: {error}", args.folder.display()))
    })?;
    Ok(0)
}

/// Returns the pages of `command_line`, by their file names.
pub fn pages(command_line: Command) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let read = |folder: &Path| -> io::Result<Vec<_>> {
        clap_mangen::generate_to(command_line, folder)?;
        let page = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok((name, fs::read(entry.path())?))
        };
        fs::read_dir(folder)?.map(page).collect()
    };
    let pages = tempfile::tempdir().and_then(|folder| read(folder.path()));
    pages.map_err(|error| Failure::system(format!("can't write man pages: {error}")))
}
