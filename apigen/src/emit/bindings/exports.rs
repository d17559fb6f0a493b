//! `tables.rs` of the layer and of the null driver: the exports by which the loader asks for tables.

use super::tables::constant;
use crate::model::Header;
use crate::registry::Table;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use gapii_ze_api::tables::*;

use crate::table::table;
";

/// Returns the prelude and the items.
pub fn emit<'a>(tables: impl IntoIterator<Item = &'a Table>) -> (&'static str, Vec<String>) {
    let items = tables.into_iter();
    let items = items.map(|table| format!("table!({}, {});", table.export, constant(table)));
    (PRELUDE, items.collect())
}

/// The tables that a driver fills; the loader itself fills those of `zer`.
pub fn of_drivers(header: &Header) -> impl Iterator<Item = &Table> {
    header.tables.iter().filter(|table| table.name.starts_with("ze_"))
}
