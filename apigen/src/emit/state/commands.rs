//! `commands_*.rs`: the effect of each command on the state, at enter and at leave.

use std::collections::BTreeMap;

use super::expr::Used;
use super::{lower, stmt, types};
use crate::emit::output::WRAP;
use crate::lang::typed::{Block, Command, Param, Program, Type};
use crate::parts::Does;

pub const PRELUDE: &str = "\
#![allow(
    dead_code,
    non_snake_case,
    unreachable_code,
    unreachable_patterns,
    unused_imports,
    unused_mut,
    unused_parens,
    unused_variables,
    clippy::all
)]

use std::collections::BTreeMap;

use super::constants::*;
use super::fields::*;
use super::{extensions, functions, layouts, sizes};
use crate::memory::BYTES_MAX;
use crate::{
    At, Memory, NO_PARAM, Observer, Ref, Scope, Scoped, Values, at, command_modules, number, observe,
    set, walk,
};
";

/// A command that has a part.
pub struct Emitted<'a> {
    pub command: &'a Command,
    pub enter: Option<Part>,
    pub leave: Option<Part>,
    /// The module's text.
    pub text: String,
}

#[derive(Clone, Copy)]
pub struct Part {
    /// Whether the whole part exists in the tools only.
    pub tools_only: bool,
}

/// Emits all commands that have a part, by name.
pub fn emit<'a>(program: &'a Program, used: &mut Used) -> BTreeMap<&'a str, Emitted<'a>> {
    let mut all: BTreeMap<&str, Emitted<'_>> = BTreeMap::new();
    for command in &program.commands {
        let emitted = emit_command(program, command, used);
        if emitted.enter.is_some() || emitted.leave.is_some() {
            all.insert(&command.name, emitted);
        }
    }
    share(&mut all);
    all
}

/// Replaces the text of a command by a re-export if it equals the text of the command that describes it.
fn share(all: &mut BTreeMap<&str, Emitted<'_>>) {
    let mut shared = Vec::new();
    for (name, emitted) in all.iter() {
        let Some(origin) = emitted.command.described_by.as_deref().and_then(|by| all.get(by))
        else {
            continue;
        };
        if origin.command.name != **name && origin.text == emitted.text {
            shared.push(((*name).to_owned(), origin.command));
        }
    }
    for (name, origin) in shared {
        if let Some(emitted) = all.get_mut(name.as_str()) {
            emitted.text = format!("pub use super::{}::{} as {name};", module(origin), origin.name);
        }
    }
    for emitted in all.values_mut().filter(|emitted| !emitted.text.starts_with("pub use")) {
        let name = &emitted.command.name;
        emitted.text = format!("mod {name} {{\n{}}}", emitted.text);
    }
}

/// The items of a module: re-exports of commands with a shared text, and one macro call with all other commands.
pub fn module_of(all: &[&Emitted<'_>]) -> Vec<String> {
    let is_alias = |emitted: &&&Emitted<'_>| emitted.text.starts_with("pub use");
    let own = all.iter().filter(|emitted| !is_alias(emitted)).map(|emitted| emitted.text.as_str());
    let own = own.collect::<Vec<_>>().join("\n\n");
    let mut items = vec![format!("{WRAP}command_modules! {{\n{own}\n{WRAP}}}\n")];
    items.extend(all.iter().filter(is_alias).map(|emitted| emitted.text.clone()));
    items
}

/// The module that a command is in.
pub fn module(command: &Command) -> String {
    format!("commands_{}", crate::origin::module(&command.api, command.origin))
}

fn emit_command<'a>(program: &Program, command: &'a Command, used: &mut Used) -> Emitted<'a> {
    let lowered = lower::lower(program, command);
    let mut text = String::new();
    let mut part = |name: &str, block: &Block, with_result: bool| {
        let consumes = command.consumes && !with_result;
        let part = part_of(block, consumes)?;
        let scope = if part.tools_only { "Whole" } else { "S" };
        let body = stmt::emit(program, command, &lowered, block, consumes, used);
        let mut params: Vec<String> =
            ["thread: ", "memory: M", "seen: O"].map(str::to_owned).into();
        params[0] += scope;
        params.extend(command.params.iter().map(param));
        if with_result && let Some(result) = result(command) {
            params.push(format!("result: {result}"));
        }
        text += &format!("fn {name}({}) {{\n{body}}}\n", params.join(", "));
        Some(part)
    };
    let enter = part("enter", &lowered.enter, false);
    let leave = part("leave", &lowered.leave, true);
    Emitted { command, enter, leave, text }
}

/// The part, or `None` if it has no effect: variables and returns alone are no effect.
fn part_of(block: &Block, consumes: bool) -> Option<Part> {
    let tools_only = !Does::of(block).anything() && !consumes;
    (Does::in_tools(block).anything() || consumes).then_some(Part { tools_only })
}

fn param(param: &Param) -> String {
    format!("{}: {}", types::variable(&param.name), c_type(&param.ctype, &param.ty))
}

/// The Rust type of the result; `None` for a command without a result.
pub fn result(command: &Command) -> Option<&'static str> {
    let ty = command.result.ty.as_ref()?;
    Some(c_type(&command.result.ctype, ty))
}

/// How an argument is passed: numbers in their width, pointers and handles as addresses.
pub fn c_type(ctype: &crate::ctype::CType, ty: &Type) -> &'static str {
    match ctype.scalar() {
        Some((repr, _)) => types::repr(repr),
        None if *ty == Type::Bool => "u8",
        None => "u64",
    }
}
