//! Compiler from the Khronos registry and `apis/` to the generated Rust of `shim` and `protocol`.
//!
//! The pipeline is its modules: [`fetch`] gets the registry's files, [`registry`] parses them,
//! [`annotations`] and [`index`] read `apis/*.toml`, [`resolve`] joins both into the [`model`], and
//! each module of [`emit`] writes one file. The same input gives the same output: no dates, no paths.
//! Nothing here runs in a product; what it writes is committed.

#![forbid(unsafe_code)]

pub mod annotations;
pub mod ctype;
pub mod emit;
pub mod extent;
pub mod fetch;
pub mod groups;
pub mod index;
pub mod lang;
pub mod model;
pub mod naming;
pub mod problem;
pub mod registry;
pub mod resolve;
pub mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use fetch::registry_files;
pub use lang::coverage::Coverage;
pub use problem::{Error, Problem};
pub use tree::{Inputs, stale, write};

/// What [`generate`] made.
#[derive(Debug)]
pub struct Generated {
    /// Contents by path from the repository's root.
    pub files: BTreeMap<PathBuf, String>,
    pub summary: model::Summary,
}

/// Checks the descriptions of `inputs` without generating anything.
pub fn check(inputs: &Inputs) -> Result<lang::typed::Program, Error> {
    let registries = registry::parse_all(inputs)?;
    lang::check::compile(&inputs.descriptions, &lang::check::apis(&registries))
        .map_err(Error::Language)
}

/// Checks the descriptions, and counts the pointer parameters that they say nothing of.
pub fn coverage(inputs: &Inputs) -> Result<Coverage, Error> {
    let registries = registry::parse_all(inputs)?;
    let apis = lang::check::apis(&registries);
    let program = lang::check::compile(&inputs.descriptions, &apis).map_err(Error::Language)?;
    let exposed = lang::coverage::extension_list(&inputs.exposed);
    Ok(Coverage::of(&program, &apis, &exposed))
}

/// Compiles `inputs`; the files come formatted.
///
/// All mistakes in the descriptions are reported at once, as [`Error::Descriptions`].
pub fn generate(inputs: &Inputs) -> Result<Generated, Error> {
    let registries = registry::parse_all(inputs)?;
    let model = resolve::resolve(&registries, inputs)?;
    let files = emit::all(&model)
        .into_iter()
        .map(|(path, text)| Ok((path, tree::format(&text)?)))
        .collect::<Result<_, Error>>()?;
    Ok(Generated { files, summary: model.summary() })
}
