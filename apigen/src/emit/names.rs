//! `names.rs`: what each command is called, and whether a soname exports it.

use super::file;
use crate::model::Model;

pub fn emit(model: &Model) -> String {
    let names: Vec<String> =
        model.functions.iter().map(|function| format!("c\"{}\",", function.name)).collect();
    let exported: Vec<String> =
        model.functions.iter().map(|function| format!("{},", function.exported)).collect();
    let items = [
        format!(
            "/// Names by id, sorted.\npub static NAMES: [&CStr; COUNT] = [{}];\n",
            names.join("\n")
        ),
        format!(
            "/// By id: whether the real sonames export the command.\n\
             pub static EXPORTED: [bool; COUNT] = [{}];",
            exported.join(" ")
        ),
    ];
    file("use core::ffi::CStr;\n\nuse super::ids::COUNT;", &items)
}
