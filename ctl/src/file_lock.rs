//! The lock on the file that a capture writes. It belongs to the open file, so it lasts until the client and the daemon have
//! closed it, and a killed client or daemon leaves none behind. Other commands that would overwrite the file are refused.
//! File systems without locks have none.

use std::fs::File;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::failure::Failure;

/// Locks the regular file that a capture is to write. Fails if another capture writes it.
pub fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    take(file, path, FlockOperation::NonBlockingLockExclusive)
}

/// Fails if a capture writes the file, which need not exist.
pub fn must_be_unlocked(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" || !path.is_file() {
        return Ok(());
    }
    match File::open(path) {
        Ok(file) => take(&file, path, FlockOperation::NonBlockingLockShared),
        Err(_) => Ok(()),
    }
}

fn take(file: &File, path: &Path, operation: FlockOperation) -> Result<(), Failure> {
    match rustix::fs::flock(file, operation) {
        Err(Errno::WOULDBLOCK) => Err(Failure::usage(format!(
            "a capture is writing {}; choose another name with `-o FILE`, or end that capture with `gapii-ctl stop`",
            path.display()
        ))),
        _ => Ok(()),
    }
}
