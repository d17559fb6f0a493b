//! The lock on the file that a capture writes. It belongs to the open file, so it lasts until the client and the daemon have
//! closed it, and a killed client or daemon leaves none behind. Other commands that would overwrite the file wait for up to 3 s
//! (`PATIENCE`), because a daemon takes a moment to end the capture of a client that was killed, and are then refused. File
//! systems without locks have none.

use std::fs::File;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::failure::Failure;

/// How long another capture may take to end.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

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
    let began = Instant::now();
    while let Err(Errno::WOULDBLOCK) = rustix::fs::flock(file, operation) {
        if began.elapsed() > PATIENCE {
            return Err(Failure::usage(format!(
                "a capture is writing {}; choose another name with `-o FILE`, or end that capture with `gapii-ctl stop`",
                path.display()
            )));
        }
        sleep(PAUSE);
    }
    Ok(())
}
