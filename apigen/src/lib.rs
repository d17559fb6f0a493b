//! Compiler from the Khronos registry and `apis/` to the generated Rust of all other crates.
//!
//! The pipeline is its modules: [`registry`] parses the registry's files and Level Zero's JSON, [`lang`] makes a
//! checked program of `apis/**/*.api`, [`resolve`] makes the [`model`] of both, and each module of [`emit`] writes one
//! file from the model. The same input gives the same output: no dates, no paths. Nothing here runs in a product; what
//! it writes is committed.

#![forbid(unsafe_code)]

pub mod apis;
pub mod ctype;
pub mod emit;
pub mod extension_list;
pub mod groups;
pub mod inputs;
pub mod lang;
pub mod len;
pub mod model;
pub mod naming;
pub mod origin;
pub mod parts;
pub mod problem;
pub mod registry;
pub mod resolve;
pub mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lang::typed::Program;
use registry::Registries;

pub use inputs::{Inputs, descriptions};
pub use lang::coverage::Coverage;
pub use problem::{Error, Problem};
pub use tree::{format_descriptions, stale, write};

/// The toy API of the tests.
const TOY: &str = "apigen/tests/toy";

/// Output of [`generate`].
#[derive(Debug)]
pub struct Generated {
    /// Contents of the files, by path from the repository's root.
    pub files: BTreeMap<PathBuf, String>,
    pub summary: model::Summary,
}

/// Checks the descriptions, and counts the pointer parameters that have no extent.
pub fn coverage(inputs: &Inputs) -> Result<Coverage, Error> {
    let registries = registry::parse_all(inputs)?;
    let program = compile(inputs, &registries)?;
    let lists = inputs.lists.values().chain([&inputs.exposed]);
    let exposed = lists.flat_map(|text| extension_list::extension_list(text)).collect();
    Ok(Coverage::of(&program, &lang::check::apis(&registries), &exposed))
}

/// Compiles `inputs` to formatted files.
///
/// [`Error::Descriptions`] holds all mistakes in the descriptions, not only the first.
pub fn generate(inputs: &Inputs) -> Result<Generated, Error> {
    let (files, summary) = emitted(inputs)?;
    Ok(Generated { files: formatted(files)?, summary })
}

/// Compiles `inputs` for tests of the code's meaning: the files come as they are emitted.
pub fn generate_unformatted(inputs: &Inputs) -> Result<BTreeMap<PathBuf, String>, Error> {
    let (files, _) = emitted(inputs)?;
    let unwrapped = |(path, text): (PathBuf, String)| (path, emit::output::unwrapped(&text));
    Ok(files.into_iter().map(unwrapped).collect())
}

fn emitted(inputs: &Inputs) -> Result<(BTreeMap<PathBuf, String>, model::Summary), Error> {
    let registries = registry::parse_all(inputs)?;
    let program = compile(inputs, &registries)?;
    let model = resolve::resolve(&registries, inputs, &program)?;
    Ok((emit::all(&model, &program), model.summary(&program)))
}

/// The entry of the tests' toy API, which `apis/apis.json` does not list.
pub fn toy() -> apis::ApiFacts {
    let words = |word: &str| vec![word.to_owned()];
    apis::ApiFacts {
        name: "toy".to_owned(),
        title: "Toy".to_owned(),
        about: "The API of the tests.".to_owned(),
        registry: "toy.xml".to_owned(),
        features: words("toy"),
        exposed: BTreeMap::new(),
        folders: words("pass"),
        names: "TOY".to_owned(),
        state: apis::StateOf::Process,
        replay: apis::Played::ByHand,
    }
}

/// Compiles the toy API in the repository at `root`, for the tests that run its generated code.
pub fn generate_toy(root: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let text = tree::read(&root.join(TOY).join("toy.xml"))?;
    let toy = toy();
    let registry = registry::parse("toy.xml", &text, &toy, &BTreeMap::new())?;
    let apis = [lang::check::Api::new(&toy, &registry)];
    let sources = tree::sources(root, &format!("{TOY}/pass"))?;
    let program = lang::check::compile(&sources, &apis).map_err(Error::Descriptions)?;
    let files = emit::state::emit(&program).into_iter().map(|(name, text)| {
        let text = text.replace("gl.xml, egl.xml and apis/", "toy.xml and pass/");
        let name = Path::new("run").join(name.to_string_lossy().replace("src/", ""));
        (Path::new(TOY).join(name), text)
    });
    formatted(files.collect())
}

fn compile(inputs: &Inputs, registries: &Registries) -> Result<Program, Error> {
    let apis = lang::check::apis(registries);
    let mut sources = inputs.descriptions.clone();
    for (api, registry) in registries.0.iter().filter(|(api, _)| api.is_json()) {
        sources.files.push(registry::memory::describe(api, registry, &inputs.descriptions));
    }
    lang::check::compile(&sources, &apis).map_err(Error::Descriptions)
}

/// `files` with the Rust files formatted.
fn formatted(files: BTreeMap<PathBuf, String>) -> Result<BTreeMap<PathBuf, String>, Error> {
    let formatted = |(path, text): (PathBuf, String)| {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let text = if is_rust { emit::output::unwrapped(&tree::format(&text)?) } else { text };
        Ok((path, text))
    };
    files.into_iter().map(formatted).collect()
}
