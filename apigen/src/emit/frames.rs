//! `frames.rs` of the shim: hooks of the commands with `@frame` in their descriptions. Such a command ends a frame if
//! its result is the one that the attribute names.

use super::output::file;
use super::source::spell;
use crate::model::{Function, Model};

const PRELUDE: &str = "\
#![allow(non_snake_case, unused_imports)] // Named like the commands; a build may have none.

use core::ffi::{c_char, c_void};

use crate::hooks::{Scope, flags_of_frame, frame_is_over};
";

/// Returns the file: two functions for each command that ends frames.
pub fn emit(model: &Model) -> String {
    let hooks = model.functions.iter().filter_map(hooks);
    file(PRELUDE, &hooks.collect::<Vec<_>>())
}

fn hooks(function: &Function) -> Option<String> {
    let (ends, result) = (function.frame?, function.result.as_ref()?);
    let (name, result) = (&function.name, spell(&result.rust));
    let params = function.params.iter();
    let params: String = params.map(|param| format!("_: {}, ", spell(&param.value.rust))).collect();
    Some(format!(
        "pub fn {name}_leave_flags({params}result: {result}) -> u16 {{\n\
         flags_of_frame(result as i64 == {ends})\n}}\n\n\
         pub fn {name}(_: &Scope, {params}result: {result}) -> {result} {{\n\
         frame_is_over(result as i64 == {ends});\nresult\n}}\n"
    ))
}
