//! The two small shared pages: the counter that every thread stamps from, and the mode word that
//! tells one process what to do.
//!
//! ```text
//! CounterPage  0  stamp u64     any producer adds      STAMP
//!             64  doorbell u32  any producer adds      futex of the drain
//!
//! ModePage     0  generation u64     odd while the rest changes   MODE
//!              8  mode u32           16  frames u64       32  stall_ns u64
//!             12  overflow u32       24  skip_frames u64  40  blob_epoch u32
//!             52  times_driver u32   48  observe_pixels u32  44  observe_frames u32
//!             56  keyframe_every u32 60  keyframes_asked u32
//!             64  drain_sleeping u32                      72  go u32  futex of the shim
//!             80  store u64           88  store_end u64
//!             96  unlimited u64          104  session [u64; 2]
//!            120  capture u64            128  takers u32 132  counts_submits u32
//! ```
//!
//! The counter page is writable by every application of a session: the daemon maps it, rings with
//! it, and believes nothing that stands there. The mode page is written by the daemon alone; the
//! descriptor that applications get cannot be mapped for writing.

use std::time::Duration;

use crate::futex;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(not(loom))]
pub use maps::{CounterMap, ModeMap, ModeWriter};

/// Bytes in each of the two pages' memory files.
pub const PAGE_BYTES: u64 = 4096;
/// How long a waiter waits for a daemon that releases nothing, unless told otherwise.
pub const STALL_NS_DEFAULT: u64 = 2_000_000_000;

/// The session's stamp counter and the drain's doorbell.
#[repr(C)]
pub struct CounterPage {
    pub(crate) stamp: AtomicU64,
    line_0: [u64; 7],
    doorbell: AtomicU32,
}

impl CounterPage {
    /// Takes the next stamp.
    #[inline(always)]
    pub fn next_stamp(&self) -> u64 {
        // Relaxed: STAMP needs one variable's coherence and no more.
        self.stamp.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// The newest stamp taken.
    #[inline(always)]
    pub fn newest_stamp(&self) -> u64 {
        // Relaxed: as above.
        self.stamp.load(Ordering::Relaxed)
    }

    /// Wakes the drain. Changes `errno`.
    pub fn ring_doorbell(&self) {
        // Relaxed: carries no data; heads are read with acquire, and a missed ring is allowed.
        self.doorbell.fetch_add(1, Ordering::Relaxed);
        futex::wake_all(&self.doorbell);
    }

    /// The doorbell's word: taken before the last look at the rings, given to
    /// [`Self::wait_doorbell`] after it.
    pub fn doorbell(&self) -> u32 {
        // Relaxed: as above.
        self.doorbell.load(Ordering::Relaxed)
    }

    /// Sleeps until somebody rings since `seen` was read, or for `timeout`.
    pub fn wait_doorbell(&self, seen: u32, timeout: Duration) {
        futex::wait(&self.doorbell, seen, timeout);
    }
}

/// What a process is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Mode {
    /// Record nothing.
    #[default]
    Idle = 0,
    /// Record.
    Capturing = 1,
    /// Do not go on before the daemon says what to do.
    Wait = 2,
}

impl Mode {
    const fn of_word(word: u32) -> Self {
        match word {
            1 => Self::Capturing,
            2 => Self::Wait,
            _ => Self::Idle,
        }
    }
}

/// What a thread does when its ring is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Overflow {
    /// Wait for room.
    #[default]
    Wait = 0,
    /// Leave records out, and count them.
    Drop = 1,
}

/// The settings of a [`ModePage`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModeSettings {
    /// What to do.
    pub mode: Mode,
    /// What to do when a ring is full.
    pub overflow: Overflow,
    /// Frames to record; 0 for no limit.
    pub frames: u64,
    /// Frames to let pass before.
    pub skip_frames: u64,
    /// Longest wait for a daemon that releases nothing, in nanoseconds.
    pub stall_ns: u64,
    /// Of every so many frames the first is observed; 0 for none.
    pub observe_frames: u32,
    /// Their pixels are kept, and not only the hash.
    pub observe_pixels: bool,
    /// How long the driver takes for each command is measured.
    pub times_driver: bool,
    /// After so many frames the process describes itself anew; 0 for never.
    pub keyframe_every: u32,
    /// Frames are what is given to a queue of a compute API's, also in a process that shows something.
    pub counts_submits: bool,
}

