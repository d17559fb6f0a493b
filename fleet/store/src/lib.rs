//! Files in folders and object stores, for programs that wait for them.
//!
//! A place is a path or a URL: `s3://BUCKET/FOLDER`, `gs://BUCKET/FOLDER`, `az://CONTAINER/FOLDER` or `file:///FOLDER`.
//! Credentials and the server's address come from the environment, by the names that the crate `object_store` has for them
//! (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, …). A request that fails is
//! tried again for up to a minute. Nothing here is kept in memory beyond a part of one file.
//!
//! ```no_run
//! # fn main() -> Result<(), gapii_store::Error> {
//! let store = gapii_store::Store::open("s3://captures/traces")?;
//! for entry in store.list("day=2026-11-30")? {
//!     let mut file = std::fs::File::create("here.gapii")?;
//!     store.read(&entry.name, &mut file)?;
//! }
//! # Ok(())
//! # }
//! ```

mod error;
mod place;
mod reading;
mod writing;

use std::future::Future;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Attribute, GetOptions, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};

pub use crate::error::Error;
use crate::place::Place;
pub use crate::place::is_url;
pub use crate::writing::{Begun, Content};

/// A place with files. Threads can share it.
pub struct Store {
    place: Place,
    name: String,
    runtime: Runtime,
}

/// A file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the place; empty if the place is this file itself.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// What a store knows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its length.
    pub bytes: u64,
    /// The digest that it was written with, if the store keeps it.
    pub digest: Option<String>,
}

impl Store {
    /// Opens a place. Connects to nothing yet.
    ///
    /// # Errors
    /// [`Error::Place`] and [`Error::Variable`].
    pub fn open(place: &str) -> Result<Store, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let name = place.trim_end_matches('/').to_owned();
        Ok(Store { place: place::of(place)?, name, runtime })
    }

    /// Returns the files below the folder `under` of the place, in order; all with an empty name. A place that is a file is its
    /// only entry.
    ///
    /// # Errors
    /// [`Error`]. A place without files has an empty list.
    pub fn list(&self, under: &str) -> Result<Vec<Entry>, Error> {
        let (folder, what) = (self.path(under)?, self.shown(under));
        let whole = self.place.objects.list(Some(&folder)).try_collect::<Vec<_>>();
        let mut found = self.ask(&what, whole)?;
        if found.is_empty() && under.is_empty() {
            found.extend(
                self.ask(&what, self.place.objects.head(&folder)).map(Some).or_else(absent)?,
            );
        }
        let mut entries: Vec<_> = found
            .into_iter()
            .filter_map(|object| {
                let parts = object.location.prefix_match(&self.place.base)?;
                let parts: Vec<_> = parts.map(|it| it.as_ref().to_owned()).collect();
                Some(Entry { name: parts.join("/"), bytes: object.size })
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Returns what the store knows of the file `name`; `None` if there is none.
    ///
    /// # Errors
    /// [`Error`].
    pub fn held(&self, name: &str) -> Result<Option<Held>, Error> {
        self.holds(&self.path(name)?, &self.shown(name))
    }

    /// Deletes the file `name`; one that is not there is no error.
    ///
    /// # Errors
    /// [`Error`].
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name)?;
        let gone = self.ask(&self.shown(name), self.place.objects.delete(&path));
        gone.map(Some).or_else(absent).map(drop)
    }

    /// Returns the whole name of a file, as messages have it.
    pub fn shown(&self, name: &str) -> String {
        match name.is_empty() {
            true => self.name.clone(),
            false => format!("{}/{name}", self.name),
        }
    }

    fn holds(&self, path: &Path, what: &str) -> Result<Option<Held>, Error> {
        let head = GetOptions::new().with_head(true);
        let found = self.ask(what, self.place.objects.get_opts(path, head));
        let Some(found) = found.map(Some).or_else(absent)? else { return Ok(None) };
        let key = Attribute::Metadata(writing::DIGEST_KEY.into());
        let digest = found.attributes.get(&key).map(|it| it.as_ref().to_owned());
        Ok(Some(Held { bytes: found.meta.size, digest }))
    }

    fn path(&self, name: &str) -> Result<Path, Error> {
        let wrong = |error: object_store::path::Error| Error::Place {
            place: self.shown(name),
            why: error.to_string(),
        };
        let below = Path::parse(name).map_err(wrong)?;
        Ok(self.place.base.parts().chain(below.parts()).collect())
    }

    /// Waits for the answer to a question about `what`.
    fn ask<T>(
        &self,
        what: &str,
        answer: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Error> {
        self.runtime.block_on(answer).map_err(|error| self.failure(&error, what))
    }

    fn failure(&self, error: &object_store::Error, what: &str) -> Error {
        error::of(error, what, self.place.variables)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.name).finish()
    }
}

/// Makes of the failure that something is absent no failure.
fn absent<T>(error: Error) -> Result<Option<T>, Error> {
    match error {
        Error::Absent { .. } => Ok(None),
        error => Err(error),
    }
}
