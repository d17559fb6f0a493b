//! Operations of both sides on a `ModePage`: the daemon changes the settings, the application reads them. A reader that
//! meets a change keeps its old settings and looks again at its next safe point; it never spins, so a daemon that dies
//! while it writes blocks no thread. An unknown mode reads as idle, an unknown overflow as wait. Default of the stall
//! limit: `STALL_NS_DEFAULT`, 2 s.
//!
//! The layout, and the sequence lock around the settings, are in [`crate::layout`].

use std::num::NonZeroU64;
use std::time::Duration;

use crate::futex;
#[cfg(not(loom))]
use crate::layout::FRAME_RULE_BYTES;
use crate::layout::{Mode, ModePage, Overflow};
#[cfg(loom)]
use crate::sync::AtomicU64;
use crate::sync::{AtomicU32, Ordering, fence};

/// Default of [`ModeSettings::stall_ns`]: 2 s.
pub const STALL_NS_DEFAULT: u64 = 2_000_000_000;

/// The settings of a [`ModePage`]: the words that change together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModeSettings {
    /// The daemon's order to the process.
    pub mode: Mode,
    /// Behaviour of a thread whose ring is full.
    pub overflow: Overflow,
    /// Frames to record; 0 for no limit.
    pub frames: u64,
    /// Frames to let pass before the capture begins.
    pub skip_frames: u64,
    /// Longest wait for a daemon that releases nothing, in nanoseconds. Default: 2 s.
    pub stall_ns: u64,
    /// The first frame of every n is observed; 0 observes none.
    pub observe_frames: u32,
    /// The pixels of observed frames are kept, not only their hash.
    pub observe_pixels: bool,
    /// The time of each command in the driver is measured.
    pub times_driver: bool,
    /// The time of each command on the GPU is measured.
    pub times_gpu: bool,
    /// Frames from one keyframe to the next; 0 for no keyframes.
    pub keyframe_every: u32,
    /// A frame is a submission to a queue of a compute API, also in a process that swaps buffers.
    pub counts_submits: bool,
    /// The capture begins at the next command, not at the end of a frame.
    pub at_any_command: bool,
    /// Bytes of contents that a snapshot may copy, to send them while the program runs on; 0 for none.
    pub attach_bytes: u64,
}

/// Terms of the daemon's store: the blobs of a process that it holds, and the number of bytes that it still
/// takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreTerms {
    /// Number of the store. Blobs that were sent under another number are gone. 0: no store. Only rises while
    /// there is one.
    pub number: u64,
    /// Value that [`stored_bytes`](crate::SegmentHeader::stored_bytes) must not exceed.
    pub end: u64,
}

/// Names the capture of a process, for a daemon that takes the place of the one that began it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CaptureId {
    /// Id of the session in which the capture began.
    pub session: [u8; 16],
    /// Number of the capture in that session; 0 for none.
    pub number: u64,
}

/// Bits of the page's word `times`.
const TIMES_DRIVER: u32 = 1;
const TIMES_GPU: u32 = 2;

/// Bits of the page's word `frames_how`.
const COUNTS_SUBMITS: u32 = 1;
const AT_ANY_COMMAND: u32 = 2;

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
            times_gpu: false,
            keyframe_every: 0,
            counts_submits: false,
            at_any_command: false,
            attach_bytes: 0,
        }
    }
}

/// Returns the bits that are on, in one word.
fn bits(of: [(bool, u32); 2]) -> u32 {
    of.into_iter().filter(|(is_on, _)| *is_on).fold(0, |bits, it| bits | it.1)
}

impl ModePage {
    /// The generation, which changes with every change of the settings. One load, for the call path.
    #[inline(always)]
    pub fn generation(&self) -> u64 {
        // MODE: pairs with the release in ModePage::publish.
        self.generation.load(Ordering::Acquire)
    }

