//! Writes a file into a store, whole or not at all. A large file is written in parts, and can be continued after the last
//! part that arrived, also by another process. At most one part is in memory.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path as LocalPath;

use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{Attribute, Attributes, Error as Cause, PutOptions, PutPayload};
use serde::{Deserialize, Serialize};

use crate::Store;
use crate::error::Error;
use crate::place::Keeps;

/// Bytes of a part, and of the largest file that is written at once.
const PART_BYTES: u64 = 8 << 20;
/// Most parts that the stores take: 10,000 in S3 and Google's.
const PARTS_MAX: u64 = 9_000;
/// Key of the metadata that has the digest. Azure takes letters, digits and underscores only, and servers in between may drop names
/// with underscores.
pub(crate) const DIGEST_KEY: &str = "gapiiblake3";

/// A file of this machine that is to be in a store.
#[derive(Debug)]
pub struct Content<'a> {
    /// Open for reading.
    pub file: &'a File,
    /// Its length.
    pub bytes: u64,
    /// A digest of its bytes, which the store keeps beside them if it can.
    pub digest: Option<&'a str>,
}

/// A file that is in the store in part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// The store's name for this writing.
    id: String,
    part_bytes: u64,
    /// The store's names for the parts that have arrived.
    parts: Vec<String>,
}

impl Begun {
    /// Returns how many bytes have arrived.
    pub fn bytes(&self) -> u64 {
        self.parts.len() as u64 * self.part_bytes
    }
}

impl Store {
    /// Writes a file, and replaces one of that name.
    ///
    /// # Errors
    /// [`Error`]. The store then has what it had, or the whole file if only its answer was lost.
    pub fn write(&self, name: &str, content: &Content<'_>) -> Result<(), Error> {
        self.write_on(name, content, None, &mut |_| Ok(()))
    }

    /// As [`Store::write`], but goes on with `begun`, and passes each part that has arrived to `note`.
    ///
    /// # Errors
    /// [`Error`], and that of `note`. What has arrived stays in the store, to be continued.
    pub fn write_on(
        &self,
        name: &str,
        content: &Content<'_>,
        begun: Option<Begun>,
        note: &mut dyn FnMut(&Begun) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (path, what) = (self.path(name)?, self.shown(name));
        let Some(parts) = &self.place.parts else {
            return write_here(LocalPath::new("/").join(path.as_ref()).as_path(), content.file);
        };
        if content.bytes <= PART_BYTES {
            let payload = PutPayload::from(piece(content, 0, content.bytes)?);
            let options = PutOptions::from(attributes(content, self.place.keeps != Keeps::Never));
            return self.ask(&what, self.place.objects.put_opts(&path, payload, options)).map(drop);
        }
        let whole = Whole { store: self, parts: parts.as_ref(), path: &path, what: &what, content };
        whole.write(begun, note)
    }
}

/// A file that is written in parts.
struct Whole<'a> {
    store: &'a Store,
    parts: &'a dyn MultipartStore,
    path: &'a Path,
    what: &'a str,
    content: &'a Content<'a>,
}

impl Whole<'_> {
    fn write(
        &self,
        begun: Option<Begun>,
        note: &mut dyn FnMut(&Begun) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_continued = begun.is_some();
        match self.go_on(begun, note) {
            // The store has thrown away what had arrived, or part of it.
            Err(Error::Absent { .. } | Error::Refused { .. }) if is_continued => {
                self.go_on(None, note)
            }
            done => done,
        }
    }

    fn go_on(
        &self,
        begun: Option<Begun>,
        note: &mut dyn FnMut(&Begun) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (store, bytes) = (self.store, self.content.bytes);
        let mut begun = match begun {
            Some(begun) => begun,
            None => {
                let kept = attributes(self.content, store.place.keeps == Keeps::Always);
                let id = self.parts.create_multipart_opts(self.path, kept.into());
                let begun = Begun {
                    id: store.ask(self.what, id)?,
                    part_bytes: part_bytes(bytes),
                    parts: Vec::new(),
                };
                note(&begun)?;
                begun
            }
        };
        while begun.bytes() < bytes {
            let at = begun.bytes();
            let payload = piece(self.content, at, begun.part_bytes.min(bytes - at))?;
            let index = begun.parts.len();
            let part = self.parts.put_part(self.path, &begun.id, index, payload.into());
            begun.parts.push(store.ask(self.what, part)?.content_id);
            note(&begun)?;
        }
        let parts = begun.parts.into_iter().map(|content_id| PartId { content_id }).collect();
        let done = self.parts.complete_multipart(self.path, &begun.id, parts);
        match store.runtime.block_on(done) {
            Ok(_) => Ok(()),
            // The answer to an earlier try may have been lost.
            Err(error @ Cause::NotFound { .. }) => match store.holds(self.path, self.what)? {
                Some(held)
                    if held.bytes == bytes && held.digest.as_deref() == self.content.digest =>
                {
                    Ok(())
                }
                _ => Err(store.failure(&error, self.what)),
            },
            Err(error) => Err(store.failure(&error, self.what)),
        }
    }
}

/// Returns the length of the parts of a file, in bytes.
fn part_bytes(bytes: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    PART_BYTES.max(bytes.div_ceil(PARTS_MAX).next_multiple_of(MIB))
}

fn attributes(content: &Content<'_>, are_kept: bool) -> Attributes {
    let digest = content.digest.filter(|_| are_kept);
    digest.map(|it| (Attribute::Metadata(DIGEST_KEY.into()), it.to_owned())).into_iter().collect()
}

fn piece(content: &Content<'_>, at: u64, bytes: u64) -> Result<Vec<u8>, Error> {
    let mut piece = vec![0; bytes as usize];
    content.file.read_exact_at(&mut piece, at)?;
    Ok(piece)
}

/// Writes a file of this machine: under a name that listings pass over, then to the disk, and then under its own name.
fn write_here(path: &LocalPath, mut content: &File) -> Result<(), Error> {
    use std::io::{Seek, SeekFrom};
    let folder = path.parent().unwrap_or(LocalPath::new("/"));
    fs::create_dir_all(folder)?;
    let mut draft = path.as_os_str().to_owned();
    draft.push("#0");
    content.seek(SeekFrom::Start(0))?;
    let mut file = File::create(&draft)?;
    std::io::copy(&mut content, &mut file)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(File::open(folder)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_the_digest_is_one_that_all_stores_take() {
        assert!(DIGEST_KEY.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()));
    }

    #[test]
    fn parts_of_a_file_are_never_more_than_stores_take() {
        let cases = [(PART_BYTES + 1, PART_BYTES), (1 << 40, 117 << 20), (5 << 40, 583 << 20)];
        for (bytes, expected) in cases {
            assert_eq!(part_bytes(bytes), expected);
            assert!(bytes.div_ceil(part_bytes(bytes)) <= PARTS_MAX);
        }
    }
}
