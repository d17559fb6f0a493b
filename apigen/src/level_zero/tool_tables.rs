//! `tool_tables.rs` of the null driver: the exports of tables that a loader insists on, and of which the
//! driver implements nothing.

use super::description::{Description, ToolTable};
use super::output::file;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use crate::table::unsupported_table;
";

pub fn emit(description: &Description) -> String {
    file(PRELUDE, &description.tool_tables.iter().map(one).collect::<String>())
}

fn one(table: &ToolTable) -> String {
    let since = table.since.iter().map(|version| format!("{:#x},", version.packed()));
    format!("unsupported_table!({}, [{}]);\n", table.get, since.collect::<String>())
}