    /// The generation and its settings, all of one moment. `None` while they change: keep the old settings
    /// and look again at the next safe point. Never spins, so a daemon that dies while it writes blocks
    /// no thread.
    pub fn settings(&self) -> Option<(u64, ModeSettings)> {
        let generation = self.generation();
        // Relaxed: the fence and the second load of the generation show whether these are of one moment.
        let times = self.times.load(Ordering::Relaxed);
        // Relaxed: as above.
        let frames_how = self.frames_how.load(Ordering::Relaxed);
        let settings = ModeSettings {
            mode: Mode::of_word(self.mode.load(Ordering::Relaxed)),
            overflow: Overflow::of_word(self.overflow.load(Ordering::Relaxed)),
            frames: self.frames.load(Ordering::Relaxed),
            skip_frames: self.skip_frames.load(Ordering::Relaxed),
            stall_ns: self.stall_ns.load(Ordering::Relaxed),
            observe_frames: self.observe_frames.load(Ordering::Relaxed),
            observe_pixels: self.observe_pixels.load(Ordering::Relaxed) != 0,
            times_driver: times & TIMES_DRIVER != 0,
            times_gpu: times & TIMES_GPU != 0,
            keyframe_every: self.keyframe_every.load(Ordering::Relaxed),
            counts_submits: frames_how & COUNTS_SUBMITS != 0,
            at_any_command: frames_how & AT_ANY_COMMAND != 0,
            attach_bytes: self.attach_bytes.load(Ordering::Relaxed),
        };
        // MODE: pairs with the fence in ModePage::publish.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it.
        let steady = self.generation.load(Ordering::Relaxed) == generation;
        (steady && generation.is_multiple_of(2)).then_some((generation, settings))
    }

    /// Whether the drain sleeps and must be woken by the doorbell.
    #[inline(always)]
    pub fn drain_sleeps(&self) -> bool {
        // Relaxed: a hint; a missed wake-up costs 20 ms.
        self.drain_sleeping.load(Ordering::Relaxed) != 0
    }

    /// Number under which blobs count as sent: blobs that were sent under another number must be sent again.
    /// Only rises.
    #[inline(always)]
    pub fn blob_epoch(&self) -> u32 {
        // Relaxed: coherence of one variable; a thread that records has seen settings (MODE, BEGIN) that were
        // published after the number was raised.
        self.blob_epoch.load(Ordering::Relaxed)
    }