/// What a process may believe of the daemon's store of its blobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreTerms {
    /// What was sent under another number is not there any more. Only rises.
    pub number: u64,
    /// Up to where [`stored_bytes`](crate::SegmentHeader::stored_bytes) may rise.
    pub end: u64,
}

/// Which capture a process is in, for a daemon that takes the place of the one that began it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CaptureId {
    /// The session in which it began.
    pub session: [u8; 16],
    /// Its number there; 0 for none.
    pub number: u64,
}

impl Default for ModeSettings {
    fn default() -> Self {
        Self {
            mode: Mode::Idle,
            overflow: Overflow::Wait,
            frames: 0,
            skip_frames: 0,
            stall_ns: STALL_NS_DEFAULT,
            observe_frames: 0,
            observe_pixels: false,
            times_driver: false,
            keyframe_every: 0,
            counts_submits: false,
        }
    }
}

/// What the daemon tells one process.
#[repr(C)]
pub struct ModePage {
    generation: AtomicU64,
    mode: AtomicU32,
    overflow: AtomicU32,
    frames: AtomicU64,
    skip_frames: AtomicU64,
    stall_ns: AtomicU64,
    blob_epoch: AtomicU32,
    observe_frames: AtomicU32,
    observe_pixels: AtomicU32,
    times_driver: AtomicU32,
    keyframe_every: AtomicU32,
    keyframes_asked: AtomicU32,
    drain_sleeping: AtomicU32,
    line_1: u32,
    go: AtomicU32,
    line_2: u32,
    store: AtomicU64,
    store_end: AtomicU64,
    unlimited: AtomicU64,
    session: [AtomicU64; 2],
    capture: AtomicU64,
    takers: AtomicU32,
    counts_submits: AtomicU32,
}

impl ModePage {
    /// The generation: changes with every change of the settings. One load, for the call path.
    #[inline(always)]
    pub fn generation(&self) -> u64 {
        // MODE: pairs with the release in ModePage::publish.
        self.generation.load(Ordering::Acquire)
    }

    /// The settings and their generation, all of one moment. `None` while they change: the old ones
    /// hold, look again at the next safe point.
    pub fn settings(&self) -> Option<(u64, ModeSettings)> {
        let generation = self.generation();
        // Relaxed: the fence and the second look at the generation tell whether these are of one
        // moment.
        let settings = ModeSettings {
            mode: Mode::of_word(self.mode.load(Ordering::Relaxed)),
            overflow: match self.overflow.load(Ordering::Relaxed) {
                1 => Overflow::Drop,
                _ => Overflow::Wait,
            },
            frames: self.frames.load(Ordering::Relaxed),
            skip_frames: self.skip_frames.load(Ordering::Relaxed),
            stall_ns: self.stall_ns.load(Ordering::Relaxed),
            observe_frames: self.observe_frames.load(Ordering::Relaxed),
            observe_pixels: self.observe_pixels.load(Ordering::Relaxed) != 0,
            times_driver: self.times_driver.load(Ordering::Relaxed) != 0,
            keyframe_every: self.keyframe_every.load(Ordering::Relaxed),
            counts_submits: self.counts_submits.load(Ordering::Relaxed) != 0,
        };
        // MODE: pairs with the fence in ModePage::publish.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it.
        let steady = self.generation.load(Ordering::Relaxed) == generation;
        (steady && generation.is_multiple_of(2)).then_some((generation, settings))
    }

    /// Whether the drain says that it sleeps.
    #[inline(always)]
    pub fn drain_sleeps(&self) -> bool {
        // Relaxed: a hint; a wake may be missed.
        self.drain_sleeping.load(Ordering::Relaxed) != 0
    }

