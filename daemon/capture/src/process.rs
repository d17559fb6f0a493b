//! An application: the memory it shares with the daemon, and what it is told to do.
//!
//! Reads no record. Its rings are lent to one drain at a time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, sync::Arc};

use gapii_abi::app::{self, AppHello, Launch};
use gapii_control::{AppCounts, AppInfo};
use gapii_ringbuf::{
    CaptureId, Consumer, CounterMap, MapError, Mode, ModeMap, ModeSettings, ModeWriter, Segment,
    SegmentHeader, SegmentLayout, SegmentRing, SlotState, StoreTerms,
};
use gapii_trace::footer::ProcessEntry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::clock::Clock;
use crate::store::Store;

/// The consumers of all rings of a process, by slot.
pub type Rings = Vec<Consumer<SegmentRing>>;

/// An application that has said hello.
#[derive(Debug)]
pub struct Process {
    /// Index in the session.
    pub index: u32,
    pub pid: u32,
    pub name: String,
    /// Path of the executable, perhaps cut.
    pub exe: String,
    /// Bits of the APIs that it had called when it said hello.
    apis: u32,
    pub launch: Option<Launch>,
    /// It follows state while nothing is recorded.
    monitors: bool,
    pub connected_ns: u64,
    clock: Clock,
    segment: Arc<Segment>,
    segment_inode: u64,
    pidfd: OwnedFd,
    mode: Mutex<ModeWriter>,
    /// What its snapshots have sent, unless nothing is to be kept of that.
    store: Option<Arc<Store>>,
    rings: Mutex<Option<Rings>>,
    /// The drain that has the rings, or 0.
    drain: AtomicU64,
    /// Commands that were taken from the rings, ever.
    calls: AtomicU64,
    /// What its threads take stamps from.
    counter: Counter,
    /// What another daemon had told it, and how many captures could go on with it.
    before: (ModeSettings, u32),
}

/// A counter page: a session's, or of one whose daemon is gone.
#[derive(Clone, Debug)]
pub struct Counter {
    pub map: Arc<CounterMap>,
    pub fd: Arc<OwnedFd>,
    inode: u64,
}

/// What a process hands over whose daemon is gone, in the order in which it got it.
#[derive(Debug)]
pub struct HandedOver {
    pub counter: OwnedFd,
    pub mode: OwnedFd,
    pub segment: OwnedFd,
}

/// A process that another daemon had in a capture.
#[derive(Debug)]
pub struct Orphan {
    pub process: Process,
    /// The new page, for the process.
    pub mode: OwnedFd,
    /// The capture for which the process began to record.
    pub capture: CaptureId,
}

/// Why what a process handed over is not taken.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Map(#[from] MapError),
    #[error("{slots} rings of {ring_bytes} bytes are more than a daemon makes")]
    Sizes { slots: u32, ring_bytes: u64 },
}

/// Rings of a process, and bytes in each, that a daemon takes over at most: as many as it can be told to make.
const SLOTS_MAX: u32 = 4096;
const RING_BYTES_MAX: u64 = 256 << 20;

impl Counter {
    /// Makes a counter page of its own.
    pub fn create() -> io::Result<Self> {
        let (map, fd) = CounterMap::create()?;
        Self::of(map, fd)
    }

    /// Whether it is the same page: only records with stamps of one can be merged.
    pub fn is(&self, other: &Self) -> bool {
        self.inode == other.inode
    }

    /// One that a process hands over, or `known` if it is that.
    fn handed_over(fd: OwnedFd, known: &Self) -> Result<Self, HandOverError> {
        if rustix::fs::fstat(&fd).map_err(io::Error::from)?.st_ino == known.inode {
            return Ok(known.clone());
        }
        Ok(Self::of(CounterMap::map(fd.as_fd())?, fd)?)
    }

    fn of(map: CounterMap, fd: OwnedFd) -> io::Result<Self> {
        let inode = rustix::fs::fstat(&fd)?.st_ino;
        Ok(Self { map: Arc::new(map), fd: Arc::new(fd), inode })
    }
}

/// What the application gets; the counter is the session's.
#[derive(Debug)]
pub struct Descriptors {
    pub mode: OwnedFd,
    pub segment: OwnedFd,
}

