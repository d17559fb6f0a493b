//! `dispatch.rs`: commands by name, for tools that have arguments as bits.

use std::collections::BTreeMap;

use super::commands::{Emitted, c_type, result};
use crate::lang::typed::Command;

pub const PRELUDE: &str = "\
//! Only tools have this.

use super::commands::*;
use crate::dispatch::{CommandState, bits};
use crate::Ignore;
";

pub fn emit(all: &BTreeMap<&str, Emitted<'_>>) -> Vec<String> {
    let entries: Vec<String> = all.values().map(entry).collect();
    vec![format!(
        "/// Commands that do something with the state, by name.\n\
         pub static COMMANDS: [CommandState; {}] = [{}];\n",
        entries.len(),
        entries.join("")
    )]
}

fn entry(emitted: &Emitted<'_>) -> String {
    let command = emitted.command;
    let part = |name: &str, with_result: bool| {
        let mut arguments = arguments(command);
        let mut last = "_";
        if with_result && let Some(ty) = result(command) {
            arguments.push(format!("bits::<{ty}>(&[result], 0)"));
            last = "result";
        }
        let args = if command.params.is_empty() { "_" } else { "args" };
        let all = ["thread", "memory", "&mut Ignore"].map(str::to_owned).into_iter();
        let all: Vec<String> = all.chain(arguments).collect();
        format!(
            "Some(|thread, memory, {args}, {last}| {}::{name}({}))",
            command.name,
            all.join(", ")
        )
    };
    let enter = emitted.enter.map_or("None".to_owned(), |_| part("enter", false));
    let leave = emitted.leave.map_or("None".to_owned(), |_| part("leave", true));
    format!("CommandState {{ name: {:?}, enter: {enter}, leave: {leave} }},\n", command.name)
}

fn arguments(command: &Command) -> Vec<String> {
    let params = command.params.iter().enumerate();
    params
        .map(|(at, param)| format!("bits::<{}>(args, {at})", c_type(&param.ctype, &param.ty)))
        .collect()
}
