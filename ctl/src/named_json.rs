//! The line of a command in JSON, with its role, and with the words for objects that its arguments and its result name. It is
//! the line of `gapii_trace::json` with more members.

use std::io;

use gapii_analysis::command_role::CommandRole;
use gapii_analysis::marks::text_of;
use gapii_analysis::object_names::{ObjectNames, Word};
use gapii_trace::description::{Kind, Param};
use gapii_trace::{Command, json};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call_text::Words;

/// Appends the line of a command. Members that would be empty are left out.
pub fn append_line(command: &Command<'_>, words: Words<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    json::append_line(command, line)?;
    let names = words.map(|words| names(command, words)).unwrap_or_default();
    if !names.is_empty() {
        append_member(line, "names", &names)?;
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

/// Words by the names of parameters, and by `result`.
fn names(command: &Command<'_>, words: &ObjectNames) -> Map<String, Value> {
    let mut names = Map::new();
    let mut add = |name: &str, word: Option<Word<'_>>| {
        if let Some(word) = word {
            names.insert(name.to_owned(), word.plain().into());
        }
    };
    let is_handle = |param: &Param| param.ty.kind == Kind::Handle;
    if command.function.is_some_and(|function| function.params.iter().any(is_handle)) {
        for arg in command.args().filter(|arg| is_handle(arg.param)) {
            add(&arg.param.name, words.word(command, arg.param.ty, &arg.param.name, arg.value));
        }
    }
    if let Some((value, _)) = command.result() {
        add("result", words.result_word(command, value));
    }
    names
}
