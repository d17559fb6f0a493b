//! `tables.rs` of the API: the functions of each table.

use super::super::output::invocation_of_items;
use crate::model::Header;
use crate::naming::id_constant;
use crate::registry::Table;

const PRELUDE: &str = "\
use crate::define::tables;
use crate::functions::*;
use crate::slot::Slot;
";

/// Returns the prelude and the items.
pub fn emit(header: &Header) -> (&'static str, Vec<String>) {
    (PRELUDE, vec![invocation_of_items("tables", header.tables.iter().map(one))])
}

/// The constant of a table: `ze_context_dditable_t` is `CONTEXT`, `zer_global_dditable_t` `ZER_GLOBAL`.
pub fn constant(table: &Table) -> String {
    let name = table.name.strip_suffix("_dditable_t").unwrap_or(&table.name);
    name.strip_prefix("ze_").unwrap_or(name).to_ascii_uppercase()
}

fn one(table: &Table) -> String {
    let slots = table.slots.iter().map(|name| id_constant(name));
    format!("{}: {} = {}", table.name, constant(table), slots.collect::<Vec<_>>().join(", "))
}
