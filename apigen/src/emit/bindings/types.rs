//! `types.rs` of the API: handles, numbers, enums and structures, with their sizes asserted.

use super::super::output::invocation_of_items;
use crate::naming;
use crate::registry::{Alias, Enum, Field, FunctionType, Struct, Types};

const PRELUDE: &str = "\
// Everything is spelled as the API spells it.
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::{c_char, c_int, c_void};

use crate::define::{enums, handles, structs};
";

/// Returns the prelude and the items.
pub fn emit(types: &Types) -> (&'static str, Vec<String>) {
    let handles = types.handles.iter().map(|name| format!("{name} = *mut _{name}"));
    let mut items = vec![invocation_of_items("handles", handles)];
    items.extend(types.aliases.iter().map(alias));
    items.push(String::new());
    items.extend(types.functions.iter().map(function));
    items.push(String::new());
    items.push(invocation_of_items("enums", types.enums.iter().map(enumeration)));
    items.push(invocation_of_items("structs", types.structs.iter().map(structure)));
    (PRELUDE, items)
}

fn alias(alias: &Alias) -> String {
    format!("pub type {} = {};", alias.name, alias.target.spelled())
}

fn function(function: &FunctionType) -> String {
    let FunctionType { name, params, result } = function;
    let params: Vec<String> = params.iter().map(|param| param.spelled()).collect();
    let params = params.join(", ");
    let result = if result.is_void() { String::new() } else { format!("-> {}", result.spelled()) };
    format!("pub type {name} = Option<unsafe extern \"C\" fn({params}) {result}>;")
}

fn enumeration(enumeration: &Enum) -> String {
    let mut values: Vec<_> = enumeration.values.iter().collect();
    values.sort_by_key(|(name, value)| (**value, *name));
    let constants = values.into_iter().map(|(constant, value)| match value {
        0x1_0000.. => format!("{constant} = {value:#x}"),
        _ => format!("{constant} = {value}"),
    });
    format!("{}: {}", enumeration.name, constants.collect::<Vec<_>>().join(", "))
}

fn structure(structure: &Struct) -> String {
    let fields: Vec<String> = structure.fields.iter().map(field).collect();
    format!("{}[{}]: {}", structure.name, structure.size, fields.join(", "))
}

fn field(field: &Field) -> String {
    let (name, ty) = (naming::parameter(&field.name), field.ty.spelled());
    match field.array {
        Some(length) => format!("{name}: [{ty}; {length}]"),
        None => format!("{name}: {ty}"),
    }
}
