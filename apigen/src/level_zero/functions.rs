//! `functions.rs` of the API: ids, and the types of functions, of callbacks and of their parameters.

use super::description::{Description, Function};
use super::output::file;

const PRELUDE: &str = "\
// Everything is spelled as the API spells it.
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::{c_char, c_uint, c_void};

use super::types::*;
";

pub fn emit(description: &Description) -> String {
    let functions = &description.functions;
    let mut items = format!(
        "/// The number of functions; ids are below it.\npub const COUNT: usize = {};\n\n",
        functions.len()
    );
    items.extend(functions.iter().enumerate().map(|(id, function)| one(id, function)));
    let names: String = functions.iter().map(|function| format!("{:?},", function.name)).collect();
    items += &format!("/// Names by id.\npub static NAMES: [&str; COUNT] = [{names}];\n");
    file(PRELUDE, &items)
}

fn one(id: usize, function: &Function) -> String {
    let Function { pfn, params_struct, callback, .. } = function;
    let constant = function.constant();
    let params =
        function.params.iter().map(|param| format!("{}: {},", param.ident(), param.ctype.rust()));
    let params: String = params.collect();
    let pointers = function
        .params
        .iter()
        .map(|param| format!("pub {}: *mut {},", param.pointer(), param.ctype.rust()));
    let pointers: String = pointers.collect();
    let (arrow, ret) = (function.ret.arrow(), function.ret.rust());
    format!(
        "pub const {constant}: usize = {id};\n\
         pub type {pfn} = unsafe extern \"C\" fn({params}) {arrow};\n\
         #[repr(C)]\npub struct {params_struct} {{ {pointers} }}\n\
         pub type {callback} = unsafe extern \"C\" fn(params: *mut {params_struct}, result: {ret}, \
         pTracerUserData: *mut c_void, ppTracerInstanceUserData: *mut *mut c_void);\n\n"
    )
}