impl Process {
    /// Sets up what a process shares with the daemon, which keeps so many bytes of what its snapshots
    /// send.
    pub fn new(
        index: u32,
        pid: Pid,
        hello: &AppHello,
        layout: SegmentLayout,
        store_bytes: u64,
        (counter, clock): (Counter, Clock),
    ) -> io::Result<(Self, Descriptors)> {
        let (segment, segment_fd) = Segment::create(layout)?;
        let (mode, mode_fd) = ModeWriter::create()?;
        let store = (store_bytes > 0).then(|| Store::new(store_bytes));
        let shared = (segment, mode, counter, store);
        let process =
            Self::of(index, pid, hello, shared, clock, (segment_fd.as_fd(), Default::default()))?;
        Ok((process, Descriptors { mode: mode_fd, segment: segment_fd }))
    }

    /// Takes what a process shared with a daemon that is gone. Nothing of it is believed; `known` is the
    /// session's own counter.
    pub fn take_over(
        index: u32,
        pid: Pid,
        hello: &AppHello,
        handed_over: HandedOver,
        store_bytes: u64,
        (known, clock): (&Counter, Clock),
    ) -> Result<Orphan, HandOverError> {
        let HandedOver { counter, mode, segment: segment_fd } = handed_over;
        let (slots, ring_bytes) = (hello.slot_count, hello.ring_bytes);
        let layout = SegmentLayout::new(slots, ring_bytes)
            .filter(|_| slots <= SLOTS_MAX && ring_bytes <= RING_BYTES_MAX)
            .ok_or(HandOverError::Sizes { slots, ring_bytes })?;
        let segment = Segment::map(segment_fd.as_fd(), layout)?;
        let counter = Counter::handed_over(counter, known)?;
        let old = ModeMap::map(mode.as_fd())?;
        let (mut writer, mode, settings) = ModeWriter::create_like(&old)?;
        // What the other daemon kept of snapshots went with it.
        let header = segment.header();
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let stored = [&header.stored_bytes, &header.unstored_bytes].map(read);
        let number = old.store().number;
        let store = (store_bytes > 0).then(|| Store::after(store_bytes, number, stored));
        // Where several captures have it, nothing is to be kept.
        if old.store() != StoreTerms::default() {
            writer.set_store(match &store {
                Some((_, terms)) => *terms,
                None => StoreTerms { number: number.wrapping_add(1), end: 0 },
            });
        }
        let store = store.map(|(store, _)| store);
        let shared = (segment, writer, counter, store);
        let left = (segment_fd.as_fd(), (settings, old.takers()));
        let process = Self::of(index, pid, hello, shared, clock, left)?;
        Ok(Orphan { process, mode, capture: old.capture() })
    }