    /// Number of the store that blobs go to: those sent under another number must be sent again.
    /// Never goes back.
    #[inline(always)]
    pub fn blob_epoch(&self) -> u32 {
        // Relaxed: one variable's coherence; whoever records has seen settings that were published
        // after the number was raised.
        self.blob_epoch.load(Ordering::Relaxed)
    }

    /// What the daemon has room for of what snapshots send. One who reads it between two captures may
    /// get the number of the one with the end of the other.
    pub fn store(&self) -> StoreTerms {
        // Relaxed, both: as for the blob epoch. What is sent under an old number is not stored; what counts
        // to a wrong end shows when the daemon compares.
        let number = self.store.load(Ordering::Relaxed);
        StoreTerms { number, end: self.store_end.load(Ordering::Relaxed) }
    }

    /// The capture that the process is in, or was in last.
    pub fn capture(&self) -> CaptureId {
        // Relaxed: changed before the settings that begin a capture.
        let [low, high] = self.session.each_ref().map(|word| word.load(Ordering::Relaxed));
        let mut session = [0; 16];
        session[..8].copy_from_slice(&low.to_le_bytes());
        session[8..].copy_from_slice(&high.to_le_bytes());
        // Relaxed: as above.
        CaptureId { session, number: self.capture.load(Ordering::Relaxed) }
    }

    /// How many captures of the process could go on in their files, should the daemon die.
    pub fn takers(&self) -> u32 {
        // Relaxed: changed before the settings that begin a capture; later a number on its own.
        self.takers.load(Ordering::Relaxed)
    }

    /// How often a keyframe was asked for out of turn since the settings are what they are. A wish: it is
    /// looked at now and then.
    pub fn keyframes_asked(&self) -> u32 {
        // KEYFRAME: pairs with the release in ModePage::ask_keyframe.
        self.keyframes_asked.load(Ordering::Acquire)
    }

    /// Whether the settings of this generation hold without their limit of frames. Comes too late where the
    /// limit was reached meanwhile.
    pub fn has_no_frame_limit(&self, generation: u64) -> bool {
        // Relaxed: a number on its own.
        self.unlimited.load(Ordering::Relaxed) == generation
    }

    /// The word that changes after every change of the settings, for [`Self::wait_go`].
    pub fn go(&self) -> u32 {
        // MODE: pairs with the release in ModePage::publish.
        self.go.load(Ordering::Acquire)
    }

    /// Sleeps until the settings change since `seen` was read from [`Self::go`], or for `timeout`.
    /// Changes `errno`.
    pub fn wait_go(&self, seen: u32, timeout: Duration) {
        futex::wait(&self.go, seen, timeout);
    }

