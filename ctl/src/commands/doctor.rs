//! `doctor`: diagnoses the installation, with a command that fixes each problem. Exit status 1 if anything is wrong; a
//! note does not count. Changes nothing itself. The checks are in `ctl/src/set_up.rs`.

use std::io::{self, Write};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Connect, Json};
use crate::failure::Failure;
use crate::set_up::{self, Finding, State};
use crate::text;

#[derive(Args, Debug)]
pub struct Doctor {
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
}

pub fn run(args: &Doctor, connect: &Connect) -> Result<u8, Failure> {
    let checks = set_up::check_all(connect);
    let wrong = checks.iter().filter(|finding| finding.state == State::Wrong).count();
    let report = Report { wrong, checks };
    if args.json.json {
        text::print_json(&report)?;
    } else {
        text::print(|out| describe(&report, out))?;
    }
    Ok(u8::from(wrong > 0))
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
    }
}
