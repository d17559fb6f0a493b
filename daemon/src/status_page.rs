//! The daemon's status page: its newest report in named shared memory, for clients of the same user. The name says which
//! folder the daemon's sockets lie in, so each daemon of a user has a page of its own. A page that a dead daemon of this
//! user left is replaced, and other pages of dead daemons are removed; the name of a live daemon or of another user is
//! left alone. A daemon without a page works all the same, with a warning in the log, and its clients ask it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use gapii_control::StatusInfo;
use gapii_control::status::{self, HEAD_LEN, Moment, PAGE_LEN, ProcessStat, Writer};
use rustix::fs::OFlags;
use rustix::process::{Pid, geteuid, test_kill_process};
use shared_memory::{Shmem, ShmemConf};

/// Folder in which shm_open of Linux makes its files.
const FOLDER: &str = "/dev/shm";
/// Time within which a daemon writes the header of a page that it has made.
const MAKING: Duration = Duration::from_secs(60);

/// The page of this daemon. Its name is removed when it and its [`Changes`] are dropped.
pub struct Page {
    memory: Arc<Mapping>,
    sequence: u64,
}

/// The number of changes on the page.
#[derive(Debug)]
pub struct Changes(Arc<Mapping>);

/// The page's memory, `PAGE_LEN` bytes.
struct Mapping(Shmem);

// SAFETY: a mapping belongs to the process and not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: shared are only the words of `Mapping::word`, which are atomics; the other bytes are written through the only
// `Page` of the mapping.
unsafe impl Sync for Mapping {}

impl Page {
    /// Makes the page of the daemon whose sockets lie in a folder with this device and inode.
    pub fn create(folder: (u64, u64)) -> anyhow::Result<Self> {
        let uid = geteuid().as_raw();
        remove_left_overs(&status::name_prefix(uid));
        Self::named(&status::name(uid, folder))
    }

    /// Makes a page. Replaces one that a dead daemon left.
    fn named(name: &str) -> anyhow::Result<Self> {
        remove_left_over(Path::new(&format!("{FOLDER}{name}")))?;
        let memory = ShmemConf::new().os_id(name).size(PAGE_LEN).create();
        let memory = memory.with_context(|| format!("cannot make the status page {name}"))?;
        ensure!(memory.len() >= PAGE_LEN, "{name} is {} bytes", memory.len());
        let pid = std::process::id();
        let start_ticks = stat_of("self").map_or(0, |stat| stat.start_ticks);
        let mut page = Self { memory: Arc::new(Mapping(memory)), sequence: 0 };
        page.put(0, &status::head(Writer { pid, start_ticks }));
        Ok(page)
    }

    /// Returns the number of changes on the page, to be set by other threads.
    pub fn changes(&self) -> Changes {
        Changes(Arc::clone(&self.memory))
    }

    /// Shows a report. Returns false if it is too long.
    pub fn show(&mut self, moment: Moment, info: &StatusInfo) -> bool {
        let Some(half) = status::half(moment, info) else { return false };
        self.sequence += 1;
        // Readers look at the other half until the sequence number changes.
        self.put(status::half_offset(self.sequence), &half);
        // Release: `Report::read` in another process, which reads the file, finds the half behind its number.
        self.memory.word(status::SEQUENCE_OFFSET).store(self.sequence.to_le(), Ordering::Release);
        true
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= PAGE_LEN, "{} bytes at {offset}", bytes.len());
        // SAFETY: the offset lies within the PAGE_LEN bytes that are mapped.
        let at = unsafe { self.memory.0.as_ptr().add(offset) };
        // SAFETY: `bytes.len()` bytes from `at` on are mapped and writable, and overlap nothing of this process; the words
        // in the header are used only after it is written. Readers are other processes, and check what they read.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}

impl Changes {
    /// Sets the number of changes.
    pub fn set(&self, changes: u64) {
        // Release: a client that has an answer, and reads the page's file then, finds the change that the answer is about.
        self.0.word(status::CHANGES_OFFSET).store(changes.to_le(), Ordering::Release);
    }
}

impl Mapping {
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= HEAD_LEN, "a word at {offset}");
        // SAFETY: the offset lies within the PAGE_LEN bytes that are mapped, which lasts as long as `self`.
        let at = unsafe { self.0.as_ptr().add(offset) };
        // SAFETY: `at` is aligned like the mapping and the offset, and nothing in this process accesses these bytes in
        // any other way once the header is written.
        unsafe { AtomicU64::from_ptr(at.cast()) }
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapping").field(&self.0.get_os_id()).finish()
    }
}

/// Removes the pages that daemons of this user left when they were killed. Pages that cannot be removed stay.
fn remove_left_overs(name_prefix: &str) {
    let prefix = name_prefix.trim_start_matches('/');
    for entry in fs::read_dir(FOLDER).into_iter().flatten().flatten() {
        let is_page = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        if is_page && !is_being_made(&entry.path()) {
            let _ = remove_left_over(&entry.path());
        }
    }
}

/// Whether another daemon may be making this page now: it is young and has no header yet.
fn is_being_made(path: &Path) -> bool {
    let made = fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let age = made.and_then(|made| made.elapsed().ok()).unwrap_or_default();
    age < MAKING && head_of(path).as_ref().and_then(status::writer).is_none()
}

