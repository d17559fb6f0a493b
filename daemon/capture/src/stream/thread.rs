//! A thread in the stream. At most `THREADS_MAX`, 65,536 threads in one capture; the ring of one more is refused.

use gapii_abi::atom::{EFFECT, Header, LEAVE};
use gapii_trace::footer::Lost;

/// Largest number of threads in one capture: limits what an application can make the daemon remember.
pub const THREADS_MAX: usize = 1 << 16;

/// A thread that has records in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadLabel {
    pub thread: u32,
    pub process: u32,
    pub tid: u32,
    pub(super) name: [u8; 16],
}

impl ThreadLabel {
    /// Returns the thread's name.
    pub fn name(&self) -> String {
        name_text(&self.name)
    }
}

/// Returns the text of a NUL-padded name.
pub fn name_text(name: &[u8; 16]) -> String {
    String::from_utf8_lossy(gapii_abi::app::until_nul(name)).into_owned()
}

/// The stream's data about a thread.
#[derive(Clone, Debug, Default)]
pub struct StreamThread {
    pub process: u32,
    pub tid: u32,
    pub name: [u8; 16],
    pub api: u32,
    pub context: u64,
    /// Stamp of the thread's last record.
    pub stamp: u64,
    /// Number of the thread's records in the stream.
    pub records: u64,
    pub last_command: Option<LastCommand>,
    pub(super) pending: Pending,
    /// Losses that the thread's GAP records state.
    pub told: Lost,
    pub(super) stated_in: u64,
    pub(super) records_in_block: u64,
}

/// Facts of a thread's records that its next record may need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    /// Ordinal of the thread's last command, if the command has taken effect and the stream knows the ordinal.
    pub seq: Option<u64>,
    /// Time of the next record of a command in nanoseconds of `CLOCK_MONOTONIC`, if a TIME has told it.
    pub next_ns: Option<u64>,
}

impl Pending {
    /// Returns the ordinal of the last command. `last` is the header of the thread's last record of a command since
    /// `self`, if there is one; `calls` commands have taken effect up to there, this one included.
    pub(super) fn last_seq(&self, last: Option<Header>, calls: u64) -> Option<u64> {
        match last {
            None => self.seq,
            Some(last) if last.flags() & EFFECT != 0 => calls.checked_sub(1),
            Some(_) => None,
        }
    }
}

/// The last record of a thread that belongs to a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastCommand {
    pub id: u16,
    pub flags: u16,
    pub stamp: u64,
    /// Ring index behind the record.
    pub end_index: u64,
}

impl LastCommand {
    /// Returns whether the command can still be in the driver, by its records alone.
    pub fn is_open(&self) -> bool {
        self.flags & LEAVE == 0
    }
}

/// Returns whether a trace with this many threads can be continued.
pub fn is_count_of_threads(count: u32) -> bool {
    count as usize <= THREADS_MAX
}
