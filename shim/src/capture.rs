//! Whether this process records, decided at safe points from what the daemon's mode page says.
//!
//! A safe point is a command that every program makes now and then and that no hot loop consists
//! of. Only there do hooks change. [`EPOCH`] then tells every thread at its next command.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

use crossbeam_utils::{Backoff, CachePadded};
use gapii_abi::atom::{CAPTURE_END, CaptureEnd, KEYFRAME, Keyframe, ProcessEnd};
use gapii_edges::Epoch;
pub use gapii_edges::NOT_CAPTURING;
use gapii_ringbuf::{Mode, Overflow};

use crate::connection::Connection;
use crate::orphan::{self, Outlook};
use crate::process;
use crate::seats;
use crate::snapshot;
use crate::table::{self, Hooks};
use crate::thread;

/// Epochs start above every special value of a thread's ready word.
const FIRST_EPOCH: u64 = 16;
/// How often a waiting process looks whether the daemon still lives.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Number of the capture that runs in this process, and of its keyframe, or [`NOT_CAPTURING`]. Read at every recorded
/// command, so nothing that changes more often shares its cache line.
pub static EPOCH: CachePadded<Epoch> = CachePadded::new(Epoch::none());

static CAPTURE: Capture = Capture {
    switching: AtomicBool::new(false),
    last_epoch: AtomicU64::new(FIRST_EPOCH),
    generation: AtomicU64::new(0),
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
    counts_submits: AtomicBool::new(false),
    first_epoch: AtomicU64::new(0),
    keyframe_every: AtomicU32::new(0),
    next_keyframe: AtomicU64::new(0),
    keyframes_made: AtomicU32::new(0),
};

/// The capture that runs or is about to. All plain words: written under `switching`, read anywhere.
struct Capture {
    /// Set while a thread is changing any of this; others pass by.
    switching: AtomicBool,
    last_epoch: AtomicU64,
    /// Mode-page generation that this process acted on last.
    generation: AtomicU64,
    /// Waiting for the frame at which to begin.
    armed: AtomicBool,
    /// While armed: a frame boundary has been seen.
    at_boundary: AtomicBool,
    /// The capture that runs began with the process, or forgot nothing.
    from_the_start: AtomicBool,
    /// While armed: frames still to let pass.
    skip_frames: AtomicU64,
    /// Frames to record, 0 for no limit.
    frame_limit: AtomicU64,
    /// Frames recorded.
    frames: AtomicU64,
    /// Leave records out when a ring is full, rather than wait.
    drops: AtomicBool,
    stall_ns: AtomicU64,
    /// Of every so many frames the first is read back; 0 for none.
    observe_frames: AtomicU32,
    /// Their pixels are kept.
    observe_pixels: AtomicBool,
    /// How long the driver takes for each command is measured.
    times_driver: AtomicBool,
    /// Frames are what is given to a queue of Level Zero's, and not swaps.
    counts_submits: AtomicBool,
    /// The epoch that the capture began with; each keyframe has one more.
    first_epoch: AtomicU64,
    /// After so many frames there is a keyframe; 0 for never.
    keyframe_every: AtomicU32,
    /// Frames recorded when the next one is due.
    next_keyframe: AtomicU64,
    /// Of the keyframes that the daemon has asked for since it told of this capture, those that were made.
    keyframes_made: AtomicU32,
}

/// Where in the program a safe point is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the process' first command.
    FirstCommand,
    /// After any hooked command.
    Command,
    /// After a successful swap.
    FrameEnd,
    /// After the swap that ended the capture's last frame.
    LastFrame,
}

