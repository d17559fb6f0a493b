//! Locations of credentials, and access to files that only their owner may read. Refuses files that others may read or
//! change, that belong to another user than this one or root, that are no regular files, or that are longer than 1 MiB.
//! Files are written atomically with mode 0600, folders made with 0700.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Longest credentials file, in bytes.
const FILE_LEN_MAX: u64 = 1 << 20;

/// Why a file of credentials can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} does not exist", .0.display())]
    Absent(PathBuf),
    #[error("users other than its owner can read or change {}; run `chmod 600` on it", .0.display())]
    Open(PathBuf),
    #[error("{} belongs to user {owner}", path.display())]
    Foreign { path: PathBuf, owner: u32 },
    #[error("{} is not a valid credentials file: {why}", path.display())]
    Bad { path: PathBuf, why: String },
    #[error("can't use {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// Returns the default folder of the credentials of this user's daemon.
pub fn daemon_folder() -> Option<PathBuf> {
    match rustix::process::geteuid().is_root() {
        true => Some(PathBuf::from("/etc/gapii/remote")),
        false => Some(user_folder()?.join("remote")),
    }
}

/// Returns the default path of a client's credentials for the daemon of `host`.
pub fn credentials_of(host: &str) -> Option<PathBuf> {
    Some(user_folder()?.join("hosts").join(format!("{host}.json")))
}

fn user_folder() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("gapii"))
}

/// Reads a file that belongs to this user or root and that no other user can access.
pub fn read_private(path: &Path) -> Result<String, PlaceError> {
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => PlaceError::Absent(path.to_owned()),
        _ => PlaceError::Io { path: path.to_owned(), error },
    };
    // Opening a FIFO must not block.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    let file =
        options.read(true).custom_flags(flags.bits().cast_signed()).open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    let owner = metadata.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return Err(PlaceError::Foreign { path: path.to_owned(), owner });
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(PlaceError::Open(path.to_owned()));
    }
    let bad = |why: &str| PlaceError::Bad { path: path.to_owned(), why: why.to_owned() };
    if !metadata.is_file() {
        return Err(bad("it is not a regular file"));
    }
    let mut text = String::new();
    let read = file.take(FILE_LEN_MAX + 1).read_to_string(&mut text).map_err(io)?;
    if read as u64 > FILE_LEN_MAX {
        return Err(bad("it is too long"));
    }
    Ok(text)
}

/// Writes a file atomically, readable and writable by its owner only.
pub fn write_private(path: &Path, text: &str) -> Result<(), PlaceError> {
    let io = |error| PlaceError::Io { path: path.to_owned(), error };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Temporary files have mode 0600.
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
    draft.write_all(text.as_bytes()).and_then(|()| draft.as_file().sync_all()).map_err(io)?;
    draft.persist(path).map_err(|error| io(error.error))?;
    Ok(())
}

/// Creates a folder with mode 0700, unless it exists.
pub fn make_folder(path: &Path) -> Result<(), PlaceError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| PlaceError::Io { path: path.to_owned(), error })
}

/// Locks a folder against concurrent changes until the returned file is dropped.
pub fn lock_folder(path: &Path) -> Result<File, PlaceError> {
    let io = |error: io::Error| PlaceError::Io { path: path.to_owned(), error };
    let folder = fs::File::open(path).map_err(io)?;
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|errno| io(errno.into()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn file_that_other_users_can_access_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        assert!(matches!(read_private(&path), Err(PlaceError::Absent(_))));
        write_private(&path, "words").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read_private(&path).unwrap(), "words");
        for mode in [0o640, 0o604, 0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(read_private(&path), Err(PlaceError::Open(_))), "{mode:o}");
        }
        write_private(&path, &"x".repeat(FILE_LEN_MAX as usize + 1)).unwrap();
        assert!(matches!(read_private(&path), Err(PlaceError::Bad { .. })));
    }
}
