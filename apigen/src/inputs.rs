//! The generator's input files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::apis::{self, Api};
use crate::fetch::RegistryFiles;
use crate::lang::source::Sources;
use crate::level_zero::Description;
use crate::problem::Error;
use crate::tree::{read, read_folder, sources};

/// Everything that [`crate::generate`] reads.
#[derive(Clone, Default, Debug)]
pub struct Inputs {
    /// The list of APIs.
    pub apis: Vec<Api>,
    /// Text of each XML registry, by the file name in the list of APIs.
    pub registries: BTreeMap<String, String>,
    /// `apis/**/*.api`: the descriptions.
    pub descriptions: Sources,
    /// `apis/level_zero/*.json`.
    pub level_zero: Description,
    /// `apis/mesa-extensions.txt`.
    pub exposed: String,
    /// `apis/exports/*.txt`: path from the root, and text.
    pub exports: Vec<(String, String)>,
}

impl Inputs {
    /// Reads the registry and the `apis/` of the repository at `root`.
    pub fn read(root: &Path, registry: &RegistryFiles) -> Result<Self, Error> {
        let apis = apis::read(root)?;
        let mut registries = BTreeMap::new();
        for api in apis.iter().filter(|api| !api.is_json()) {
            let path = registry.file(&api.registry).unwrap_or_else(|| root.join(&api.registry));
            registries.insert(api.registry.clone(), read(&path)?);
        }
        Ok(Self {
            registries,
            descriptions: descriptions(root, &apis)?,
            apis,
            level_zero: Description::read(root)?,
            exposed: read(&root.join("apis/mesa-extensions.txt"))?,
            exports: read_folder(root, "apis/exports", "txt")?,
        })
    }
}

/// All description files, sorted by path. A folder that does not exist has none.
pub fn descriptions(root: &Path, apis: &[Api]) -> Result<Sources, Error> {
    let mut files = Vec::new();
    for folder in
        apis.iter().flat_map(|api| &api.folders).filter(|folder| root.join(folder).is_dir())
    {
        files.extend(sources(root, folder)?.files);
    }
    Ok(Sources { files })
}
