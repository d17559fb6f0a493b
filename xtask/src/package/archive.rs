//! The archive: a folder with all of gapii that works wherever it is unpacked, as `.tar.zst`.

use std::path::{Path, PathBuf};

use gapii_package::Layout;

use super::stage::stage;
use crate::{step, tree};

/// Makes the archive in `folder`, and returns its path.
pub fn make(folder: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("gapii-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let staged = tree::target().join("package/archive");
    stage(&Layout::Archive, &staged.join(&name))?;
    let archive = folder.join(format!("{name}.tar.zst"));
    // The same files make the same archive on every day.
    let date = step::output(&mut step::command("git", &["log", "-1", "--format=%cI"]))?;
    let mtime = format!("--mtime={}", date.trim());
    let mut tar = step::command("tar", &["--create", "--zstd", "--sort=name", "--numeric-owner"]);
    tar.args(["--owner=0", "--group=0", &mtime, "--directory"]).arg(&staged).arg("--file");
    step::run(tar.arg(&archive).arg(&name).env("ZSTD_CLEVEL", "19"))?;
    Ok(archive)
}
