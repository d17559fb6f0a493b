//! Emitters of the generated files, one module for each file.

mod bindings;
mod command_lists;
mod commands;
mod constants;
mod descriptions;
mod entries;
mod extents;
mod frames;
mod gpu_work;
mod handlers;
mod ids;
mod keepers;
mod keeping;
pub mod output;
mod replay;
mod roles;
mod sizes;
mod source;
pub mod state;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::lang::typed::Program;
use crate::model::Model;
use output::file;

/// Unformatted contents of all files, by path from the repository's root.
pub fn all(model: &Model, program: &Program) -> BTreeMap<PathBuf, String> {
    let commands = Path::new("commands/src/generated");
    let shim = Path::new("shim/src/generated");
    let tool_api = Path::new("tool/api/src/generated");
    let analysis = Path::new("analysis/src/generated");
    let mut files = BTreeMap::from([
        (analysis.join("roles.rs"), roles::emit(model, program)),
        (commands.join("command_lists.rs"), command_lists::emit(model, program)),
        (commands.join("constants.rs"), constants::emit(model)),
        (commands.join("ids.rs"), ids::emit(model)),
        (commands.join("descriptions.txt"), descriptions::emit(model)),
        (shim.join("entries.rs"), entries::emit(model)),
        (shim.join("frames.rs"), frames::emit(model)),
        (shim.join("gpu_work.rs"), gpu_work::emit(model, program)),
        (shim.join("keepers.rs"), keepers::emit(model, program)),
        (shim.join("sizes.rs"), sizes::emit(model)),
        (tool_api.join("commands.rs"), self::commands::emit(model)),
    ]);
    for (module, text) in handlers::emit_modules(model, program) {
        files.insert(shim.join(module).with_extension("rs"), text);
    }
    let state = Path::new("state");
    files.extend(state::emit(program).into_iter().map(|(name, text)| (state.join(name), text)));
    let replay = Path::new("replay/src/generated");
    let plays = replay::emit(model, program).into_iter();
    files.extend(plays.map(|(name, text)| (replay.join(name), text)));
    files.extend(model.headers.iter().flat_map(|header| bindings::emit(model, header)));
    for folder in [analysis, commands, shim, replay, tool_api] {
        let here = files.keys().filter(|path| path.starts_with(folder));
        let modules = here.filter(|path| path.extension().is_some_and(|found| found == "rs"));
        let mut lines: Vec<String> = modules
            .filter_map(|path| path.file_stem()?.to_str())
            .map(|module| format!("pub mod {module};"))
            .collect();
        if folder == shim {
            let keepers = &files[&shim.join("keepers.rs")];
            add_modules_of_shim(&mut lines, keepers);
        }
        files.insert(folder.join("mod.rs"), file("", &lines));
    }
    files.insert("tool/include/gapii_commands.h".into(), self::commands::emit_header(model));
    files
}

/// Adds the shim's modules that have no file to `lines`, and keeps the handlers out of the shim's unit tests, which record no
/// commands; `keepers` is the text of the keepers, which need some handlers.
fn add_modules_of_shim(lines: &mut Vec<String>, keepers: &str) {
    const NOT_IN_UNIT_TESTS: &str = "#[cfg(not(test))]\n";
    let mut handlers = Vec::new();
    for line in lines.iter_mut() {
        let module = line.trim_start_matches("pub mod ").trim_end_matches(';').to_owned();
        if module.starts_with("handlers_") {
            if !keepers.contains(&module) {
                line.insert_str(0, NOT_IN_UNIT_TESTS);
            }
            handlers.push(format!("pub use super::{module}::*;"));
        }
    }
    lines.push(format!(
        "/// The handlers of all APIs, each in the module of its command's name.\n\
         {NOT_IN_UNIT_TESTS}pub mod handlers {{\n{}\n}}",
        handlers.join("\n")
    ));
    lines.push("pub mod ids { pub use gapii_commands::{COUNT, ids::*}; }".to_owned());
    lines.push("pub mod names { pub use gapii_commands::{EXPORTED, NAMES}; }".to_owned());
}
