//! Layout of the daemon's status page: its newest report, a [`StatusInfo`], in shared memory that any process of the
//! same user can read without a request. The page has room for two reports. The daemon writes the one that is not the
//! newest and then changes the sequence number, so a whole report can be read at every moment, also if the daemon was
//! stopped or killed in the middle of writing.
//!
//! ```text
//!   0  magic "GAPIISTA"      8  version u32   12  pid u32
//!  16  start_ticks u64: start of the daemon's process (field 22 of /proc/PID/stat)
//!  24  sequence u64: number of the newest report; 0 before the first
//!  32  changes u64: how often an application or a capture has come or gone, or input was refused
//!  64 + HALF_LEN * (sequence % 2):
//!      0  updated_ns u64    8  due_ns u64 (both CLOCK_MONOTONIC)
//!     16  changes u64: the number of changes that the report has
//!     24  len u32          32  a StatusInfo as MessagePack, `len` bytes
//! ```
//!
//! The daemon counts a change on the page before it answers the client that asked for the change. So a reader that finds
//! more changes than the report has waits for the next report ([`Report::is_current`]), and sees what its own earlier
//! requests have done.
//!
//! The reader copies the sequence number, then that half, then the sequence number again, and takes the copy only if
//! both numbers are equal ([`Report::read`]). The report has the form of the messages, and evolves like them:
//! fields are added, and unknown fields are ignored. This module only converts bytes.
//!
//! A report lists at most [`APPS_SHOWN`], [`CAPTURES_SHOWN`] and [`KEPT_SHOWN`] entries, and [`PIDS_SHOWN`] processes
//! of each capture, so it fits into a half whatever names the programs have. [`StatusInfo::left_out`] counts the others.

use std::io;

use crate::framing;
use crate::info::{LeftOut, StatusInfo};

/// Version of the layout.
pub const STATUS_VERSION: u32 = 2;
/// First bytes of a page.
pub const STATUS_MAGIC: [u8; 8] = *b"GAPIISTA";
/// Offset of the sequence number, in bytes.
pub const SEQUENCE_OFFSET: usize = 24;
/// Offset of the number of changes, in bytes.
pub const CHANGES_OFFSET: usize = 32;
/// Length of the page's header, in bytes.
pub const HEAD_LEN: usize = 64;
/// Length of the words before a report, in bytes.
pub const HALF_HEAD_LEN: usize = 32;
/// Longest report, in bytes: that of a message.
pub const REPORT_LEN_MAX: usize = framing::MESSAGE_LEN_MAX as usize;
/// Length of a half, in bytes.
pub const HALF_LEN: usize = HALF_HEAD_LEN + REPORT_LEN_MAX;
/// Length of the page, in bytes.
pub const PAGE_LEN: usize = HEAD_LEN + 2 * HALF_LEN;

/// Largest number of applications in a report.
pub const APPS_SHOWN: usize = 512;
/// Largest number of captures in a report.
pub const CAPTURES_SHOWN: usize = 256;
/// Largest number of processes of a capture in a report.
pub const PIDS_SHOWN: usize = 128;
/// Largest number of kept applications in a report.
pub const KEPT_SHOWN: usize = 128;

/// Returns the name of the shared-memory object with the status page of the daemon that runs as user `uid` and has its
/// sockets in a folder. `folder` is the device and the inode of that folder.
pub fn name(uid: u32, (device, inode): (u64, u64)) -> String {
    format!("{}{device:x}-{inode:x}", name_prefix(uid))
}

/// Returns the beginning of the names of all status pages of user `uid`.
pub fn name_prefix(uid: u32) -> String {
    format!("/gapii-status-{uid}-")
}

/// Identity of the process that writes a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Writer {
    /// Process id.
    pub pid: u32,
    /// When the process started, in clock ticks since the system's start; another process with the same id has another
    /// value. 0 if the daemon could not find out.
    pub start_ticks: u64,
}

/// State and start of a process, from its file `/proc/PID/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessStat {
    /// True if a signal or a debugger has stopped the process.
    pub is_stopped: bool,
    /// True if the process has ended, and its parent has not asked how.
    pub has_ended: bool,
    /// When the process started, in clock ticks since the system's start.
    pub start_ticks: u64,
}

