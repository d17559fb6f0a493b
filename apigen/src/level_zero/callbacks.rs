//! `callbacks.rs` of the API: what `ze_callbacks_t` consists of.

use super::description::Description;
use super::output::file;
use crate::emit::output::invocation;

pub fn emit(description: &Description) -> String {
    let names = description.core_callbacks.iter();
    let constants = names.map(|name| description.function(name).constant());
    let constants = constants.collect::<Vec<_>>().join(", ");
    let core = invocation("core_callbacks", &[constants]);
    file("use crate::define::core_callbacks;\nuse crate::functions::*;\n", &core)
}
