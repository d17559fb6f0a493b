//! `tool_tables.rs` of the null driver: the exports of tables that a loader requires. The driver implements no function
//! of these tables.

use crate::model::Header;
use crate::registry::ToolTable;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use crate::table::unsupported_table;
";

/// Returns the prelude and the items.
pub fn emit(header: &Header) -> (&'static str, Vec<String>) {
    (PRELUDE, header.tool_tables.iter().map(one).collect())
}

fn one(table: &ToolTable) -> String {
    let since = table.since.iter().map(|version| format!("{:#x},", version.packed()));
    format!("unsupported_table!({}, [{}]);", table.export, since.collect::<String>())
}
