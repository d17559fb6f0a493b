//! `callbacks.rs` of the API: what `ze_callbacks_t` consists of.

use super::super::output::invocation;
use crate::model::Header;
use crate::naming::id_constant;

const PRELUDE: &str = "\
use crate::define::core_callbacks;
use crate::functions::*;
";

/// Returns the prelude and the items.
pub fn emit(header: &Header) -> (&'static str, Vec<String>) {
    let constants = header.core_callbacks.iter().map(|name| id_constant(name));
    let constants = constants.collect::<Vec<_>>().join(", ");
    (PRELUDE, vec![invocation("core_callbacks", &[constants])])
}
