//! `entries.rs`: the entry points, by the macros of `shim/src/entry.rs`.

use super::output::file;
use crate::model::Model;

pub fn emit(model: &Model) -> String {
    let mut items = Vec::new();
    let mut points = Vec::new();
    for function in &model.functions {
        let entry = if function.exported { "exported" } else { "entry" };
        items.push(format!("{entry}!({}, {});", function.name, function.constant));
        points.push(format!("{},", function.name));
    }
    items.push(format!(
        "\n/// Entry points by id.\n\
         pub static ENTRY_POINTS: [unsafe extern \"C\" fn(); COUNT] = [{}];",
        points.join("\n")
    ));
    let prelude = "#![allow(non_snake_case)] // Commands are spelled as the API spells them.\n\n\
                   use super::ids::COUNT;\nuse crate::entry::{entry, exported};";
    file(prelude, &items)
}