/// Acts on what the daemon wants by now. Called with no command of this thread in flight.
pub fn safe_point(moment: Moment) {
    if process::is_forked_child() {
        process::become_own_process();
        return;
    }
    if is_running()
        && let Some(seat) = seats::this_seat()
    {
        seat.know(epoch());
    }
    let backoff = Backoff::new();
    while CAPTURE.switching.swap(true, Acquire) {
        // Whoever is at it will do, unless only this thread knows that the capture is over.
        if moment != Moment::LastFrame {
            return;
        }
        backoff.snooze();
    }
    match process::connection() {
        Some(connection) => {
            if moment == Moment::LastFrame && is_running() {
                end(connection, ProcessEnd::Frames);
            }
            follow(connection, moment);
        }
        None if moment != Moment::FirstCommand => process::connect_again(),
        None => {}
    }
    CAPTURE.switching.store(false, Release);
}

/// Whether the process records.
pub fn is_running() -> bool {
    epoch() != NOT_CAPTURING
}

/// Number of the capture that runs, or [`NOT_CAPTURING`].
pub fn epoch() -> u64 {
    EPOCH.now()
}

/// Whether what the process did before this epoch is to be described in it.
pub fn began_in_the_middle(epoch: u64) -> bool {
    !CAPTURE.from_the_start.load(Relaxed) || !is_first_of_this_capture(epoch)
}

/// Whether the capture that runs has keyframes.
pub fn has_keyframes() -> bool {
    CAPTURE.keyframe_every.load(Relaxed) != 0
}

/// Whether an epoch is the one that the capture that runs began with.
pub fn is_first_of_this_capture(epoch: u64) -> bool {
    epoch == first_epoch()
}

/// Whether an epoch is one of the capture that runs.
pub fn is_of_this_capture(epoch: u64) -> bool {
    epoch >= first_epoch()
}

/// The epoch that the capture that runs began with.
pub fn first_epoch() -> u64 {
    CAPTURE.first_epoch.load(Relaxed)
}

/// Counts a successful swap; whether it belongs to the capture, and whether it is its last frame.
pub fn count_frame() -> (bool, bool) {
    let frame = CAPTURE.frames.fetch_add(1, Relaxed) + 1;
    let limit = frame_limit();
    (limit == 0 || frame <= limit, limit != 0 && frame == limit)
}

/// Frames to record, 0 for no limit. The daemon may lift a limit where others want more.
fn frame_limit() -> u64 {
    let limit = CAPTURE.frame_limit.load(Relaxed);
    let generation = CAPTURE.generation.load(Relaxed);
    let is_lifted =
        || process::connection().is_some_and(|daemon| daemon.mode.has_no_frame_limit(generation));
    if limit == 0 || !is_lifted() {
        return limit;
    }
    CAPTURE.frame_limit.store(0, Relaxed);
    0
}

/// The number of the frame that is about to end, and whether its pixels are kept; `None`: it is not
/// one to observe.
pub fn frame_to_observe() -> Option<(u64, bool)> {
    let every = u64::from(CAPTURE.observe_frames.load(Relaxed));
    let frame = CAPTURE.frames.load(Relaxed);
    let limit = frame_limit();
    let is_observed = every != 0 && frame.is_multiple_of(every) && (limit == 0 || frame < limit);
    is_observed.then(|| (frame, CAPTURE.observe_pixels.load(Relaxed)))
}

/// Whether frames are observed in the capture that runs.
pub fn observes_frames() -> bool {
    is_running() && CAPTURE.observe_frames.load(Relaxed) != 0
}

/// Whether the driver's time is measured in the capture that runs.
pub fn times_driver() -> bool {
    CAPTURE.times_driver.load(Relaxed)
}

/// Whether frames are what is given to a queue of Level Zero's, in a process that has swaps, too.
pub fn counts_submits() -> bool {
    CAPTURE.counts_submits.load(Relaxed) && (is_running() || CAPTURE.armed.load(Relaxed))
}

/// Leaves the capture at once because its ring stays full or its daemon is gone. The ring has no
/// room to say so; the daemon sees it in the segment's header.
pub fn leave_lost(connection: &Connection) {
    put_hooks_back(connection);
}

/// What to do when a ring is full.
pub fn overflow() -> Overflow {
    if CAPTURE.drops.load(Relaxed) { Overflow::Drop } else { Overflow::Wait }
}

