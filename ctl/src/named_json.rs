//! The line of a command in JSON, with its role, and with the words for objects that its arguments and its result name. It is
//! the line of `gapii_trace::json` with more members.

use std::io;

use gapii_analysis::command_role::CommandRole;
use gapii_analysis::marks::text_of;
use gapii_trace::{Command, json};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call_text::Words;

/// Appends the line of a command. Members that would be empty are left out.
pub fn append_line(command: &Command<'_>, words: Words<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    json::append_line(command, line)?;
    let names = words.map(|words| words.words_of(command)).unwrap_or_default();
    if !names.is_empty() {
        let names = names.into_iter().map(|(name, word)| (name, Value::from(word)));
        append_member(line, "names", &names.collect::<Map<_, _>>())?;
    }
    if let Some(role) = CommandRole::of(command) {
        append_member(line, "role", role.word())?;
        let text = if role.has_text() { text_of(command) } else { String::new() };
        if !text.is_empty() {
            append_member(line, "text", &text)?;
        }
    }
    Ok(())
}

/// Adds a member to the object that ends the line.
fn append_member<T: Serialize + ?Sized>(
    line: &mut Vec<u8>,
    name: &str,
    value: &T,
) -> io::Result<()> {
    line.truncate(line.len().saturating_sub(b"}\n".len()));
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
    serde_json::to_writer(&mut *line, value)?;
    line.extend_from_slice(b"}\n");
    Ok(())
}
