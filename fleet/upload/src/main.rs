//! `gapii-upload`: uploads finished traces and tables from a folder, the spool, to an object store, and deletes each once the
//! store has it. A program of its own, so that the daemon, which reads what hostile programs write, has no credentials and no
//! network.
//!
//! It never deletes a file that is not in the store, unless `--drop-oldest` is given.

mod backoff;
mod begun;
mod log;
mod options;
mod service;
mod spool;
mod stage;
mod status;
mod upload;

use std::process::ExitCode;

use clap::Parser;

use crate::options::{Command, Options};

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.command {
        Some(Command::Status(asked)) => status::print(asked),
        None => service::run(&options),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            log::error(&why);
            ExitCode::from(3)
        }
    }
}
