//! Generated files that are committed: which are stale, and writing those.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Returns the paths of `files` whose file at `root` is missing or has another content.
pub fn stale(root: &Path, files: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let is_fresh = |(path, text): &(&PathBuf, &String)| {
        std::fs::read_to_string(root.join(path)).is_ok_and(|found| found == **text)
    };
    let stale = files.iter().filter(|file| !is_fresh(file));
    stale.map(|(path, _)| path.clone()).collect()
}

/// Writes the stale ones of `files`, and returns their paths.
pub fn write(root: &Path, files: &BTreeMap<PathBuf, String>) -> anyhow::Result<Vec<PathBuf>> {
    let stale = stale(root, files);
    for path in &stale {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(root))
            .and_then(|()| std::fs::write(&file, &files[path]))
            .with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(stale)
}
