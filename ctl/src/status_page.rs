//! Reads the status page of a daemon in shared memory, without a request: the daemon does not notice, and need not run.
//! A page whose newest report is replaced meanwhile is copied again, up to `ATTEMPTS`, 100 times; a page whose daemon is
//! gone counts as none, and so does one that another user owns or may write, because anybody can make an object of that
//! name. If something has changed since the newest report, [`StatusPage::read_current`] waits for the next one, for up to
//! 0.5 s (`PATIENCE`), so that a command sees what earlier ones have done.
//!
//! The page is read as a file and not mapped, so cutting it short cannot end this process.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gapii_control::StatusInfo;
use gapii_control::status::{self, ProcessStat, Report, Writer};
use rustix::fs::OFlags;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

/// Number of times that a page which is being written is copied again.
const ATTEMPTS: usize = 100;
/// Time to wait for a report that follows at once.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two looks meanwhile.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Time by which a report may be late: a busy machine may not run the daemon for a while.
const LATENESS: Duration = Duration::from_secs(2);

/// A page of this user.
pub struct StatusPage {
    path: PathBuf,
    uid: u32,
}

/// A daemon's newest report.
#[derive(Debug)]
pub struct Seen {
    pub info: StatusInfo,
    pub writer: Writer,
    /// Number of the report.
    pub sequence: u64,
    /// A sentence that says how old the report is, if the daemon is stopped or should have made another one.
    pub outdated: Option<String>,
}

impl StatusPage {
    /// Returns the page of the daemon of this user that has its sockets in `folder`.
    pub fn of(folder: &Path) -> Option<StatusPage> {
        let uid = rustix::process::geteuid().as_raw();
        let found = fs::metadata(folder).ok()?;
        let name = status::name(uid, (found.dev(), found.ino()));
        // Where shm_open of Linux finds the object of this name.
        Some(StatusPage { path: PathBuf::from(format!("/dev/shm{name}")), uid })
    }

    /// Reads the newest report; `None` if no daemon keeps the page.
    pub fn read(&self) -> Option<Seen> {
        let (report, is_stopped) = self.report()?;
        Some(seen(report, is_stopped, false))
    }

    /// Reads the first report that has all changes so far. If it does not come in time, reads the newest one, which then is
    /// outdated.
    pub fn read_current(&self) -> Option<Seen> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (report, is_stopped) = self.report()?;
            let is_late = !report.is_current && Instant::now() >= deadline;
            if report.is_current || is_stopped || is_late {
                return Some(seen(report, is_stopped, is_late));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Returns the newest report, and whether its daemon is stopped.
    fn report(&self) -> Option<(Report, bool)> {
        let report = read_file(&self.path, self.uid)?;
        let pid = Pid::from_raw(i32::try_from(report.writer.pid).ok()?)?;
        rustix::process::test_kill_process(pid).ok()?;
        let stat = fs::read_to_string(format!("/proc/{}/stat", report.writer.pid));
        let stat = stat.ok().and_then(|text| ProcessStat::parse(&text));
        let is_running = stat.is_none_or(|stat| stat.is_running_writer(report.writer));
        is_running.then(|| (report, stat.is_some_and(|stat| stat.is_stopped)))
    }
}

fn seen(report: Report, is_stopped: bool, is_late: bool) -> Seen {
    let now_ns = monotonic_ns();
    let outdated = outdated(&report, is_stopped, is_late, now_ns);
    let Report { writer, sequence, updated_ns, mut info, .. } = report;
    // The daemon makes no reports while nothing is connected.
    info.uptime_ns += now_ns.saturating_sub(updated_ns);
    Seen { info, writer, sequence, outdated }
}

/// Returns the sentence about a report's age, if it is too old or `is_late`.
fn outdated(report: &Report, is_stopped: bool, is_late: bool, now_ns: u64) -> Option<String> {
    let age = Duration::from_nanos(now_ns.saturating_sub(report.updated_ns)).as_secs_f64();
    let pid = report.writer.pid;
    let late_ns = now_ns.saturating_sub(report.due_ns);
    if is_stopped {
        Some(format!("gapiid (process {pid}) is stopped; this is its status {age:.1} s ago"))
    } else if is_late || late_ns > LATENESS.as_nanos() as u64 {
        Some(format!(
            "gapiid (process {pid}) hangs, or the machine is too busy to run it; this is its status {age:.1} s ago"
        ))
    } else {
        None
    }
}

/// Reads the newest report of a page that belongs to `owner`, and to nobody else.
fn read_file(path: &Path, owner: u32) -> Option<Report> {
    // A named pipe in the page's place must not hold this process.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let others_write = metadata.mode() & 0o022 != 0;
    if !metadata.is_file() || metadata.uid() != owner || others_write {
        return None;
    }
    (0..ATTEMPTS).find_map(|_| read_report(&file))
}

fn read_report(file: &File) -> Option<Report> {
    Report::read(|at, into| file.read_exact_at(into, at as u64)).ok()?
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use gapii_control::status::{
        CHANGES_OFFSET, HALF_LEN, HEAD_LEN, Moment, PAGE_LEN, SEQUENCE_OFFSET,
    };

    use super::*;

    /// A page with a report that gives this size of rings.
    fn page(ring_bytes: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE_LEN];
        page[..HEAD_LEN].copy_from_slice(&status::head(Writer { pid: 7, start_ticks: 0 }));
        let info = StatusInfo { ring_bytes, ..StatusInfo::default() };
        let half = status::half(Moment::default(), &info).expect("it fits");
        page[status::half_offset(1)..][..half.len()].copy_from_slice(&half);
        page[SEQUENCE_OFFSET] = 1;
        page
    }

