//! `tables.rs`: the exports by which the loader asks for tables.

use crate::level_zero::description::Description;
use crate::level_zero::file;
use crate::level_zero::tables::constant;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use gapii_ze_api::tables::*;

use crate::table::table;
";

pub fn emit(description: &Description) -> String {
    let lines = description.tables.iter();
    let lines = lines.map(|table| format!("table!({}, {});\n", table.get, constant(table)));
    file(PRELUDE, &lines.collect::<String>())
}
