//! `doctor`: diagnoses the installation, with a command that fixes each problem. Exit status 1 if anything is wrong; a
//! note does not count. The checks are in `ctl/src/set_up.rs`. With `--bundle` it writes an archive for a bug report
//! (`ctl/src/bundle/`); otherwise it changes nothing.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gapii_replay::SystemLoader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Connect, Json};
use crate::bundle::{self, BundledFile};
use crate::failure::Failure;
use crate::set_up::{self, Finding, State};
use crate::text;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl doctor                              check the installation
  gapii-ctl doctor --bundle report.tar.zst      write what a bug report needs; `tar --zstd -xf report.tar.zst` unpacks it";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Doctor {
    /// Write an archive for a bug report: versions, configuration, log, units, drivers, system, and the checks
    ///
    /// It has no contents of captures, and of the environment only the variables of gapii and of drivers. The user's home folder
    /// is written as ~ and the user's name as USER; values that look like secrets are left out. Look through it before you
    /// send it.
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,

    /// Overwrite the bundle if it exists
    #[arg(long, requires = "bundle")]
    force: bool,

    /// Print what the driver says about itself, and nothing else. The bundle asks this in a process of its own
    #[arg(long, hide = true, conflicts_with_all = ["bundle", "json"])]
    driver_texts: bool,

    #[command(flatten)]
    json: Json,
}

/// Checks of the installation.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Number of checks that found something wrong.
    wrong: usize,
    /// The checks.
    checks: Vec<Finding>,
    /// The archive for a bug report; null without `--bundle`.
    bundle: Option<Bundle>,
}

/// An archive for a bug report.
#[derive(Serialize, JsonSchema)]
pub struct Bundle {
    /// The archive.
    output: PathBuf,
    /// The files in it.
    files: Vec<BundledFile>,
}

pub fn run(args: &Doctor, connect: &Connect) -> Result<u8, Failure> {
    if args.driver_texts {
        return driver_texts();
    }
    let checks = set_up::check_all(connect);
    let wrong = checks.iter().filter(|finding| finding.state == State::Wrong).count();
    let mut report = Report { wrong, checks, bundle: None };
    if let Some(output) = &args.bundle {
        report.bundle = Some(bundle(output, args.force, &report, connect)?);
    }
    if args.json.json {
        text::print_json(&report)?;
    } else {
        text::print(|out| describe(&report, out))?;
    }
    Ok(u8::from(wrong > 0))
}

fn bundle(
    output: &Path,
    force: bool,
    report: &Report,
    connect: &Connect,
) -> Result<Bundle, Failure> {
    let checks = serde_json::to_value(&report.checks)
        .map_err(|error| Failure::system(format!("can't write the checks: {error}")))?;
    let files = bundle::write(output, force, checks, connect)?;
    Ok(Bundle { output: output.to_owned(), files })
}

fn driver_texts() -> Result<u8, Failure> {
    let texts = gapii_replay::driver_texts(&SystemLoader::default()).map_err(Failure::system)?;
    text::print(|out| texts.iter().try_for_each(|(name, text)| writeln!(out, "{name}: {text}")))?;
    Ok(0)
}

fn describe(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.checks {
        let state = match finding.state {
            State::Ok => "ok",
            State::Note => "note",
            State::Wrong => "WRONG",
        };
        writeln!(out, "{state:7}{:14}{}", finding.check, finding.found)?;
        if let Some(mend) = &finding.mend {
            writeln!(out, "{:21}{mend}", "")?;
        }
    }
    match report.wrong {
        0 => writeln!(out, "nothing is wrong"),
        1 => writeln!(out, "1 thing is wrong"),
        several => writeln!(out, "{several} problems"),
    }?;
    let Some(Bundle { output, files }) = &report.bundle else { return Ok(()) };
    writeln!(out, "wrote {} with:", output.display())?;
    files.iter().try_for_each(|file| writeln!(out, "  {} ({} bytes)", file.name, file.bytes))
}
