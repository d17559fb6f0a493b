//! `types.rs` of the API: handles, scalars, enums and structures, with their sizes asserted.

use super::description::{Description, Enum, FunctionType, Handle, Scalar, Struct};
use super::output::file;
use crate::emit::output::invocation;

const PRELUDE: &str = "\
// Everything is spelled as the API spells it.
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::{c_char, c_int, c_void};

use crate::define::{enumeration, handles, structure};
";

pub fn emit(description: &Description) -> String {
    let types = &description.types;
    let handles: String = types.handles.iter().map(handle).collect();
    let mut items = format!("handles! {{\n{handles}}}\n\n");
    items.extend(types.scalars.iter().map(scalar));
    items.push('\n');
    items.extend(types.functions.iter().map(function));
    items.push('\n');
    items.extend(types.enums.iter().map(|found| enumeration(found) + "\n"));
    items.push('\n');
    items.extend(types.structs.iter().map(|found| structure(found) + "\n"));
    file(PRELUDE, &items)
}

fn handle(handle: &Handle) -> String {
    format!("    {0} = *mut _{0};\n", handle.name)
}

fn scalar(scalar: &Scalar) -> String {
    format!("pub type {} = {};\n", scalar.name, scalar.c.rust())
}

fn function(function: &FunctionType) -> String {
    let params: Vec<String> = function.params.iter().map(|param| param.rust()).collect();
    let arrow = function.ret.arrow();
    let name = &function.name;
    format!("pub type {name} = Option<unsafe extern \"C\" fn({}) {arrow}>;\n", params.join(", "))
}

fn enumeration(enumeration: &Enum) -> String {
    let mut values: Vec<_> = enumeration.values.iter().collect();
    values.sort_by_key(|(name, value)| (**value, *name));
    let constants = values.into_iter().map(|(constant, value)| match value {
        0x1_0000.. => format!("{constant} = {value:#x}"),
        _ => format!("{constant} = {value}"),
    });
    let constants = constants.collect::<Vec<_>>().join(", ");
    invocation("enumeration", &[format!("{}: {constants}", enumeration.name)])
}

fn structure(structure: &Struct) -> String {
    let fields = structure.fields.iter().map(|field| match field.array {
        Some(length) => format!("{}: [{}; {length}]", field.ident(), field.ctype.rust()),
        None => format!("{}: {}", field.ident(), field.ctype.rust()),
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    invocation("structure", &[format!("{}[{}]: {fields}", structure.name, structure.size)])
}
