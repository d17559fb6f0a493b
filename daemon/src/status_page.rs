//! The daemon's status page: live counters in named shared memory. Written only when a number has changed, at most
//! every 250 ms. A page that a dead daemon of this user left is replaced; the name of a live daemon or of another user
//! is left alone. A daemon without a page works all the same, with a warning in the log.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::ptr;
use std::sync::atomic::{Ordering, fence};

use anyhow::{Context, bail, ensure};
use gapii_control::status::{self, STATUS_LEN, StatusPage};
use rustix::process::{Pid, geteuid, test_kill_process};
use shared_memory::{Shmem, ShmemConf, ShmemError};

use crate::clock;

/// The page of this daemon. Its name is removed on drop.
pub struct Page {
    memory: Shmem,
    last: StatusPage,
}

impl Page {
    /// Makes the page. Replaces one that a dead daemon left.
    pub fn create(name: &str, session: [u8; 16]) -> anyhow::Result<Self> {
        let create = || ShmemConf::new().os_id(name).size(STATUS_LEN).create();
        let memory = match create() {
            Err(ShmemError::MappingIdExists) => {
                remove_left_over(name)?;
                create()
            }
            created => created,
        };
        let memory = memory.with_context(|| format!("cannot make the status page {name}"))?;
        ensure!(memory.len() >= STATUS_LEN, "{name} is {} bytes", memory.len());
        let last = StatusPage { pid: std::process::id(), session, ..StatusPage::default() };
        let mut page = Self { memory, last };
        page.write(page.last);
        Ok(page)
    }

    /// Shows these counters. The page sets sequence, pid, session and time itself.
    pub fn update(&mut self, counters: StatusPage) {
        let StatusPage { sequence, pid, session, updated_ns, .. } = self.last;
        let counters = StatusPage { sequence, pid, session, updated_ns, ..counters };
        if counters != self.last {
            self.write(counters);
        }
    }

    fn write(&mut self, mut page: StatusPage) {
        page.sequence = self.last.sequence + 1;
        self.put_sequence(page.sequence);
        fence(Ordering::Release);
        page.updated_ns = clock::monotonic_ns();
        self.put(&page.to_bytes());
        fence(Ordering::Release);
        page.sequence += 1;
        self.put_sequence(page.sequence);
        self.last = page;
    }

    fn put_sequence(&mut self, sequence: u64) {
        // SAFETY: the mapping has at least STATUS_LEN bytes (checked when it was made) and lives as long as `self`.
        let at = unsafe { self.memory.as_ptr().add(status::SEQUENCE_OFFSET) };
        // SAFETY: `at` is 8 bytes inside the mapping, aligned like the mapping and the offset. Volatile: readers in
        // other processes look at any time, and each of them checks what it read.
        unsafe { ptr::write_volatile(at.cast::<u64>(), sequence.to_le()) };
    }

    fn put(&mut self, bytes: &[u8; STATUS_LEN]) {
        // SAFETY: as in `put_sequence`: STATUS_LEN bytes are mapped and writable.
        unsafe { ptr::write_volatile(self.memory.as_ptr().cast::<[u8; STATUS_LEN]>(), *bytes) };
    }
}

/// Removes the page of a daemon that has ended.
fn remove_left_over(name: &str) -> anyhow::Result<()> {
    let path = format!("/dev/shm{name}");
    let found = fs::symlink_metadata(&path).with_context(|| format!("cannot inspect {path}"))?;
    let owner = found.uid();
    // Everybody may make names there; a link of another user could lead anywhere.
    ensure!(owner == geteuid().as_raw(), "{path} belongs to user {owner}");
    ensure!(found.is_file(), "{path} is not a file");
    // Read, not mapped: its owner may still change its length.
    let page = fs::read(&path).with_context(|| format!("cannot read {path}"))?;
    if let Some(pid) = writer_of(&page)
        && test_kill_process(pid).is_ok()
    {
        bail!("{path} is kept by the daemon with pid {pid}");
    }
    fs::remove_file(&path).with_context(|| format!("cannot replace {path}"))
}

/// Returns the process that a page names as its writer.
fn writer_of(page: &[u8]) -> Option<Pid> {
    let mut settled = *page.first_chunk::<STATUS_LEN>()?;
    // Whether the writer died while writing does not matter here.
    settled[status::SEQUENCE_OFFSET] &= !1;
    let pid = StatusPage::from_bytes(&settled)?.pid;
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name(String);

    impl Name {
        fn new(test: &str) -> Self {
            Self(format!("/gapii-test-{test}-{}", std::process::id()))
        }

        fn path(&self) -> String {
            format!("/dev/shm{}", self.0)
        }

        fn page(&self) -> Option<StatusPage> {
            StatusPage::from_bytes(fs::read(self.path()).unwrap().first_chunk().unwrap())
        }
    }

    impl Drop for Name {
        fn drop(&mut self) {
            let _ = fs::remove_file(self.path());
        }
    }

    #[test]
    fn page_shows_changes_and_is_removed_with_its_daemon() {
        let name = Name::new("shows");
        let mut page = Page::create(&name.0, [7; 16]).unwrap();
        let first = name.page().unwrap();
        assert_eq!((first.pid, first.session), (std::process::id(), [7; 16]));
        page.update(StatusPage { apps: 2, calls: 9, ..StatusPage::default() });
        let second = name.page().unwrap();
        assert_eq!((second.apps, second.calls, second.session), (2, 9, [7; 16]));
        page.update(StatusPage { apps: 2, calls: 9, ..StatusPage::default() });
        assert_eq!(name.page(), Some(second));
        drop(page);
        assert!(!fs::exists(name.path()).unwrap());
    }

    #[test]
    fn page_of_a_live_daemon_is_left_alone() {
        let name = Name::new("live");
        let _page = Page::create(&name.0, [1; 16]).unwrap();
        let error = Page::create(&name.0, [2; 16]).err().unwrap().to_string();
        assert!(error.contains("is kept by the daemon"), "{error}");
        assert_eq!(name.page().unwrap().session, [1; 16]);
    }

    #[test]
    fn link_in_the_place_of_a_page_stays() {
        let (name, aim) = (Name::new("link"), Name::new("aim"));
        fs::write(aim.path(), b"not a page").unwrap();
        std::os::unix::fs::symlink(aim.path(), name.path()).unwrap();
        let error = Page::create(&name.0, [1; 16]).err().unwrap().to_string();
        assert!(error.contains("is not a file"), "{error}");
        assert_eq!(fs::read(aim.path()).unwrap(), b"not a page");
        assert!(fs::symlink_metadata(name.path()).unwrap().is_symlink());
    }

    #[test]
    fn page_of_a_dead_daemon_is_replaced() {
        // No process has this pid: the kernel's largest is below it.
        let dead = StatusPage { pid: i32::MAX as u32, ..StatusPage::default() }.to_bytes();
        for left_over in [&dead[..], b"", b"not a page"] {
            let name = Name::new("dead");
            fs::write(name.path(), left_over).unwrap();
            let _page = Page::create(&name.0, [3; 16]).unwrap();
            assert_eq!(name.page().unwrap().session, [3; 16]);
        }
    }
}
