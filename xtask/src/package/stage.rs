//! The tree of an installed gapii in a folder of the build, from the release products: stripped, with man pages and
//! completions. Packages and the archive are made of it.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::Context;
use gapii_package::{CTL, CTL_SHORT, Content, File, Layout, Shell, Written};

use super::third_party;
use crate::{step, tree};

/// Empties `prefix`, and puts all files of `layout` there. Returns them.
pub fn stage(layout: &Layout, prefix: &Path) -> anyhow::Result<Vec<File>> {
    empty(prefix)?;
    let mut files = gapii_package::files(layout, &written()?);
    files.extend(third_party::files(layout)?);
    for file in &files {
        put(file, prefix).with_context(|| format!("can't make {}", file.path))?;
    }
    Ok(files)
}

/// Makes `folder`, without what it had.
pub fn empty(folder: &Path) -> anyhow::Result<()> {
    let emptied = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    };
    emptied.with_context(|| format!("can't empty {}", folder.display()))
}

fn put(file: &File, prefix: &Path) -> anyhow::Result<()> {
    let path = prefix.join(&file.path);
    fs::create_dir_all(path.parent().unwrap_or(prefix))?;
    match &file.content {
        Content::Text(text) => fs::write(&path, text)?,
        Content::Document(page) => _ = fs::copy(tree::root().join(page), &path)?,
        Content::Built(name) => {
            _ = fs::copy(tree::release().join(name), &path)?;
            strip(&path)?;
        }
        Content::Link(target) => return Ok(symlink(target, &path)?),
    }
    let mode = if file.is_program { 0o755 } else { 0o644 };
    Ok(fs::set_permissions(&path, Permissions::from_mode(mode))?)
}

/// Takes the symbols and the notes of the compiler out of a program or a library, as Debian does.
fn strip(path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let options: &[&str] = match extension.as_ref() {
        "h" => return Ok(()),
        "a" => &["--strip-debug", "--enable-deterministic-archives"],
        _ => &["--strip-unneeded"],
    };
    let sections = ["--remove-section=.comment"];
    step::run(step::command("strip", options).args(sections).arg(path))
}

/// What the control tool writes about itself.
fn written() -> anyhow::Result<Written> {
    let folder = tempfile::tempdir().context("can't make a temporary folder")?;
    step::run(ctl(CTL).arg("man").arg(folder.path()))?;
    let mut written = Written::default();
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        written.manual.push((name, fs::read(entry.path())?));
    }
    for shell in Shell::ALL {
        for program in [CTL, CTL_SHORT] {
            let script = step::output(ctl(program).args(["completions", shell.name()]))?;
            written.completions.push((shell, program, script.into_bytes()));
        }
    }
    Ok(written)
}

fn ctl(name: &str) -> std::process::Command {
    step::command(&tree::release().join(name).to_string_lossy(), &[])
}
