//! `constants.rs` of the crate `commands`: the enumerants of every API.

use super::output::file;
use crate::model::Model;

pub fn emit(model: &Model) -> String {
    let constant = |(name, value): (&String, &u64)| {
        let ty = if u32::try_from(*value).is_ok() { "u32" } else { "u64" };
        format!("pub const {name}: {ty} = {value:#06x};")
    };
    let prelude = "//! Value of every enumerant; negative numbers are in two's complement.\n\n\
                   #![allow(non_upper_case_globals)]";
    file(prelude, &model.constants.iter().map(constant).collect::<Vec<_>>())
}
