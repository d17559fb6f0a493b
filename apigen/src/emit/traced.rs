//! `traced.rs`: what runs in place of a command while an enabled tracer has callbacks for it, by the
//! function of that name in `shim/src/traced.rs`.

use proc_macro2::Literal;
use quote::quote;

use super::handlers::{PRELUDE, params, places, result_type};
use super::output::{file, ident};
use super::params::{field, structure_name};
use crate::model::{Function, Model, Param};

pub fn emit(model: &Model) -> String {
    let handlers: Vec<String> =
        model.functions.iter().map(|function| handler(function) + "\n").collect();
    let table: Vec<String> = model
        .functions
        .iter()
        .map(|function| format!("Handler({} as *const ()),", function.name))
        .collect();
    let layouts: Vec<String> =
        model.functions.iter().map(|function| layout(function) + ",").collect();
    let tables = [
        format!(
            "/// Traced handlers by id.\npub static TRACED: [Handler; COUNT] = [{}];\n",
            table.join("\n")
        ),
        format!(
            "/// By id: where parameters are in a command's structure of them.\n\
             pub static LAYOUTS: [&[Place]; COUNT] = [{}];\n",
            layouts.join("\n")
        ),
        "const fn at(offset: u8, bytes: u8) -> Place { Place { offset, bytes } }\n".to_owned(),
    ];
    let items: Vec<String> = tables.into_iter().chain(handlers).collect();
    let imports = "use core::ffi::{c_char, c_void};\n\nuse gapii_tool_api::commands::*;\n\n\
                   use super::ids::*;\nuse crate::table::Handler;\nuse crate::traced::{Place, below, traced};";
    file(&format!("{PRELUDE}\n{imports}"), &items)
}

fn handler(function: &Function) -> String {
    let (name, id) = (ident(&function.name), ident(&function.constant));
    let types = function.params.iter().map(Param::passed_type);
    let (declared, result) = (params(function), result_type(function));
    let places = places(function);
    let arguments = function.params.iter().map(|param| {
        let name = ident(&field(&param.name));
        match param.by_value {
            Some(_) => {
                let ty = param.passed_type();
                quote!(params.#name.cast::<#ty>().read())
            }
            None => quote!(params.#name),
        }
    });
    let fields = function.params.iter().map(|param| {
        let (field, value) = (field(&param.name), param.ident.as_str());
        let (name, argument) = (ident(&field), ident(value));
        if field == value { quote!(#name) } else { quote!(#name: #argument) }
    });
    let (structure, passed) = match function.params.is_empty() {
        true => (quote!(()), quote!(_)),
        false => {
            let structure = ident(&structure_name(function));
            (quote!(#structure { #(#fields),* }), quote!(params))
        }
    };
    quote! {
        pub unsafe extern "C" fn #name(#(#declared),*) #result {
            #places
            traced(#id, #structure, |#passed| {
                let below: unsafe extern "C" fn(#(#types),*) #result = below!(#id);
                below(#(#arguments),*)
            })
        }
    }
    .to_string()
}

fn layout(function: &Function) -> String {
    let places = function.params.iter().map(|param| {
        let offset = Literal::u16_unsuffixed(param.offset);
        let bytes = Literal::u16_unsuffixed(param.value.ty.repr.size());
        format!("at({offset}, {bytes})")
    });
    format!("&[{}]", places.collect::<Vec<_>>().join(", "))
}
