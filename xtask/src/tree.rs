//! Paths of the repository and its build folder.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Profile with which the product is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// With debug assertions and overflow checks, in the profile of the tests.
    Dev,
    /// As it ships.
    Release,
}

/// Folder of the built product.
pub fn artifacts(profile: Profile) -> PathBuf {
    target().join(match profile {
        Profile::Dev => "debug",
        Profile::Release => "release",
    })
}

/// Folder of the product for another target of Rust, in the profile of the tests.
pub fn artifacts_for(target: &str) -> PathBuf {
    self::target().join(target).join("debug")
}

/// Folder of the product as it ships.
pub fn release() -> PathBuf {
    artifacts(Profile::Release)
}
