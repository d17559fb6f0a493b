//! `Tables`: becomes `gapii-tables`, which writes traces as tables in Parquet. That is a program of its own, so that the crates of
//! Parquet and of object stores are no part of this one.

use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use gapii_package::TABLES;

use crate::failure::Failure;
use crate::{installation, json};

/// Options of an export to tables.
#[derive(Args, Debug)]
pub struct Tables {
    /// With --format parquet, also write the table of commands
    #[arg(long)]
    commands: bool,

    /// Write the arguments of commands into that table
    #[arg(long, requires = "commands")]
    arguments: bool,

    /// With --format parquet, what is known of the traces, such as build=1.4.2 or scene=menu; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE")]
    tags: Vec<String>,

    /// With --format parquet, read N traces at the same time [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// With --format parquet, export only part I of N, from 0: a share of the traces, for machines that export together
    #[arg(long, value_name = "I/N")]
    part: Option<String>,
}

impl Tables {
    /// Refuses options of tables for another format.
    pub fn must_be_empty(&self) -> Result<(), Failure> {
        let given = [
            (self.commands, "--commands"),
            (!self.tags.is_empty(), "--tag"),
            (self.jobs.is_some(), "--jobs"),
            (self.part.is_some(), "--part"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, option)) => Err(Failure::usage(format!(
                "{option} is for tables; add `--format parquet`, or leave it out"
            ))),
        }
    }

    /// Becomes the program that writes the tables of `traces` to `output`.
    pub fn export(&self, traces: &[PathBuf], output: &Path, as_json: bool) -> Result<u8, Failure> {
        let program = installation::program_beside(TABLES).ok_or_else(|| {
            Failure::unreachable(format!(
                "{TABLES} is not installed; install Debian's package with `apt install ./gapii-fleet_*.deb`, or build all of \
                 gapii with `cargo xtask build`"
            ))
        })?;
        let mut command = Command::new(&program);
        command.arg("--output").arg(output);
        for (is_wanted, option) in [(self.commands, "--commands"), (self.arguments, "--arguments")]
        {
            if is_wanted {
                command.arg(option);
            }
        }
        command.args(self.tags.iter().flat_map(|tag| ["--tag", tag]));
        if let Some(jobs) = self.jobs {
            command.args(["--jobs", &jobs.to_string()]);
        }
        if let Some(part) = &self.part {
            command.args(["--part", part]);
        }
        if as_json {
            command.args(["--json", &json::VERSION.to_string()]);
        }
        let error = command.arg("--").args(traces).exec();
        Err(Failure::system(format!("can't run {}: {error}", program.display())))
    }
}
