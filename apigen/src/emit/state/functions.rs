//! `functions.rs`: the pure functions of descriptions.

use super::expr::{self, Emitter, Needs, Used};
use super::types::{docs, field, rust, variable};
use crate::lang::typed::{Function, Program, Scope};
use crate::parts;

pub const PRELUDE: &str = "\
#![allow(unused_imports, unused_parens, unused_variables, clippy::all)]

use std::collections::BTreeMap;

use super::constants::*;
use super::fields::*;
use super::{extensions, functions, sizes};
use crate::{At, Ref, Scope, Whole, number};
";

pub fn emit(program: &Program, used: &mut Used) -> Vec<String> {
    // Functions that call hand-written functions are inlined at their calls.
    let own = program.functions.iter().filter(|found| !parts::calls_extern(program, found));
    own.map(|found| function(program, found, used)).collect()
}

fn function(program: &Program, function: &Function, used: &mut Used) -> String {
    let needs = expr::function_needs(program, function);
    let mut emitter = Emitter {
        program,
        command: None,
        locals: &function.locals,
        used,
        is_group_locked: true,
        is_function: true,
    };
    let mut body = String::new();
    for (local, value) in &function.lets {
        if let Some(local) = function.locals.get(local.0) {
            let value = emitter.value(value, &local.ty);
            let (name, ty) = (variable(&local.name), rust(program, &local.ty));
            body += &format!("let {name}: {ty} = {};\n", expr::bare(&value));
        }
    }
    body += expr::bare(&emitter.value(&function.value, &function.result));
    let params = params(program, function, needs).join(", ");
    let is_generic = !function.tools_only && (needs.context || needs.group || needs.process);
    let generics = if is_generic { "<S: Scope>" } else { "" };
    let (name, result) = (field(&function.name), rust(program, &function.result));
    let docs = docs(&function.docs);
    // Other crates call them on the path of a recorded command.
    format!("{docs}#[inline]\npub fn {name}{generics}({params}) -> {result} {{\n{body}\n}}\n")
}

fn params(program: &Program, function: &Function, needs: Needs) -> Vec<String> {
    let scope = if function.tools_only { "Whole" } else { "S" };
    let states = [
        (needs.context, "context: &Context"),
        (needs.group, "group: &GroupState"),
        (needs.process, "process: &ProcessState"),
    ];
    let states = states.iter().filter(|(needed, _)| *needed);
    let mut all: Vec<String> = states.map(|(_, param)| format!("{param}<{scope}>")).collect();
    for at in expr::thread_fields(program, function) {
        if let Some(found) = program[Scope::Thread].fields.get(at) {
            let name = expr::thread_field(&field(&found.name));
            all.push(format!("{name}: &{}", rust(program, &found.ty)));
        }
    }
    let own = function.locals.iter().take(function.params);
    all.extend(own.map(|local| format!("{}: {}", variable(&local.name), rust(program, &local.ty))));
    all
}