    #[test]
    fn page_is_believed_only_if_its_owner_alone_can_write_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, uid) = (folder.path().join("page"), rustix::process::geteuid().as_raw());
        let read = |path: &Path, uid| read_file(path, uid).map(|report| report.info.ring_bytes);
        fs::write(&path, page(3)).expect("a file");
        let set_mode = |mode| fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it");
        set_mode(0o600);
        assert_eq!(read(&path, uid), Some(3));
        assert_eq!(read(&path, uid + 1), None, "another user's");
        set_mode(0o622);
        assert_eq!(read(&path, uid), None, "others can write it");
        set_mode(0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(read(&link, uid), None, "a link");
        for len in [HEAD_LEN + HALF_LEN, 40, 0] {
            let file = File::options().write(true).open(&path);
            file.and_then(|file| file.set_len(len as u64)).expect("a cut");
            assert_eq!(read(&path, uid), None, "cut short to {len} bytes");
        }
        assert_eq!(read(folder.path(), uid), None, "a folder");
    }

    #[test]
    fn report_that_is_stopped_or_late_says_how_old_it_is() {
        let writer = Writer { pid: 12, start_ticks: 0 };
        let report = Report {
            writer,
            updated_ns: 1_000_000_000,
            due_ns: 2_000_000_000,
            ..Report::default()
        };
        let check = |(is_stopped, is_late), now_s: f64, expected: Option<&str>| {
            let found = outdated(&report, is_stopped, is_late, (now_s * 1e9) as u64);
            assert_eq!(found.as_deref(), expected);
        };
        check((false, false), 1.0, None);
        check((false, false), 3.9, None);
        let hangs = "gapiid (process 12) hangs, or the machine is too busy to run it; this is its status 3.5 s ago";
        check((false, false), 4.5, Some(hangs));
        check((false, true), 4.5, Some(hangs));
        check(
            (true, false),
            1.5,
            Some("gapiid (process 12) is stopped; this is its status 0.5 s ago"),
        );
    }

    #[test]
    fn report_that_lacks_a_change_is_waited_for_but_not_for_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page");
        let writer = Writer { pid: std::process::id(), start_ticks: 0 };
        let mut bytes = page(3);
        bytes[..HEAD_LEN].copy_from_slice(&status::head(writer));
        (bytes[SEQUENCE_OFFSET], bytes[CHANGES_OFFSET]) = (1, 5);
        fs::write(&path, &bytes).expect("a file");
        let page = StatusPage { path: path.clone(), uid: rustix::process::geteuid().as_raw() };
        let began = Instant::now();
        let late = page.read_current().expect("a report");
        assert!(began.elapsed() >= PATIENCE && late.outdated.is_some(), "{late:?}");
        assert_eq!(page.read().expect("a report").info.ring_bytes, 3);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| page.read_current());
            let moment = Moment { due_ns: u64::MAX, changes: 5, ..Moment::default() };
            let info = StatusInfo { ring_bytes: 4, ..StatusInfo::default() };
            let half = status::half(moment, &info).expect("it fits");
            let file = File::options().write(true).open(&path).expect("it is there");
            file.write_all_at(&half, status::half_offset(2) as u64).expect("it is written");
            file.write_all_at(&[2], SEQUENCE_OFFSET as u64).expect("it is written");
            let seen = reading.join().expect("no panic").expect("a report");
            assert_eq!((seen.info.ring_bytes, seen.outdated), (4, None));
        });
    }
}
