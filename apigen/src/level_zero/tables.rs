//! `tables.rs` of the API: the functions of each table.

use super::description::{Description, Table};
use super::output::file;
use crate::emit::output::invocation;

const PRELUDE: &str = "\
use crate::define::table;
use crate::functions::*;
use crate::slot::Slot;
";

pub fn emit(description: &Description) -> String {
    let items = description.tables.iter().map(|table| one(description, table) + "\n");
    file(PRELUDE, &items.collect::<String>())
}

/// The constant of a table: `ze_context_dditable_t` is `CONTEXT`, `zer_global_dditable_t` `ZER_GLOBAL`.
pub fn constant(table: &Table) -> String {
    let name = table.name.strip_suffix("_dditable_t").unwrap_or(&table.name);
    name.strip_prefix("ze_").unwrap_or(name).to_ascii_uppercase()
}

fn one(description: &Description, table: &Table) -> String {
    let slots = table.slots.iter().map(|name| description.function(name).constant());
    let slots = slots.collect::<Vec<_>>().join(", ");
    invocation("table", &[format!("{}: {} = {slots}", table.name, constant(table))])
}
