//! Keeps the daemon's status page: live counters in named shared memory.
//!
//! Writes only what has changed. Takes no name that another live daemon or another user has; a
//! daemon without a page works all the same.

use std::os::unix::fs::MetadataExt;
use std::ptr;
use std::sync::atomic::{Ordering, fence};

use anyhow::{Context, bail, ensure};
use gapii_protocol::status::{self, STATUS_LEN, StatusPage};
use rustix::process::{Pid, geteuid, test_kill_process};
use shared_memory::{Shmem, ShmemConf, ShmemError};

use crate::clock;

/// The page of this daemon; its name goes when this does.
pub struct Page {
    memory: Shmem,
    last: StatusPage,
}

impl Page {
    /// Makes the page, in place of one that a dead daemon left.
    pub fn create(session: [u8; 16]) -> anyhow::Result<Self> {
        let name = status::name(geteuid().as_raw());
        let create = || ShmemConf::new().os_id(&name).size(STATUS_LEN).create();
        let memory = match create() {
            Err(ShmemError::MappingIdExists) => {
                remove_left_over(&name)?;
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

    /// Shows these counters; sequence, pid, session and time are the page's own affair.
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
        // SAFETY: the mapping is STATUS_LEN bytes or more (checked when it was made) and lives as
        // long as `self`.
        let at = unsafe { self.memory.as_ptr().add(status::SEQUENCE_OFFSET) };
        // SAFETY: `at` is 8 bytes inside the mapping, aligned as the mapping and the offset are.
        // Volatile: readers in other processes look on, and each of them checks what it read.
        unsafe { ptr::write_volatile(at.cast::<u64>(), sequence.to_le()) };
    }

    fn put(&mut self, bytes: &[u8; STATUS_LEN]) {
        // SAFETY: as in `put_sequence`: STATUS_LEN bytes are mapped and writable.
        unsafe { ptr::write_volatile(self.memory.as_ptr().cast::<[u8; STATUS_LEN]>(), *bytes) };
    }
}

/// Removes the page of a daemon that is gone.
fn remove_left_over(name: &str) -> anyhow::Result<()> {
    let path = format!("/dev/shm{name}");
    let owner = std::fs::metadata(&path).with_context(|| format!("cannot look at {path}"))?.uid();
    ensure!(owner == geteuid().as_raw(), "{path} belongs to user {owner}");
    let mut memory = ShmemConf::new().os_id(name).open()?;
    if let Some(pid) = writer_of(&memory)
        && test_kill_process(pid).is_ok()
    {
        bail!("{path} is kept by the daemon with pid {pid}");
    }
    memory.set_owner(true);
    Ok(())
}

/// The process that a page says it is of.
fn writer_of(memory: &Shmem) -> Option<Pid> {
    if memory.len() < STATUS_LEN {
        return None;
    }
    // SAFETY: the mapping has STATUS_LEN bytes; any bytes are a valid array.
    let bytes = unsafe { ptr::read_volatile(memory.as_ptr().cast::<[u8; STATUS_LEN]>()) };
    let mut settled = bytes;
    // Whether it died while writing does not matter here.
    settled[status::SEQUENCE_OFFSET] &= !1;
    let pid = StatusPage::from_bytes(&settled)?.pid;
    Pid::from_raw(i32::try_from(pid).ok()?)
}
