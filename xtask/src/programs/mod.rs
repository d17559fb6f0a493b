//! `programs`: records Debian's programs as people start them, replays and verifies the traces, and prints a table of the
//! results, which docs/programs.md has. Each program runs as an ordinary user with an environment of its own.
//!
//! Differences that are known and accepted are in `PROGRAMS`; any other difference, or a program without a frame, makes the
//! command fail.

mod place;
mod program;
mod report;

use std::process::{Command, Output};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;

use place::Place;
use program::{Display, PROGRAMS, Program};
use report::{Outcome, Report, Row};

use crate::build::{self, Tests};
use crate::tree::Profile;
use crate::{packages, step, tree};

/// Seconds that a program may take to draw its frames, and its replay to play them.
const LIMIT_SECONDS: &str = "180";

#[derive(Args)]
pub struct Programs {
    /// Print the results as JSON
    #[arg(long)]
    json: bool,

    /// Only this program; may be given several times [default: all]
    #[arg(long = "program", value_name = "NAME", value_parser = program::names())]
    programs: Vec<String>,
}

pub fn run(args: &Programs) -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST, packages::PROGRAMS])?;
    build::dev(Tests::None)?;
    let place = Place::new()?;
    let is_wanted = |program: &&Program| {
        args.programs.is_empty() || args.programs.iter().any(|name| name == program.name)
    };
    let mut report = Report::default();
    for program in PROGRAMS.iter().filter(is_wanted) {
        eprintln!("{}", program.name);
        let outcome = record(program, &place).and_then(|recorded| {
            let Recorded { trace, lines } = recorded;
            let mut outcome = look(program, &trace, &place)?;
            outcome.unheard = match program.says_the_same {
                true => unheard(&lines, &natively(program, &place)?),
                false => None,
            };
            Ok(outcome)
        });
        let outcome = outcome.map_err(|error| format!("{error:#}"));
        report.rows.push(Row::of(program, version(program), outcome));
    }
    match args.json {
        true => println!("{:#}", report.json()),
        false => print!("{report}"),
    }
    match report.failed() {
        failed if failed.is_empty() => Ok(()),
        failed => bail!("not as it should be: {}", failed.join(", ")),
    }
}

/// Seconds that a program runs natively, so that it says what it says while it is recorded.
const NATIVE_SECONDS: &str = "8";

/// A recorded program.
struct Recorded {
    /// The trace's path.
    trace: String,
    /// What the program said.
    lines: Vec<String>,
}

/// Records a program.
fn record(program: &Program, place: &Place) -> anyhow::Result<Recorded> {
    let trace = place.path(&format!("{}.gapii", program.name)).to_string_lossy().into_owned();
    let ctl = ctl();
    let begin = ["timeout", "--kill-after=10", LIMIT_SECONDS, &ctl, "run", "--quit", "-o", &trace];
    let words = [&begin, program.options, &["--"], program.words].concat();
    let mut command = place.command(&words, program.display);
    let output = command.envs(program.environment.iter().copied()).output().context("timeout")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let ours: Vec<_> = said.lines().filter(|line| line.starts_with("gapii-ctl: ")).collect();
        let last = said.lines().last().unwrap_or_default();
        bail!("{}", if ours.is_empty() { last.to_owned() } else { ours.join("; ") });
    }
    Ok(Recorded { trace, lines: said(&output) })
}

/// Runs a program for some seconds, and returns what it says.
fn natively(program: &Program, place: &Place) -> anyhow::Result<Vec<String>> {
    let words = [&["timeout", "--kill-after=1", NATIVE_SECONDS], program.words].concat();
    let mut command = place.command(&words, program.display);
    let output = command.envs(program.environment.iter().copied()).output().context("timeout")?;
    Ok(said(&output))
}

/// The lines of a program's output, with each number as `#`, without those of gapii.
fn said(output: &Output) -> Vec<String> {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let lines = text.iter().flat_map(|text| text.lines());
    let own = |line: &&str| !line.starts_with("gapii-ctl: ");
    lines.filter(own).map(without_numbers).collect()
}

fn without_numbers(line: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut masked = line.replace(is_number, "#");
    while masked.contains("##") {
        masked = masked.replace("##", "#");
    }
    masked
}

/// The first line that was said while the program was recorded, and not natively.
fn unheard(recorded: &[String], native: &[String]) -> Option<String> {
    recorded.iter().find(|line| !native.contains(line)).cloned()
}

/// Asks the tools about a trace, in the program's environment, which may change what the driver answers.
fn look(program: &Program, trace: &str, place: &Place) -> anyhow::Result<Outcome> {
    let ctl = ctl();
    let ask = |words: &[&str]| {
        let words = [&["timeout", LIMIT_SECONDS, &ctl], words].concat();
        let mut command = place.command(&words, Display::None);
        command.envs(program.environment.iter().copied());
        command
    };
    step::output(&mut ask(&["verify", trace]))?;
    let info = json(&mut ask(&["info", "--json", trace]))?;
    // Exits with 1 if an answer differs.
    let replay = json(&mut ask(&["replay", "--verify", "--json", trace]))?;
    Outcome::of(&info, &replay)
}

fn json(command: &mut Command) -> anyhow::Result<Value> {
    let output = command.output()?;
    let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    serde_json::from_slice(&output.stdout).with_context(said)
}

fn ctl() -> String {
    tree::artifacts(Profile::Dev).join("gapii-ctl").to_string_lossy().into_owned()
}

/// Returns the version of a program's package.
fn version(program: &Program) -> String {
    let query = ["--show", "--showformat=${Version}", program.package];
    let version = step::command("dpkg-query", &query).output();
    let known = version.ok().filter(|output| output.status.success());
    known.map_or_else(String::new, |it| String::from_utf8_lossy(&it.stdout).into_owned())
}
