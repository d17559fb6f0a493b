//! An application: the memory that it shares with the daemon, and the daemon's orders to it. Its rings are lent to one
//! drain at a time. Memory that a process hands over after its daemon's death is checked: at most 16,384 rings of at
//! most 256 MiB, sealed as the daemon made it. Slots that no thread has used yet are not touched. Its frames, frame durations, contexts and calls without a slot are its
//! own claims, and decide only about its own captures.
//!
//! Reads no record.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, sync::Arc};

use gapii_abi::app::{self, AppHello, Launch};
use gapii_commands::Api;
use gapii_control::{AppCounts, AppInfo};
use gapii_ringbuf::{
    CaptureId, Consumer, CounterMap, MapError, Mode, ModeMap, ModeSettings, ModeWriter, Segment,
    SegmentHeader, SegmentLayout, SegmentRing, SlotState, StoreTerms,
};
use gapii_trace::Untrusted;
use gapii_trace::footer::ProcessEntry;
use gapii_trace::frame_rule::FrameRule;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::clock::Clock;
use crate::store::Store;

/// The consumers of a process' rings, by slot: of those slots that its threads had used when the rings were lent.
pub type Rings = Vec<Consumer<SegmentRing>>;

/// An application that has sent its hello.
#[derive(Debug)]
pub struct Process {
    /// Index in the session.
    pub index: u32,
    pub pid: u32,
    pub name: Untrusted,
    /// Path of the executable, possibly truncated.
    pub exe: Untrusted,
    /// Bits of the APIs that the process had called when it sent its hello.
    apis: u32,
    pub launch: Option<Launch>,
    /// The process tracks state while nothing is recorded.
    monitors: bool,
    pub connected_ns: u64,
    clock: Clock,
    segment: Arc<Segment>,
    segment_inode: u64,
    pidfd: OwnedFd,
    mode: Mutex<ModeWriter>,
    /// The contents that its snapshots have sent, unless the daemon keeps none.
    store: Option<Arc<Store>>,
    rings: Mutex<Option<Rings>>,
    /// Number of the drain that has the rings, or 0.
    drain: AtomicU64,
    /// Commands that drains took from the rings since the process connected.
    calls: AtomicU64,
    /// The counter page that its threads take stamps from.
    counter: Counter,
    before: Before,
}

/// What another daemon had told a process, from which this one has taken it over.
#[derive(Debug, Default)]
struct Before {
    settings: ModeSettings,
    /// Which commands end a frame.
    frame_rule: FrameRule,
    /// Captures that could continue with the process.
    takers: u32,
}

/// A counter page: this session's, or that of a session whose daemon has ended.
#[derive(Clone, Debug)]
pub struct Counter {
    pub map: Arc<CounterMap>,
    pub fd: Arc<OwnedFd>,
    inode: u64,
}

/// The descriptors that a process hands over if its daemon has ended, in the order in which it got them.
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
    /// The new mode page, for the process.
    pub mode: OwnedFd,
    /// The capture for which the process began to record.
    pub capture: CaptureId,
}

/// Why a process' handed-over memory is refused.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Map(#[from] MapError),
    #[error("{slots} rings of {ring_bytes} bytes exceed the limit of a daemon")]
    Sizes { slots: u32, ring_bytes: u64 },
}

/// Largest number of slots of a process. Each block states the places of all rings that have records, in up to 312 bytes
/// each, and a reader accepts 8 MiB.
pub const SLOTS_MAX: u32 = 1 << 14;
/// Largest ring in bytes that a daemon takes over: the limit of its own option.
const RING_BYTES_MAX: u64 = 256 << 20;

impl Counter {
    /// Makes a new counter page.
    pub fn create() -> io::Result<Self> {
        let (map, fd) = CounterMap::create()?;
        Self::of(map, fd)
    }

    /// Returns whether this is the same page. Only records with stamps from one page can be merged.
    pub fn is(&self, other: &Self) -> bool {
        self.inode == other.inode
    }

    /// Returns the counter that a process hands over: `known`, if it is that page.
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

/// The descriptors for the application. The counter's descriptor is the session's.
#[derive(Debug)]
pub struct Descriptors {
    pub mode: OwnedFd,
    pub segment: OwnedFd,
}

impl Process {
    /// Makes the memory that a process shares with the daemon. `store_bytes` limits the contents that the daemon
    /// keeps of its snapshots; 0 keeps none.
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

