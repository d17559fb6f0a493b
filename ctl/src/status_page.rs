//! Reads the daemon's status page, its live counters in shared memory, without a request. A page that is being written
//! is copied again, up to `ATTEMPTS`, 100 times; a page whose daemon is gone counts as none, and so does one that
//! another user owns or may write, because anybody can make an object of that name.
//!
//! The page is read as a file and not mapped, so cutting it short cannot end this process. The daemon may stop writing
//! at any moment: two copies must be equal.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gapii_control::status::{self, STATUS_LEN, StatusPage};
use rustix::fs::OFlags;
use rustix::process::Pid;

/// Number of times that a page which is being written is copied again.
const ATTEMPTS: usize = 100;

/// Reads the page of the user's own daemon; `None` if no daemon runs.
pub fn read() -> Option<StatusPage> {
    let uid = rustix::process::geteuid().as_raw();
    // Where shm_open of Linux finds the object of this name.
    let path = PathBuf::from(format!("/dev/shm{}", status::name(uid)));
    let page = read_file(&path, uid)?;
    let pid = Pid::from_raw(i32::try_from(page.pid).ok()?)?;
    rustix::process::test_kill_process(pid).is_ok().then_some(page)
}

/// Reads a page that belongs to `owner`, and to nobody else.
fn read_file(path: &Path, owner: u32) -> Option<StatusPage> {
    // A named pipe in the page's place must not hold this process.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let others_write = metadata.mode() & 0o022 != 0;
    if !metadata.is_file() || metadata.uid() != owner || others_write {
        return None;
    }
    (0..ATTEMPTS).find_map(|_| {
        let first = copy(&file).ok()?;
        StatusPage::from_copies(&first, &copy(&file).ok()?)
    })
}

fn copy(file: &File) -> io::Result<[u8; STATUS_LEN]> {
    let mut bytes = [0; STATUS_LEN];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn page_is_believed_only_if_its_owner_alone_can_write_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, uid) = (folder.path().join("page"), rustix::process::geteuid().as_raw());
        let page = StatusPage { pid: 7, sequence: 2, apps: 3, ..StatusPage::default() };
        fs::write(&path, page.to_bytes()).expect("a file");
        let set_mode = |mode| fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it");
        set_mode(0o600);
        assert_eq!(read_file(&path, uid), Some(page));
        assert_eq!(read_file(&path, uid + 1), None, "another user's");
        set_mode(0o622);
        assert_eq!(read_file(&path, uid), None, "others can write it");
        set_mode(0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(read_file(&link, uid), None, "a link");
        File::options().write(true).open(&path).and_then(|file| file.set_len(40)).expect("a cut");
        assert_eq!(read_file(&path, uid), None, "cut short");
        assert_eq!(read_file(folder.path(), uid), None, "a folder");
    }
}
