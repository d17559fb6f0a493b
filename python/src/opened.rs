//! An open trace that several readers read at the same time, each at its own place. A file stays this file even if its
//! path is replaced. Keeps the description of the functions, and a reader for blobs.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_trace::blobs::{BlobSource, NamePrefix};
use gapii_trace::store::BlobError;
use gapii_trace::{BlobName, Description, FileAt, TraceReader};

use crate::failure::{Failure, caught};
use crate::source::Source;

/// A reader of the trace.
pub type Reader = TraceReader<Source>;

/// An open trace.
pub struct Opened {
    name: Arc<str>,
    description: Cow<'static, Description>,
    blobs: Arc<Blobs>,
}

/// What the bytes of blobs come from.
struct Blobs {
    source: Source,
    /// Reads blobs, and nothing else.
    reader: Mutex<Reader>,
    /// Whether the file is still written.
    grows: bool,
}

impl Opened {
    /// Opens the trace file at `path`, which messages call `name`.
    ///
    /// # Errors
    /// The file can't be read, or is not a trace.
    pub fn open(path: &Path, name: &str) -> Result<Self, Failure> {
        let unreadable = |error| Failure::unreadable(name, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
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
        let file = FileAt::of(&file).map_err(unreadable)?;
        Self::of(name, Source::File(file))
    }

    /// Opens a trace that messages call `name`.
    ///
    /// # Errors
    /// It can't be read, or is not a trace.
    pub fn of(name: &str, source: Source) -> Result<Self, Failure> {
        let beside = source.again().map_err(|error| Failure::unreadable(name, &error))?;
        let mut reader = reader_of(name, &source)?;
        reader.decode_ahead(Box::new(move || Some(Box::new(beside.again().ok()?))));
        let description = reader.header().description.clone();
        let blobs = Blobs { source, reader: Mutex::new(reader), grows: false };
        Ok(Self { name: name.into(), description, blobs: Arc::new(blobs) })
    }

    /// Opens a trace that is still written, and whose header is there.
    ///
    /// # Errors
    /// It can't be read, or is not a trace.
    pub fn growing(name: &str, source: Source) -> Result<Self, Failure> {
        let reader = reader_of(name, &source)?;
        let description = reader.header().description.clone();
        let blobs = Blobs { source, reader: Mutex::new(reader), grows: true };
        Ok(Self { name: name.into(), description, blobs: Arc::new(blobs) })
    }

    /// Returns the same trace with another description of its functions.
    pub fn described(&self, description: Cow<'static, Description>) -> Self {
        Self { name: Arc::clone(&self.name), description, blobs: Arc::clone(&self.blobs) }
    }

    /// Returns the name of the trace in messages: the path that it was opened with, if it is a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the trace's functions.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns what the trace is read from, at its start.
    ///
    /// # Errors
    /// An error of the file.
    pub fn source(&self) -> Result<Source, Failure> {
        self.blobs.source.again().map_err(|error| Failure::unreadable(&self.name, &error))
    }

    /// Returns a further reader of the trace.
    ///
    /// # Errors
    /// An error of the file.
    pub fn reader(&self) -> Result<Reader, Failure> {
        let mut reader = reader_of(&self.name, &self.blobs.source)?;
        let beside = self.source()?;
        reader.decode_ahead(Box::new(move || Some(Box::new(beside.again().ok()?))));
        Ok(reader)
    }

    /// Does `work`, whose panic becomes a failure.
    ///
    /// # Errors
    /// That of `work`.
    pub fn caught<T, E: From<Failure>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        caught(&self.name, work)
    }

    /// Returns the hash of the only blob whose hash begins with these digits.
    ///
    /// # Errors
    /// No blob has such a hash, or several do.
    pub fn blob_named(&self, digits: &str) -> Result<BlobName, Failure> {
        let name = &self.name;
        let prefix = digits.parse::<NamePrefix>();
        let prefix = prefix.map_err(|error| Failure::Other(format!("{digits:?}: {error}")))?;
        let found = self.caught(|| {
            let found = self.blobs.reader().blobs_named(&prefix, 2);
            found.map_err(|error| Failure::unreadable(name, &error))
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
        self.caught(|| {
            self.blobs.reader().blob(name).map_err(|error| match error {
                BlobError::Io(error) => Failure::unreadable(&self.name, &error),
                error => Failure::Other(format!("{}: {error}", self.name)),
            })
        })
    }

    /// Returns the bytes of a blob that a command refers to; `None` if the trace does not have all of them.
    ///
    /// # Errors
    /// An error of a file that is still written, or a panic.
    pub fn memory(&self, name: BlobName, size: u64) -> Result<Option<Arc<Vec<u8>>>, Failure> {
        self.caught(|| {
            let mut reader = self.blobs.reader();
            if self.blobs.grows {
                reader.grow().map_err(|error| Failure::unreadable(&self.name, &error))?;
            }
            Ok(reader.bytes(name, size))
        })
    }
}

impl Blobs {
    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a reader of a trace.
///
/// # Errors
/// It can't be read, or is not a trace.
fn reader_of(name: &str, source: &Source) -> Result<Reader, Failure> {
    let again = source.again().map_err(|error| Failure::unreadable(name, &error))?;
    TraceReader::open(again).map_err(|error| Failure::unopened(name, error))
}
