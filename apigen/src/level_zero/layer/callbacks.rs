//! `callbacks.rs`: the exports that register callbacks, and what `ze_callbacks_t` consists of.

use crate::level_zero::description::Description;
use crate::level_zero::output::file;

const PRELUDE: &str = "\
#![allow(non_snake_case)] // Functions are spelled as the API spells them.

use gapii_ze_api::functions::*;

use crate::tracer_api::registrar;
";

pub fn emit(description: &Description) -> String {
    let registrars = description.functions.iter().map(|function| {
        let constant = function.constant();
        format!("registrar!({}, {constant}, {});\n", function.register, function.callback)
    });
    let registrars: String = registrars.collect();
    let core = description.core_callbacks.iter();
    let core: String = core.map(|name| description.function(name).constant() + ",").collect();
    let count = description.core_callbacks.len();
    let items = format!(
        "{registrars}\n/// The functions whose callbacks are in `ze_callbacks_t`, in its order.\n\
         pub static CORE: [usize; {count}] = [{core}];\n"
    );
    file(PRELUDE, &items)
}
