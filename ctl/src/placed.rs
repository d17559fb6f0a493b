//! `Placed`: the list of what `install` has put below a prefix, in `share/gapii/installed` there: files with digests of
//! their contents, and folders that were made. Whatever is not on it, or has changed since, is not `install`'s to change.
//!
//! Puts and removes nothing but the list itself.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The list's path below the prefix.
pub const LIST: &str = "share/gapii/installed";

const HEADING: &str = "# Put here by `gapii-ctl install`; `gapii-ctl install --remove` reads it.";

/// Files and folders that `install` has put, with paths below the prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Paths and digests. While `install` runs, a path may have two: before and after.
    pub files: BTreeSet<(String, String)>,
    /// Folders that were made.
    pub folders: BTreeSet<String>,
}

impl Placed {
    /// Reads the list of `prefix`; `None` if there is none.
    pub fn read(prefix: &Path) -> io::Result<Option<Placed>> {
        match fs::read_to_string(prefix.join(LIST)) {
            Ok(text) => Ok(Some(Placed::parse(&text))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the list of `prefix`.
    pub fn write(&self, prefix: &Path) -> io::Result<()> {
        let path = prefix.join(LIST);
        let mut draft = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(prefix))?;
        draft.write_all(self.text().as_bytes())?;
        draft.persist(path).map(drop).map_err(io::Error::from)
    }

    /// Whether `install` has put what has this digest at `path`.
    pub fn has(&self, path: &str, digest: &str) -> bool {
        self.files.contains(&(path.to_owned(), digest.to_owned()))
    }

    /// Paths of the files.
    pub fn paths(&self) -> BTreeSet<&str> {
        self.files.iter().map(|(path, _)| path.as_str()).collect()
    }

    fn parse(text: &str) -> Placed {
        let mut placed = Placed::default();
        for line in text.lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["file", digest, path] => {
                    _ = placed.files.insert((path.to_owned(), digest.to_owned()));
                }
                ["folder", path] => _ = placed.folders.insert(path.to_owned()),
                _ => {}
            }
        }
        placed
    }

    fn text(&self) -> String {
        let files = self.files.iter().map(|(path, digest)| format!("file {digest} {path}\n"));
        let folders = self.folders.iter().map(|path| format!("folder {path}\n"));
        [format!("{HEADING}\n")].into_iter().chain(files).chain(folders).collect()
    }
}

/// Digest of what lies at `path`; `None` if nothing does. A folder has one that no file has.
pub fn digest(path: &Path) -> io::Result<Option<String>> {
    let kind = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    Ok(Some(if kind.is_symlink() {
        digest_of_link(&fs::read_link(path)?)
    } else if kind.is_file() {
        digest_of(&fs::read(path)?)
    } else {
        "neither-a-file-nor-a-link".to_owned()
    }))
}

pub fn digest_of(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

/// Digest of a symbolic link to `target`.
pub fn digest_of_link(target: &Path) -> String {
    digest_of(&[b"a link to ", target.as_os_str().as_encoded_bytes()].concat())
}

/// Returns the folders above `path`, from the prefix (`.`) on down.
pub fn folders_of(path: &str) -> Vec<String> {
    let above = Path::new(path).ancestors().skip(1);
    let mut folders: Vec<_> = above
        .map(|folder| match folder.to_string_lossy() {
            it if it.is_empty() => ".".to_owned(),
            it => it.into_owned(),
        })
        .collect();
    folders.reverse();
    folders
}

/// Path of a folder that [`folders_of`] has named.
pub fn folder_path(prefix: &Path, folder: &str) -> PathBuf {
    if folder == "." { prefix.to_owned() } else { prefix.join(folder) }
}

/// Removes those of `folders` that are empty, the deepest first.
pub fn remove_empty(prefix: &Path, folders: &BTreeSet<String>) {
    let mut paths: Vec<_> = folders.iter().map(|folder| folder_path(prefix, folder)).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    // One that is not empty has files of others.
    paths.iter().for_each(|path| _ = fs::remove_dir(path));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_read_as_it_was_written() {
        let prefix = tempfile::tempdir().unwrap();
        assert_eq!(Placed::read(prefix.path()).unwrap(), None);
        fs::create_dir_all(prefix.path().join("share/gapii")).unwrap();
        let files = [("bin/a", "1"), ("bin/a", "2"), ("lib/b", "3")];
        let placed = Placed {
            files: files.map(|(path, digest)| (path.to_owned(), digest.to_owned())).into(),
            folders: folders_of("lib/gapii/b").into_iter().collect(),
        };
        placed.write(prefix.path()).unwrap();
        assert_eq!(Placed::read(prefix.path()).unwrap(), Some(placed.clone()));
        assert!(placed.has("bin/a", "2") && !placed.has("bin/a", "3"));
        assert_eq!(placed.paths().len(), 2);
    }

    #[test]
    fn file_link_and_folder_have_different_digests() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink("x", path("link")).unwrap();
        let found = |name: &str| digest(&path(name)).unwrap();
        assert_eq!(found("file"), Some(digest_of(b"x")));
        assert_eq!(found("link"), Some(digest_of_link(Path::new("x"))));
        assert_eq!(found("none"), None);
        assert_eq!(found("file/none"), None);
        let all: BTreeSet<_> = ["file", "link", "."].map(found).into();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn folders_lead_from_the_prefix_to_the_file() {
        assert_eq!(folders_of("lib/gapii/x.so"), [".", "lib", "lib/gapii"]);
    }
}
