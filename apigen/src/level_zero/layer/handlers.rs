//! `handlers.rs`: for each function the call that runs prologues, the callee and epilogues.

use crate::level_zero::description::{Description, Function, Member};
use crate::level_zero::output::file;

const PRELUDE: &str = "\
// A handler has its caller's duties: the arguments are those of a program that calls the function.
#![allow(
    clippy::missing_safety_doc,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case,
    unsafe_op_in_unsafe_fn
)]

use core::ffi::{c_char, c_uint, c_void};

use gapii_ze_api::functions::*;
use gapii_ze_api::types::*;

use crate::call::TracedCall;
use crate::entry::callee;
";

pub fn emit(description: &Description) -> String {
    file(PRELUDE, &description.functions.iter().map(handler).collect::<String>())
}

fn handler(function: &Function) -> String {
    let Function { name, pfn, params_struct, .. } = function;
    let constant = function.constant();
    let join =
        |text: fn(&Member) -> String| -> String { function.params.iter().map(text).collect() };
    let params = join(|param| format!("mut {}: {},", param.ident(), param.ctype.rust()));
    let arguments = join(|param| param.ident() + ",");
    let pointers = join(|param| format!("{}: &raw mut {},", param.pointer(), param.ident()));
    let (arrow, ret) = (function.ret.arrow(), function.ret.rust());
    format!(
        "pub unsafe extern \"C\" fn {name}({params}) {arrow} {{\n\
         let callee: {pfn} = callee!({constant});\n\
         let Some(mut call) = TracedCall::begin({constant}) else {{ return callee({arguments}) }};\n\
         let mut params = {params_struct} {{ {pointers} }};\n\
         call.prologues::<_, {ret}>(&raw mut params);\n\
         let result = callee({arguments});\n\
         call.epilogues(&raw mut params, result);\n\
         result\n}}\n\n"
    )
}
