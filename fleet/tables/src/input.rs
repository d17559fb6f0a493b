//! `Input`: traces, by the paths and URLs that the user named. Folders, and URLs that end with a slash or hold several files, stand
//! for the files in them whose names end with `.gapii`. A trace behind a URL is fetched into a temporary file, because its index
//! is at its end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gapii_store::Store;

use crate::output::local_path;

/// End of the names of traces in a folder.
const SUFFIX: &str = ".gapii";

/// A trace that is not open yet.
#[derive(Clone)]
pub struct Input {
    /// Its path or URL, for the user and for the table.
    pub name: String,
    place: Place,
}

#[derive(Clone)]
enum Place {
    Local(PathBuf),
    /// A file of a store, by its name there.
    Stored(Arc<Store>, String),
}

impl Input {
    /// Returns the traces that a path or URL stands for.
    ///
    /// # Errors
    /// A sentence for the user: it cannot be read, or has no trace.
    pub fn find(named: &str) -> Result<Vec<Input>, String> {
        let found = match local_path(named) {
            Some(path) => below(path).map_err(|error| format!("can't read {named}: {error}"))?,
            None => in_store(named)?,
        };
        match found.is_empty() {
            true => Err(format!("{named} has no file whose name ends with {SUFFIX}")),
            false => Ok(found),
        }
    }

    /// Opens the trace's file; fetches it first if it is elsewhere.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn open(&self) -> Result<File, String> {
        let failed = |error: io::Error| format!("can't read {}: {error}", self.name);
        match &self.place {
            Place::Local(path) => File::open(path).map_err(failed),
            Place::Stored(store, name) => {
                // It has no name, so that it is gone when it is closed, whatever happens.
                let mut file = BufWriter::new(tempfile::tempfile().map_err(failed)?);
                store.read(name, &mut file).map_err(|error| error.to_string())?;
                file.flush().map_err(failed)?;
                file.into_inner().map_err(|error| failed(error.into_error()))
            }
        }
    }
}

fn in_store(url: &str) -> Result<Vec<Input>, String> {
    let store = Arc::new(Store::open(url).map_err(|error| error.to_string())?);
    let entries = store.list("").map_err(|error| error.to_string())?;
    let is_trace = |name: &str| name.is_empty() || name.ends_with(SUFFIX);
    let wanted = entries.into_iter().filter(|entry| is_trace(&entry.name));
    let input = |name: String| Input {
        name: store.shown(&name),
        place: Place::Stored(Arc::clone(&store), name),
    };
    Ok(wanted.map(|entry| input(entry.name)).collect())
}

/// Returns a file, or the traces in a folder and in the folders in it, by name. Links to folders are not followed.
fn below(path: &Path) -> io::Result<Vec<Input>> {
    let input = |path: &Path| Input {
        name: path.display().to_string(),
        place: Place::Local(path.to_owned()),
    };
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![input(path)]);
    }
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            found.extend(below(&path)?);
        } else if entry.file_name().as_encoded_bytes().ends_with(SUFFIX.as_bytes())
            && path.is_file()
        {
            found.push(input(&path));
        }
    }
    Ok(found)
}
