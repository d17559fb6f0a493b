//! Level Zero: from the JSON of `apis/level_zero/` to the Rust of `level-zero/`.
//!
//! [`Description`] is the data as it is read; each other module writes one kind of file from it.

mod callbacks;
mod ctype;
mod description;
mod exports;
mod functions;
mod observed;
mod output;
pub mod registry;
mod tables;
mod tool_tables;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use description::Description;
pub use observed::describe;

use crate::Error;
use crate::tree;
use output::file;

/// The formatted files, by path from the repository's root.
pub fn generate(description: &Description) -> Result<BTreeMap<PathBuf, String>, Error> {
    let api = Path::new("level-zero/api/src/generated");
    let layer = Path::new("level-zero/layer/src/generated");
    let driver = Path::new("tests/null-driver/src/generated");
    let mut files = vec![
        (api.join("callbacks.rs"), callbacks::emit(description)),
        (api.join("functions.rs"), functions::emit(description)),
        (api.join("tables.rs"), tables::emit(description)),
        (api.join("types.rs"), types::emit(description)),
        (layer.join("tables.rs"), exports::emit(&description.tables)),
        (driver.join("tables.rs"), exports::emit(description.drivers_tables())),
        (driver.join("tool_tables.rs"), tool_tables::emit(description)),
    ];
    for folder in [api, driver, layer] {
        let modules = files.iter().filter(|(path, _)| path.starts_with(folder));
        let modules = modules.filter_map(|(path, _)| path.file_stem()?.to_str());
        let lines: String = modules.map(|module| format!("pub mod {module};\n")).collect();
        files.push((folder.join("mod.rs"), file("", &lines)));
    }
    files.into_iter().map(|(path, text)| Ok((path, tree::format(&text)?))).collect()
}
