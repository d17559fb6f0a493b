//! Whether this process records. A safe point decides it from what the daemon wrote into the mode page.
//!
//! A safe point is a command that every program calls now and then, but not in a hot loop. Hooks change only at safe
//! points. [`EPOCH`] then tells every thread at its next command.

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

/// Epochs begin above the special values of a thread's ready word.
const FIRST_EPOCH: u64 = 16;
/// How often a process that waits for a capture checks that the daemon is alive.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Number of the running capture and of its newest keyframe, or [`NOT_CAPTURING`]. Every recorded command reads it,
/// so no word that changes more often shares its cache line.
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

/// The capture that runs, or that is about to begin. All words are plain: the thread that holds `switching` writes
/// them, any thread reads them.
struct Capture {
    /// Set while a thread changes these words. Other threads do not wait for it; they skip their safe point.
    switching: AtomicBool,
    last_epoch: AtomicU64,
    /// Generation of the mode page that this process acted on last.
    generation: AtomicU64,
    /// A capture was ordered and waits for the frame at which it begins.
    armed: AtomicBool,
    /// While armed: a frame has ended since the order.
    at_boundary: AtomicBool,
    /// The running capture began at the process' first command, so there is no earlier state to describe.
    from_the_start: AtomicBool,
    /// While armed: frames still to be skipped before the capture begins.
    skip_frames: AtomicU64,
    /// Frames to record, 0 for no limit.
    frame_limit: AtomicU64,
    /// Frames recorded.
    frames: AtomicU64,
    /// When a ring is full, drop records instead of waiting.
    drops: AtomicBool,
    stall_ns: AtomicU64,
    /// One of every `observe_frames` frames is read back, beginning with the first; 0 for none.
    observe_frames: AtomicU32,
    /// The pixels of observed frames are kept, and not only their hashes.
    observe_pixels: AtomicBool,
    /// The time that the driver takes for each command is measured.
    times_driver: AtomicBool,
    /// A frame ends with a submit to a Level Zero queue, and not with a swap.
    counts_submits: AtomicBool,
    /// The epoch with which the capture began. Each keyframe adds one to the epoch.
    first_epoch: AtomicU64,
    /// Frames from one keyframe to the next; 0 for never.
    keyframe_every: AtomicU32,
    /// The number of recorded frames at which the next keyframe is due.
    next_keyframe: AtomicU64,
    /// How many of the keyframes that the daemon has asked for in this capture were made.
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

/// Acts on the daemon's latest orders. No command of this thread may be in flight.
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
        // The thread that holds `switching` does the work. Only this thread knows that the capture is over after its
        // last frame, so then it waits.
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
    let generation = CAPTURE.generation.load(Relaxed);
    let is_lifted =
        || process::connection().is_some_and(|daemon| daemon.mode.has_no_frame_limit(generation));
    if limit == 0 || !is_lifted() {
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

/// Whether the running capture observes frames.
pub fn observes_frames() -> bool {
    is_running() && CAPTURE.observe_frames.load(Relaxed) != 0
}

/// Whether the running capture measures the driver's time.
pub fn times_driver() -> bool {
    CAPTURE.times_driver.load(Relaxed)
}

/// Whether submits to a Level Zero queue end frames even though the process may have swaps.
pub fn counts_submits() -> bool {
    CAPTURE.counts_submits.load(Relaxed) && (is_running() || CAPTURE.armed.load(Relaxed))
}

/// Leaves the capture at once, because a ring stays full or the daemon is gone. The ring has no room for a record
/// that says so; the daemon reads it in the segment's header.
pub fn leave_lost(connection: &Connection) {
    put_hooks_back(connection);
}

/// What a thread does when its ring is full.
pub fn overflow() -> Overflow {
    if CAPTURE.drops.load(Relaxed) { Overflow::Drop } else { Overflow::Wait }
}

/// How long a ring may stay full, with no byte released, before the process leaves the capture.
pub fn stall_limit() -> Duration {
    Duration::from_nanos(CAPTURE.stall_ns.load(Relaxed))
}

/// Ends the capture in a forked child, where it is the parent's.
pub fn forget() {
    EPOCH.end();
    CAPTURE.armed.store(false, Relaxed);
    CAPTURE.generation.store(0, Relaxed);
    CAPTURE.switching.store(false, Relaxed);
    orphan::forget();
    snapshot::forget();
    table::switch(process::hooks_at_rest());
}

/// Registers an `atexit` handler that writes the end of the capture when the process exits normally.
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

/// Whether the daemon's latest settings have the process in a capture. That capture may have ended here already.
fn is_in_one(connection: &Connection) -> bool {
    connection.mode.settings().is_some_and(|(_, wish)| wish.mode == Mode::Capturing)
}

/// Returns what becomes of the capture now that its daemon is gone. Captures that the daemon kept in memory or sent
/// through a pipe are gone with it: they do not count as takers in the mode page.
pub fn outlook(connection: &Connection) -> Outlook {
    if connection.mode.takers() == 0 { Outlook::Over } else { orphan::look(connection) }
}

/// Blocks while the mode page says "wait" and the daemon is alive.
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

/// Whether an armed capture begins at this safe point. A capture begins at the process' first command or at a frame
/// boundary; in a program that has never ended a frame, at any safe point.
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
    // Hooks first: a thread that knows the new epoch must not call through the old hooks any more. Until the epoch is
    // set, handlers record nothing.
    table::switch(Hooks::Capturing);
    // BEGIN, in Epoch::begin: this thread has read the mode page.
    EPOCH.begin(epoch);
}

/// Whether a keyframe is written at this safe point: at the end of a frame, or, in a program that has never ended a
/// frame, at any hooked command.
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

/// Begins a new epoch within the running capture. No thread is stopped: each describes its state before its next
/// command.
fn begin_anew(connection: &Connection) {
    let frame = CAPTURE.frames.load(Relaxed);
    // Records of the next epoch have to come after the keyframe, so the keyframe is written first.
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
