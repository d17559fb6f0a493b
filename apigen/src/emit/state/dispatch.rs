//! `dispatch.rs`: commands by name, for tools that have the arguments as 64-bit words.

use std::collections::BTreeMap;

use super::commands::{Emitted, result};

pub const PRELUDE: &str = "\
use crate::dispatch;
use crate::state::commands::*;
use crate::state::{Thread, Whole};
";

/// One macro call with a line for each command: its name, the indices of its arguments, and its parts.
pub fn emit(all: &BTreeMap<&str, Emitted<'_>>) -> String {
    let entries: String = all.values().map(entry).collect();
    format!("dispatch! {{\n{entries}}}\n")
}

fn entry(emitted: &Emitted<'_>) -> String {
    let command = emitted.command;
    let indices: Vec<String> = (0..command.params.len()).map(|at| at.to_string()).collect();
    let enter = emitted.enter.map_or("-", |_| "enter");
    let leave = match (emitted.leave, result(command)) {
        (None, _) => "-",
        (Some(_), None) => "leave",
        (Some(_), Some(_)) => "result",
    };
    format!("    {}({}): {enter} {leave};\n", command.name, indices.join(" "))
}
