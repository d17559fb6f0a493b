//! `sizes.rs`: numbers of elements by the value of an enum argument; a value that the table lacks gives the table's
//! default.

use super::output::file;
use crate::model::{Model, SizeTable};

pub fn emit(model: &Model) -> String {
    let items: Vec<String> = model.sizes.iter().map(table).collect();
    file("", &items)
}

fn table(table: &SizeTable) -> String {
    let cases = table.cases.iter();
    let arms = cases.flat_map(|(elements, values)| {
        values.iter().map(move |(value, name)| format!("{value:#06x} => {elements}, // {name}\n"))
    });
    let arms: String = arms.collect();
    format!(
        "pub const fn {}(value: u32) -> i64 {{ match value {{\n{arms}_ => {},\n}} }}\n",
        table.name, table.default
    )
}