/// Removes the page of a daemon that has ended, if there is one.
fn remove_left_over(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let owner = found.uid();
    // Everybody may make names there; a link of another user could lead anywhere.
    ensure!(owner == geteuid().as_raw(), "{shown} belongs to user {owner}");
    ensure!(found.is_file(), "{shown} is not a file");
    if let Some(pid) = head_of(path).as_ref().and_then(status::writer).and_then(alive) {
        bail!("{shown} is kept by the daemon with pid {pid}");
    }
    fs::remove_file(path).with_context(|| format!("cannot replace {shown}"))
}

/// Reads the header of a page. It is read, not mapped: its owner may still change its length.
fn head_of(path: &Path) -> Option<[u8; HEAD_LEN]> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let mut head = [0; HEAD_LEN];
    file.read_exact(&mut head).ok()?;
    Some(head)
}

/// Returns the pid of a page's writer, if it still runs.
fn alive(writer: Writer) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(writer.pid).ok()?)?;
    test_kill_process(pid).ok()?;
    let stat = stat_of(&writer.pid.to_string());
    stat.is_none_or(|stat| stat.is_running_writer(writer)).then_some(writer.pid)
}

fn stat_of(process: &str) -> Option<ProcessStat> {
    ProcessStat::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use gapii_control::status::Report;

    use super::*;

    struct Name(String);

    impl Name {
        fn new(test: &str) -> Self {
            Self(format!("/gapii-test-{test}-{}", std::process::id()))
        }

        fn path(&self) -> String {
            format!("{FOLDER}{}", self.0)
        }

        fn report(&self) -> Option<Report> {
            let file = fs::File::open(self.path()).unwrap();
            Report::read(|at, into| file.read_exact_at(into, at as u64)).unwrap()
        }
    }

    impl Drop for Name {
        fn drop(&mut self) {
            let _ = fs::remove_file(self.path());
        }
    }

    fn info(pid: u32) -> StatusInfo {
        StatusInfo { pid, ..StatusInfo::default() }
    }

    fn head(pid: u32, start_ticks: u64) -> [u8; HEAD_LEN] {
        status::head(Writer { pid, start_ticks })
    }

    #[test]
    fn page_shows_reports_and_is_removed_with_its_daemon() {
        let name = Name::new("shows");
        let mut page = Page::named(&name.0).unwrap();
        assert_eq!(name.report(), None, "there is none yet");
        for number in 1..5 {
            let moment = Moment { updated_ns: number, due_ns: number + 9, changes: number };
            page.changes().set(number);
            assert!(!name.report().is_some_and(|report| report.is_current));
            assert!(page.show(moment, &info(number as u32)));
            let report = name.report().unwrap();
            assert_eq!(
                (report.sequence, report.updated_ns, report.due_ns),
                (number, number, number + 9)
            );
            assert_eq!((report.writer.pid, report.info.pid), (std::process::id(), number as u32));
            assert!(report.is_current);
        }
        drop(page);
        assert!(!fs::exists(name.path()).unwrap());
    }

    #[test]
    fn page_that_another_daemon_is_making_is_not_swept_away() {
        let name = Name::new("making");
        let sweep = || {
            remove_left_overs(&name.0);
            fs::exists(name.path()).unwrap()
        };
        fs::write(name.path(), [0; HEAD_LEN]).unwrap();
        assert!(sweep(), "it has no header yet");
        let file = fs::File::options().write(true).open(name.path()).unwrap();
        file.set_modified(std::time::SystemTime::now() - 2 * MAKING).unwrap();
        assert!(!sweep(), "its daemon has ended");
    }

    #[test]
    fn page_of_a_live_daemon_is_left_alone() {
        let name = Name::new("live");
        let mut page = Page::named(&name.0).unwrap();
        page.show(Moment::default(), &info(1));
        let error = Page::named(&name.0).err().unwrap().to_string();
        assert!(error.contains("is kept by the daemon"), "{error}");
        assert_eq!(name.report().unwrap().info.pid, 1);
    }

    #[test]
    fn link_in_the_place_of_a_page_stays() {
        let (name, aim) = (Name::new("link"), Name::new("aim"));
        fs::write(aim.path(), b"not a page").unwrap();
        std::os::unix::fs::symlink(aim.path(), name.path()).unwrap();
        let error = Page::named(&name.0).err().unwrap().to_string();
        assert!(error.contains("is not a file"), "{error}");
        assert_eq!(fs::read(aim.path()).unwrap(), b"not a page");
        assert!(fs::symlink_metadata(name.path()).unwrap().is_symlink());
    }

    #[test]
    fn page_of_a_dead_daemon_is_replaced() {
        // No process has the first pid: the kernel's largest is below it. The second one has been used again.
        let (dead, again) = (head(i32::MAX as u32, 0), head(std::process::id(), 1));
        for left_over in [&dead[..], &again, b"", b"not a page"] {
            let name = Name::new("dead");
            fs::write(name.path(), left_over).unwrap();
            let mut page = Page::named(&name.0).unwrap();
            page.show(Moment::default(), &info(3));
            assert_eq!(name.report().unwrap().info.pid, 3);
        }
    }

    #[test]
    fn pages_of_other_dead_daemons_are_removed_and_those_of_live_ones_stay() {
        let (dead, live) = (Name::new("left-over-dead"), Name::new("left-over-live"));
        fs::write(dead.path(), head(i32::MAX as u32, 0)).unwrap();
        fs::write(live.path(), head(std::process::id(), 0)).unwrap();
        remove_left_overs("/gapii-test-left-over-");
        assert!(!fs::exists(dead.path()).unwrap() && fs::exists(live.path()).unwrap());
    }
}
