//! `Report`: results of the drivers, as a table and as JSON.

use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use super::driver::Driver;
use super::tolerated::{Tolerated, Way};

/// Longest reason in the lists below the table, in characters; JSON has all of it.
const REASON_MAX: usize = 300;

/// A row for each driver.
#[derive(Default)]
pub struct Report {
    pub rows: Vec<Row>,
}

/// Results of one driver.
pub struct Row {
    driver: &'static Driver,
    outcome: Outcome,
}

enum Outcome {
    Ran(Ran),
    /// The machine can't have the driver.
    Absent(String),
    /// The driver should be here, and could not be used.
    Unusable(String),
}

struct Ran {
    renderer: String,
    version: String,
    programs: Vec<Program>,
}

struct Program {
    name: String,
    verdict: Verdict,
    /// Lines that say what differs, or why the driver can't run the program.
    reasons: Vec<String>,
    /// Listed differences that did not come.
    unneeded: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Identical,
    /// Every difference is listed.
    Tolerated,
    /// The driver can't run the program natively, or not alike each time.
    NotRun,
    Different,
}

impl Row {
    /// A driver that this machine can't have.
    pub fn absent(driver: &'static Driver, why: &str) -> Self {
        Self { driver, outcome: Outcome::Absent(why.to_owned()) }
    }

    /// The results that the test crate's program printed.
    pub fn of(driver: &'static Driver, printed: &Value, tolerated: &Tolerated) -> Self {
        let outcome = ran(driver, printed, tolerated).unwrap_or_else(Outcome::Unusable);
        Self { driver, outcome }
    }

    /// Returns true if a difference is not tolerated, if nothing was identical, or if the driver could not be used.
    fn has_failed(&self) -> bool {
        match &self.outcome {
            Outcome::Ran(ran) => {
                ran.count(Verdict::Different) > 0
                    || ran.count(Verdict::Identical) + ran.count(Verdict::Tolerated) == 0
            }
            Outcome::Absent(_) => false,
            Outcome::Unusable(_) => true,
        }
    }

    fn json(&self) -> Value {
        let mut row = json!({ "driver": self.driver.name, "failed": self.has_failed() });
        match &self.outcome {
            Outcome::Ran(ran) => {
                row["renderer"] = json!(ran.renderer);
                row["version"] = json!(ran.version);
                row["programs"] = ran.programs.iter().map(Program::json).collect();
            }
            Outcome::Absent(why) => row["absent"] = json!(why),
            Outcome::Unusable(why) => row["unusable"] = json!(why),
        }
        row
    }
}

/// The error says why the driver is not usable.
fn ran(driver: &Driver, printed: &Value, tolerated: &Tolerated) -> Result<Outcome, String> {
    if let Some(why) = printed["unusable"].as_str() {
        return Err(why.to_owned());
    }
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let renderer = word(&printed["driver"]["renderer"]);
    let version = word(&printed["driver"]["version"]);
    if !driver.is_meant(&renderer, &version) {
        return Err(format!("the driver is {renderer}, {version}"));
    }
    let programs = printed["programs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let programs = programs.iter().map(|one| Program::of(driver.name, one, tolerated)).collect();
    Ok(Outcome::Ran(Ran { renderer, version, programs }))
}

impl Ran {
    fn count(&self, verdict: Verdict) -> usize {
        self.programs.iter().filter(|program| program.verdict == verdict).count()
    }
}

impl Program {
    fn of(driver: &str, printed: &Value, tolerated: &Tolerated) -> Self {
        let name = printed["program"].as_str().unwrap_or_default().to_owned();
        let mut program =
            Self { name, verdict: Verdict::Identical, reasons: Vec::new(), unneeded: Vec::new() };
        if let Some(why) = printed["native"].as_str() {
            program.verdict = Verdict::NotRun;
            program.reasons.push(why.to_owned());
            return program;
        }
        for way in Way::ALL {
            let difference = printed[way.name()].as_str();
            let accepted = tolerated.reason(driver, &program.name, way);
            let (verdict, why) = match (difference, accepted) {
                (None, None) => continue,
                (None, Some(_)) => {
                    program.unneeded.push(way.name());
                    continue;
                }
                (Some(_), Some(reason)) => (Verdict::Tolerated, reason),
                (Some(difference), None) => (Verdict::Different, difference),
            };
            if program.verdict != Verdict::Different {
                program.verdict = verdict;
            }
            program.reasons.push(format!("{}: {why}", way.name()));
        }
        program
    }

    fn json(&self) -> Value {
        let Self { name, reasons, unneeded, .. } = self;
        json!({
            "program": name,
            "verdict": self.verdict.name(),
            "reasons": reasons,
            "unneeded": unneeded,
        })
    }
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Tolerated => "tolerated",
            Self::NotRun => "not run natively",
            Self::Different => "different",
        }
    }
}

impl Report {
    /// All results.
    pub fn json(&self) -> Value {
        self.rows.iter().map(Row::json).collect()
    }

    /// Names of the drivers that make the command fail.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.rows.iter().filter(|row| row.has_failed());
        failed.map(|row| row.driver.name).collect()
    }
}

