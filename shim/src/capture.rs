//! The capture that runs, or that is about to begin, as this process sees it: settings, frame count and frame limit,
//! which the daemon can lift while the capture runs. `leave` ends the capture in the process: hooks go back to rest.
//! `crate::safe_point` changes the settings; `crate::full_ring` says what a thread with a full ring does.

use core::sync::atomic::Ordering::{Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use gapii_edges::Epoch;
pub use gapii_edges::NOT_CAPTURING;
use gapii_ringbuf::Overflow;

use crate::connection::Connection;
use crate::frame_rule;
use crate::orphan;
use crate::process;
use crate::table::{self, Hooks};

/// Epochs begin above the special values of a thread's ready word.
const FIRST_EPOCH: u64 = 16;

/// Number of the running capture and of its newest keyframe, or [`NOT_CAPTURING`]. Every recorded command reads it,
/// so no word that changes more often shares its cache line.
pub static EPOCH: CachePadded<Epoch> = CachePadded::new(Epoch::none());

/// The words that safe points change.
pub static CAPTURE: Capture = Capture {
    switching: AtomicBool::new(false),
    last_epoch: AtomicU64::new(FIRST_EPOCH),
    generation: AtomicU64::new(0),
    order: AtomicU32::new(0),
    order_ns: AtomicU64::new(0),
    armed: AtomicBool::new(false),
    at_boundary: AtomicBool::new(false),
    from_the_start: AtomicBool::new(false),
    skip_frames: AtomicU64::new(0),
    frame_limit: AtomicU64::new(0),
    frames: AtomicU64::new(0),
    drops: AtomicBool::new(false),
    stall_ns: AtomicU64::new(0),
    observe_frames: AtomicU32::new(0),
    observe_pixels: AtomicBool::new(false),
    times_driver: AtomicBool::new(false),
    times_gpu: AtomicBool::new(false),
    counts_submits: AtomicBool::new(false),
    at_any_command: AtomicBool::new(false),
    attach_bytes: AtomicU64::new(0),
    first_epoch: AtomicU64::new(0),
    keyframe_every: AtomicU32::new(0),
    next_keyframe: AtomicU64::new(0),
    keyframes_made: AtomicU32::new(0),
    keyframe_at_made: AtomicU64::new(0),
};

/// The capture that runs, or that is about to begin. All words are plain: the thread that holds `switching` writes
/// them, any thread reads them.
pub struct Capture {
    /// Set while a thread changes these words. Other threads do not wait for it; they skip their safe point.
    pub switching: AtomicBool,
    /// The newest epoch of this process; the next one is one more.
    pub last_epoch: AtomicU64,
    /// Generation of the mode page that this process acted on last.
    pub generation: AtomicU64,
    /// The newest order of the daemon that a safe point has seen, as [`crate::orders::newest`] numbers it.
    pub order: AtomicU32,
    /// When a safe point saw that order first, in nanoseconds.
    pub order_ns: AtomicU64,
    /// A capture was ordered and waits for the frame at which it begins.
    pub armed: AtomicBool,
    /// While armed: a frame has ended since the order.
    pub at_boundary: AtomicBool,
    /// The running capture began at the process' first command, so there is no earlier state to describe.
    pub from_the_start: AtomicBool,
    /// While armed: frames still to be skipped before the capture begins.
    pub skip_frames: AtomicU64,
    /// Frames to record, 0 for no limit.
    pub frame_limit: AtomicU64,
    /// Frames recorded.
    pub frames: AtomicU64,
    /// When a ring is full, drop records instead of waiting.
    pub drops: AtomicBool,
    /// How long a ring may stay full, with no byte released, before the process leaves the capture.
    pub stall_ns: AtomicU64,
    /// One of every `observe_frames` frames is read back, beginning with the first; 0 for none.
    pub observe_frames: AtomicU32,
    /// The pixels of observed frames are kept, and not only their hashes.
    pub observe_pixels: AtomicBool,
    /// The time that the driver takes for each command is measured.
    pub times_driver: AtomicBool,
    /// The time that the GPU takes for commands is measured.
    pub times_gpu: AtomicBool,
    /// A frame ends with a submit to a Level Zero queue, and not with a swap.
    pub counts_submits: AtomicBool,
    /// The capture begins at the next command, also if the process has ended frames.
    pub at_any_command: AtomicBool,
    /// Bytes of contents that the first snapshot may copy, to send them while the program runs on.
    pub attach_bytes: AtomicU64,
    /// The epoch with which the capture began. Each keyframe adds one to the epoch.
    pub first_epoch: AtomicU64,
    /// Frames from one keyframe to the next; 0 for never.
    pub keyframe_every: AtomicU32,
    /// The number of recorded frames at which the next keyframe is due.
    pub next_keyframe: AtomicU64,
    /// How many of the keyframes that the daemon has asked for in this capture were made.
    pub keyframes_made: AtomicU32,
    /// The frame of the last keyframe that the daemon has asked for at a certain frame; 0 for none in this capture.
    pub keyframe_at_made: AtomicU64,
}

/// Whether the process records.
pub fn is_running() -> bool {
    epoch() != NOT_CAPTURING
}

/// Returns the number of the running capture, or [`NOT_CAPTURING`].
pub fn epoch() -> u64 {
    EPOCH.now()
}

/// Whether the state that the process set up before this epoch has to be described in it.
pub fn began_in_the_middle(epoch: u64) -> bool {
    !CAPTURE.from_the_start.load(Relaxed) || !is_first_of_this_capture(epoch)
}

/// Whether the running capture has periodic keyframes.
pub fn has_keyframes() -> bool {
    CAPTURE.keyframe_every.load(Relaxed) != 0
}

/// Whether `epoch` is the one with which the running capture began.
pub fn is_first_of_this_capture(epoch: u64) -> bool {
    epoch == first_epoch()
}

/// Whether `epoch` belongs to the running capture.
pub fn is_of_this_capture(epoch: u64) -> bool {
    epoch >= first_epoch()
}

/// Returns the epoch with which the running capture began.
pub fn first_epoch() -> u64 {
    CAPTURE.first_epoch.load(Relaxed)
}

/// Counts a frame that has ended. Returns whether the frame belongs to the capture, and whether it is the capture's
/// last.
pub fn count_frame() -> (bool, bool) {
    let frame = CAPTURE.frames.fetch_add(1, Relaxed) + 1;
    let limit = frame_limit();
    (limit == 0 || frame <= limit, limit != 0 && frame == limit)
}

/// Returns the number of frames to record, 0 for no limit. The daemon can lift the limit when another capture of this
/// process wants more frames.
fn frame_limit() -> u64 {
    let limit = CAPTURE.frame_limit.load(Relaxed);
    if limit == 0 || !has_several_takers() {
        return limit;
    }
    CAPTURE.frame_limit.store(0, Relaxed);
    0
}

/// Returns the number of the frame that is about to end, and whether its pixels are kept. `None`: this frame is not
/// observed.
pub fn frame_to_observe() -> Option<(u64, bool)> {
    let every = u64::from(CAPTURE.observe_frames.load(Relaxed));
    let frame = CAPTURE.frames.load(Relaxed);
    let limit = frame_limit();
    let is_observed = every != 0 && frame.is_multiple_of(every) && (limit == 0 || frame < limit);
    is_observed.then(|| (frame, CAPTURE.observe_pixels.load(Relaxed)))
}

/// Bytes of contents that the first snapshot of the capture may copy, to send them while the program runs on.
pub fn attach_bytes() -> u64 {
    CAPTURE.attach_bytes.load(Relaxed)
}

/// Whether another capture has joined the running one, as far as the daemon has said so by now.
pub fn has_several_takers() -> bool {
    let generation = CAPTURE.generation.load(Relaxed);
    process::connection().is_some_and(|daemon| daemon.shared.mode.has_no_frame_limit(generation))
}

/// Whether the running capture observes frames.
pub fn observes_frames() -> bool {
    is_running() && CAPTURE.observe_frames.load(Relaxed) != 0
}

/// Whether the running capture measures the driver's time.
pub fn times_driver() -> bool {
    CAPTURE.times_driver.load(Relaxed)
}

/// Whether the running capture measures the GPU's time.
pub fn times_gpu() -> bool {
    CAPTURE.times_gpu.load(Relaxed)
}

/// Whether the frame that is about to end is the last one of the running capture, or of this process' part in it: its limit
/// is reached, or the daemon has given an order.
pub fn is_about_to_end() -> bool {
    let limit = frame_limit();
    let is_last = limit != 0 && CAPTURE.frames.load(Relaxed) + 1 >= limit;
    let Some(connection) = process::connection() else { return is_last };
    let newest = connection.shared.mode.settings().map(|(generation, _)| generation);
    is_last || newest.is_some_and(|newest| newest != CAPTURE.generation.load(Relaxed))
}

/// Whether submits to a Level Zero queue end frames even though the process may have swaps.
pub fn counts_submits() -> bool {
    CAPTURE.counts_submits.load(Relaxed) && (is_running() || CAPTURE.armed.load(Relaxed))
}

/// How long a ring may stay full, with no byte released, before the process leaves the capture.
pub fn stall_limit() -> Duration {
    Duration::from_nanos(CAPTURE.stall_ns.load(Relaxed))
}

/// The choice of a thread that finds no room in its ring, or no slot. A process whose daemon is gone waits for 0.5 s only.
pub fn overflow() -> Overflow {
    match CAPTURE.drops.load(Relaxed) || orphan::is_out_of_patience() {
        true => Overflow::Drop,
        false => Overflow::Wait,
    }
}

/// Returns what becomes of the capture now that its daemon is gone. Captures that the daemon kept in memory or sent
/// through a pipe are gone with it: they do not count as takers in the mode page.
pub fn outlook(connection: &Connection) -> orphan::Fate {
    match connection.shared.mode.takers() {
        0 => orphan::Fate::Over,
        _ => orphan::look(connection),
    }
}

/// Ends the capture in this process: hooks go back to rest, and the daemon hears of it.
pub fn leave(connection: &Connection) {
    EPOCH.end();
    frame_rule::forget();
    table::switch(Hooks::at_rest());
    let generation = CAPTURE.generation.load(Relaxed);
    let shared = &connection.shared;
    // ENDED: pairs with the acquire in Member::look, so that the daemon reads the last heads.
    shared.segment.header().ended_generation.store(generation, Release);
    shared.counter.ring_doorbell();
}
