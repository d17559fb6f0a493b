//! `tables.rs` of the API: what each table's slots hold, and from which version on.

use super::description::{Description, Table};
use super::output::file;

const PRELUDE: &str = "\
use super::functions::*;
use crate::slot::Slot;
";

pub fn emit(description: &Description) -> String {
    let items = description.tables.iter().map(|table| one(description, table));
    file(PRELUDE, &items.collect::<String>())
}

/// The constant of a table: `ze_context_dditable_t` is `CONTEXT`, `zer_global_dditable_t` `ZER_GLOBAL`.
pub fn constant(table: &Table) -> String {
    let name = table.name.strip_suffix("_dditable_t").unwrap_or(&table.name);
    name.strip_prefix("ze_").unwrap_or(name).to_ascii_uppercase()
}

fn one(description: &Description, table: &Table) -> String {
    let slots = table.slots.iter().map(|name| {
        let function = description.function(name);
        format!(
            "Slot {{ function: {}, since: {:#x} }},",
            function.constant(),
            function.gate().packed()
        )
    });
    let slots: String = slots.collect();
    format!("/// `{}`.\npub static {}: &[Slot] = &[{slots}];\n\n", table.name, constant(table))
}
