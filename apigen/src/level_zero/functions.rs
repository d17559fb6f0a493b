//! `functions.rs` of the API: a line for each function, from which its crates derive all that they have of functions.

use super::description::{Description, Function};
use super::output::file;

pub fn emit(description: &Description) -> String {
    let lines: String = description.functions.iter().map(line).collect();
    let list = format!(
        "/// Invokes the macro `$with` once, with all functions in the order of their ids, each as\n\
         /// `ID since (major, minor): name(parameter: type, …) -> result, registration;`. `registration` is the export\n\
         /// with which a tool registers callbacks.\n\
         ///\n\
         /// `$with` brings the types of `core::ffi` and of [`types`](crate::types) into scope.\n\
         #[macro_export]\n\
         macro_rules! for_each_function {{\n    ($with:ident) => {{\n        $with! {{\n{lines}        }}\n    }};\n}}\n"
    );
    file("", &list)
}

fn line(function: &Function) -> String {
    let (constant, name) = (function.constant(), &function.name);
    let (major, minor) = function.gate().numbers();
    let params =
        function.params.iter().map(|param| format!("{}: {}", param.ident(), param.ctype.rust()));
    let params = params.collect::<Vec<_>>().join(", ");
    let (result, registration) = (function.ret.rust(), &function.register);
    format!(
        "            {constant} since ({major}, {minor}): {name}({params}) -> {result}, {registration};\n"
    )
}