impl ProcessStat {
    /// Parses the file (proc_pid_stat(5)): the state is field 3, the start field 22. Returns `None` if it lacks them.
    pub fn parse(stat: &str) -> Option<Self> {
        // The name in field 2 may have any characters, also parentheses.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let mut fields = behind_name.split_ascii_whitespace();
        let state = fields.next()?;
        let start_ticks = fields.nth(18)?.parse().ok()?;
        let (is_stopped, has_ended) = (matches!(state, "T" | "t"), matches!(state, "Z" | "X"));
        Some(Self { is_stopped, has_ended, start_ticks })
    }

    /// Returns whether this is the process that wrote a page, still running. It has the writer's process id.
    pub fn is_running_writer(&self, writer: Writer) -> bool {
        let is_it = writer.start_ticks == 0 || writer.start_ticks == self.start_ticks;
        is_it && !self.has_ended
    }
}

/// A report, and when it was made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The process that wrote it.
    pub writer: Writer,
    /// Number of the report.
    pub sequence: u64,
    /// When it was made, in nanoseconds of `CLOCK_MONOTONIC`.
    pub updated_ns: u64,
    /// By when the daemon makes the next one, by the same clock.
    pub due_ns: u64,
    /// False if something has changed since it was made, so that the next one follows at once.
    pub is_current: bool,
    /// The report itself.
    pub info: StatusInfo,
}

/// Returns the header of a page without a report.
pub fn head(writer: Writer) -> [u8; HEAD_LEN] {
    let mut bytes = [0; HEAD_LEN];
    bytes[..8].copy_from_slice(&STATUS_MAGIC);
    bytes[8..12].copy_from_slice(&STATUS_VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&writer.pid.to_le_bytes());
    bytes[16..24].copy_from_slice(&writer.start_ticks.to_le_bytes());
    bytes
}

/// Returns the process that a page names as its writer; `None` if the bytes are not the header of a page of this
/// version.
pub fn writer(head: &[u8; HEAD_LEN]) -> Option<Writer> {
    let is_page = head[..8] == STATUS_MAGIC && word(head, 8) as u32 == STATUS_VERSION;
    is_page.then(|| Writer { pid: (word(head, 8) >> 32) as u32, start_ticks: word(head, 16) })
}

/// Returns the offset of the half that has the report with this number, in bytes.
pub fn half_offset(sequence: u64) -> usize {
    HEAD_LEN + HALF_LEN * (sequence % 2) as usize
}

/// When a report was made, when the next one is due, and which changes it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// When it was made, in nanoseconds of `CLOCK_MONOTONIC`.
    pub updated_ns: u64,
    /// By when the next one is made, by the same clock.
    pub due_ns: u64,
    /// Number of changes before it.
    pub changes: u64,
}

/// Returns a half with a report: the bytes at [`half_offset`]. Returns `None` if the report is too long, which it never
/// is after [`StatusInfo::shorten`].
pub fn half(Moment { updated_ns, due_ns, changes }: Moment, info: &StatusInfo) -> Option<Vec<u8>> {
    let mut bytes = vec![0; HALF_HEAD_LEN];
    bytes[..8].copy_from_slice(&updated_ns.to_le_bytes());
    bytes[8..16].copy_from_slice(&due_ns.to_le_bytes());
    bytes[16..24].copy_from_slice(&changes.to_le_bytes());
    rmp_serde::encode::write_named(&mut bytes, info).ok()?;
    let len = u32::try_from(bytes.len() - HALF_HEAD_LEN).ok()?;
    bytes[24..28].copy_from_slice(&len.to_le_bytes());
    (bytes.len() <= HALF_LEN).then_some(bytes)
}

impl StatusInfo {
    /// Removes the entries above the limits of a report, and counts them.
    pub fn shorten(&mut self) {
        let cut = |len: usize, shown: usize| len.saturating_sub(shown) as u64;
        self.left_out = LeftOut {
            apps: cut(self.apps.len(), APPS_SHOWN),
            captures: cut(self.captures.len(), CAPTURES_SHOWN),
            kept: cut(self.kept.len(), KEPT_SHOWN),
        };
        self.apps.truncate(APPS_SHOWN);
        self.captures.truncate(CAPTURES_SHOWN);
        self.kept.truncate(KEPT_SHOWN);
        for capture in &mut self.captures {
            capture.pids_left_out = cut(capture.pids.len(), PIDS_SHOWN);
            capture.pids.truncate(PIDS_SHOWN);
        }
    }
}

