//! `Scratch`: a private folder with mode 0700 that is removed at the end of a run. It is in `$XDG_RUNTIME_DIR`, else in
//! `$TMPDIR`, else in `/tmp`. A folder that another user owns or can change is passed over, because it would let that
//! user replace the socket and the libraries of the run; so is one whose name the dynamic linker's variables cannot hold
//! (blanks, colons). A run that is killed leaves its folder behind.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use gapii_control::SafePath;
use gapii_trace::Untrusted;

use crate::failure::Failure;
use crate::installation;
use crate::launch::random_hex;

/// What the names of these folders begin with.
const PREFIX: &str = "gapii-run-";
/// File with the words of the run's program, separated by NUL.
const COMMAND: &str = "command";

pub struct Scratch {
    path: PathBuf,
}

/// The folders that can hold one, with the names of the variables that name them; the preferred one first.
fn parents() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let named = ["XDG_RUNTIME_DIR", "TMPDIR"]
        .into_iter()
        .filter_map(move |name| Some((name, PathBuf::from(variable(name)?))));
    named.chain([("folder", PathBuf::from("/tmp"))])
}

/// Returns the entries named as folders of runs, in the folder in which a run of this environment has its own. They are not
/// checked.
pub fn folders_of_runs() -> Vec<PathBuf> {
    let parent = parents().find_map(|(_, parent)| fit(&parent).ok());
    let entries = parent.and_then(|parent| fs::read_dir(parent.as_path()).ok());
    let entries = entries.into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    named.map(|entry| entry.path()).collect()
}

/// Returns the program of the run in `folder`, with its arguments; empty if the run did not say.
pub fn command_of(folder: &Path) -> Untrusted {
    let words = fs::read(folder.join(COMMAND)).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    words.collect::<Vec<_>>().join(" ").into()
}

/// Checks that `parent` can hold the folder of a run. The error is a reason.
fn fit(parent: &Path) -> Result<SafePath, String> {
    let user = rustix::process::geteuid().as_raw();
    let parent = SafePath::of(parent, user).map_err(|error| error.to_string())?;
    match installation::linker_can_name(parent.as_path()) {
        true => Ok(parent),
        false => Err("its name has a blank, a colon or another separator".to_owned()),
    }
}

impl Scratch {
    /// Creates the folder.
    pub fn create() -> Result<Scratch, Failure> {
        Scratch::in_first_of(parents())
    }

    /// Creates the folder in the first of the named folders that can hold it.
    fn in_first_of<'a>(
        parents: impl IntoIterator<Item = (&'a str, PathBuf)>,
    ) -> Result<Scratch, Failure> {
        let mut problems = Vec::new();
        for (name, parent) in parents {
            match Scratch::create_in(&parent) {
                Ok(scratch) => return Ok(scratch),
                Err(why) => problems.push(format!("{name} {}: {why}", parent.display())),
            }
        }
        Err(Failure::unreachable(format!(
            "no folder can hold the files of this run ({}); `export TMPDIR=FOLDER` names one of user {} that nobody else can change",
            problems.join("; "),
            rustix::process::geteuid().as_raw(),
        )))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the program of the run, with its arguments, for messages of other commands.
    pub fn note_command(&self, command: &[OsString]) {
        let words: Vec<_> = command.iter().map(|word| word.as_encoded_bytes()).collect();
        // Messages do without it.
        let _ = fs::write(self.path.join(COMMAND), words.join(&0));
    }

    /// Returns a path to `target` without characters that the dynamic linker's path variables cannot hold.
    pub fn linker_name(&self, target: &Path) -> io::Result<PathBuf> {
        if installation::linker_can_name(target) {
            return Ok(target.to_owned());
        }
        let name = target.file_name().unwrap_or(target.as_os_str());
        let name = match installation::linker_can_name(Path::new(name)) {
            true => PathBuf::from(name),
            false => PathBuf::from("library.so"),
        };
        // Two targets may have the same file name, so each link has a folder of its own.
        let mut number = 0;
        loop {
            let folder = self.path.join(format!("linked-{number}"));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => {
                    let link = folder.join(name);
                    return symlink(target, &link).map(|()| link);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Creates a soname folder: links to `shim` named like the libraries that it replaces.
    pub fn sonames(&self, shim: &Path) -> io::Result<PathBuf> {
        let folder = self.path.join(gapii_package::SONAMES_FOLDER);
        DirBuilder::new().mode(0o700).create(&folder)?;
        for name in gapii_package::SONAMES {
            symlink(shim, folder.join(name))?;
        }
        Ok(folder)
    }

    /// Creates the folder in `parent`. The error is a reason.
    fn create_in(parent: &Path) -> Result<Scratch, String> {
        let parent = fit(parent)?;
        let parent = parent.as_path();
        let cannot = |error: io::Error| format!("can't create a folder there: {error}");
        let path = parent.join(format!("{PREFIX}{}", &random_hex().map_err(cannot)?[..12]));
        DirBuilder::new().mode(0o700).create(&path).map_err(cannot)?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failure is ignored: the system clears these folders itself.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn libraries_with_names_that_the_linker_cannot_hold_get_links_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::in_first_of([("TMPDIR", folder.path().to_owned())]);
        let scratch = scratch.expect("a folder");
        let targets = ["/with blank/tool.so", "/other blank/tool.so", "/plain/my tool.so"];
        let links = targets.map(|target| scratch.linker_name(Path::new(target)).expect("a link"));
        for (link, target) in links.iter().zip(targets) {
            assert!(installation::linker_can_name(link), "{}", link.display());
            assert_eq!(std::fs::read_link(link).ok(), Some(PathBuf::from(target)));
        }
        assert_eq!(links[0].file_name(), links[1].file_name());
        let plain = Path::new("/plain/tool.so");
        assert_eq!(scratch.linker_name(plain).ok().as_deref(), Some(plain));
    }

    #[test]
    fn folder_that_others_can_change_is_passed_over() {
        let [open, own] = [0o777, 0o700].map(|mode| {
            let folder = tempfile::tempdir().expect("a folder");
            set_permissions(folder.path(), Permissions::from_mode(mode)).expect("it is ours");
            folder
        });
        let named = [("XDG_RUNTIME_DIR", &open), ("TMPDIR", &own)];
        let named = named.map(|(name, folder)| (name, folder.path().to_owned()));
        let scratch = Scratch::in_first_of(named.clone()).expect("a folder");
        assert_eq!(scratch.path().parent(), Some(own.path()));
        let failure = Scratch::in_first_of([named[0].clone()]).err().expect("no folder");
        for part in ["XDG_RUNTIME_DIR", "users other than its owner can change", "export TMPDIR="] {
            assert!(failure.sentence.contains(part), "{part}: {failure}");
        }
    }
}
