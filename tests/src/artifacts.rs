//! Where the built tools and libraries lie, and where the tests may put their own.
//!
//! Never builds the product: a missing file is an error that names the command.

use std::path::{Path, PathBuf};

const BUILD_COMMAND: &str = "cargo xtask build";

/// A file of the release build, such as `gapii-ctl`.
///
/// # Panics
/// Where it has not been built.
pub fn artifact(name: &str) -> PathBuf {
    let path = directory().join(name);
    assert!(path.exists(), "{} is missing; build it: {BUILD_COMMAND}", path.display());
    path
}

/// `GAPII_ARTIFACTS`, or the release folder beside the profile this program was built in.
fn directory() -> PathBuf {
    match std::env::var_os("GAPII_ARTIFACTS") {
        Some(directory) => PathBuf::from(directory),
        None => target_directory().join("release"),
    }
}

/// Folder for what the tests compile; kept from run to run.
pub fn cache_directory() -> PathBuf {
    let directory = target_directory().join("gapii-tests");
    std::fs::create_dir_all(&directory).expect("the target folder is writable");
    directory
}

/// `target/`, found from this executable: `target/PROFILE/deps/x` or `target/PROFILE/x`.
fn target_directory() -> PathBuf {
    let executable = std::env::current_exe().expect("a running program has a path");
    let mut profile = executable.parent().expect("an executable lies in a folder");
    if profile.ends_with("deps") {
        profile = profile.parent().expect("deps lies in a profile's folder");
    }
    profile.parent().unwrap_or(Path::new("target")).to_path_buf()
}
