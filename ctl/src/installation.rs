//! `Installation`: finds the shim (`$GAPII_SHIM`, else beside `gapii-ctl`, else in the library folders of `..`), its soname folder
//! and tracing layer (beside the shim), and the daemon (`$GAPIID`, else beside `gapii-ctl`, else on `PATH`). A variable
//! that names no file is an error; a missing layer is none, and Level Zero is then not recorded.
//!
//! It changes nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gapii_package::{
    DAEMON, LAYER_FOLDER, LAYER_SONAME, LIBEXEC, Layout, SHIM, SONAMES, SONAMES_FOLDER,
};

use crate::failure::Failure;

/// Finds the shim: `$GAPII_SHIM`, or beside this program, or in `../lib/gapii`, or in Debian's folder for this processor.
pub fn find_shim() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("GAPII_SHIM") {
        let path = PathBuf::from(path);
        return absolute_file(&path).ok_or_else(|| {
            Failure::unreachable(format!(
                "GAPII_SHIM names {}, which is not a file; `unset GAPII_SHIM` makes it the one beside gapii-ctl",
                path.display()
            ))
        });
    }
    let folders = own_folders();
    first_file(folders.iter().map(|folder| folder.join(SHIM))).ok_or_else(|| {
        Failure::unreachable(format!(
            "{SHIM} is neither in {}; install the package `libgapii0`, build it with `cargo xtask build` or set GAPII_SHIM",
            listed(&folders)
        ))
    })
}

/// Finds the daemon: `$GAPIID`, or beside this program, or on `PATH`.
pub fn find_daemon() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("GAPIID") {
        let path = PathBuf::from(path);
        return absolute_file(&path).ok_or_else(|| {
            Failure::unreachable(format!("GAPIID names {}, which is not a file; `unset GAPIID` makes it the one beside gapii-ctl", path.display()))
        });
    }
    let beside = own_folders().into_iter().take(1);
    let path = std::env::var_os("PATH").unwrap_or_default();
    first_file(beside.chain(std::env::split_paths(&path)).map(|folder| folder.join(DAEMON)))
        .ok_or_else(|| {
            Failure::unreachable(format!(
                "{DAEMON} is neither beside gapii-ctl nor on PATH; \
                 build it with `cargo xtask build` or set GAPIID"
            ))
        })
}

/// Returns the soname folder beside the shim, if it is installed.
pub fn installed_sonames(shim: &Path) -> Option<PathBuf> {
    let folder = shim.parent()?.join(SONAMES_FOLDER);
    SONAMES.iter().all(|name| folder.join(name).is_file()).then_some(folder)
}

/// Returns the Level Zero tracing layer beside the shim, if it is installed.
pub fn installed_layer(shim: &Path) -> Option<PathBuf> {
    Some(shim.parent()?.join(LAYER_FOLDER).join(LAYER_SONAME)).filter(|path| path.is_file())
}

/// Whether `path` can stand in the dynamic linker's path variables, which are separated by colons, semicolons and
/// blanks, without quoting.
pub fn linker_can_name(path: &Path) -> bool {
    !path.as_os_str().as_encoded_bytes().iter().any(|byte| b":; \t\n$".contains(byte))
}

/// Returns `first`, followed by the current value of the variable `name`.
pub fn prepended<'a>(first: impl IntoIterator<Item = &'a Path>, name: &str) -> OsString {
    let own = first.into_iter().map(|path| path.as_os_str().to_owned());
    let rest = std::env::var_os(name).filter(|rest| !rest.is_empty());
    own.chain(rest).collect::<Vec<_>>().join(OsStr::new(":"))
}

/// Returns a value of `LD_PRELOAD` that has only these libraries.
pub fn preloaded<'a>(libraries: impl IntoIterator<Item = &'a Path>) -> OsString {
    let names: Vec<_> = libraries.into_iter().map(Path::as_os_str).collect();
    names.join(OsStr::new(":"))
}

/// Returns the path of a program that this one becomes: beside this program, or where an installed tree has it.
pub fn program_beside(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let installed = folder.parent().map(|prefix| prefix.join(LIBEXEC).join(name));
    first_file([Some(folder.join(name)), installed].into_iter().flatten())
}

/// Returns this program's folder and the shim's folders of an installed tree.
fn own_folders() -> Vec<PathBuf> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    let Some(folder) = program.parent() else { return Vec::new() };
    let mut folders = vec![folder.to_owned()];
    if let Some(prefix) = folder.parent() {
        let layouts = [Layout::Prefix, Layout::Debian];
        folders.extend(layouts.map(|layout| prefix.join(layout.shim_folder())));
    }
    folders
}

fn first_file(candidates: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    candidates.into_iter().find_map(|candidate| absolute_file(&candidate))
}

fn absolute_file(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    names.join(" nor in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_the_linker_would_split_are_told_apart() {
        assert!(linker_can_name(Path::new("/usr/lib/gapii/libgapii.so")));
        for path in ["/my games/libgapii.so", "/a:b/libgapii.so", "/a;b/x", "/$LIB/x"] {
            assert!(!linker_can_name(Path::new(path)), "{path}");
        }
    }
}
