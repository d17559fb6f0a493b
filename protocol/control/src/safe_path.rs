//! `SafePath`: a path that leads where it leads as long as its user and root wish: nobody else can replace the file or
//! folder at its end, or a folder above it. Sockets, and files from which paths are taken, must have such a path; the
//! runtime folder of another user, which `su` and `sudo -E` leave in the environment, is none.
//!
//! Changes nothing, and opens nothing.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bits of a mode with which users other than the owner may change a file or a folder.
const OTHERS_WRITE: u32 = 0o022;
/// Bits of a mode with which users other than the owner may enter a folder.
const OTHERS_ENTER: u32 = 0o011;
/// In a folder with this bit, only the owner of a file may replace it.
const STICKY: u32 = 0o1000;

/// A path without symbolic links that no other user can make lead elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafePath(PathBuf);

/// Why a path is not safe.
#[derive(Debug, thiserror::Error)]
pub enum UnsafePath {
    /// The file or folder, or one above it, belongs to another user.
    #[error("{} belongs to user {owner}", path.display())]
    Foreign {
        /// What belongs to that user.
        path: PathBuf,
        /// The user.
        owner: u32,
    },
    /// Other users may change the file or folder, or one above it.
    #[error(
        "users other than its owner can change {} (mode {mode:o}); run `chmod go-w {}` if they need not",
        path.display(),
        path.display()
    )]
    Open {
        /// What they may change.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The path can't be followed.
    #[error("can't use {}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
}

impl SafePath {
    /// Follows `path` and checks the file or folder at its end, and every folder above it: each must belong to `user`, to
    /// root or to the owner of `/`, and only its owner may be able to change it. A folder with the sticky bit may be
    /// writable by all, such as `/tmp`. Below a folder that only its owner may enter, write permissions do not matter.
    ///
    /// In a user namespace, the owner of `/` is often shown as user 65534, because the namespace has no number for root.
    pub fn of(path: &Path, user: u32) -> Result<Self, UnsafePath> {
        let io = |error| UnsafePath::Io { path: path.to_owned(), error };
        let real = path.canonicalize().map_err(io)?;
        let above = fs::symlink_metadata("/").map_err(io)?.uid();
        let mut is_closed = false;
        let parts: Vec<&Path> = real.ancestors().collect();
        for part in parts.into_iter().rev() {
            let found = fs::symlink_metadata(part).map_err(io)?;
            if ![user, 0, above].contains(&found.uid()) {
                return Err(UnsafePath::Foreign { path: part.to_owned(), owner: found.uid() });
            }
            if !is_closed && others_can_change(&found) {
                let mode = found.mode() & 0o7777;
                return Err(UnsafePath::Open { path: part.to_owned(), mode });
            }
            is_closed |= found.mode() & OTHERS_ENTER == 0;
        }
        Ok(Self(real))
    }

    /// Returns the path of `path`'s last part in its folder, of which the folder is checked as in [`SafePath::of`]. The
    /// last part may be missing.
    pub fn of_new(path: &Path, user: u32) -> Result<PathBuf, UnsafePath> {
        let Some(name) = path.file_name() else { return Ok(Self::of(path, user)?.0) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(Self::of(folder.unwrap_or(Path::new(".")), user)?.0.join(name))
    }

    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl UnsafePath {
    /// Whether the reason is that another user owns a part of the path.
    pub fn is_foreign(&self) -> bool {
        matches!(self, Self::Foreign { .. })
    }
}

fn others_can_change(found: &Metadata) -> bool {
    let is_shared = found.is_dir() && found.mode() & STICKY != 0;
    found.mode() & OTHERS_WRITE != 0 && !is_shared
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// `above/below` in a folder for temporary files, with these modes.
    struct Folders(PathBuf);

    impl Folders {
        fn new(test: &str, above: u32, below: u32) -> Self {
            let folder = std::env::temp_dir().join(format!("gapii-{test}-{}", std::process::id()));
            let folders = Self(folder);
            fs::create_dir_all(folders.below()).unwrap();
            fs::set_permissions(folders.below(), Permissions::from_mode(below)).unwrap();
            fs::set_permissions(&folders.0, Permissions::from_mode(above)).unwrap();
            folders
        }

        fn below(&self) -> PathBuf {
            self.0.join("below")
        }

        fn ours(&self) -> u32 {
            fs::metadata(&self.0).unwrap().uid()
        }
    }

    impl Drop for Folders {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn path_that_others_can_change_is_not_safe() {
        let check = |above: u32, below: u32, is_safe: bool| {
            let folders = Folders::new("modes", above, below);
            let found = SafePath::of(&folders.below(), folders.ours());
            assert_eq!(found.is_ok(), is_safe, "{above:o} {below:o}: {found:?}");
        };
        check(0o755, 0o755, true);
        check(0o755, 0o700, true);
        check(0o755, 0o775, false);
        check(0o755, 0o702, false);
        check(0o777, 0o700, false);
        check(0o1777, 0o700, true);
        check(0o755, 0o1777, true);
        // Nobody else gets there.
        check(0o700, 0o777, true);
    }

    #[test]
    fn path_through_a_folder_of_another_user_is_not_safe() {
        let folders = Folders::new("owner", 0o755, 0o755);
        let ours = folders.ours();
        let other = fs::metadata("/").unwrap().uid();
        // Only root can make files of other users; so another user looks at ours.
        if ours != other && ours != 0 {
            assert!(SafePath::of(&folders.below(), ours + 1).unwrap_err().is_foreign());
        }
        if std::os::unix::fs::chown(&folders.0, Some(65534), None).is_ok() {
            let error = SafePath::of(&folders.below(), ours).unwrap_err();
            assert!(error.is_foreign(), "{error}");
            assert!(error.to_string().ends_with(" belongs to user 65534"), "{error}");
        }
    }

    #[test]
    fn links_are_followed_and_the_folder_of_a_new_file_is_checked() {
        let folders = Folders::new("links", 0o755, 0o777);
        let link = folders.0.join("link");
        symlink(folders.below(), &link).unwrap();
        let error = SafePath::of(&link, folders.ours()).unwrap_err();
        assert!(
            matches!(&error, UnsafePath::Open { path, mode: 0o777 } if *path == folders.below())
        );
        assert!(SafePath::of_new(&link.join("s"), folders.ours()).is_err());
        let new = SafePath::of_new(&folders.0.join("s"), folders.ours()).unwrap();
        assert_eq!(new, folders.0.canonicalize().unwrap().join("s"));
        let missing = SafePath::of(&folders.0.join("s"), folders.ours()).unwrap_err();
        assert!(matches!(missing, UnsafePath::Io { .. }), "{missing}");
    }
}
