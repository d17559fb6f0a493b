//! The files of `state`: what is kept, and what each command does with it.

mod commands;
mod describe;
mod dispatch;
mod expr;
mod fields;
mod functions;
mod layouts;
mod lower;
mod stmt;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::output::file;
use crate::lang::typed::{Program, Sizes};
use crate::registry::Origin;
use expr::Used;

const LAYOUTS: &str = "\
#![allow(dead_code, unused_imports, unused_parens, unused_variables, clippy::all)]

use super::constants::*;
use crate::walk::Walk;
use crate::{Memory, Observer, Values, number, observe};
";

/// Unformatted contents of the files, by path from the folder they are in.
pub fn emit(program: &Program) -> BTreeMap<PathBuf, String> {
    let mut used = Used::default();
    let all = commands::emit(program, &mut used);
    let layouts = layouts::emit(program, &mut used);
    let functions = functions::emit(program, &mut used);
    let mut files = BTreeMap::from([
        ("fields".to_owned(), file(fields::PRELUDE, &fields::emit(program))),
        ("describe".to_owned(), tools(describe::PRELUDE, &describe::emit(program))),
        ("dispatch".to_owned(), tools(dispatch::PRELUDE, &dispatch::emit(&all))),
        ("functions".to_owned(), file(functions::PRELUDE, &functions)),
        ("layouts".to_owned(), file(LAYOUTS, &[layouts])),
        ("sizes".to_owned(), file("", &sizes(program))),
        ("constants".to_owned(), file("#![allow(non_upper_case_globals)]\n", &constants(&used))),
        (
            "extensions".to_owned(),
            file("#![allow(non_upper_case_globals)]\n", &extensions(program, &used)),
        ),
    ]);
    let mut reexports = Vec::new();
    for (origin, module) in commands::MODULES {
        let items = all.values().filter(|emitted| emitted.command.origin == origin);
        let items: Vec<String> = items.map(|emitted| emitted.text.clone()).collect();
        if items.is_empty() {
            continue;
        }
        files.insert(module.to_owned(), file(commands::PRELUDE, &items));
        reexports.push(format!("pub use super::{module}::*;"));
    }
    let all = "// What a command does, in the module of its name.\n#![allow(unused_imports)]\n";
    files.insert("commands".to_owned(), file(all, &reexports));
    let modules: Vec<String> = files.keys().map(|module| declare(module)).collect();
    files.insert("mod".to_owned(), file("", &modules));
    files.into_iter().map(|(name, text)| (Path::new(&name).with_extension("rs"), text)).collect()
}

/// A file whose prelude begins with its own line of documentation.
fn tools(prelude: &str, items: &[String]) -> String {
    file(prelude.trim_start_matches("//! Only tools have this.\n"), items)
}

fn declare(module: &str) -> String {
    match module {
        "describe" | "dispatch" => format!("#[cfg(feature = \"tools\")]\npub mod {module};"),
        _ => format!("pub mod {module};"),
    }
}

fn sizes(program: &Program) -> Vec<String> {
    program.sizes.iter().map(table).collect()
}

fn table(table: &Sizes) -> String {
    let arms: String = table
        .cases
        .iter()
        .flat_map(|case| {
            case.enumerants.iter().map(move |(name, value)| (case.elements, name, value))
        })
        .map(|(elements, name, value)| format!("{value:#06x} => {elements}, // {name}\n"))
        .collect();
    format!(
        "pub const fn {}(value: i64) -> i64 {{ match value {{\n{arms}_ => {},\n}} }}\n",
        types::field(&table.name),
        table.default
    )
}

/// Enumerants that descriptions name.
fn constants(used: &Used) -> Vec<String> {
    let constant = |(name, value): (&String, &i64)| match value {
        0.. => format!("pub const {name}: i64 = {value:#x};"),
        _ => format!("pub const {name}: i64 = {value};"),
    };
    used.constants.iter().map(constant).collect()
}

fn extensions(program: &Program, used: &Used) -> Vec<String> {
    let of_contexts = program.commands.iter().filter(|command| command.origin != Origin::Egl);
    let with_commands = of_contexts.flat_map(|command| &command.extensions);
    let names: BTreeSet<&String> = used.extensions.iter().chain(with_commands).collect();
    let listed: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let mut items = vec![format!(
        "/// Names of extensions that have commands or that descriptions ask about, sorted.\n\
         pub const NAMES: &[&str] = &[{}];\n",
        listed.join(", ")
    )];
    let bits = names.iter().enumerate().filter(|(_, name)| used.extensions.contains(**name));
    items.extend(bits.map(|(at, name)| format!("pub const {name}: usize = {at};")));
    items
}