    fn of(
        index: u32,
        pid: Pid,
        hello: &AppHello,
        (segment, mode, counter, store): (Segment, ModeWriter, Counter, Option<Store>),
        clock: Clock,
        (segment_fd, before): (BorrowedFd<'_>, (ModeSettings, u32)),
    ) -> io::Result<Self> {
        let pidfd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        let segment = Arc::new(segment);
        let rings = (0..segment.layout().slot_count())
            .filter_map(|slot| SegmentRing::new(&segment, slot))
            .map(Consumer::new)
            .collect();
        Ok(Self {
            index,
            pid: pid.as_raw_pid() as u32,
            name: text(&hello.name),
            exe: text(&hello.exe),
            apis: hello.apis,
            launch: (hello.launch != [0; 16]).then_some(hello.launch),
            monitors: hello.flags & app::FLAG_NO_MONITOR == 0,
            connected_ns: clock.monotonic_ns(),
            clock,
            segment,
            segment_inode: rustix::fs::fstat(segment_fd)?.st_ino,
            pidfd,
            mode: Mutex::new(mode),
            store: store.map(Arc::new),
            rings: Mutex::new(Some(rings)),
            drain: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            counter,
            before,
        })
    }

    /// What its threads take stamps from.
    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    /// How many captures of another daemon it was in that could go on.
    pub fn takers_before(&self) -> u32 {
        self.before.1
    }

    /// What that daemon had told it.
    pub fn settings_before(&self) -> ModeSettings {
        self.before.0
    }

    /// Tells its segment from others.
    pub fn segment(&self) -> u64 {
        self.segment_inode
    }

    /// Bytes in each of its rings.
    pub fn ring_bytes(&self) -> u64 {
        self.segment.layout().ring_bytes()
    }

    /// The sizes of its segment.
    pub fn layout(&self) -> SegmentLayout {
        self.segment.layout()
    }

    /// The generation of what it is told.
    pub fn generation(&self) -> u64 {
        lock(&self.mode).generation()
    }

    /// Whether it was told to record beyond its limit of frames.
    pub fn has_no_frame_limit(&self) -> bool {
        let mode = lock(&self.mode);
        mode.has_no_frame_limit(mode.generation())
    }

    /// The first page of the shared segment: claims of the application.
    pub fn claims(&self) -> &SegmentHeader {
        self.segment.header()
    }

    /// Slots that its threads have, as they say.
    pub fn slots_used(&self) -> usize {
        self.segment.slots().filter(|slot| slot.state() == Some(SlotState::Active)).count()
    }

    /// Readable once the process is gone.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Whether the process is gone.
    pub fn is_gone(&self) -> bool {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Whether the process has unmapped the segment, as an exec does. Only where the system lets us
    /// look: a sandbox or a program that guards its memory may not.
    pub fn lacks_segment(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/maps", self.pid))
            .is_ok_and(|maps| maps_lack(&maps, self.segment_inode))
    }

    /// Tells the application what to do; returns the generation of the order.
    pub fn set_mode(&self, settings: ModeSettings) -> u64 {
        lock(&self.mode).set(settings)
    }

    /// How many captures of it could go on with another daemon.
    pub fn set_takers(&self, takers: u32) {
        lock(&self.mode).set_takers(takers);
    }

    /// Tells the application to record, into a trace that has no blob yet, once its rings are empty;
    /// returns the generation of the order. `goes_on`: that capture could, with another daemon.
    pub fn begin_capture(&self, settings: ModeSettings, id: CaptureId, goes_on: bool) -> u64 {
        let mut mode = lock(&self.mode);
        mode.set_capture(id);
        mode.set_takers(goes_on.into());
        mode.raise_blob_epoch();
        if let Some(store) = &self.store {
            let claims = self.claims();
            // Relaxed, both: what was read from the rings came after it was counted. Claims, which only
            // the application would have to thank for what is not there.
            let stored = claims.stored_bytes.load(Ordering::Relaxed);
            let unstored = claims.unstored_bytes.load(Ordering::Relaxed);
            mode.set_store(store.begin_capture(stored, unstored));
        }
        mode.set(settings)
    }

    /// What holds its blobs from one capture to the next.
    pub fn store(&self) -> Option<Arc<Store>> {
        self.store.clone()
    }

    /// Several captures have it from now on: it records until it is told to stop, whatever its limit of
    /// frames was, and sends all that it describes. Of what the store holds the others would know too late.
    pub fn record_for_several(&self) {
        let mut mode = lock(&self.mode);
        mode.lift_frame_limit();
        mode.set_store(StoreTerms::default());
    }

    /// Frames since it connected, as it says.
    pub fn frames(&self) -> u64 {
        // Relaxed: a claim, of which nothing but its own captures' begin depends.
        self.claims().frames.load(Ordering::Relaxed)
    }

    /// How many nanoseconds the longest frame took that ended since this was last asked, as it says.
    pub fn take_longest_frame(&self) -> u64 {
        let longest = &self.claims().longest_frame_ns;
        // Relaxed, both: a claim, of which nothing but its own captures' begin depends.
        match longest.load(Ordering::Relaxed) {
            0 => 0,
            _ => longest.swap(0, Ordering::Relaxed),
        }
    }

    /// Asks the application for a keyframe out of turn.
    pub fn ask_keyframe(&self) {
        lock(&self.mode).ask_keyframe();
    }

    /// Tells the application whether the drain has to be woken.
    pub fn set_drain_sleeping(&self, sleeps: bool) {
        lock(&self.mode).set_drain_sleeping(sleeps);
    }

    /// The drain that has the process' rings.
    pub fn drain(&self) -> Option<u64> {
        // Relaxed: changed under the table's lock or by the drain itself, which is asked when a late look
        // finds it.
        Some(self.drain.load(Ordering::Relaxed)).filter(|&drain| drain != 0)
    }

    /// Lends the rings to a drain; none if another has them.
    pub fn lend_rings(&self, drain: u64) -> Option<Rings> {
        let rings = lock(&self.rings).take()?;
        self.drain.store(drain, Ordering::Relaxed);
        Some(rings)
    }

    /// Takes the rings back, and idles the application.
    pub fn return_rings(&self, rings: Rings) {
        self.set_mode(ModeSettings::default());
        *lock(&self.rings) = Some(rings);
        self.drain.store(0, Ordering::Relaxed);
    }

    /// Counts commands that were taken from the rings; only the drain that has them may.
    pub fn count_calls(&self, calls: u64) {
        // Relaxed, both: a number for people, of one writer.
        let sum = self.calls.load(Ordering::Relaxed).wrapping_add(calls);
        self.calls.store(sum, Ordering::Relaxed);
    }

    /// What came of it since it connected. Claims, but for the calls: sums stay at the end of their range.
    fn counts(&self) -> AppCounts {
        let counts = AppCounts {
            // Relaxed, both: numbers for people.
            calls: self.calls.load(Ordering::Relaxed),
            lost_calls: self.claims().unslotted_calls.load(Ordering::Relaxed),
            ..AppCounts::default()
        };
        self.segment.slots().fold(counts, |sum, slot| {
            let said = slot.counts_untrusted();
            AppCounts {
                calls: sum.calls,
                ring_bytes: sum.ring_bytes.saturating_add(slot.written_untrusted()),
                waits: sum.waits.saturating_add(said.waits),
                wait_ns: sum.wait_ns.saturating_add(said.wait_ns),
                lost_calls: sum.lost_calls.saturating_add(said.dropped_calls),
                lost_bytes: sum.lost_bytes.saturating_add(said.dropped_bytes),
            }
        })
    }

    /// The process as clients see it.
    pub fn info(&self) -> AppInfo {
        let mode = lock(&self.mode).settings().map(|(_, settings)| settings.mode);
        AppInfo {
            pid: self.pid,
            name: self.name.clone(),
            exe: self.exe.clone(),
            apis: self.apis(),
            // Relaxed: a claim, for people.
            contexts: self.claims().contexts.load(Ordering::Relaxed).try_into().unwrap_or(u32::MAX),
            frames: self.frames(),
            mode: mode_name(mode.unwrap_or_default(), self.monitors).to_owned(),
            process: self.index,
            connected_ns: self.clock.monotonic_ns().saturating_sub(self.connected_ns),
            counts: Some(self.counts()),
        }
    }

    /// The APIs that it has called so far.
    fn apis(&self) -> Vec<String> {
        // Relaxed: a claim, for people.
        let since = self.claims().apis.load(Ordering::Relaxed) as u32;
        api_names(self.apis | since)
    }

    /// The process as a trace's footer has it.
    pub fn entry(&self) -> ProcessEntry {
        ProcessEntry {
            process: 0,
            pid: self.pid,
            name: self.name.clone(),
            exe: self.exe.clone(),
            apis: self.apis(),
            frames: 0,
        }
    }

    /// Its name, as it says, and its pid, for a sentence: on one line, whatever the name is.
    pub fn described(&self) -> String {
        format!("{} (pid {})", self.name.escape_debug(), self.pid)
    }

    /// Whether a user who says `name` means this process: its pid, its name or its executable.
    pub fn is_called(&self, name: &str) -> bool {
        is_called(name, (self.pid, &self.name, &self.exe))
    }
}

/// Whether a user who says `called` means the process of this pid, name and executable.
pub fn is_called(called: &str, (pid, name, exe): (u32, &str, &str)) -> bool {
    let file = exe.rsplit('/').next();
    !called.is_empty() && (called.parse() == Ok(pid) || called == name || file == Some(called))
}

/// Whether a process has maps and none of the memory file `inode`. One that is dying has none.
fn maps_lack(maps: &str, inode: u64) -> bool {
    let inode = inode.to_string();
    let is_file = |line: &str| {
        line.contains("memfd:") && line.split_ascii_whitespace().nth(4) == Some(&inode)
    };
    !maps.is_empty() && !maps.lines().any(is_file)
}

fn mode_name(mode: Mode, monitors: bool) -> &'static str {
    match mode {
        Mode::Idle if !monitors => gapii_control::mode::ASLEEP,
        Mode::Idle => gapii_control::mode::IDLE,
        Mode::Capturing => gapii_control::mode::CAPTURING,
        Mode::Wait => gapii_control::mode::WAITING,
    }
}

fn api_names(bits: u32) -> Vec<String> {
    let known = [
        (app::API_EGL_GLES, "egl"),
        (app::API_EGL_GLES, "gles"),
        (app::API_LEVEL_ZERO, "level_zero"),
    ];
    let called = known.into_iter().filter(|(bit, _)| bits & bit != 0);
    called.map(|(_, name)| name.to_owned()).collect()
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(app::until_nul(field)).into_owned()
}

/// Locks; what a panic left behind is still only a mode page or a list of rings.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_with_other_maps_has_become_another_program() {
        let check =
            |maps: &str, expected: bool| assert_eq!(maps_lack(maps, 4711), expected, "{maps}");
        let program = "55d0c0000000-55d0c0001000 r--p 00000000 fe:00 4711       /usr/bin/cat\n";
        let segment =
            "7f0000000000-7f0040000000 rw-s 00000000 00:01 4711       /memfd:gapii-rings\n";
        check(program, true);
        check(&format!("{program}{segment}"), false);
        check(&segment.replace("4711", "4712"), true);
        // It is dying: its memory is gone, and it is not yet.
        check("", false);
    }
}