/// How long a ring may stay full without a byte released, before the process leaves the capture.
pub fn stall_limit() -> Duration {
    Duration::from_nanos(CAPTURE.stall_ns.load(Relaxed))
}

/// In a forked child: there is no capture here.
pub fn forget() {
    EPOCH.end();
    CAPTURE.armed.store(false, Relaxed);
    CAPTURE.generation.store(0, Relaxed);
    CAPTURE.switching.store(false, Relaxed);
    orphan::forget();
    snapshot::forget();
    table::switch(process::hooks_at_rest());
}

/// Registers the last word of a process that exits in an orderly way.
fn announce_exit() {
    extern "C" fn at_exit() {
        if is_running() && process::connection().is_some() {
            write_capture_end(ProcessEnd::Exit);
        }
    }
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.swap(true, Relaxed) {
        // SAFETY: `at_exit` never unwinds; the library is never unloaded once it records.
        unsafe { libc::atexit(at_exit) };
    }
}

fn follow(connection: &Connection, moment: Moment) {
    if moment == Moment::FirstCommand {
        wait_for_go(connection);
    }
    let capturing = is_running();
    if (capturing || is_in_one(connection)) && connection.is_daemon_gone() {
        match outlook(connection) {
            Outlook::Open => return,
            Outlook::GoesOn => {}
            Outlook::Over => {
                put_hooks_back(connection);
                CAPTURE.armed.store(false, Relaxed);
                process::disconnect();
                return;
            }
        }
    }
    if !capturing && process::has_lost_daemon(connection) {
        process::disconnect();
        return;
    }
    let Some((generation, settings)) = connection.mode.settings() else { return };
    if generation != CAPTURE.generation.load(Relaxed) {
        if capturing {
            end(connection, ProcessEnd::Stop);
        }
        CAPTURE.generation.store(generation, Relaxed);
        CAPTURE.armed.store(settings.mode == Mode::Capturing, Relaxed);
        CAPTURE.at_boundary.store(moment == Moment::FirstCommand, Relaxed);
        CAPTURE.frame_limit.store(settings.frames, Relaxed);
        CAPTURE.skip_frames.store(settings.skip_frames, Relaxed);
        CAPTURE.drops.store(settings.overflow == Overflow::Drop, Relaxed);
        CAPTURE.stall_ns.store(settings.stall_ns, Relaxed);
        CAPTURE.observe_frames.store(settings.observe_frames, Relaxed);
        CAPTURE.observe_pixels.store(settings.observe_pixels, Relaxed);
        CAPTURE.times_driver.store(settings.times_driver, Relaxed);
        CAPTURE.counts_submits.store(settings.counts_submits, Relaxed);
        CAPTURE.keyframe_every.store(settings.keyframe_every, Relaxed);
        CAPTURE.keyframes_made.store(0, Relaxed);
    }
    if CAPTURE.armed.load(Relaxed) && is_time_to_begin(connection, moment) {
        begin(moment);
    } else if has_keyframes() && is_running() && is_time_for_keyframe(connection, moment) {
        begin_anew(connection);
    }
}

/// Whether the daemon, when it was heard of last, had the process in a capture, though that may have ended here.
fn is_in_one(connection: &Connection) -> bool {
    connection.mode.settings().is_some_and(|(_, wish)| wish.mode == Mode::Capturing)
}

/// What becomes of the capture now that its daemon is gone. What a daemon keeps in memory, or sends through a
/// pipe, is gone with it.
pub fn outlook(connection: &Connection) -> Outlook {
    if connection.mode.takers() == 0 { Outlook::Over } else { orphan::look(connection) }
}

/// Blocks while the daemon says wait and is there to say so.
fn wait_for_go(connection: &Connection) {
    loop {
        let go = connection.mode.go();
        let waits = connection.mode.settings().is_none_or(|(_, wish)| wish.mode == Mode::Wait);
        if !waits || connection.is_daemon_gone() {
            return;
        }
        connection.mode.wait_go(go, LOOK_AROUND);
    }
}

