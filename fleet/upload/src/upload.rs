//! Uploads one file of the spool, and deletes it once the store has it.
//!
//! The name in the store is made of the contents, so an upload that is repeated, because its acknowledgment was lost, replaces
//! the same object.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gapii_store::{Content, Error as StoreError, Held, Store};

use crate::begun::BegunFiles;
use crate::spool::{self, Found, Kind, Version};
use crate::stage::{self, Facts};

/// Bytes of a name that come from the digest, as hexadecimal digits.
const DIGITS: usize = 32;

/// What uploads have in common.
#[derive(Debug)]
pub struct Uploader {
    pub store: Store,
    pub spool: PathBuf,
    /// This machine's name, for traces that don't say where they were recorded.
    pub host: String,
    pub read_back: bool,
    pub begun: BegunFiles,
}

/// A file that the store has and the spool has no longer.
#[derive(Debug)]
pub struct Uploaded {
    /// Whole name in the store.
    pub place: String,
    pub bytes: u64,
    /// Whether it was in the store before.
    pub was_there: bool,
}

/// Why a file is still in the spool.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    File(#[from] io::Error),
    /// It is looked at again.
    #[error("it has changed")]
    Changed,
}

impl Uploader {
    /// Uploads a finished file with what belongs to it. `sent` is told how many bytes have arrived.
    pub fn upload(
        &self,
        found: &Found,
        facts: &Facts,
        sent: &dyn Fn(u64),
    ) -> Result<Uploaded, Failure> {
        let path = self.spool.join(&found.name);
        let file = spool::open(&path)?;
        let is_as_found = || io::Result::Ok(Version::of(&file.metadata()?) == found.version);
        if !stage::lock(&file)? || !is_as_found()? {
            return Err(Failure::Changed);
        }
        let digest = digest_of(&file)?;
        let name = self.name(&found.name, facts, &digest);
        // First, because its name is made of the trace's.
        let crash = match found.kind {
            Kind::Trace => self.crash_report(&spool::with_end(&path, spool::CRASH), &name)?,
            Kind::Table => None,
        };
        let was_there = self.ensure(&name, &file, &digest, sent)?;
        if !is_as_found()? {
            // What arrived may be partly the one, partly the other file.
            self.store.delete(&name)?;
            return Err(Failure::Changed);
        }
        if let Some((path, version)) = crash {
            delete(&path, version)?;
        }
        if found.kind == Kind::Trace {
            // Made again from the trace by those who need it, so nothing is lost.
            let _ = fs::remove_file(spool::with_end(&path, spool::CHECKPOINTS));
        }
        delete(&path, found.version)?;
        self.begun.forget(&digest);
        Ok(Uploaded { place: self.store.shown(&name), bytes: found.version.bytes, was_there })
    }

    /// Uploads a crash report under the name of its trace. Returns the file, if there is one.
    fn crash_report(
        &self,
        path: &Path,
        trace: &str,
    ) -> Result<Option<(PathBuf, Version)>, Failure> {
        let file = match spool::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let version = Version::of(&file.metadata()?);
        let digest = digest_of(&file)?;
        self.ensure(&format!("{trace}{}", spool::CRASH), &file, &digest, &|_| ())?;
        Ok(Some((path.to_owned(), version)))
    }

    /// Has the store hold the file. Returns whether it did before.
    fn ensure(
        &self,
        name: &str,
        file: &File,
        digest: &str,
        sent: &dyn Fn(u64),
    ) -> Result<bool, Failure> {
        let content = Content { file, bytes: file.metadata()?.len(), digest: Some(digest) };
        if self.is_held(name, &content)? {
            return Ok(true);
        }
        let place = self.store.shown(name);
        let begun = self.begun.load(digest, &place);
        self.store.write_on(name, &content, begun, &mut |begun| {
            self.begun.save(digest, &place, begun);
            sent(begun.bytes());
            Ok(())
        })?;
        match self.is_held(name, &content)? {
            true => Ok(false),
            false => {
                let why = "the store says that it has the file, and has another one";
                Err(StoreError::Store { what: place, why: why.to_owned() }.into())
            }
        }
    }

    /// Whether the store holds this file: by its length, and by the digest that it was written with, or by its bytes, if
    /// the store keeps no digest or they are asked for.
    fn is_held(&self, name: &str, content: &Content<'_>) -> Result<bool, Failure> {
        let Some(Held { bytes, digest }) = self.store.held(name)? else { return Ok(false) };
        let is_known = digest.is_some();
        if bytes != content.bytes || (is_known && digest.as_deref() != content.digest) {
            return Ok(false);
        }
        if is_known && !self.read_back {
            return Ok(true);
        }
        let mut hashed = Hashed(blake3::Hasher::new());
        self.store.read(name, &mut hashed)?;
        Ok(content.digest == Some(hashed.0.finalize().to_hex().as_str()))
    }

    /// Returns the name in the store.
    fn name(&self, path: &Path, facts: &Facts, digest: &str) -> String {
        match facts {
            Facts::Trace { day, host, program } => {
                let host = stage::plain(host.as_ref().unwrap_or(&self.host));
                format!("traces/day={day}/host={host}/{program}-{}.gapii", &digest[..DIGITS])
            }
            // Its program has made the name so that the same table has the same name.
            Facts::Table => format!("tables/{}", path.display()),
        }
    }
}

/// Returns the digest of a file's bytes.
fn digest_of(mut file: &File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut hashed = Hashed(blake3::Hasher::new());
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hashed.0.finalize().to_hex().to_string()),
            bytes => hashed.write_all(&piece[..bytes])?,
        }
    }
}

/// Deletes a file, unless another one has its name meanwhile.
fn delete(path: &Path, version: Version) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if Version::of(&metadata) == version => Ok(fs::remove_file(path)?),
        Ok(_) => Err(Failure::Changed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

struct Hashed(blake3::Hasher);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
