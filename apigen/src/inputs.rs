//! The generator's input files: the list of APIs, their registries and descriptions, `apis/mesa-extensions.txt` and
//! `apis/exports/*.txt`. A file that cannot be read is an error; a folder of descriptions that does not exist counts as
//! empty.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use apigen_registry::RegistryFiles;

use crate::apis::{self, Api};
use crate::lang::source::Sources;
use crate::problem::Error;
use crate::tree::{read, read_folder, sources};

/// Everything that [`crate::generate`] reads.
#[derive(Clone, Default, Debug)]
pub struct Inputs {
    /// The list of APIs.
    pub apis: Vec<Api>,
    /// Contents of the registries' files, by file as the list of APIs names it.
    pub registries: BTreeMap<String, String>,
    /// `apis/**/*.api`: the descriptions.
    pub descriptions: Sources,
    /// `apis/mesa-extensions.txt`.
    pub exposed: String,
    /// Contents of the lists of extensions, by file as the list of APIs names it.
    pub lists: BTreeMap<String, String>,
    /// `apis/exports/*.txt`: path from the root, and text.
    pub exports: Vec<(String, String)>,
}

impl Inputs {
    /// Reads the registry and the `apis/` of the repository at `root`.
    pub fn read(root: &Path, registry: &RegistryFiles) -> Result<Self, Error> {
        let path = |file: &str| registry.file(file).unwrap_or_else(|| root.join(file));
        let inputs = Self::of(root, apis::read(root)?, path)?;
        Ok(Self { exports: read_folder(root, "apis/exports", "txt")?, ..inputs })
    }

    /// Reads what the repository at `root` has of APIs that need no file of Khronos' registry.
    pub fn read_without_khronos(root: &Path) -> Result<Self, Error> {
        let mut apis = apis::read(root)?;
        apis.retain(|api| root.join(&api.registry).is_file());
        Self::of(root, apis, |file| root.join(file))
    }

    fn of(root: &Path, apis: Vec<Api>, path: impl Fn(&str) -> PathBuf) -> Result<Self, Error> {
        let mut registries = BTreeMap::new();
        for file in apis.iter().flat_map(|api| api.registry_files()) {
            let text = read(&path(&file))?;
            registries.insert(file, text);
        }
        let mut lists = BTreeMap::new();
        for file in apis.iter().flat_map(|api| api.exposed.values()) {
            lists.insert(file.clone(), read(&root.join(file))?);
        }
        Ok(Self {
            registries,
            lists,
            descriptions: descriptions(root, &apis)?,
            apis,
            exposed: read(&root.join("apis/mesa-extensions.txt"))?,
            exports: Vec::new(),
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
