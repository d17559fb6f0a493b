//! `functions.rs` of the API: a line for each function, from which the crates of Level Zero derive everything that
//! they have per function.

use crate::model::{Function, Header, Model, Param};

const ABOUT: &str = "\
/// Invokes the macro `$with` once, with all functions in the order of their ids, each as
/// `ID since (major, minor): name(parameter: type, …) -> result, registration;`. `registration` is the export with
/// which a tool registers callbacks.
///
/// `$with` brings the types of `core::ffi` and of [`types`](crate::types) into scope.
";

/// Returns the prelude and the items.
pub fn emit(model: &Model, header: &Header) -> (&'static str, Vec<String>) {
    let functions = model.functions.iter().filter(|function| function.api == header.api);
    let lines: String = functions.filter_map(line).collect();
    let list = format!(
        "{ABOUT}#[macro_export]\n\
         macro_rules! for_each_function {{\n    ($with:ident) => {{\n        $with! {{\n{lines}        }}\n    }};\n}}"
    );
    ("", vec![list])
}

/// `None` for a function of no table.
fn line(function: &Function) -> Option<String> {
    let Function { constant, name, .. } = function;
    let since = function.slot_since?;
    let registration = function.registration.as_ref()?;
    let declaration = |param: &Param| format!("{}: {}", param.ident, param.declared.spelled());
    let params: Vec<String> = function.params.iter().map(declaration).collect();
    let (params, result) = (params.join(", "), function.declared_result.spelled());
    let (major, minor) = (since.major, since.minor);
    Some(format!(
        "            {constant} since ({major}, {minor}): {name}({params}) -> {result}, {registration};\n"
    ))
}
