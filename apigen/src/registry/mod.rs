//! The registries: what the headers of the APIs declare, and how files become this data.
//!
//! [`xml`] reads Khronos' format, [`json`] that of Level Zero. Both yield a [`Registry`], and nothing else reads the
//! files. [`memory`] turns what a registry says of the memory behind pointers into a description.

mod commands;
mod json;
pub mod memory;
mod types;
mod xml;

pub use commands::{Command, Enumerant, Layout, Param, Registries, Registry};
pub use types::{
    Alias, Direction, Enum, Field, FunctionType, Range, Struct, Table, ToolTable, Types, Version,
};
pub use xml::parse;

use crate::apis::Api;
use crate::inputs::Inputs;
use crate::problem::Error;

/// Parses the registries of `inputs`.
pub fn parse_all(inputs: &Inputs) -> Result<Registries, Error> {
    let parse = |api: &Api| {
        let registry = match api.is_json() {
            true => json::parse(api, &inputs.registries)?,
            false => {
                let text = inputs.registries.get(&api.registry).map_or("", String::as_str);
                xml::parse(&api.registry, text, api, &inputs.lists)?
            }
        };
        Ok((api.clone(), registry))
    };
    Ok(Registries(inputs.apis.iter().map(parse).collect::<Result<_, Error>>()?))
}
