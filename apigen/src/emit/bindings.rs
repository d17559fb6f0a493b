//! What the header of an API declares, as Rust: for Level Zero the crate `level-zero/api`, and the tables of
//! `level-zero/layer` and of the null driver.

mod callbacks;
mod exports;
mod functions;
mod tables;
mod tool_tables;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::output::file_from;
use crate::model::{Header, Model};

/// Unformatted contents of the files, by path from the repository's root.
pub fn emit(model: &Model, header: &Header) -> BTreeMap<PathBuf, String> {
    let api = Path::new("level-zero/api/src/generated");
    let layer = Path::new("level-zero/layer/src/generated");
    let driver = Path::new("tests/null-driver/src/generated");
    let input = Path::new(&header.api.registry).with_file_name("").display().to_string();
    let contents = [
        (api.join("callbacks.rs"), callbacks::emit(header)),
        (api.join("functions.rs"), functions::emit(model, header)),
        (api.join("tables.rs"), tables::emit(header)),
        (api.join("types.rs"), types::emit(&header.types)),
        (layer.join("tables.rs"), exports::emit(&header.tables)),
        (driver.join("tables.rs"), exports::emit(exports::of_drivers(header))),
        (driver.join("tool_tables.rs"), tool_tables::emit(header)),
    ];
    let mut files: BTreeMap<PathBuf, String> = contents
        .into_iter()
        .map(|(path, (prelude, items))| (path, file_from(&input, prelude, &items)))
        .collect();
    for folder in [api, driver, layer] {
        let here = files.keys().filter(|path| path.starts_with(folder));
        let modules = here.filter_map(|path| path.file_stem()?.to_str());
        let lines: Vec<String> = modules.map(|module| format!("pub mod {module};")).collect();
        files.insert(folder.join("mod.rs"), file_from(&input, "", &lines));
    }
    files
}
