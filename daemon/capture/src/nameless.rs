//! Files without a name, which only this process can open and which end with their last descriptor, also when the
//! daemon is killed.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Makes a file without a name in a folder, for this process only.
pub fn make(folder: &Path) -> rustix::io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?.into())
}
