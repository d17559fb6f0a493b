//! The generated files of `state` and `state/follow`: the state, and the effect of each command on it.

mod commands;
mod describe;
mod dispatch;
mod expr;
mod fields;
mod functions;
mod layouts;
mod lists;
mod lower;
mod stmt;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::output::file;
use crate::lang::typed::{Program, Sizes};
use expr::Used;

/// Unformatted contents of the files, by path from the folder `state`.
pub fn emit(program: &Program) -> BTreeMap<PathBuf, String> {
    let mut used = Used::default();
    let all = commands::emit(program, &mut used);
    let layouts = layouts::emit(program, &mut used);
    let functions = functions::emit(program, &mut used);
    let mut files = BTreeMap::from([
        ("fields".to_owned(), file(fields::PRELUDE, &[fields::emit(program)])),
        ("functions".to_owned(), file(functions::PRELUDE, &functions)),
        ("layouts".to_owned(), file(layouts::PRELUDE, &[layouts])),
        ("sizes".to_owned(), file("#![allow(clippy::manual_range_patterns)]", &sizes(program))),
        ("constants".to_owned(), file("#![allow(non_upper_case_globals)]\n", &constants(&used))),
        (
            "extensions".to_owned(),
            file("#![allow(non_upper_case_globals)]\n", &extensions(program, &used)),
        ),
    ]);
    if program.commands.iter().any(|command| program.is_compiled(command)) {
        files.insert("lists".to_owned(), file(lists::PRELUDE, &lists::emit(program, &all)));
    }
    let mut reexports = Vec::new();
    let mut by_module: BTreeMap<String, Vec<&commands::Emitted<'_>>> = BTreeMap::new();
    for emitted in all.values() {
        by_module.entry(commands::module(emitted.command)).or_default().push(emitted);
    }
    for (module, items) in by_module {
        files.insert(module.clone(), file(commands::PRELUDE, &commands::module_of(&items)));
        reexports.push(format!("pub use super::{module}::*;"));
    }
    let in_modules =
        "// What a command does, in the module of its name.\n#![allow(unused_imports)]\n";
    files.insert("commands".to_owned(), file(in_modules, &reexports));
    let in_tools = BTreeMap::from([
        ("describe".to_owned(), file(describe::PRELUDE, &describe::emit(program))),
        ("dispatch".to_owned(), file(dispatch::PRELUDE, &[dispatch::emit(&all)])),
    ]);
    let mut by_path = folder(STATE, files);
    by_path.extend(folder(FOLLOW, in_tools));
    by_path
}

/// Folder for the state's structs and the effects of commands.
const STATE: &str = "src/generated";
/// Folder for the code that only tools need.
const FOLLOW: &str = "follow/src/generated";

/// The files of a folder, and a `mod.rs` that declares them as modules.
fn folder(folder: &str, mut files: BTreeMap<String, String>) -> BTreeMap<PathBuf, String> {
    let modules: Vec<String> = files.keys().map(|module| format!("pub mod {module};")).collect();
    files.insert("mod".to_owned(), file("", &modules));
    let path = |name: &str| Path::new(folder).join(name).with_extension("rs");
    files.into_iter().map(|(name, text)| (path(&name), text)).collect()
}

fn sizes(program: &Program) -> Vec<String> {
    program.sizes.iter().map(table).collect()
}

fn table(table: &Sizes) -> String {
    let arms: String = table
        .cases
        .iter()
        .map(|case| {
            let values = case.enumerants.iter().map(|(_, value)| format!("{value:#06x}"));
            format!("{} => {},\n", values.collect::<Vec<_>>().join(" | "), case.elements)
        })
        .collect();
    format!(
        "pub const fn {}(value: i64) -> i64 {{ match value {{\n{arms}_ => {},\n}} }}\n",
        types::field(&table.name),
        table.default
    )
}

/// Constants for the enumerants that descriptions use.
fn constants(used: &Used) -> Vec<String> {
    let constant = |(name, value): (&String, &i64)| match value {
        0.. => format!("pub const {name}: i64 = {value:#x};"),
        _ => format!("pub const {name}: i64 = {value};"),
    };
    used.constants.iter().map(constant).collect()
}

fn extensions(program: &Program, used: &Used) -> Vec<String> {
    let of_contexts = program.commands.iter().filter(|command| command.needs_context);
    let with_commands = of_contexts.flat_map(|command| &command.extensions);
    let names: BTreeSet<&String> = used.extensions.iter().chain(with_commands).collect();
    let listed: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let mut items = vec![format!(
        "/// Names of extensions that have commands or that descriptions test, sorted.\n\
         pub const NAMES: &[&str] = &[{}];\n",
        listed.join(", ")
    )];
    let bits = names.iter().enumerate().filter(|(_, name)| used.extensions.contains(**name));
    items.extend(bits.map(|(at, name)| format!("pub const {name}: usize = {at};")));
    items
}