    /// Takes over the memory that a process shared with a daemon that has ended, after checking it. `known` is this
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
        let frame_rule = writer.frame_rule(writer.generation());
        let frame_rule = frame_rule.map(|text| FrameRule::of_text(&text)).unwrap_or_default();
        // The other daemon's store went with it.
        let header = segment.header();
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let stored = [&header.stored_bytes, &header.unstored_bytes].map(read);
        let number = old.store().number;
        let store = (store_bytes > 0).then(|| Store::after(store_bytes, number, stored));
        // No store terms: several captures have the process, so nothing is kept.
        if old.store() != StoreTerms::default() {
            writer.set_store(match &store {
                Some((_, terms)) => *terms,
                None => StoreTerms { number: number.wrapping_add(1), end: 0 },
            });
        }
        let store = store.map(|(store, _)| store);
        let shared = (segment, writer, counter, store);
        let before = Before { settings, frame_rule, takers: old.takers() };
        let left = (segment_fd.as_fd(), before);
        let process = Self::of(index, pid, hello, shared, clock, left)?;
        Ok(Orphan { process, mode, capture: old.capture() })
    }

    fn of(
        index: u32,
        pid: Pid,
        hello: &AppHello,
        (segment, mode, counter, store): (Segment, ModeWriter, Counter, Option<Store>),
        clock: Clock,
        (segment_fd, before): (BorrowedFd<'_>, Before),
    ) -> io::Result<Self> {
        let pidfd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        let segment = Arc::new(segment);
        Ok(Self {
            index,
            pid: pid.as_raw_pid() as u32,
            name: text(&hello.name).into(),
            exe: text(&hello.exe).into(),
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
            rings: Mutex::new(Some(Rings::new())),
            drain: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            counter,
            before,
        })
    }

    /// Returns the counter page that the process' threads take stamps from.
    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    /// Returns how many captures of another daemon had the process and can be continued.
    pub fn takers_before(&self) -> u32 {
        self.before.takers
    }

    /// Returns the settings that the earlier daemon had given the process.
    pub fn settings_before(&self) -> ModeSettings {
        self.before.settings
    }

    /// Returns which commands end a frame, as the earlier daemon had told the process.
    pub fn frame_rule_before(&self) -> &FrameRule {
        &self.before.frame_rule
    }

    /// Returns the inode of the process' segment, which identifies it.
    pub fn segment(&self) -> u64 {
        self.segment_inode
    }

    /// Returns the size of each of the process' rings, in bytes.
    pub fn ring_bytes(&self) -> u64 {
        self.segment.layout().ring_bytes()
    }

    /// Returns the sizes in the process' segment.
    pub fn layout(&self) -> SegmentLayout {
        self.segment.layout()
    }

    /// Returns the generation of the mode page.
    pub fn generation(&self) -> u64 {
        lock(&self.mode).generation()
    }

    /// Returns whether the process was told to record beyond its limit of frames.
    pub fn has_no_frame_limit(&self) -> bool {
        let mode = lock(&self.mode);
        mode.has_no_frame_limit(mode.generation())
    }

    /// Returns the segment's header, which the application writes: its values are not trusted.
    pub fn claims(&self) -> &SegmentHeader {
        self.segment.header()
    }

    /// Returns how many slots the process' threads have now, by the process' own account.
    pub fn active_slots(&self) -> usize {
        self.segment.used_slots().filter(|slot| slot.state() == Some(SlotState::Active)).count()
    }

    /// Returns the consumers of the rings from slot `known` on that threads have used so far, by the process' own account.
    /// Only a drain that has the process' rings may call this, and once for each slot.
    pub fn rings_from(&self, known: usize) -> impl Iterator<Item = Consumer<SegmentRing>> {
        let known = u32::try_from(known).unwrap_or(u32::MAX);
        let used = known..self.segment.slots_used();
        used.filter_map(|slot| SegmentRing::new(&self.segment, slot)).map(Consumer::new)
    }

    /// Returns a descriptor that is readable once the process is gone.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Returns whether the process is gone.
    pub fn is_gone(&self) -> bool {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Returns whether the process has unmapped the segment, as an exec does. Returns false where the system does not
    /// show the process' maps, as in a sandbox.
    pub fn lacks_segment(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/maps", self.pid))
            .is_ok_and(|maps| maps_lack(&maps, self.segment_inode))
    }

    /// Gives the application a mode. Returns the generation of the order.
    pub fn set_mode(&self, settings: ModeSettings) -> u64 {
        lock(&self.mode).set(settings)
    }

    /// Tells the application how many of its captures could be continued by another daemon.
    pub fn set_takers(&self, takers: u32) {
        lock(&self.mode).set_takers(takers);
    }

    /// Tells the application to record, into a trace that has no blob yet. Its rings must be empty. `goes_on` says
    /// whether another daemon could continue the capture. Returns the generation of the order.
    pub fn begin_capture(
        &self,
        settings: ModeSettings,
        frame_rule: &FrameRule,
        id: CaptureId,
        goes_on: bool,
    ) -> u64 {
        let mut mode = lock(&self.mode);
        mode.set_frame_rule(&frame_rule.text());
        mode.set_capture(id);
        mode.set_takers(goes_on.into());
        mode.raise_blob_epoch();
        if let Some(store) = &self.store {
            // They are claims: a false one costs only the application's own trace.
            let [stored, unstored] = self.claims().sent_untrusted();
            mode.set_store(store.begin_capture(stored, unstored));
        }
        mode.set(settings)
    }

    /// Returns the store that holds the process' blobs from one capture to the next.
    pub fn store(&self) -> Option<Arc<Store>> {
        self.store.clone()
    }

    /// Lets the application record for several captures: until it is told to stop, without its limit of frames, and
    /// without the store, which would have contents that the other captures do not.
    pub fn record_for_several(&self) {
        let mut mode = lock(&self.mode);
        mode.lift_frame_limit();
        mode.set_store(StoreTerms::default());
    }

    /// Returns the number of frames since the process connected, by the process' own account.
    pub fn frames(&self) -> u64 {
        // Relaxed: a claim, on which only the beginning of the process' own captures depends.
        self.claims().frames.load(Ordering::Relaxed)
    }

    /// Returns the duration in nanoseconds of the longest frame that ended since the last call, by the process' own
    /// account.
    pub fn take_longest_frame(&self) -> u64 {
        let longest = &self.claims().longest_frame_ns;
        // Relaxed, both: a claim, on which only the beginning of the process' own captures depends.
        match longest.load(Ordering::Relaxed) {
            0 => 0,
            _ => longest.swap(0, Ordering::Relaxed),
        }
    }

    /// Asks the application for a keyframe now.
    pub fn ask_keyframe(&self) {
        lock(&self.mode).ask_keyframe();
    }

    /// Asks the application for a keyframe once it has ended `frame` frames, unless it is asked for an earlier one that
    /// has not come yet.
    pub fn ask_keyframe_at(&self, frame: NonZeroU64) {
        let mut mode = lock(&self.mode);
        let is_free = mode.keyframe_at().is_none_or(|at| at > frame || at.get() <= self.frames());
        if is_free {
            mode.ask_keyframe_at(frame);
        }
    }

    /// Returns whether no other wish has replaced that for a keyframe at `frame`.
    pub fn keeps_keyframe_at(&self, frame: u64) -> bool {
        lock(&self.mode).keyframe_at().is_some_and(|at| at.get() == frame)
    }

    /// Tells the application whether the drain sleeps and must be woken.
    pub fn set_drain_sleeping(&self, sleeps: bool) {
        lock(&self.mode).set_drain_sleeping(sleeps);
    }

    /// Returns the number of the drain that has the process' rings, if one has.
    pub fn drain(&self) -> Option<u64> {
        // Relaxed: changed under the table's lock, or by the drain itself. A caller that sees an old value asks that
        // drain, which refuses.
        Some(self.drain.load(Ordering::Relaxed)).filter(|&drain| drain != 0)
    }

    /// Lends the rings to a drain. Returns `None` if another drain has them.
    pub fn lend_rings(&self, drain: u64) -> Option<Rings> {
        let mut rings = lock(&self.rings).take()?;
        self.drain.store(drain, Ordering::Relaxed);
        rings.extend(self.rings_from(rings.len()));
        Some(rings)
    }

    /// Takes the rings back, and tells the application to stop recording.
    pub fn return_rings(&self, rings: Rings) {
        self.set_mode(ModeSettings::default());
        *lock(&self.rings) = Some(rings);
        self.drain.store(0, Ordering::Relaxed);
    }

    /// Counts commands that were taken from the rings. Only the drain that has them may call this.
    pub fn count_calls(&self, calls: u64) {
        // Relaxed, both: a number for people, with one writer.
        let sum = self.calls.load(Ordering::Relaxed).wrapping_add(calls);
        self.calls.store(sum, Ordering::Relaxed);
    }

    /// Returns the counts since the process connected. All but the calls are the process' own account, so the sums
    /// saturate.
    fn counts(&self) -> AppCounts {
        let counts = AppCounts {
            // Relaxed, both: numbers for people.
            calls: self.calls.load(Ordering::Relaxed),
            lost_calls: self.claims().unslotted_calls.load(Ordering::Relaxed),
            ..AppCounts::default()
        };
        self.segment.used_slots().fold(counts, |sum, slot| {
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

    /// Returns the process as clients see it.
    pub fn info(&self) -> AppInfo {
        let mode = self.mode();
        AppInfo {
            pid: self.pid,
            name: self.name.clone(),
            exe: self.exe.clone(),
            apis: self.apis(),
            // Relaxed: a claim, for people.
            contexts: self.claims().contexts.load(Ordering::Relaxed).try_into().unwrap_or(u32::MAX),
            frames: self.frames(),
            mode: mode_name(mode, self.monitors).to_owned(),
            process: self.index,
            connected_ns: self.clock.monotonic_ns().saturating_sub(self.connected_ns),
            counts: Some(self.counts()),
        }
    }

    /// Returns whether the process stands still until a capture begins.
    pub fn waits(&self) -> bool {
        self.mode() == Mode::Wait
    }

    /// Returns the mode that the process was given. A process that has given up an order to wait is idle.
    fn mode(&self) -> Mode {
        let Some((generation, settings)) = lock(&self.mode).settings() else {
            return Mode::default();
        };
        // Relaxed: a claim, for people.
        let ended = self.claims().ended_generation.load(Ordering::Relaxed);
        let has_given_up = settings.mode == Mode::Wait && ended >= generation;
        if has_given_up { Mode::Idle } else { settings.mode }
    }

    /// Returns the APIs that the process has called so far.
    fn apis(&self) -> Vec<String> {
        // Relaxed: a claim, for people.
        let since = self.claims().apis.load(Ordering::Relaxed) as u32;
        api_names(self.apis | since)
    }

    /// Returns the process as a trace's footer has it.
    pub fn entry(&self) -> ProcessEntry {
        ProcessEntry {
            process: 0,
            pid: self.pid,
            name: self.name.clone(),
            exe: self.exe.clone(),
            apis: self.apis().into_iter().map(Untrusted::from).collect(),
            frames: 0,
            reentrant_calls: 0,
            foreign_calls: 0,
        }
    }

    /// Returns the process' name and its pid, for messages.
    pub fn described(&self) -> String {
        format!("{} (pid {})", self.name, self.pid)
    }

    /// Returns whether `name` is the process' pid, its name or the file name of its executable.
    pub fn is_called(&self, name: &str) -> bool {
        is_called(name, (self.pid, &self.name, &self.exe))
    }
}

/// Returns whether `called` is this pid, this name or the file name of this executable.
pub fn is_called(called: &str, (pid, name, exe): (u32, &Untrusted, &Untrusted)) -> bool {
    let file = exe.raw().rsplit('/').next();
    !called.is_empty() && (called.parse() == Ok(pid) || *name == called || file == Some(called))
}

/// Returns whether a process has maps, and none of the memory file `inode`. A process that is dying has no maps.
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

/// Returns the names of the APIs that these bits of a hello stand for.
fn api_names(bits: u32) -> Vec<String> {
    let any_of = |api: &Api| match api {
        Api::Egl => app::API_EGL,
        Api::Glx => app::API_GLX,
        // A process calls its commands with those of EGL or GLX.
        Api::Gl => app::API_EGL | app::API_GLX,
        Api::LevelZero => app::API_LEVEL_ZERO,
    };
    let called = Api::ALL.into_iter().filter(|api| bits & any_of(api) != 0);
    called.map(|api| api.name().to_owned()).collect()
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(app::until_nul(field)).into_owned()
}

/// Locks. A panic under the lock leaves a valid mode page, or a valid list of rings.
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
        // The process is dying: its memory is gone, and the process is still there.
        check("", false);
    }
}
