//! Everything that the generator reads.

use std::path::Path;

use crate::fetch::RegistryFiles;
use crate::lang::source::Sources;
use crate::level_zero::Description;
use crate::problem::Error;
use crate::tree::{descriptions, read, read_folder};

/// Everything that [`crate::generate`] reads.
#[derive(Clone, Default, Debug)]
pub struct Inputs {
    pub egl_xml: String,
    pub gl_xml: String,
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
        Ok(Self {
            egl_xml: read(&registry.egl)?,
            gl_xml: read(&registry.gl)?,
            descriptions: descriptions(root)?,
            level_zero: Description::read(root)?,
            exposed: read(&root.join("apis/mesa-extensions.txt"))?,
            exports: read_folder(root, "apis/exports", "txt")?,
        })
    }
}
