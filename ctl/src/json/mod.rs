//! JSON output: answers on standard output, messages and failures as lines on standard error. The schemas are in
//! `ctl/src/json/schema.rs`; docs/json.md lists them.
//!
//! Prints nothing itself.

#[cfg(test)]
mod page;
pub mod schema;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::emptiness::reason::Reason;
use crate::failure::{Failure, Kind};

/// Version of the schemas. It is raised when a field is removed, renamed or gets another meaning; new fields and new
/// words as values do not raise it.
pub const VERSION: u32 = 2;

/// Key of [`VERSION`] in every answer that is an object.
pub const VERSION_KEY: &str = "json_version";

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Declares that this process was called with `--json`.
pub fn ask() {
    // Relaxed: the flag publishes no other data.
    IS_ASKED.store(true, Ordering::Relaxed);
}

/// Whether this process was called with `--json`.
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// Returns an answer as it is printed. An object begins with the version; a list has none.
///
/// # Errors
/// A map with keys that are not strings.
pub fn document(answer: &impl Serialize) -> serde_json::Result<Value> {
    let value = printed(serde_json::to_value(answer)?);
    Ok(match value {
        Value::Object(fields) => {
            let version = (VERSION_KEY.to_owned(), Value::from(VERSION));
            Value::Object(std::iter::once(version).chain(fields).collect())
        }
        other => other,
    })
}

/// Renames the fields of a value and of all values in it.
fn printed(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field =
                |(name, value): (String, Value)| (printed_name(&name).into_owned(), printed(value));
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        Value::Array(elements) => elements.into_iter().map(printed).collect(),
        other => other,
    }
}

/// Returns the name of a field in JSON: each count has one name in all answers. Trace files and messages between
/// processes keep the names that older files and daemons have.
pub fn printed_name(field: &str) -> Cow<'_, str> {
    match field {
        "calls" | "lost_calls" | "reentrant_calls" | "foreign_calls" | "calls_per_s" => {
            field.replace("calls", "commands").into()
        }
        "reentrant" | "foreign" => format!("{field}_commands").into(),
        _ => field.into(),
    }
}

/// A failure: what failed, why, and what to type instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub struct Problem {
    /// The command that failed, such as `start`.
    pub command: String,
    /// Sentence that says what is wrong, and what to do about it.
    pub message: String,
    /// Command lines and options in the message that help; empty if it has none.
    pub r#try: Vec<String>,
    /// `negative` (the command completed, and the answer is no), `usage` (the command line is wrong) or `unreachable`
    /// (something that the command needs cannot be reached, opened or used).
    pub kind: String,
    /// Exit status of a command that fails like this: 1 for `negative`, 2 for `usage`, 3 for `unreachable`; of `run` 125,
    /// or 126 and 127 if its program cannot be executed or does not exist. Once its program runs, `run` has the
    /// program's status instead.
    pub status: u8,
    /// Why nothing was recorded, or why there is nothing to record: a name in docs/troubleshooting.md; null for other failures.
    #[schemars(with = "Option<String>")]
    pub reason: Option<Reason>,
}

/// A line on standard error when the command has failed.
#[derive(Serialize, JsonSchema)]
pub struct Failed {
    /// Why the command failed.
    pub error: Problem,
}

/// Any other line on standard error.
#[derive(Serialize, JsonSchema)]
pub struct Remark {
    /// A sentence for people.
    pub message: String,
}

impl Problem {
    pub fn of(command: &str, failure: &Failure) -> Problem {
        let kind = match failure.kind {
            Kind::ReaderGone | Kind::No => "negative",
            Kind::Usage => "usage",
            Kind::Unreachable | Kind::NotExecutable | Kind::NoProgram => "unreachable",
        };
        Problem {
            command: command.to_owned(),
            message: failure.sentence.clone(),
            r#try: failure.to_type(),
            kind: kind.to_owned(),
            status: failure.status_of(command),
            reason: failure.reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn document_has_a_version_and_says_commands() {
        let inner = json!({ "calls": 1, "lost_calls": 2, "recalls": 3 });
        let document = document(&json!({ "list": [inner] })).expect("keys are strings");
        let fields = json!({ "commands": 1, "lost_commands": 2, "recalls": 3 });
        assert_eq!(document, json!({ "json_version": VERSION, "list": [fields] }));
    }

    #[test]
    fn problem_lists_what_to_type() {
        let failure = Failure::unreachable("none runs; `gapiid &` starts one, or `gapii-ctl run`");
        let problem = Problem::of("apps", &failure);
        assert_eq!(problem.r#try, ["gapiid &", "gapii-ctl run"]);
        assert_eq!((problem.kind.as_str(), problem.status), ("unreachable", 3));
    }
}
