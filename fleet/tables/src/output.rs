//! `Output`: where tables are written: a folder, or a store behind a URL. A file appears there under its name when it is whole, and
//! replaces the one that had the name.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gapii_store::{Content, Store};
use tempfile::NamedTempFile;

/// A place for tables.
pub enum Output {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A store.
    Store(Box<Store>),
}

impl Output {
    /// Opens a place, by its path or URL.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn open(place: &str) -> Result<Self, String> {
        match local_path(place) {
            Some(path) => {
                let failed = |error| format!("can't make the folder {}: {error}", path.display());
                fs::create_dir_all(path).map_err(failed)?;
                Ok(Output::Folder(path.to_owned()))
            }
            None => {
                Store::open(place).map(Box::new).map(Output::Store).map_err(|it| it.to_string())
            }
        }
    }

    /// Makes a file for what will have the name `name`, a path below the place. It is deleted when it is dropped.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn draft(&self, name: &str) -> Result<NamedTempFile, String> {
        let mut builder = tempfile::Builder::new();
        let made = match self {
            Output::Folder(folder) => {
                let path = folder.join(name);
                let folder = path.parent().unwrap_or(folder);
                // Engines pass over names that begin with a dot.
                builder.prefix(".").suffix(".part").permissions(Permissions::from_mode(0o666));
                fs::create_dir_all(folder).and_then(|()| builder.tempfile_in(folder))
            }
            Output::Store(_) => builder.tempfile(),
        };
        made.map_err(|error| format!("can't make a file for {}: {error}", self.shown(name)))
    }

    /// Gives a draft its name.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn publish(&self, draft: NamedTempFile, name: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("can't write {}: {error}", self.shown(name));
        match self {
            Output::Folder(folder) => {
                draft.persist(folder.join(name)).map(drop).map_err(|error| failed(error.error))
            }
            Output::Store(store) => {
                let file = draft.as_file();
                let bytes = file.metadata().map_err(failed)?.len();
                let content = Content { file, bytes, digest: None };
                store.write(name, &content).map_err(|error| error.to_string())
            }
        }
    }

    fn shown(&self, name: &str) -> String {
        match self {
            Output::Folder(folder) => folder.join(name).display().to_string(),
            Output::Store(store) => store.shown(name),
        }
    }
}

/// Returns the path of a place on this machine: a path, or a URL `file://`; `None` for another URL.
pub fn local_path(place: &str) -> Option<&Path> {
    match place.strip_prefix("file://") {
        Some(path) => Some(Path::new(path)),
        None => (!gapii_store::is_url(place)).then(|| Path::new(place)),
    }
}
