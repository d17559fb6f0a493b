//! `types.rs` of the API: handles, scalars, enums and structures, with their sizes asserted.

use std::fmt::Write as _;

use super::description::{Description, Enum, FunctionType, Handle, Scalar, Struct};
use super::output::file;

const PRELUDE: &str = "\
// Everything is spelled as the API spells it.
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::{c_char, c_int, c_void};
";

pub fn emit(description: &Description) -> String {
    let types = &description.types;
    let mut items = String::new();
    items.extend(types.handles.iter().map(handle));
    items.extend(types.scalars.iter().map(scalar));
    items.extend(types.functions.iter().map(function));
    items.extend(types.enums.iter().map(enumeration));
    items.extend(types.structs.iter().map(structure));
    file(PRELUDE, &items)
}

/// Handles of different names are different types.
fn handle(handle: &Handle) -> String {
    let name = &handle.name;
    let object = format!("_{name}");
    format!(
        "#[repr(C)]\npub struct {object} {{ _opaque: [u8; 0] }}\npub type {name} = *mut {object};\n\n"
    )
}

fn scalar(scalar: &Scalar) -> String {
    format!("pub type {} = {};\n\n", scalar.name, scalar.c.rust())
}

fn function(function: &FunctionType) -> String {
    let params: Vec<String> = function.params.iter().map(|param| param.rust()).collect();
    let arrow = function.ret.arrow();
    let name = &function.name;
    format!("pub type {name} = Option<unsafe extern \"C\" fn({}) {arrow}>;\n\n", params.join(", "))
}

/// A C enum takes any value, so it is a number, and its enumerators are constants.
fn enumeration(enumeration: &Enum) -> String {
    let name = &enumeration.name;
    let mut text = format!("pub type {name} = u32;\n");
    let mut values: Vec<_> = enumeration.values.iter().collect();
    values.sort_by_key(|(name, value)| (**value, *name));
    for (constant, value) in values {
        let value = if *value > 0xffff { format!("{value:#x}") } else { value.to_string() };
        writeln!(text, "pub const {constant}: {name} = {value};").expect("a string takes any text");
    }
    text + "\n"
}

fn structure(structure: &Struct) -> String {
    let name = &structure.name;
    let fields = structure.fields.iter().map(|field| {
        let ty = match field.array {
            Some(length) => format!("[{}; {length}]", field.ctype.rust()),
            None => field.ctype.rust(),
        };
        format!("pub {}: {ty},", field.ident())
    });
    let fields: String = fields.collect();
    format!(
        "#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{ {fields} }}\n\
         const _: () = assert!(size_of::<{name}>() == {});\n\n",
        structure.size
    )
}
