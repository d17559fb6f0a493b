//! `tables.rs` of the layer and of the null driver: the exports by which the loader asks for tables.

use super::description::Table;
use super::output::file;
use super::tables::constant;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use gapii_ze_api::tables::*;

use crate::table::table;
";

pub fn emit<'a>(tables: impl IntoIterator<Item = &'a Table>) -> String {
    let lines = tables.into_iter();
    let lines = lines.map(|table| format!("table!({}, {});\n", table.get, constant(table)));
    file(PRELUDE, &lines.collect::<String>())
}