/// The table, and below it a list of everything that is not identical.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| driver | `GL_RENDERER`, `GL_VERSION` | programs | identical | tolerated | not run natively | \
             different |\n|---|---|---|---|---|---|---|"
        )?;
        for Row { driver, outcome } in &self.rows {
            let name = driver.name;
            match outcome {
                Outcome::Ran(ran) => writeln!(
                    f,
                    "| {name} | {}, {} | {} | {} | {} | {} | {} |",
                    ran.renderer,
                    ran.version,
                    ran.programs.len(),
                    ran.count(Verdict::Identical),
                    ran.count(Verdict::Tolerated),
                    ran.count(Verdict::NotRun),
                    ran.count(Verdict::Different),
                )?,
                Outcome::Absent(why) => writeln!(f, "| {name} | {why} | | | | | |")?,
                Outcome::Unusable(why) => {
                    writeln!(f, "| {name} | not usable: {} | | | | | |", short(why))?;
                }
            }
        }
        for Row { driver, outcome } in &self.rows {
            let Outcome::Ran(ran) = outcome else { continue };
            for verdict in [Verdict::Tolerated, Verdict::NotRun, Verdict::Different] {
                list(f, driver.name, verdict, &ran.programs)?;
            }
            for program in &ran.programs {
                for way in &program.unneeded {
                    writeln!(
                        f,
                        "\n{}: {} {way} is listed, and identical",
                        driver.name, program.name
                    )?;
                }
            }
        }
        Ok(())
    }
}

fn list(
    f: &mut Formatter<'_>,
    driver: &str,
    verdict: Verdict,
    programs: &[Program],
) -> fmt::Result {
    let mut listed = programs.iter().filter(|program| program.verdict == verdict).peekable();
    if listed.peek().is_some() {
        writeln!(f, "\n{driver}, {}:\n", verdict.name())?;
    }
    for program in listed {
        let reasons: Vec<_> = program.reasons.iter().map(|reason| short(reason)).collect();
        writeln!(f, "- `{}`, {}", program.name, reasons.join("; "))?;
    }
    Ok(())
}

/// One line of at most [`REASON_MAX`] characters.
fn short(reason: &str) -> String {
    let words: Vec<_> = reason.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(REASON_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::driver::DRIVERS;

    const LLVMPIPE: usize = 0;

    fn row(programs: Value, tolerated: &str) -> Row {
        let driver = json!({ "renderer": "llvmpipe", "version": "OpenGL ES 3.2 Mesa 22.3.6" });
        let printed = json!({ "driver": driver, "programs": programs });
        Row::of(&DRIVERS[LLVMPIPE], &printed, &Tolerated::parse(tolerated).unwrap())
    }

    fn verdict(program: Value, tolerated: &str) -> (&'static str, bool) {
        let row = row(json!([program, { "program": "other" }]), tolerated);
        let verdict = row.json()["programs"][0]["verdict"].clone();
        let names = ["identical", "tolerated", "not run natively", "different"];
        (names.into_iter().find(|name| verdict == *name).unwrap(), row.has_failed())
    }

    #[test]
    fn only_a_difference_that_is_not_listed_fails() {
        let one = json!({ "program": "app", "attach": "pixels" });
        let both = json!({ "program": "app", "start": "pixels", "attach": "pixels" });
        let listed = "llvmpipe app attach known";
        assert_eq!(verdict(json!({ "program": "app" }), ""), ("identical", false));
        assert_eq!(verdict(one.clone(), ""), ("different", true));
        assert_eq!(verdict(one.clone(), listed), ("tolerated", false));
        assert_eq!(verdict(one, "softpipe app attach known"), ("different", true));
        assert_eq!(verdict(both, listed), ("different", true));
    }

    #[test]
    fn program_that_the_driver_can_not_run_is_no_difference() {
        let program = json!({ "program": "app", "native": "signal: 11", "start": "pixels" });
        assert_eq!(verdict(program.clone(), ""), ("not run natively", false));
        // A driver that runs nothing proves nothing.
        assert!(row(json!([program]), "").has_failed());
        assert!(row(json!([]), "").has_failed());
    }

    #[test]
    fn another_driver_than_the_one_meant_fails() {
        let driver = json!({ "renderer": "softpipe", "version": "OpenGL ES 3.1 Mesa 22.3.6" });
        let printed = json!({ "driver": driver, "programs": [{ "program": "app" }] });
        let row = Row::of(&DRIVERS[LLVMPIPE], &printed, &Tolerated::default());
        assert!(row.has_failed());
        assert_eq!(row.json()["unusable"], "the driver is softpipe, OpenGL ES 3.1 Mesa 22.3.6");
        assert!(!Row::absent(&DRIVERS[LLVMPIPE], "no GPU").has_failed());
    }

    #[test]
    fn listed_difference_that_did_not_come_is_named() {
        let report = Report { rows: vec![row(json!([{ "program": "app" }]), "* app start why")] };
        assert!(report.to_string().contains("llvmpipe: app start is listed, and identical"));
        assert!(report.failed().is_empty());
    }
}
