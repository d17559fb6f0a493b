//! `commands.rs` of `tool/api`: a structure of parameters for each command that has any, laid out as the
//! fixed part of its enter record. And `commands.rs` of `tool`: a type for each command.

use quote::quote;

use super::output::{file, ident};
use crate::model::{Function, Model};

const PRELUDE: &str = "#![allow(non_camel_case_types, non_snake_case)] // Commands are spelled as the API \
                       spells them.\n\nuse core::ffi::{c_char, c_void};";

pub fn emit(model: &Model) -> String {
    let with_params = model.functions.iter().filter(|function| !function.params.is_empty());
    let items: Vec<String> = with_params.map(|function| structure(function) + "\n").collect();
    file(PRELUDE, &items)
}

/// The commands by the macro of `tool/src/command.rs`.
pub fn emit_types(model: &Model) -> String {
    let types = model.functions.iter().map(|function| {
        let params = match function.params.is_empty() {
            true => "()".to_owned(),
            false => structure_name(function),
        };
        let result =
            function.result.as_ref().map_or("()".to_owned(), |result| result.rust.to_string());
        format!("command!({0}, c\"{0}\", {params}, {result});", function.name)
    });
    let prelude = "#![allow(non_camel_case_types)] // Commands are spelled as the API spells them.\n\n\
                   use core::ffi::{c_char, c_void};\n\nuse gapii_tool_api::commands::*;\n\n\
                   use crate::command::command;";
    file(prelude, &types.collect::<Vec<_>>())
}

/// The name of a command's structure.
pub fn structure_name(function: &Function) -> String {
    format!("gapii_{}_params", function.name)
}

/// The Rust identifier of a parameter as a field.
pub fn field(name: &str) -> String {
    if crate::naming::is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

fn structure(function: &Function) -> String {
    let name = ident(&structure_name(function));
    let fields = function.params.iter().map(|param| {
        let (name, ty) = (ident(&field(&param.name)), &param.value.rust);
        quote!(pub #name: #ty)
    });
    let doc = match &function.result {
        Some(result) => format!(
            "/// Parameters of `{}`, whose result is {}.",
            function.name,
            of_c(&result.rust)
        ),
        None => format!("/// Parameters of `{}`, which has no result.", function.name),
    };
    let structure = quote! {
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct #name { #(#fields),* }
    };
    format!("{doc}\n{structure}")
}

/// A Rust type in C's words, for a sentence.
fn of_c(rust: &proc_macro2::TokenStream) -> String {
    let text = rust.to_string();
    let pointee = text.strip_prefix("* const ").map(|pointee| (pointee, "const "));
    if let Some((pointee, qualifier)) =
        pointee.or(text.strip_prefix("* mut ").map(|pointee| (pointee, "")))
    {
        return format!("a `{qualifier}{} *`", word_of_c(pointee));
    }
    format!("of type `{}`", word_of_c(&text))
}

fn word_of_c(rust: &str) -> &str {
    match rust {
        "c_void" => "void",
        "c_char" => "char",
        "u8" => "uint8_t",
        "i8" => "int8_t",
        "u16" => "uint16_t",
        "i16" => "int16_t",
        "u32" => "uint32_t",
        "i32" => "int32_t",
        "u64" => "uint64_t",
        "i64" => "int64_t",
        "isize" => "intptr_t",
        "f32" => "float",
        "f64" => "double",
        other => other,
    }
}
