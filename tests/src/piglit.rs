//! Debian's piglit.

use std::fs;
use std::path::PathBuf;

/// The folder of Debian's piglit, whose path contains the machine's architecture.
///
/// # Panics
/// If piglit is missing; the message says how to install it.
pub fn folder() -> PathBuf {
    let entries = fs::read_dir("/usr/lib").expect("a system has libraries").flatten();
    let mut folders = entries.map(|entry| entry.path().join("piglit"));
    let found = folders.find(|folder| folder.join("bin/shader_runner_gles3").exists());
    found.expect("piglit is missing; install it: apt-get install piglit")
}
