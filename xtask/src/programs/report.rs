//! `Report`: results of the programs, as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use anyhow::Context;
use serde_json::{Value, json};

use super::program::Program;

/// A row for each program.
#[derive(Default)]
pub struct Report {
    pub rows: Vec<Row>,
}

/// Results of one program.
pub struct Row {
    program: &'static Program,
    version: String,
    /// The error says why there is no trace, or no replay of it.
    outcome: Result<Outcome, String>,
    /// Why the row is not as it should be.
    faults: Vec<String>,
}

/// What the tools say about a trace and its replay.
pub struct Outcome {
    frames: u64,
    commands: u64,
    compared: u64,
    equal: u64,
    /// Answers that may differ for every program, such as times.
    tolerated: u64,
    /// Answers that differ, or commands that were not played, by function; `frame` for the pixels of a frame.
    different: BTreeMap<String, u64>,
    /// A line that the program said only while it was recorded.
    pub unheard: Option<String>,
}

impl Outcome {
    /// From the JSON of `info` and of `replay --verify`.
    pub fn of(info: &Value, replay: &Value) -> anyhow::Result<Outcome> {
        let number = |value: &Value, name: &str| {
            value[name].as_u64().with_context(|| format!("no {name} in {value}"))
        };
        let verified = &replay["verified"];
        let listed = verified["differences"].as_array().context("no differences")?;
        let mut different = BTreeMap::new();
        for difference in listed {
            let function = difference["function"].as_str().unwrap_or("?").to_owned();
            *different.entry(function).or_insert(0) += 1;
        }
        let left_out = number(verified, "different")?.saturating_sub(listed.len() as u64);
        if left_out > 0 {
            different.insert("others".to_owned(), left_out);
        }
        Ok(Outcome {
            frames: number(info, "frames")?,
            commands: number(info, "commands")?,
            compared: number(verified, "compared")?,
            equal: number(verified, "equal")?,
            tolerated: number(verified, "tolerated")?,
            different,
            unheard: None,
        })
    }

    /// Returns why the outcome is not as it should be.
    fn faults(&self, program: &Program) -> Vec<String> {
        let mut faults = Vec::new();
        if self.frames == 0 {
            faults.push("no frame was recorded".to_owned());
        }
        if self.equal == 0 {
            faults.push("no answer is equal".to_owned());
        }
        if let Some(line) = &self.unheard {
            faults.push(format!("while it is recorded it says {line:?}"));
        }
        for (function, count) in &self.different {
            let accepted = program.tolerated.iter().find(|known| known.function == function);
            if accepted.is_none_or(|known| *count > known.most) {
                faults.push(format!("{function} differs {count} times"));
            }
        }
        faults
    }

    fn json(&self) -> Value {
        let Self { frames, commands, compared, equal, tolerated, different, unheard } = self;
        json!({ "frames": frames, "commands": commands, "compared": compared, "equal": equal,
                "tolerated": tolerated, "different": different, "unheard": unheard })
    }
}

impl Row {
    pub fn of(
        program: &'static Program,
        version: String,
        outcome: Result<Outcome, String>,
    ) -> Self {
        let faults = match &outcome {
            Ok(outcome) => outcome.faults(program),
            Err(error) => vec![error.clone()],
        };
        Self { program, version, outcome, faults }
    }

    fn json(&self) -> Value {
        let Self { program, version, outcome, faults } = self;
        let mut row = json!({ "program": program.name, "package": program.package, "version": version,
                              "command": line(program), "needed": program.needed, "faults": faults });
        if let Ok(outcome) = outcome {
            row["outcome"] = outcome.json();
        }
        row
    }
}

impl Report {
    /// Names of the programs that are not as they should be.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.rows.iter().filter(|row| !row.faults.is_empty());
        failed.map(|row| row.program.name).collect()
    }

    pub fn json(&self) -> Value {
        json!({ "programs": self.rows.iter().map(Row::json).collect::<Vec<_>>() })
    }
}

/// The program with its variables, as one would type it.
fn line(program: &Program) -> String {
    let variables = program.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let words = program.words.iter().map(|word| (*word).to_owned());
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| program | command | needed | frames | commands | answers | equal | differ |\n|---|---|---|---|---|---|---|---|"
        )?;
        for row in &self.rows {
            let Row { program, version, outcome, .. } = row;
            let needed = if program.needed.is_empty() { "nothing" } else { program.needed };
            write!(f, "| {} ({version}) | `{}` | {needed} |", program.name, line(program))?;
            match outcome {
                Ok(Outcome { frames, commands, compared, equal, tolerated, different, .. }) => {
                    write!(f, " {frames} | {commands} | {compared} | {equal}")?;
                    match tolerated {
                        0 => write!(f, " |")?,
                        _ => write!(f, ", {tolerated} tolerated |")?,
                    }
                    writeln!(f, " {} |", differing(program, different))?;
                }
                Err(_) => writeln!(f, " not recorded | | | | |")?,
            }
        }
        for row in self.rows.iter().filter(|row| !row.faults.is_empty()) {
            writeln!(f, "\n{}: {}", row.program.name, row.faults.join("; "))?;
        }
        Ok(())
    }
}

/// What differs, with the reasons that are known.
fn differing(program: &Program, different: &BTreeMap<String, u64>) -> String {
    let mut by_reason: Vec<(&str, u64)> = Vec::new();
    for (function, count) in different {
        let known = program.tolerated.iter().find(|known| known.function == function);
        let why = known.map_or("for an unknown reason", |known| known.why);
        match by_reason.iter_mut().find(|(other, _)| *other == why) {
            Some((_, all)) => *all += count,
            None => by_reason.push((why, *count)),
        }
    }
    match by_reason.is_empty() {
        true => "none".to_owned(),
        false => {
            let parts = by_reason.iter().map(|(why, count)| format!("{count}: {why}"));
            parts.collect::<Vec<_>>().join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::PROGRAMS;
    use super::*;

    fn mpv(frames: u64, differences: &[&str], different: u64) -> Row {
        let program =
            PROGRAMS.iter().find(|program| program.name == "mpv-x11").expect("it is there");
        let info = json!({ "frames": frames, "commands": 9 });
        let listed: Vec<_> = differences.iter().map(|name| json!({ "function": name })).collect();
        let verified = json!({ "compared": 5, "equal": 3, "tolerated": 1, "different": different,
                               "differences": listed });
        let outcome = Outcome::of(&info, &json!({ "verified": verified }));
        Row::of(program, "1".to_owned(), outcome.map_err(|error| error.to_string()))
    }

    #[test]
    fn row_fails_without_frames_and_with_differences_that_are_not_accepted() {
        let check = |row: Row, expected: &[&str]| assert_eq!(row.faults, expected);
        check(mpv(30, &[], 0), &[]);
        check(mpv(30, &["frame"], 1), &[]);
        check(mpv(30, &["frame", "frame"], 2), &["frame differs 2 times"]);
        check(mpv(30, &["glGetError"], 1), &["glGetError differs 1 times"]);
        check(mpv(30, &["frame"], 4), &["others differs 3 times"]);
        check(mpv(0, &[], 0), &["no frame was recorded"]);
        let report = Report { rows: vec![mpv(30, &["frame"], 1)] };
        assert!(report.to_string().contains("| 3, 1 tolerated | 1: the window grows"), "{report}");
    }
}
