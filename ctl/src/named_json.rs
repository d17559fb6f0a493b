//! The line of a command in JSON, with the words for objects that its arguments and its result name. It is the line of
//! `gapii_trace::json` with one member more.

use std::io;

use gapii_analysis::object_names::{ObjectNames, Word};
use gapii_trace::description::{Kind, Param};
use gapii_trace::{Command, json};
use serde_json::{Map, Value};

use crate::call_text::Words;

/// Appends the line of a command. The member `names` is left out if it would be empty.
pub fn append_line(command: &Command<'_>, words: Words<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    json::append_line(command, line)?;
    let names = words.map(|words| names(command, words)).unwrap_or_default();
    if !names.is_empty() {
        let end = line.len() - b"}\n".len();
        line.truncate(end);
        line.extend_from_slice(br#","names":"#);
        serde_json::to_writer(&mut *line, &names)?;
        line.extend_from_slice(b"}\n");
    }
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
