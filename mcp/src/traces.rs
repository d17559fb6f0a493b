//! The traces that may be asked about: files, and what lies below folders. Links are followed before a path is compared,
//! so none leads outside.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Ending of the names of traces.
const ENDING: &str = "gapii";
/// Most folders below a folder that are looked through.
const FOLDERS_MAX: usize = 1000;

/// Files and folders, as absolute paths without links.
#[derive(Debug)]
pub struct Traces(Vec<PathBuf>);

impl Traces {
    /// The traces among and below these paths.
    ///
    /// # Errors
    /// A sentence, if a path does not exist.
    pub fn below(paths: &[PathBuf]) -> Result<Self, String> {
        let found = paths.iter().map(|path| {
            path.canonicalize().map_err(|error| format!("can't use {}: {error}", path.display()))
        });
        Ok(Self(found.collect::<Result<_, _>>()?))
    }

    /// Returns the path of a trace by its name: an absolute path, or one below a folder.
    ///
    /// # Errors
    /// A sentence, if there is none that may be asked about.
    pub fn find(&self, name: &str) -> Result<PathBuf, String> {
        let candidates = self.0.iter().map(|root| root.join(name)).chain([PathBuf::from(name)]);
        let mut found = candidates.filter_map(|path| path.canonicalize().ok());
        let allowed =
            |path: &PathBuf| path.is_file() && self.0.iter().any(|it| path.starts_with(it));
        found.find(allowed).ok_or_else(|| {
            format!("there is no trace {name} that may be read; the tool `traces` lists them")
        })
    }

    /// Returns the path of a file that is to be made: a name without folders, in the first folder.
    ///
    /// # Errors
    /// A sentence, if the name has a folder, or the file exists.
    pub fn make(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.0.iter().find(|path| path.is_dir());
        let folder = folder.ok_or("no folder was given, so nothing can be recorded")?;
        let is_plain = Path::new(name).file_name().is_some_and(|last| last == name);
        if !is_plain || !name.ends_with(&format!(".{ENDING}")) {
            return Err(format!("{name} is no name of a new trace, such as game.{ENDING}"));
        }
        let path = folder.join(name);
        match path.symlink_metadata() {
            Ok(_) => Err(format!("{name} exists; choose another name")),
            Err(_) => Ok(path),
        }
    }

    /// Lists the traces with their sizes, sorted by path.
    pub fn list(&self) -> Value {
        let mut found = Vec::new();
        for root in &self.0 {
            match root.is_dir() {
                true => collect(root, &mut found),
                false => found.push(root.clone()),
            }
        }
        found.sort();
        found.dedup();
        let row = |path: &PathBuf| {
            let bytes = fs::metadata(path).map_or(0, |it| it.len());
            json!({"trace": path, "bytes": bytes})
        };
        json!({"traces": found.iter().map(row).collect::<Vec<_>>()})
    }
}

/// Adds the traces below a folder. Links to folders are not followed.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut folders = vec![folder.to_owned()];
    let mut looked = 0;
    while let Some(folder) = folders.pop().filter(|_| looked < FOLDERS_MAX) {
        looked += 1;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == ENDING) => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder `inside` with a trace, and a trace beside it.
    fn folder() -> (tempfile::TempDir, Traces) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("inside/deeper")).unwrap();
        for name in ["inside/deeper/a.gapii", "inside/b.txt", "outside.gapii"] {
            fs::write(folder.path().join(name), "12345").unwrap();
        }
        let traces = Traces::below(&[folder.path().join("inside")]).unwrap();
        (folder, traces)
    }

    #[test]
    fn traces_below_the_folder_alone_are_found() {
        let (folder, traces) = folder();
        let inside = folder.path().canonicalize().unwrap().join("inside");
        let path = inside.join("deeper/a.gapii");
        assert_eq!(traces.find("deeper/a.gapii"), Ok(path.clone()));
        assert_eq!(traces.find(path.to_str().unwrap()), Ok(path));
        let outside = folder.path().join("outside.gapii");
        symlink(&outside, inside.join("link.gapii")).unwrap();
        for name in
            ["../outside.gapii", outside.to_str().unwrap(), "link.gapii", "no.gapii", "deeper"]
        {
            assert!(traces.find(name).unwrap_err().contains(name), "{name}");
        }
    }

    #[test]
    fn list_has_traces_and_their_sizes() {
        let (folder, traces) = folder();
        let path = folder.path().canonicalize().unwrap().join("inside/deeper/a.gapii");
        assert_eq!(traces.list(), json!({"traces": [{"trace": path, "bytes": 5}]}));
    }

    #[test]
    fn new_trace_has_a_plain_name_that_is_free() {
        let (folder, traces) = folder();
        let inside = folder.path().canonicalize().unwrap().join("inside");
        assert_eq!(traces.make("new.gapii"), Ok(inside.join("new.gapii")));
        fs::write(inside.join("old.gapii"), "").unwrap();
        for name in ["old.gapii", "../new.gapii", "/new.gapii", "deeper/new.gapii", "new", "..", ""]
        {
            assert!(traces.make(name).is_err(), "{name}");
        }
    }
}