    /// Returns the terms of the daemon's store. A reader between two captures may get the number of one and the
    /// end of the other.
    pub fn store(&self) -> StoreTerms {
        // Relaxed, both: as for the blob epoch. A piece that is sent under an old number is not stored; bytes
        // that are counted against a wrong end show when the daemon compares.
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

    /// Number of captures of the process that could continue in their files if the daemon died.
    pub fn takers(&self) -> u32 {
        // Relaxed: changed before the settings that begin a capture; later a number on its own.
        self.takers.load(Ordering::Relaxed)
    }

    /// Number of keyframes that the daemon has asked for under the present settings. The shim compares it
    /// with the number of those it has made, at the end of each frame.
    pub fn keyframes_asked(&self) -> u32 {
        // KEYFRAME: pairs with the release in ModePage::ask_keyframe.
        self.keyframes_asked.load(Ordering::Acquire)
    }

    /// Number of frames of the process ([`SegmentHeader::frames`](crate::SegmentHeader::frames)) behind which the daemon
    /// wants a keyframe under the present settings. `None`: none is wanted at a certain frame.
    pub fn keyframe_at(&self) -> Option<NonZeroU64> {
        // KEYFRAME: pairs with the release in ModePage::ask_keyframe_at.
        NonZeroU64::new(self.keyframe_at.load(Ordering::Acquire))
    }

    /// Returns the rule that says which commands end a frame under the settings of this generation; all zeros if swaps do.
    /// `None` if the daemon has changed the settings since, or is changing them.
    #[cfg(not(loom))]
    pub fn frame_rule(&self, generation: u64) -> Option<[u8; FRAME_RULE_BYTES]> {
        let mut text = [0; FRAME_RULE_BYTES];
        for (bytes, word) in text.as_chunks_mut::<8>().0.iter_mut().zip(&self.frame_rule) {
            // Relaxed: changed before the settings of a generation, and the fence and the load below show whether the
            // generation is still the same.
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        // MODE: pairs with the fence in ModePage::set_frame_rule.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it.
        (self.generation.load(Ordering::Relaxed) == generation).then_some(text)
    }

    /// Whether the frame limit of this generation's settings is lifted. May come too late: the shim may have
    /// reached the limit already.
    pub fn has_no_frame_limit(&self, generation: u64) -> bool {
        // Relaxed: a number on its own.
        self.unlimited.load(Ordering::Relaxed) == generation
    }

    /// The word that changes after every order: new settings, and a wish for a keyframe. For the call path, and for
    /// [`Self::wait_order`].
    pub fn orders(&self) -> &AtomicU32 {
        &self.orders
    }

    /// Sleeps until there is an order after `seen`, a value of [`Self::orders`], for `timeout` at most. Changes `errno`.
    pub fn wait_order(&self, seen: u32, timeout: Duration) {
        futex::wait(&self.orders, seen, timeout);
    }

    /// Changes the settings and returns the new generation, an even number. Only one thread of the daemon at
    /// a time, and only where the page is mapped for writing.
    pub(crate) fn publish(&self, settings: ModeSettings) -> u64 {
        // Relaxed: this is the only writer.
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
        let times = bits([(settings.times_driver, TIMES_DRIVER), (settings.times_gpu, TIMES_GPU)]);
        self.times.store(times, Ordering::Relaxed);
        self.keyframe_every.store(settings.keyframe_every, Ordering::Relaxed);
        let frames_how = bits([
            (settings.counts_submits, COUNTS_SUBMITS),
            (settings.at_any_command, AT_ANY_COMMAND),
        ]);
        self.frames_how.store(frames_how, Ordering::Relaxed);
        self.attach_bytes.store(settings.attach_bytes, Ordering::Relaxed);
        // Relaxed: as above. Wishes count from here on, not from when the process reads the settings: one
        // that comes before that is a wish for the new capture.
        self.keyframes_asked.store(0, Ordering::Relaxed);
        self.keyframe_at.store(0, Ordering::Relaxed);
        let generation = changing.wrapping_add(1);
        // MODE: pairs with the acquire in ModePage::generation.
        self.generation.store(generation, Ordering::Release);
        // MODE: pairs with the acquire in the shim's orders::newest, and in wait::for_capture.
        self.orders.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.orders);
        generation
    }

    pub(crate) fn raise_blob_epoch(&self) {
        // Relaxed: settings published later order it.
        self.blob_epoch.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    pub(crate) fn set_store(&self, terms: StoreTerms) {
        // Relaxed: settings published later order it.
        self.store.store(terms.number, Ordering::Relaxed);
        self.store_end.store(terms.end, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    pub(crate) fn set_capture(&self, id: CaptureId) {
        for (word, half) in self.session.iter().zip(id.session.as_chunks::<8>().0) {
            // Relaxed: settings published later order it.
            word.store(u64::from_le_bytes(*half), Ordering::Relaxed);
        }
        // Relaxed: as above.
        self.capture.store(id.number, Ordering::Relaxed);
    }

    /// Changes the rule that says which commands end a frame; a longer text is cut. The settings change next: until then a
    /// reader of the rule gets nothing.
    #[cfg(not(loom))]
    pub(crate) fn set_frame_rule(&self, text: &[u8]) {
        // Relaxed: this is the only writer.
        let changing = self.generation.load(Ordering::Relaxed) | 1;
        // Relaxed: the fence orders it before the text.
        self.generation.store(changing, Ordering::Relaxed);
        // MODE: pairs with the fence in ModePage::frame_rule.
        fence(Ordering::Release);
        let mut bytes = text.iter().copied().chain(std::iter::repeat(0));
        for word in &self.frame_rule {
            let next = std::array::from_fn(|_| bytes.next().unwrap_or(0));
            // Relaxed: ordered by the fence before and the settings after.
            word.store(u64::from_le_bytes(next), Ordering::Relaxed);
        }
    }

    #[cfg(not(loom))]
    pub(crate) fn set_takers(&self, takers: u32) {
        // Relaxed: as above.
        self.takers.store(takers, Ordering::Relaxed);
    }

    /// Copies everything from `old`, its generation included. `None`, and nothing copied, if its writer died
    /// while it changed the settings.
    #[cfg(not(loom))]
    pub(crate) fn copy(&self, old: &ModePage) -> Option<ModeSettings> {
        let (generation, settings) = old.settings()?;
        let frame_rule = old.frame_rule(generation)?;
        self.set_frame_rule(&frame_rule);
        self.publish(settings);
        // Relaxed: no other process has this page yet; a system call hands it out.
        self.generation.store(generation, Ordering::Relaxed);
        // Relaxed: as above.
        self.blob_epoch.store(old.blob_epoch(), Ordering::Relaxed);
        // Relaxed: as above.
        self.keyframes_asked.store(old.keyframes_asked(), Ordering::Relaxed);
        self.keyframe_at.store(old.keyframe_at.load(Ordering::Relaxed), Ordering::Relaxed);
        // Relaxed: as above. The process notices the new page.
        self.orders.store(old.orders.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.unlimited.store(old.unlimited.load(Ordering::Relaxed), Ordering::Relaxed);
        self.set_store(old.store());
        self.set_capture(old.capture());
        self.set_takers(old.takers());
        Some(settings)
    }

    #[cfg(not(loom))]
    pub(crate) fn ask_keyframe(&self) {
        // KEYFRAME: pairs with the acquire in ModePage::keyframes_asked, so that the store's terms which were
        // written before hold for the keyframe's description.
        self.keyframes_asked.fetch_add(1, Ordering::Release);
        // KEYFRAME: pairs with the acquire in the shim's orders::newest.
        self.orders.fetch_add(1, Ordering::Release);
    }

    #[cfg(not(loom))]
    pub(crate) fn ask_keyframe_at(&self, frame: NonZeroU64) {
        // KEYFRAME: pairs with the acquire in ModePage::keyframe_at; for the store's terms, as above.
        self.keyframe_at.store(frame.get(), Ordering::Release);
    }

    #[cfg(not(loom))]
    pub(crate) fn lift_frame_limit(&self) {
        // Relaxed, both: this is the only writer, and the word is a number on its own.
        let generation = self.generation.load(Ordering::Relaxed);
        self.unlimited.store(generation, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    pub(crate) fn set_drain_sleeping(&self, sleeps: bool) {
        // Relaxed: a hint; a missed wake-up costs 20 ms.
        self.drain_sleeping.store(u32::from(sleeps), Ordering::Relaxed);
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
            times: AtomicU32::new(0),
            keyframe_every: AtomicU32::new(0),
            keyframes_asked: AtomicU32::new(0),
            orders: AtomicU32::new(0),
            line_1: 0,
            store: AtomicU64::new(0),
            store_end: AtomicU64::new(0),
            unlimited: AtomicU64::new(0),
            session: [AtomicU64::new(0), AtomicU64::new(0)],
            capture: AtomicU64::new(0),
            takers: AtomicU32::new(0),
            frames_how: AtomicU32::new(0),
            drain_sleeping: AtomicU32::new(0),
            line_2: 0,
            keyframe_at: AtomicU64::new(0),
            attach_bytes: AtomicU64::new(0),
        }
    }

    /// Changes the settings, as the daemon's writer does.
    pub fn publish_modelled(&self, settings: ModeSettings) -> u64 {
        self.publish(settings)
    }
    /// Makes blobs count as not sent, as the daemon's writer does.
    pub fn raise_blob_epoch_modelled(&self) {
        self.raise_blob_epoch();
    }
}
