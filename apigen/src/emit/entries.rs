//! `entries.rs`: the entry points, by the macros of `shim/src/entry.rs`: `exported!` for commands that a list in
//! `apis/exports/` names, `entry!` for all others.

use super::output::file;
use crate::model::Model;

pub fn emit(model: &Model) -> String {
    let entries = model.functions.iter().map(|function| {
        let entry = if function.exported { "exported" } else { "entry" };
        format!("{entry}! {{ {}, {} }}", function.name, function.constant)
    });
    let prelude = "#![allow(non_snake_case)] // Commands are spelled as the API spells them.\n\n\
                   use crate::entry::{entry, exported};";
    file(prelude, &entries.collect::<Vec<_>>())
}
