//! `Scratch`: a private folder with mode 0700 that is removed at the end of a run. It is in `$XDG_RUNTIME_DIR`, else in
//! `$TMPDIR` or `/tmp`; a folder whose name the dynamic linker's variables cannot hold (blanks, colons) is passed over.
//! A run that is killed leaves it behind.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::installation;
use crate::launch::random_hex;

pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates the folder in the runtime folder, or in the folder for temporary files.
    pub fn create() -> Result<Scratch, Failure> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let parents = runtime.into_iter().chain([std::env::temp_dir()]);
        let mut problem = None;
        for parent in parents.filter(|parent| installation::linker_can_name(parent)) {
            match Scratch::create_in(&parent) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => problem = Some((parent, error)),
            }
        }
        Err(Failure::unreachable(match problem {
            Some((parent, error)) => {
                format!("can't create a folder in {}: {error}; set TMPDIR", parent.display())
            }
            None => "neither XDG_RUNTIME_DIR nor TMPDIR is free of blanks and colons".to_owned(),
        }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path to `target` without characters that the dynamic linker's path variables cannot hold.
    pub fn linker_name(&self, target: &Path) -> io::Result<PathBuf> {
        if installation::linker_can_name(target) {
            return Ok(target.to_owned());
        }
        let name = self.path.join(target.file_name().unwrap_or(target.as_os_str()));
        symlink(target, &name)?;
        Ok(name)
    }

    /// Creates a soname folder: links to `shim` named like the libraries that it replaces.
    pub fn sonames(&self, shim: &Path) -> io::Result<PathBuf> {
        let folder = self.path.join(installation::SONAMES_FOLDER);
        DirBuilder::new().mode(0o700).create(&folder)?;
        for name in installation::SONAMES {
            symlink(shim, folder.join(name))?;
        }
        Ok(folder)
    }

    fn create_in(parent: &Path) -> io::Result<Scratch> {
        let path = parent.join(format!("gapii-run-{}", &random_hex()?[..12]));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failure is ignored: the system clears these folders itself.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