    /// Changes the settings; one thread of the daemon alone, and only where the page is mapped for
    /// writing. Returns the new generation, an even number.
    fn publish(&self, settings: ModeSettings) -> u64 {
        // Relaxed: we are the only writer.
        let changing = self.generation.load(Ordering::Relaxed) | 1;
        // Relaxed: the fence orders it before the settings.
        self.generation.store(changing, Ordering::Relaxed);
        // MODE: pairs with the fence in ModePage::settings.
        fence(Ordering::Release);
        // Relaxed: ordered by the fence before and the release after.
        self.mode.store(settings.mode as u32, Ordering::Relaxed);
        self.overflow.store(settings.overflow as u32, Ordering::Relaxed);
        self.frames.store(settings.frames, Ordering::Relaxed);
        self.skip_frames.store(settings.skip_frames, Ordering::Relaxed);
        self.stall_ns.store(settings.stall_ns, Ordering::Relaxed);
        self.observe_frames.store(settings.observe_frames, Ordering::Relaxed);
        self.observe_pixels.store(u32::from(settings.observe_pixels), Ordering::Relaxed);
        self.times_driver.store(u32::from(settings.times_driver), Ordering::Relaxed);
        self.keyframe_every.store(settings.keyframe_every, Ordering::Relaxed);
        self.counts_submits.store(u32::from(settings.counts_submits), Ordering::Relaxed);
        // Relaxed: as above. From here on, and not from when the settings are heard of.
        self.keyframes_asked.store(0, Ordering::Relaxed);
        let generation = changing.wrapping_add(1);
        // MODE: pairs with the acquire in ModePage::generation.
        self.generation.store(generation, Ordering::Release);
        // MODE: pairs with the acquire in ModePage::go.
        self.go.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.go);
        generation
    }

    #[cfg(not(loom))]
    fn raise_blob_epoch(&self) {
        // Relaxed: settings published later order it.
        self.blob_epoch.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    fn set_store(&self, terms: StoreTerms) {
        // Relaxed: settings published later order it.
        self.store.store(terms.number, Ordering::Relaxed);
        self.store_end.store(terms.end, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    fn set_capture(&self, id: CaptureId) {
        for (word, half) in self.session.iter().zip(id.session.as_chunks::<8>().0) {
            // Relaxed: settings published later order it.
            word.store(u64::from_le_bytes(*half), Ordering::Relaxed);
        }
        // Relaxed: as above.
        self.capture.store(id.number, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    fn set_takers(&self, takers: u32) {
        // Relaxed: as above.
        self.takers.store(takers, Ordering::Relaxed);
    }

    /// Takes over what `old` says, its generation too. `None`, and nothing of it: it was being changed
    /// when its writer died.
    #[cfg(not(loom))]
    fn copy(&self, old: &ModePage) -> Option<ModeSettings> {
        let (generation, settings) = old.settings()?;
        self.publish(settings);
        // Relaxed: nobody has this page yet; a system call hands it out.
        self.generation.store(generation, Ordering::Relaxed);
        // Relaxed: as above.
        self.blob_epoch.store(old.blob_epoch(), Ordering::Relaxed);
        // Relaxed: as above.
        self.keyframes_asked.store(old.keyframes_asked(), Ordering::Relaxed);
        self.unlimited.store(old.unlimited.load(Ordering::Relaxed), Ordering::Relaxed);
        self.set_store(old.store());
        self.set_capture(old.capture());
        self.set_takers(old.takers());
        Some(settings)
    }

    #[cfg(not(loom))]
    fn ask_keyframe(&self) {
        // KEYFRAME: pairs with the acquire in ModePage::keyframes_asked, so that the store's terms of before
        // hold for what the keyframe describes.
        self.keyframes_asked.fetch_add(1, Ordering::Release);
    }

    #[cfg(not(loom))]
    fn lift_frame_limit(&self) {
        // Relaxed, both: we are the only writer, and it is a number on its own.
        let generation = self.generation.load(Ordering::Relaxed);
        self.unlimited.store(generation, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    fn set_drain_sleeping(&self, sleeps: bool) {
        // Relaxed: a hint; a wake may be missed.
        self.drain_sleeping.store(u32::from(sleeps), Ordering::Relaxed);
    }
}

#[cfg(not(loom))]
mod maps {
    use std::io;
    use std::ops::Deref;
    use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

    use memmap2::{MmapOptions, MmapRaw};

    use super::{CaptureId, CounterPage, ModePage, ModeSettings, PAGE_BYTES, StoreTerms};
    use crate::memfd;
    use crate::segment::MapError;

    /// The counter page, mapped.
    #[derive(Debug)]
    pub struct CounterMap(MmapRaw);

    impl CounterMap {
        /// Makes a session's counter. The descriptor is for its applications.
        pub fn create() -> io::Result<(Self, OwnedFd)> {
            let fd = memfd::create(c"gapii-counter", PAGE_BYTES)?;
            let map = map_writable(&fd)?;
            memfd::seal(&fd, memfd::SEALS_SIZE)?;
            Ok((Self(map), fd))
        }

        /// Maps the counter that a daemon sent.
        pub fn map(fd: BorrowedFd<'_>) -> Result<Self, MapError> {
            memfd::check(fd, PAGE_BYTES)?;
            Ok(Self(map_writable(&fd)?))
        }
    }

    impl Deref for CounterMap {
        type Target = CounterPage;

        fn deref(&self) -> &CounterPage {
            // SAFETY: a page, mapped for writing while `self` lives and sealed against shrinking;
            // every word of the type that anyone touches is an atomic.
            unsafe { &*self.0.as_ptr().cast() }
        }
    }

    /// The mode page as an application maps it: for reading.
    #[derive(Debug)]
    pub struct ModeMap(MmapRaw);

    impl ModeMap {
        /// Maps the mode page that a daemon sent.
        pub fn map(fd: BorrowedFd<'_>) -> Result<Self, MapError> {
            memfd::check(fd, PAGE_BYTES)?;
            let map = MmapOptions::new().len(PAGE_BYTES as usize).map_raw_read_only(&fd)?;
            Ok(Self(map))
        }

        /// Puts the page of another daemon in the place of this one, at the same address: whoever reads
        /// meanwhile reads one or the other.
        pub fn replace(&self, fd: BorrowedFd<'_>) -> Result<(), MapError> {
            memfd::check(fd, PAGE_BYTES)?;
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let (at, len) = (self.0.as_mut_ptr().cast(), PAGE_BYTES as usize);
            // SAFETY: `at` and `len` are this map's own, which stays a readable page throughout: of a
            // memory file of that size that can't shrink.
            let mapped = unsafe { libc::mmap(at, len, libc::PROT_READ, flags, fd.as_raw_fd(), 0) };
            if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error().into()) } else { Ok(()) }
        }
    }

    impl Deref for ModeMap {
        type Target = ModePage;

        fn deref(&self) -> &ModePage {
            // SAFETY: a page, mapped while `self` lives and sealed against shrinking; all its
            // words are atomics, and what this type lends out only loads them.
            unsafe { &*self.0.as_ptr().cast() }
        }
    }

    /// The mode page as the daemon maps it: the only mapping that can write.
    #[derive(Debug)]
    pub struct ModeWriter(MmapRaw);

    impl ModeWriter {
        /// Makes one process' mode page, idle. The descriptor is for that process.
        pub fn create() -> io::Result<(Self, OwnedFd)> {
            let fd = memfd::create(c"gapii-mode", PAGE_BYTES)?;
            let writer = Self(map_writable(&fd)?);
            memfd::seal(&fd, memfd::SEALS_SIZE | libc::F_SEAL_FUTURE_WRITE)?;
            writer.publish(ModeSettings::default());
            Ok((writer, fd))
        }

        /// Makes a page that says what another daemon's said, and tells what that was. Where it was being
        /// changed when its writer died, idle and of the next generation.
        pub fn create_like(old: &ModePage) -> io::Result<(Self, OwnedFd, ModeSettings)> {
            let (writer, fd) = Self::create()?;
            let settings = writer.copy(old);
            if settings.is_none() {
                // Relaxed: nobody has this page yet.
                writer.generation.store(old.generation() | 1, super::Ordering::Relaxed);
                writer.publish(ModeSettings::default());
            }
            Ok((writer, fd, settings.unwrap_or_default()))
        }

        /// Says which capture the process is in; before the settings that begin it.
        pub fn set_capture(&mut self, id: CaptureId) {
            ModePage::set_capture(self, id);
        }

        /// Says how many captures of the process could go on in their files.
        pub fn set_takers(&mut self, takers: u32) {
            ModePage::set_takers(self, takers);
        }

        /// Changes the settings and wakes whoever waits for that. Returns the new generation.
        /// One thread at a time: hence `&mut`.
        pub fn set(&mut self, settings: ModeSettings) -> u64 {
            self.publish(settings)
        }

        /// Makes the process forget which blobs it has sent; before the settings that begin a
        /// capture.
        pub fn raise_blob_epoch(&mut self) {
            ModePage::raise_blob_epoch(self);
        }

        /// Says what there is room for of what snapshots send; before the settings that begin a
        /// capture.
        pub fn set_store(&mut self, terms: StoreTerms) {
            ModePage::set_store(self, terms);
        }

        /// Asks for a keyframe out of turn.
        pub fn ask_keyframe(&mut self) {
            ModePage::ask_keyframe(self);
        }

        /// The settings hold without their limit of frames, until they are others.
        pub fn lift_frame_limit(&mut self) {
            ModePage::lift_frame_limit(self);
        }

        /// Says whether the drain sleeps on the doorbell.
        pub fn set_drain_sleeping(&self, sleeps: bool) {
            ModePage::set_drain_sleeping(self, sleeps);
        }
    }

    impl Deref for ModeWriter {
        type Target = ModePage;

        fn deref(&self) -> &ModePage {
            // SAFETY: a page, mapped for writing while `self` lives and sealed against shrinking;
            // all its words are atomics.
            unsafe { &*self.0.as_ptr().cast() }
        }
    }

    fn map_writable(fd: &impl AsRawFd) -> io::Result<MmapRaw> {
        MmapOptions::new().len(PAGE_BYTES as usize).map_raw(fd.as_raw_fd())
    }
}

#[cfg(loom)]
impl CounterPage {
    /// A counter for a model.
    pub fn modelled() -> Self {
        Self { stamp: AtomicU64::new(0), line_0: [0; 7], doorbell: AtomicU32::new(0) }
    }
}

#[cfg(loom)]
impl ModePage {
    /// A mode page for a model.
    pub fn modelled() -> Self {
        Self {
            generation: AtomicU64::new(0),
            mode: AtomicU32::new(0),
            overflow: AtomicU32::new(0),
            frames: AtomicU64::new(0),
            skip_frames: AtomicU64::new(0),
            stall_ns: AtomicU64::new(0),
            blob_epoch: AtomicU32::new(0),
            observe_frames: AtomicU32::new(0),
            observe_pixels: AtomicU32::new(0),
            times_driver: AtomicU32::new(0),
            keyframe_every: AtomicU32::new(0),
            keyframes_asked: AtomicU32::new(0),
            drain_sleeping: AtomicU32::new(0),
            line_1: 0,
            go: AtomicU32::new(0),
            line_2: 0,
            store: AtomicU64::new(0),
            store_end: AtomicU64::new(0),
            unlimited: AtomicU64::new(0),
            session: [AtomicU64::new(0), AtomicU64::new(0)],
            capture: AtomicU64::new(0),
            takers: AtomicU32::new(0),
            counts_submits: AtomicU32::new(0),
        }
    }

    /// Changes the settings, as the daemon's writer does.
    pub fn publish_modelled(&self, settings: ModeSettings) -> u64 {
        self.publish(settings)
    }
}

#[cfg(not(loom))]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(CounterPage, stamp) == 0);
    assert!(offset_of!(CounterPage, doorbell) == 64);
    assert!(offset_of!(ModePage, generation) == 0);
    assert!(offset_of!(ModePage, mode) == 8);
    assert!(offset_of!(ModePage, overflow) == 12);
    assert!(offset_of!(ModePage, frames) == 16);
    assert!(offset_of!(ModePage, skip_frames) == 24);
    assert!(offset_of!(ModePage, stall_ns) == 32);
    assert!(offset_of!(ModePage, blob_epoch) == 40);
    assert!(offset_of!(ModePage, observe_frames) == 44);
    assert!(offset_of!(ModePage, observe_pixels) == 48);
    assert!(offset_of!(ModePage, times_driver) == 52);
    assert!(offset_of!(ModePage, keyframe_every) == 56);
    assert!(offset_of!(ModePage, keyframes_asked) == 60);
    assert!(offset_of!(ModePage, drain_sleeping) == 64);
    assert!(offset_of!(ModePage, go) == 72);
    assert!(offset_of!(ModePage, store) == 80);
    assert!(offset_of!(ModePage, store_end) == 88);
    assert!(offset_of!(ModePage, unlimited) == 96);
    assert!(offset_of!(ModePage, session) == 104);
    assert!(offset_of!(ModePage, capture) == 120);
    assert!(offset_of!(ModePage, takers) == 128);
    assert!(offset_of!(ModePage, counts_submits) == 132);
    assert!(size_of::<CounterPage>() as u64 <= PAGE_BYTES);
    assert!(size_of::<ModePage>() as u64 <= PAGE_BYTES);
};
