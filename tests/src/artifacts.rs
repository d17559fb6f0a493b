//! Finds the built tools and libraries, and the folder for programs that the tests build themselves.
//!
//! Never builds the product: a missing file is an error that names the command.

use std::path::{Path, PathBuf};

/// The command that builds the product in the profile of this program.
const BUILD_COMMAND: &str =
    if cfg!(debug_assertions) { "cargo xtask build --dev" } else { "cargo xtask build" };

/// Path of a built file of the product, such as `gapii-ctl`.
///
/// # Panics
/// If the file has not been built.
pub fn artifact(name: &str) -> PathBuf {
    let path = directory().join(name);
    assert!(path.exists(), "{} is missing; build it: {BUILD_COMMAND}", path.display());
    path
}

/// `GAPII_ARTIFACTS`, or the folder of the profile that this program was built in.
pub fn directory() -> PathBuf {
    match std::env::var_os("GAPII_ARTIFACTS") {
        Some(directory) => PathBuf::from(directory),
        None => profile_directory(),
    }
}

/// True if the product is built as it ships.
pub fn are_release() -> bool {
    directory().file_name().is_some_and(|profile| profile == "release")
}

/// Folder for programs that the tests compile; kept from run to run, shared by the profiles.
pub fn cache_directory() -> PathBuf {
    let profile = profile_directory();
    let directory = profile.parent().unwrap_or(Path::new("target")).join("gapii-tests");
    std::fs::create_dir_all(&directory).expect("the target folder is writable");
    directory
}

/// `target/PROFILE`, found from this executable: `target/PROFILE/deps/x` or `target/PROFILE/x`.
fn profile_directory() -> PathBuf {
    let executable = std::env::current_exe().expect("a running program has a path");
    let folder = executable.parent().expect("an executable lies in a folder");
    let profile = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    profile.expect("deps lies in a profile's folder").to_path_buf()
}
