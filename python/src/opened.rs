//! An open trace file that several readers read at the same time, each at its own place. It stays this file even if its
//! path is replaced. Keeps the description of the functions, and a reader for blobs.

use std::borrow::Cow;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gapii_trace::blobs::{BlobSource, NamePrefix};
use gapii_trace::store::BlobError;
use gapii_trace::{BlobName, Description, FileAt, TraceReader};

use crate::failure::Failure;

/// A reader of the file.
pub type Reader = TraceReader<FileAt>;

/// An open trace file.
pub struct Opened {
    path: PathBuf,
    file: FileAt,
    description: Cow<'static, Description>,
    /// Reads blobs, and nothing else.
    blobs: Mutex<Reader>,
}

impl Opened {
    /// Opens a trace.
    ///
    /// # Errors
    /// The file can't be read, or is not a trace.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        let metadata = file.metadata().map_err(|error| Failure::unreadable(path, &error))?;
        let name = path.display();
        if metadata.is_dir() {
            return Err(Failure::Other(format!(
                "can't read {name}: it is a folder; name a trace in it, as `{name}/x.gapii`"
            )));
        }
        if metadata.is_file() && metadata.len() == 0 {
            return Err(Failure::Other(format!(
                "{name} is empty: not a trace; `gapii-ctl run -o FILE -- CMD` records one"
            )));
        }
        let file = FileAt::of(&file).map_err(|error| Failure::unreadable(path, &error))?;
        let blobs = reader_of(path, &file)?;
        let description = blobs.header().description.clone();
        Ok(Self { path: path.to_owned(), file, description, blobs: Mutex::new(blobs) })
    }

    /// Returns the path that the trace was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the description of the trace's functions.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns a further reader of the file.
    ///
    /// # Errors
    /// An error of the file.
    pub fn reader(&self) -> Result<Reader, Failure> {
        reader_of(&self.path, &self.file)
    }

    /// Does `work`, whose panic becomes a failure.
    ///
    /// # Errors
    /// That of `work`.
    pub fn guarded<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        guarded(&self.path, work)
    }

    /// Returns the hash of the only blob whose hash begins with these digits.
    ///
    /// # Errors
    /// No blob has such a hash, or several do.
    pub fn blob_named(&self, digits: &str) -> Result<BlobName, Failure> {
        let name = self.path.display();
        let prefix = digits.parse::<NamePrefix>();
        let prefix = prefix.map_err(|error| Failure::Other(format!("{digits:?}: {error}")))?;
        let found = self.guarded(|| {
            let reader = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
            let found = reader.blobs_named(&prefix, 2);
            found.map_err(|error| Failure::unreadable(&self.path, &error))
        })?;
        match found[..] {
            [blob] => Ok(blob.name),
            [] => Err(Failure::Other(format!(
                "{name} has no blob whose hash begins with {prefix}; smaller memory than 512 bytes stands in its command"
            ))),
            _ => Err(Failure::Other(format!(
                "{prefix} is the beginning of several hashes of {name}; give more digits"
            ))),
        }
    }

    /// Returns the bytes of a blob.
    ///
    /// # Errors
    /// The trace does not have it, or not all of it.
    pub fn blob(&self, name: BlobName) -> Result<Vec<u8>, Failure> {
        self.guarded(|| {
            let reader = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
            reader.blob(name).map_err(|error| match error {
                BlobError::Io(error) => Failure::unreadable(&self.path, &error),
                error => Failure::Other(format!("{}: {error}", self.path.display())),
            })
        })
    }

    /// Returns the bytes of a blob that a command refers to; `None` if the trace does not have all of them.
    ///
    /// # Errors
    /// Only a panic.
    pub fn memory(&self, name: BlobName, size: u64) -> Result<Option<Arc<Vec<u8>>>, Failure> {
        self.guarded(|| {
            let reader = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(reader.bytes(name, size))
        })
    }
}

/// Does `work`, whose panic becomes a failure.
///
/// # Errors
/// That of `work`.
pub fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // A reader that panicked leaves at worst an incomplete cache behind.
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(Failure::panicked(path)))
}

fn reader_of(path: &Path, file: &FileAt) -> Result<Reader, Failure> {
    let again = || file.again().map_err(|error| Failure::unreadable(path, &error));
    let beside = again()?;
    let mut reader = TraceReader::open(again()?).map_err(|error| Failure::unopened(path, error))?;
    reader.decode_ahead(Box::new(move || Some(Box::new(beside.again().ok()?))));
    Ok(reader)
}
