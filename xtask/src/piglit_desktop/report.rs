//! `Report`: results of piglit's tests, as JSON lines that a later run continues, and as a table.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use super::known::Known;
use super::list::{Part, Test};
use super::trial::Trial;

/// Result of one test.
pub struct Row(Value);

impl Row {
    /// A test that did not pass natively, with what it said.
    pub fn unfit(part: Part, test: &Test, native: &str) -> Self {
        Self(json!({ "test": test.name, "part": part.name(), "native": native }))
    }

    /// A test that passed natively.
    pub fn of(part: Part, test: &Test, trial: &Trial) -> Self {
        let mut row = json!({ "test": test.name, "part": part.name(), "native": "pass" });
        row["trial"] = trial.json();
        Self(row)
    }

    /// From a line of a file of results.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line).map(Self)
    }

    /// The line of a file of results.
    pub fn line(&self) -> String {
        self.0.to_string()
    }

    pub fn test(&self) -> &str {
        self.0["test"].as_str().unwrap_or_default()
    }

    pub fn part(&self) -> &str {
        self.0["part"].as_str().unwrap_or_default()
    }

    /// Whether the test passed natively.
    pub fn passed(&self) -> bool {
        self.0["native"] == "pass"
    }

    /// What differs: for each difference its name in [`Known`], and a sentence.
    pub fn differences(&self) -> Vec<(String, String)> {
        let trial = &self.0["trial"];
        let recorded = trial["differences"].as_array().into_iter().flatten();
        let recorded =
            recorded.map(|it| ("recorded".to_owned(), format!("while recorded: {}", text(it))));
        let different = trial["replay"]["different"].as_object().into_iter().flatten();
        let first = text(&trial["replay"]["first"]);
        let replayed = different.map(|(what, count)| {
            (what.clone(), format!("replay: {what}, {count} times; first {first}"))
        });
        recorded.chain(replayed).collect()
    }

    fn is_replayed(&self) -> bool {
        !self.0["trial"]["replay"].is_null()
    }

    fn number(&self, name: &str) -> u64 {
        self.0["trial"]["replay"][name].as_u64().unwrap_or(0)
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Results of a run.
pub struct Report<'a> {
    pub rows: Vec<Row>,
    pub known: &'a Known,
}

#[derive(Default)]
struct Sums {
    tests: u64,
    passed: u64,
    same: u64,
    replayed: u64,
    identical: u64,
    explained: u64,
    answers: u64,
    equal: u64,
    tolerated: u64,
}

impl Report<'_> {
    /// Differences that are not explained, as sentences.
    pub fn unexplained(&self) -> Vec<String> {
        let of_row = |row: &Row| {
            let unknown =
                |(what, _): &(String, String)| self.known.reason(row.test(), what).is_none();
            let name = row.test().to_owned();
            let found = row.differences().into_iter().filter(unknown);
            found.map(move |(_, why)| format!("{name}: {why}")).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    pub fn json(&self) -> Value {
        let sums = Part::ALL.iter().map(|part| {
            let Sums { tests, passed, same, replayed, identical, explained, answers, equal, tolerated } = self.sums(part.name());
            json!({ "part": part.name(), "tests": tests, "passed_natively": passed, "same_while_recorded": same,
                    "replayed": replayed, "identical": identical, "explained": explained, "answers": answers,
                    "equal": equal, "tolerated": tolerated })
        });
        let rows: Vec<_> = self.rows.iter().map(|row| &row.0).collect();
        json!({ "parts": sums.collect::<Vec<_>>(), "unexplained": self.unexplained(), "tests": rows })
    }

    fn sums(&self, part: &str) -> Sums {
        let mut sums = Sums::default();
        for row in self.rows.iter().filter(|row| row.part() == part) {
            let differences = row.differences();
            let replay_differs = differences.iter().any(|(what, _)| what != "recorded");
            sums.tests += 1;
            sums.passed += u64::from(row.passed());
            sums.same +=
                u64::from(row.passed() && differences.iter().all(|(what, _)| what != "recorded"));
            sums.replayed += u64::from(row.is_replayed());
            sums.identical += u64::from(row.is_replayed() && !replay_differs);
            let is_known =
                |(what, _): &(String, String)| self.known.reason(row.test(), what).is_some();
            sums.explained +=
                u64::from(!differences.is_empty() && differences.iter().all(is_known));
            sums.answers += row.number("compared");
            sums.equal += row.number("equal");
            sums.tolerated += row.number("tolerated");
        }
        sums
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| part | tests | pass natively | same while recorded | replayed | identical | differences explained | answers | equal |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        for part in Part::ALL.map(Part::name) {
            let Sums {
                tests,
                passed,
                same,
                replayed,
                identical,
                explained,
                answers,
                equal,
                tolerated,
            } = self.sums(part);
            writeln!(
                f,
                "| {part} | {tests} | {passed} | {same} | {replayed} | {identical} | {explained} | {answers} | {equal}, {tolerated} tolerated |"
            )?;
        }
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for row in &self.rows {
            for (what, _) in row.differences() {
                if let Some(reason) = self.known.reason(row.test(), &what) {
                    reasons.entry(reason).or_default().push(format!("`{}` ({what})", row.test()));
                }
            }
        }
        for (reason, tests) in reasons {
            writeln!(f, "\n{reason}: {}", tests.join(", "))?;
        }
        for line in self.unexplained() {
            writeln!(f, "\n{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed_and_what_is_not_explained_is_listed() {
        let lines = [
            r#"{"test": "glx@a", "part": "glx", "native": "skip"}"#,
            r#"{"test": "glx@b", "part": "glx", "native": "pass", "trial": {"differences": [], "replay":
                {"compared": 9, "equal": 7, "tolerated": 1, "different": {"glGetError": 1}, "first": "f"}}}"#,
            r#"{"test": "glx@c", "part": "glx", "native": "pass", "trial": {"differences": ["other"], "replay": null}}"#,
        ];
        let rows: Vec<_> = lines.iter().map(|line| Row::parse(line).unwrap()).collect();
        let known = Known::default();
        let report = Report { rows, known: &known };
        assert_eq!(
            report.unexplained(),
            ["glx@b: replay: glGetError, 1 times; first f", "glx@c: while recorded: other"]
        );
        assert!(
            report.to_string().contains("| glx | 3 | 2 | 1 | 1 | 0 | 0 | 9 | 7, 1 tolerated |"),
            "{report}"
        );
    }
}