impl Report {
    /// Copies the newest report out of a page. `copy` fills a buffer with the page's bytes from an offset on. Returns
    /// `None` if the bytes are not a page of this version with a report, or if the daemon wrote meanwhile, in which
    /// case the caller tries again.
    ///
    /// # Errors
    /// Those of `copy`.
    pub fn read(
        mut copy: impl FnMut(usize, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<Option<Self>> {
        let mut head = [0; HEAD_LEN];
        copy(0, &mut head)?;
        let sequence = word(&head, SEQUENCE_OFFSET);
        let Some(writer) = writer(&head).filter(|_| sequence > 0) else { return Ok(None) };
        let at = half_offset(sequence);
        let mut half = [0; HALF_HEAD_LEN];
        copy(at, &mut half)?;
        let len_untrusted = word(&half, 24) as u32 as usize;
        if len_untrusted > REPORT_LEN_MAX {
            return Ok(None);
        }
        let mut body = vec![0; len_untrusted];
        copy(at + HALF_HEAD_LEN, &mut body)?;
        let mut again = [0; 8];
        copy(SEQUENCE_OFFSET, &mut again)?;
        if u64::from_le_bytes(again) != sequence {
            return Ok(None);
        }
        let (updated_ns, due_ns) = (word(&half, 0), word(&half, 8));
        // The header was copied first, so it has no change that the reader could not have waited for.
        let is_current = word(&half, 16) >= word(&head, CHANGES_OFFSET);
        let info = framing::decode(&body).ok();
        Ok(info.map(|info| Self { writer, sequence, updated_ns, due_ns, is_current, info }))
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppCounts, AppInfo, CaptureInfo, KeptInfo, Progress};

    const WRITER: Writer = Writer { pid: 1, start_ticks: 7 };

    /// A page with reports up to `sequence`, each with its number as the daemon's pid.
    fn page(sequence: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE_LEN];
        page[..HEAD_LEN].copy_from_slice(&head(WRITER));
        for number in 1..=sequence {
            put(&mut page, number);
            page[SEQUENCE_OFFSET..][..8].copy_from_slice(&number.to_le_bytes());
        }
        page
    }

    fn put(page: &mut [u8], number: u64) {
        let info = StatusInfo { pid: number as u32, ..StatusInfo::default() };
        let moment = Moment { updated_ns: number, due_ns: number + 1, changes: number };
        let half = half(moment, &info).unwrap();
        page[half_offset(number)..][..half.len()].copy_from_slice(&half);
    }

    fn read(page: &[u8]) -> Option<Report> {
        Report::read(|at, into| {
            let bytes = page.get(at..at + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            into.copy_from_slice(bytes);
            Ok(())
        })
        .ok()?
    }

    #[test]
    fn newest_report_is_read_whole_while_the_next_is_written() {
        assert_eq!(read(&page(0)), None);
        for sequence in 1..5 {
            let mut page = page(sequence);
            let report = read(&page).unwrap();
            assert_eq!((report.writer, report.info.pid), (WRITER, sequence as u32));
            assert_eq!((report.updated_ns, report.due_ns), (sequence, sequence + 1));
            // A daemon that stops in the middle of writing leaves any bytes in the other half.
            page[half_offset(sequence + 1)..][..HALF_LEN].fill(0xA5);
            assert_eq!(read(&page), Some(report));
        }
    }

    #[test]
    fn report_that_is_replaced_meanwhile_is_not_taken() {
        let mut page = page(2);
        let mut copies = 0;
        let report = Report::read(|at, into| {
            copies += 1;
            if copies == 3 {
                put(&mut page, 3);
                put(&mut page, 4);
                page[SEQUENCE_OFFSET..][..8].copy_from_slice(&4_u64.to_le_bytes());
            }
            into.copy_from_slice(&page[at..at + into.len()]);
            Ok(())
        });
        assert_eq!(report.unwrap(), None);
        assert_eq!(read(&page).unwrap().info.pid, 4);
    }

    #[test]
    fn report_that_lacks_a_change_is_not_current() {
        let mut page = page(4);
        for (changes, expected) in [(3, true), (4, true), (5, false)] {
            page[CHANGES_OFFSET] = changes;
            assert_eq!(read(&page).unwrap().is_current, expected, "{changes} changes, report of 4");
        }
    }

    #[test]
    fn state_and_start_of_a_process_are_read_whatever_its_name_is() {
        let fields =
            "1 2 2 0 -1 4194560 50 0 1 0 0 0 0 0 20 0 1 0 8675 2560 214 18446744073709551615";
        let check = |text: &str, expected: Option<(bool, u64)>| {
            let found = ProcessStat::parse(text);
            assert_eq!(found.map(|it| (it.is_stopped, it.start_ticks)), expected, "{text}");
        };
        check(&format!("7 (gapiid) S {fields}"), Some((false, 8675)));
        check(&format!("7 (a) T 1) T {fields}"), Some((true, 8675)));
        let runs = |state: &str, start_ticks| {
            let stat = ProcessStat::parse(&format!("7 (gapiid) {state} {fields}")).unwrap();
            stat.is_running_writer(Writer { pid: 7, start_ticks })
        };
        assert!(runs("S", 8675) && runs("T", 8675) && runs("S", 0));
        assert!(!runs("Z", 8675) && !runs("S", 8674));
        check("7 (gapiid) S 1 2", None);
        check("", None);
    }

    #[test]
    fn foreign_bytes_are_no_page() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&vec![0; PAGE_LEN]), None);
        let mut later = page(1);
        later[8] += 1;
        assert_eq!(read(&later), None);
        let mut long = page(1);
        long[half_offset(1) + 24..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&long), None);
        let cut = &page(1)[..HEAD_LEN + HALF_LEN];
        assert_eq!(read(cut), None);
    }

    #[test]
    fn fullest_report_with_the_longest_names_fits_and_counts_the_others() {
        let most = |len: usize| gapii_trace::Untrusted::from("\u{fffd}".repeat(len));
        let counts = AppCounts {
            calls: u64::MAX,
            ring_bytes: u64::MAX,
            waits: u64::MAX,
            wait_ns: u64::MAX,
            lost_calls: u64::MAX,
            lost_bytes: u64::MAX,
        };
        let app = AppInfo {
            pid: u32::MAX,
            name: most(16),
            exe: most(256),
            apis: vec!["level_zero".to_owned(), "egl".to_owned(), "gl".to_owned()],
            contexts: u32::MAX,
            frames: u64::MAX,
            mode: crate::mode::CAPTURING.to_owned(),
            process: u32::MAX,
            connected_ns: u64::MAX,
            counts: Some(counts),
        };
        let progress = Progress {
            capture: u64::MAX,
            frames: u64::MAX,
            calls: u64::MAX,
            raw_bytes: u64::MAX,
            blob_bytes: u64::MAX,
            file_bytes: u64::MAX,
            spilled_bytes: u64::MAX,
            lost_calls: u64::MAX,
            waits: u64::MAX,
            ..Progress::default()
        };
        let capture = CaptureInfo {
            capture: u64::MAX,
            name: Some("n".repeat(crate::NAME_LEN_MAX).into()),
            client: u32::MAX,
            pids: vec![u32::MAX; PIDS_SHOWN + 5],
            running_ns: u64::MAX,
            progress,
            ..CaptureInfo::default()
        };
        let kept = KeptInfo {
            pid: u32::MAX,
            name: most(16),
            frames: u64::MAX,
            bytes: u64::MAX,
            keyframes: u64::MAX,
            held_us: u64::MAX,
            ..KeptInfo::default()
        };
        let mut info = StatusInfo {
            apps: vec![app; APPS_SHOWN + 3],
            captures: vec![capture; CAPTURES_SHOWN + 2],
            kept: vec![kept; KEPT_SHOWN + 1],
            ..StatusInfo::default()
        };
        info.shorten();
        let half = half(Moment::default(), &info).expect("it fits");
        assert!(half.len() < HALF_LEN - 4096, "{} of {HALF_LEN} bytes", half.len());
        assert_eq!(info.left_out, LeftOut { apps: 3, captures: 2, kept: 1 });
        assert_eq!((info.captures[0].pids.len(), info.captures[0].pids_left_out), (PIDS_SHOWN, 5));
    }
}
