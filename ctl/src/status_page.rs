//! Reads the daemon's status page, its live counters in shared memory, without a request. A page that is being written
//! is copied again, up to `ATTEMPTS`, 100 times; a page whose daemon is gone counts as none.
//!
//! The daemon may stop writing at any moment. The page is copied, and the copy is checked.

use gapii_control::status::{self, STATUS_LEN, StatusPage};
use rustix::process::Pid;
use shared_memory::{Shmem, ShmemConf};

/// Number of times that a page which is being written is copied again.
const ATTEMPTS: usize = 100;

/// Reads the page of the user's own daemon; `None` if no daemon runs.
pub fn read() -> Option<StatusPage> {
    let uid = rustix::process::geteuid().as_raw();
    let segment = ShmemConf::new().os_id(status::name(uid)).open().ok()?;
    if segment.len() < STATUS_LEN {
        return None;
    }
    let page = (0..ATTEMPTS).find_map(|_| {
        let first = copy(&segment);
        StatusPage::from_copies(&first, &copy(&segment))
    })?;
    let pid = Pid::from_raw(i32::try_from(page.pid).ok()?)?;
    rustix::process::test_kill_process(pid).is_ok().then_some(page)
}

fn copy(segment: &Shmem) -> [u8; STATUS_LEN] {
    let mut bytes = [0; STATUS_LEN];
    for (at, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: `at` is below STATUS_LEN, which `read` found to be within the mapping that `segment` keeps alive.
        let source = unsafe { segment.as_ptr().add(at) };
        // SAFETY: `source` is inside the mapping. The read is volatile because the daemon may write the byte
        // concurrently; any resulting byte is acceptable, because two copies are compared.
        *byte = unsafe { source.read_volatile() };
    }
    bytes
}
