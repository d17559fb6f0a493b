//! Reads files of the repository, writes generated files to it, and compares them. The folders in `GENERATED` hold
//! generated files and nothing else: other `.rs` and `.txt` files in them count as stale, and writing removes them.
//! Source is formatted with rustfmt until another pass changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lang;
use crate::lang::diagnostic::Report;
use crate::lang::source::{Source, Sources};
use crate::problem::Error;

/// Folders that hold generated files and nothing else.
pub const GENERATED: &[&str] = &[
    "apigen/tests/toy/run/generated",
    "analysis/src/generated",
    "commands/src/generated",
    "level-zero/api/src/generated",
    "level-zero/layer/src/generated",
    "replay/src/generated",
    "shim/src/generated",
    "state/src/generated",
    "tests/null-driver/src/generated",
    "tool/api/src/generated",
];

/// Formatting of the generated files: the repository's own.
const RUSTFMT_CONFIG: &str = "max_width=100,use_small_heuristics=Max";

/// Writes `files` to the repository at `root`, and removes all other files from the generated folders.
pub fn write(root: &Path, files: &BTreeMap<PathBuf, String>) -> Result<(), Error> {
    for name in stale(root, files)? {
        let path = root.join(&name);
        let done = match files.get(&name) {
            Some(text) => fs::create_dir_all(path.parent().unwrap_or(root))
                .and_then(|()| fs::write(&path, text)),
            None => fs::remove_file(&path),
        };
        done.map_err(|source| Error::File { path, source })?;
    }
    Ok(())
}

/// The generated files at `root` that differ from `files`, are missing, or should not be there.
pub fn stale(root: &Path, files: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>, Error> {
    let mut names: BTreeSet<PathBuf> = files.keys().cloned().collect();
    for folder in GENERATED {
        if root.join(folder).is_dir() {
            names.extend(list(root, folder, "rs")?);
            names.extend(list(root, folder, "txt")?);
        }
    }
    let differs =
        |name: &PathBuf| fs::read_to_string(root.join(name)).ok().as_ref() != files.get(name);
    Ok(names.into_iter().filter(differs).collect())
}

/// Formats the descriptions, and returns those whose text changes. Fails if a description has a syntax error.
pub fn format_descriptions(sources: &Sources) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut changed = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for (at, source) in sources.files.iter().enumerate() {
        match lang::format::format(at as u32, &source.text) {
            Ok(text) if text == source.text => {}
            Ok(text) => {
                changed.insert(PathBuf::from(&source.path), text);
            }
            Err(mistakes) => diagnostics.extend(mistakes),
        }
    }
    if diagnostics.is_empty() {
        return Ok(changed);
    }
    Err(Error::Descriptions(Report { sources: sources.clone(), diagnostics }))
}

/// Formats Rust source until another pass changes nothing: rustfmt may need several passes for a long line.
pub fn format(source: &str) -> Result<String, Error> {
    let mut text = rustfmt(source)?;
    loop {
        let again = rustfmt(&text)?;
        if again == text {
            return Ok(text);
        }
        text = again;
    }
}

fn rustfmt(source: &str) -> Result<String, Error> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--emit", "stdout", "--config", RUSTFMT_CONFIG]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawn_error = |source| Error::Spawn { command: "rustfmt".to_owned(), source };
    let mut child = command.spawn().map_err(spawn_error)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(source.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(spawn_error)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Command { command: "rustfmt".to_owned(), stderr })
}

/// The description files of a folder, sorted by path.
pub fn sources(root: &Path, folder: &str) -> Result<Sources, Error> {
    let files = read_folder(root, folder, "api")?;
    Ok(Sources { files: files.into_iter().map(|(path, text)| Source { path, text }).collect() })
}

/// Paths from the root and texts of the files of a folder that have the extension, sorted by path.
pub fn read_folder(
    root: &Path,
    folder: &str,
    extension: &str,
) -> Result<Vec<(String, String)>, Error> {
    list(root, folder, extension)?
        .into_iter()
        .map(|name| Ok((name.display().to_string(), read(&root.join(&name))?)))
        .collect()
}

/// The files of `folder` with `extension`, sorted, as paths from `root`.
fn list(root: &Path, folder: &str, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let path = root.join(folder);
    let file_error = |source| Error::File { path: path.clone(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(&path).map_err(file_error)? {
        let name = Path::new(folder).join(entry.map_err(file_error)?.file_name());
        if name.extension().is_some_and(|found| found == extension) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })
}