/// Whether an armed capture begins at this safe point: at the process' first command, else at a
/// frame boundary; for a program that has never swapped, at any.
fn is_time_to_begin(connection: &Connection, moment: Moment) -> bool {
    let skip = CAPTURE.skip_frames.load(Relaxed);
    match moment {
        Moment::FirstCommand => skip == 0,
        Moment::Command => skip == 0 && connection.segment.header().frames.load(Relaxed) == 0,
        _ if CAPTURE.at_boundary.swap(true, Relaxed) && skip > 0 => {
            CAPTURE.skip_frames.store(skip - 1, Relaxed);
            skip == 1
        }
        _ => skip == 0,
    }
}

fn begin(moment: Moment) {
    CAPTURE.from_the_start.store(moment == Moment::FirstCommand, Relaxed);
    CAPTURE.armed.store(false, Relaxed);
    CAPTURE.frames.store(0, Relaxed);
    CAPTURE.next_keyframe.store(u64::from(CAPTURE.keyframe_every.load(Relaxed)), Relaxed);
    let epoch = CAPTURE.last_epoch.fetch_add(1, Relaxed) + 1;
    CAPTURE.first_epoch.store(epoch, Relaxed);
    announce_exit();
    if has_keyframes() {
        gapii_edges::register_barrier();
    }
    // Hooks first: a thread that knows of the capture passes none of the old ones any more. Until
    // then handlers record nothing.
    table::switch(Hooks::Capturing);
    // BEGIN, in Epoch::begin: this thread has read the mode page.
    EPOCH.begin(epoch);
}

/// Whether there is a keyframe at this safe point: where a frame ends, or, for a program that has never
/// swapped, at any.
fn is_time_for_keyframe(connection: &Connection, moment: Moment) -> bool {
    let is_safe = match moment {
        Moment::FrameEnd => true,
        Moment::Command => connection.segment.header().frames.load(Relaxed) == 0,
        Moment::FirstCommand | Moment::LastFrame => false,
    };
    is_safe
        && (CAPTURE.frames.load(Relaxed) >= CAPTURE.next_keyframe.load(Relaxed)
            || CAPTURE.keyframes_made.load(Relaxed) != connection.mode.keyframes_asked())
}

/// Goes on with the capture as if it began here. Nothing is held: each thread describes what it finds
/// before its next command.
fn begin_anew(connection: &Connection) {
    let frame = CAPTURE.frames.load(Relaxed);
    // What is recorded under the next epoch has to come after the keyframe, so that goes first.
    if !thread::write_from_outside(KEYFRAME, &Keyframe { frame }.encode()) {
        return;
    }
    let every = u64::from(CAPTURE.keyframe_every.load(Relaxed));
    CAPTURE.next_keyframe.store(frame.saturating_add(every), Relaxed);
    CAPTURE.keyframes_made.store(connection.mode.keyframes_asked(), Relaxed);
    let epoch = CAPTURE.last_epoch.fetch_add(1, Relaxed) + 1;
    // BEGIN, in Epoch::begin: this thread has written the keyframe.
    EPOCH.begin(epoch);
}

fn end(connection: &Connection, reason: ProcessEnd) {
    write_capture_end(reason);
    put_hooks_back(connection);
}

fn put_hooks_back(connection: &Connection) {
    EPOCH.end();
    table::switch(process::hooks_at_rest());
    let generation = CAPTURE.generation.load(Relaxed);
    // ENDED: pairs with the acquire in Member::look, so that the daemon reads the last heads.
    connection.segment.header().ended_generation.store(generation, Release);
    connection.counter.ring_doorbell();
}

fn write_capture_end(reason: ProcessEnd) {
    let limit = CAPTURE.frame_limit.load(Relaxed);
    let frames = CAPTURE.frames.load(Relaxed).min(if limit == 0 { u64::MAX } else { limit });
    thread::write_from_outside(CAPTURE_END, &CaptureEnd { reason, frames }.encode());
}
