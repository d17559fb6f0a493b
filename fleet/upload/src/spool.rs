//! The files of the spool. Names that begin with a dot, and drafts (`.part`), are passed over, and links are not followed.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gapii_trace::Untrusted;

/// Ends of names.
const TRACE: &str = ".gapii";
const TABLE: &str = ".parquet";
/// Behind the name of a trace: what the commands of a program were when it crashed.
pub const CRASH: &str = ".crash.txt";
/// Behind the name of a trace: what `gapii-ctl state` keeps to be faster, and makes again.
pub const CHECKPOINTS: &str = ".checkpoints";
/// How deep folders may be nested.
const DEPTH_MAX: usize = 16;

/// Which file it was, and whether it has changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    pub bytes: u64,
    inode: (u64, u64),
    changed: (i64, i64),
}

impl Version {
    pub fn of(metadata: &Metadata) -> Version {
        Version {
            bytes: metadata.len(),
            inode: (metadata.dev(), metadata.ino()),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Trace,
    Table,
}

/// A trace or table of the spool.
#[derive(Clone, Debug)]
pub struct Found {
    /// Path below the spool.
    pub name: PathBuf,
    pub kind: Kind,
    pub version: Version,
}

/// What is in the spool.
#[derive(Debug, Default)]
pub struct Contents {
    /// Traces and tables, those that were changed first in front.
    pub files: Vec<Found>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that are left alone, because they are neither traces nor tables.
    pub others: u64,
}

/// Reads the folder, and the folders in it.
pub fn contents(spool: &Path) -> io::Result<Contents> {
    let mut contents = Contents::default();
    let mut names = HashMap::new();
    look(spool, Path::new(""), 0, &mut contents, &mut names)?;
    let is_trace =
        |name: &str| names.get(Path::new(name)).is_some_and(|kind| *kind == Some(Kind::Trace));
    contents.others = names
        .iter()
        .filter(|(name, kind)| {
            let belongs =
                |end| name.to_str().and_then(|it| it.strip_suffix(end)).is_some_and(is_trace);
            kind.is_none() && !belongs(CRASH) && !belongs(CHECKPOINTS)
        })
        .count() as u64;
    contents.files.sort_by(|a, b| {
        a.version.changed.cmp(&b.version.changed).then_with(|| a.name.cmp(&b.name))
    });
    Ok(contents)
}

fn look(
    spool: &Path,
    below: &Path,
    depth: usize,
    contents: &mut Contents,
    names: &mut HashMap<PathBuf, Option<Kind>>,
) -> io::Result<()> {
    for entry in fs::read_dir(spool.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        // It may be gone meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if metadata.is_dir() && depth < DEPTH_MAX {
            // A folder that may not be entered does not keep the others waiting.
            if let Err(error) = look(spool, &name, depth + 1, contents, names)
                && error.kind() != io::ErrorKind::PermissionDenied
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
        } else if metadata.is_file() {
            contents.bytes += metadata.len();
            let kind = kind_of(&name);
            if let Some(kind) = kind {
                contents.files.push(Found {
                    name: name.clone(),
                    kind,
                    version: Version::of(&metadata),
                });
            }
            names.insert(name, kind);
        }
    }
    Ok(())
}

fn kind_of(name: &Path) -> Option<Kind> {
    let name = name.to_str()?;
    match () {
        () if name.ends_with(TRACE) => Some(Kind::Trace),
        () if name.ends_with(TABLE) => Some(Kind::Table),
        () => None,
    }
}

/// Returns `name` with `end` behind it.
pub fn with_end(name: &Path, end: &str) -> PathBuf {
    let mut name = name.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens a file for reading, and nothing that somebody has put in its place: no link, and no pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

/// Returns a path as messages have it, on one line.
pub fn shown(path: &Path) -> String {
    Untrusted::from(path.display().to_string().as_str()).to_string()
}
