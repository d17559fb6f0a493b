//! Finds libraries as this system's dynamic loader does: on `LD_LIBRARY_PATH`, in the loader's cache, and in the
//! system's folders (`SYSTEM_FOLDERS`), in this order. Never loads a library. Files that resolve to a name that begins
//! with `libgapii.so` are left out, so that a search for a driver finds the driver below the shim.
//!
//! ```
//! let libraries = gapii_loader::find("libc.so.6");
//! assert!(libraries.iter().all(|path| path.exists()));
//! ```

#![forbid(unsafe_code)]

mod ld_cache;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ld_cache::LdCache;

#[cfg(target_arch = "x86_64")]
const SYSTEM_FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
#[cfg(target_arch = "aarch64")]
const SYSTEM_FOLDERS: [&str; 6] = [
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Returns the files named `soname` that the loader would consider, in its order, without the shim's own.
pub fn find(soname: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(soname));
    let cached = LdCache::open().map(|cache| cache.find(soname)).unwrap_or_default();
    let system = SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join(soname));
    let all = on_path.chain(cached).chain(system);
    all.filter(|path| path.exists() && !is_gapii_file(path)).collect()
}

/// Whether `path` resolves to a file named like the shim's library.
pub fn is_gapii_file(path: &Path) -> bool {
    let file = path.canonicalize().unwrap_or_default();
    file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"libgapii.so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shim_is_recognised_through_a_link_of_another_name() {
        let folder = std::env::temp_dir().join(format!("gapii-loader-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        let (file, name) = (folder.join("libgapii.so"), folder.join("libEGL.so.1"));
        std::fs::write(&file, "").expect("the folder is writable");
        std::os::unix::fs::symlink(&file, &name).expect("the folder is writable");
        assert!(is_gapii_file(&file) && is_gapii_file(&name));
        assert!(!is_gapii_file(&folder));
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn library_of_every_system_is_found() {
        assert!(find("libc.so.6").iter().all(|path| path.ends_with("libc.so.6")));
        assert!(!find("libc.so.6").is_empty());
    }
}
