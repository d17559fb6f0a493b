//! `entries.rs`: what stands in the loader's tables, what is called for want of a function, and the
//! handlers' table.

use crate::level_zero::description::{Description, Function};
use crate::level_zero::output::file;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use gapii_ze_api::functions::*;

use super::handlers;
use crate::entry::{Code, entry};
use crate::missing;
";

pub fn emit(description: &Description) -> String {
    let functions = &description.functions;
    let entries: String = functions.iter().map(entry).collect();
    let items = [
        entries,
        table("ENTRIES", "What the loader gets, by id.", functions, |f| f.name.clone()),
        table("HANDLERS", "What makes a traced call, by id.", functions, |f| {
            format!("handlers::{}", f.name)
        }),
        table(
            "MISSING",
            "What answers for a function that is not there, by id.",
            functions,
            missing,
        ),
    ];
    file(PRELUDE, &items.join("\n"))
}

fn entry(function: &Function) -> String {
    format!("entry!({}, {});\n", function.name, function.constant())
}

/// What a function without a callee returns depends on the type of its result.
fn missing(function: &Function) -> String {
    let name = match function.ret.rust().as_str() {
        "ze_result_t" => "unsupported",
        "u32" => "no_identifier",
        _ => "no_handle",
    };
    format!("missing::{name}")
}

fn table(name: &str, doc: &str, functions: &[Function], code: fn(&Function) -> String) -> String {
    let codes = functions.iter().map(|function| format!("Code({} as *const ()),", code(function)));
    format!("/// {doc}\npub static {name}: [Code; COUNT] = [{}];\n", codes.collect::<String>())
}
