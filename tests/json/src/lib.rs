//! What the tools print as JSON, as the tests read and check it. A crate of its own, since the tests read millions of
//! lines: unlike the tests, it is compiled with the optimiser.
//!
//! ```
//! let line = r#"{"seq":7,"pid":1,"tid":1,"context":1,"frame":0,"name":"glClear","args":{"mask":16384},"result":null}"#;
//! let commands = gapii_test_json::commands(line).unwrap();
//! assert_eq!(commands[0].integer("mask"), 16384);
//! ```

#![forbid(unsafe_code)]

mod command;
pub mod output;

use serde_json::Value;

pub use command::{Arguments, Command};

/// The commands in the output of `dump --json`.
///
/// # Errors
///
/// If a line is no command; the error is a sentence with the line.
pub fn commands(output: &str) -> Result<Vec<Command>, String> {
    output.lines().map(|line| of(line, serde_json::from_str(line))).collect()
}

/// The lines as values.
///
/// # Errors
///
/// If a line is no JSON; the error is a sentence with the line.
pub fn values(output: &str) -> Result<Vec<Value>, String> {
    output.lines().map(value).collect()
}

/// The whole text as one value.
///
/// # Errors
///
/// If it is no JSON; the error is a sentence with the text.
pub fn value(text: &str) -> Result<Value, String> {
    of(text, serde_json::from_str(text))
}

/// The values that the text has one after the other, on any number of lines.
///
/// # Errors
///
/// If a value is no JSON.
pub fn documents(text: &str) -> serde_json::Result<Vec<Value>> {
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

fn of<T>(text: &str, parsed: serde_json::Result<T>) -> Result<T, String> {
    parsed.map_err(|error| format!("{error}: {text}"))
}
