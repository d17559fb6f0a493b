//! Safe points: where the process acts on the daemon's orders in the mode page. A capture begins at the process' first
//! command or at the end of a frame; a keyframe is written at the end of a frame. In a program that has never ended a
//! frame, or that ends none within `FRAME_PATIENCE_NS` (1 s) of the order, both happen at any command; so does a beginning that the
//! daemon orders for any command. An order to stop
//! waits for the end of a frame for `STOP_PATIENCE_NS` (50 ms). Only one thread acts at a time: others skip their safe
//! point, unless their swap ended the capture's last frame. With `GAPII_WAIT` the first command blocks until the daemon
//! says go or is gone (looked at every 200 ms). A normal `exit` writes the capture's end.
//!
//! The hooked commands are safe points at all times; every other command is one while there is an order. Hooks change
//! only at safe points. [`EPOCH`] then tells every thread at its next command.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crossbeam_utils::Backoff;
use gapii_abi::atom::{CAPTURE_END, CaptureEnd, KEYFRAME, Keyframe, ProcessEnd};
use gapii_ringbuf::{Mode, Overflow};

use crate::attach;
use crate::capture::{self, CAPTURE, EPOCH, epoch, has_keyframes, is_running};
use crate::connection::Connection;
use crate::frame_rule;
use crate::gpu_timing;
use crate::orders;
use crate::orphan::{self, Fate};
use crate::process;
use crate::snapshot;
use crate::system;
use crate::table::{self, Hooks};

/// How long an order to begin, or for a keyframe, waits for the end of a frame, in nanoseconds.
const FRAME_PATIENCE_NS: u64 = 1_000_000_000;
/// How long an order to stop waits for the end of a frame, in nanoseconds.
const STOP_PATIENCE_NS: u64 = 50_000_000;

/// Where in the program a safe point is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the process' first command.
    FirstCommand,
    /// After any hooked command, or before any command while there is an order.
    Command,
    /// After a successful swap, or another command that ends a frame.
    FrameEnd,
    /// After the swap or the other command that ended the capture's last frame.
    LastFrame,
}

/// Acts on the daemon's latest orders. No command of this thread may be in flight.
pub fn safe_point(moment: Moment) {
    if process::is_forked_child() {
        become_own_process();
        return;
    }
    if is_running() {
        snapshot::arrive(epoch());
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
            let order = orders::newest();
            if CAPTURE.order.swap(order, Relaxed) != order {
                CAPTURE.order_ns.store(system::now_ns(), Relaxed);
            }
            if follow(connection, moment) {
                orders::note_heard(order);
            }
        }
        None if moment != Moment::FirstCommand => process::connect_again(),
        None => {}
    }
    CAPTURE.switching.store(false, Release);
    gpu_timing::tidy();
}

/// Makes a forked child a process of its own: forgets the parent's connection and capture, and connects for itself.
pub fn become_own_process() {
    forget();
    process::forget_inherited();
    process::connect();
    safe_point(Moment::FirstCommand);
}

/// Ends the capture in a forked child, where it is the parent's.
pub fn forget() {
    EPOCH.end();
    CAPTURE.armed.store(false, Relaxed);
    CAPTURE.generation.store(0, Relaxed);
    CAPTURE.switching.store(false, Relaxed);
    orphan::forget();
    snapshot::forget();
    gpu_timing::forget_all();
    frame_rule::forget();
    table::switch(Hooks::at_rest());
}

/// Registers an `atexit` handler that writes the end of the capture when the process exits normally, and waits until the
/// contents are sent that the snapshot owes.
fn announce_exit() {
    extern "C" fn at_exit() {
        let Some(connection) = process::connection() else { return };
        if is_running() {
            write_capture_end(ProcessEnd::Exit);
        }
        snapshot::wait_until_sent(connection);
    }
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.swap(true, Relaxed) {
        // SAFETY: `at_exit` never unwinds; the library is never unloaded once it records.
        unsafe { libc::atexit(at_exit) };
    }
}

/// Acts on the settings in the mode page. Returns whether nothing of them is left to do at a later command.
fn follow(connection: &Connection, moment: Moment) -> bool {
    let capturing = is_running();
    if (capturing || is_in_one(connection)) && connection.is_daemon_gone() {
        match capture::outlook(connection) {
            // A capture from the first command on begins without its daemon; the next one takes it over.
            Fate::Open if moment == Moment::FirstCommand => {}
            Fate::Open => return capturing,
            Fate::GoesOn => {}
            Fate::Over => {
                capture::leave(connection);
                CAPTURE.armed.store(false, Relaxed);
                process::disconnect();
                return true;
            }
        }
    }
    if !capturing && process::has_lost_daemon(connection) {
        process::disconnect();
        return true;
    }
    let Some((generation, settings)) = connection.shared.mode.settings() else { return false };
    if generation != CAPTURE.generation.load(Relaxed) {
        if capturing {
            if moment == Moment::Command && waits_for_frame(connection, STOP_PATIENCE_NS) {
                return false;
            }
            end(connection, ProcessEnd::Stop);
        }
        let Some(rule) = connection.shared.mode.frame_rule(generation) else { return false };
        let had_rule = frame_rule::is_set();
        match settings.mode {
            Mode::Capturing => frame_rule::set(&rule, generation),
            _ => frame_rule::forget(),
        }
        if had_rule || frame_rule::is_set() {
            table::settle_all();
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
        CAPTURE.times_gpu.store(settings.times_gpu, Relaxed);
        CAPTURE.counts_submits.store(settings.counts_submits, Relaxed);
        CAPTURE.at_any_command.store(settings.at_any_command, Relaxed);
        CAPTURE.attach_bytes.store(settings.attach_bytes, Relaxed);
        CAPTURE.keyframe_every.store(settings.keyframe_every, Relaxed);
        CAPTURE.keyframes_made.store(0, Relaxed);
        CAPTURE.keyframe_at_made.store(0, Relaxed);
    }
    if CAPTURE.armed.load(Relaxed) {
        if is_time_to_begin(connection, moment) {
            begin(moment);
            return true;
        }
        // Frames that are to be skipped are counted at their ends.
        return CAPTURE.skip_frames.load(Relaxed) > 0;
    }
    if has_keyframes() && is_running() && is_time_for_keyframe(connection, moment) {
        begin_anew(connection);
    }
    !is_keyframe_wanted(connection)
}

/// Whether an order waits for the end of a frame: the process has ended frames, or a rule says at which commands it will, and
/// the order is younger than `patience_ns`.
fn waits_for_frame(connection: &Connection, patience_ns: u64) -> bool {
    (ended_frames(connection) > 0 || frame_rule::is_set())
        && system::now_ns().saturating_sub(CAPTURE.order_ns.load(Relaxed)) < patience_ns
}

/// Whether the daemon's latest settings have the process in a capture. That capture may have ended here already.
fn is_in_one(connection: &Connection) -> bool {
    connection.shared.mode.settings().is_some_and(|(_, wish)| wish.mode == Mode::Capturing)
}

/// Whether an armed capture begins at this safe point. A capture begins at the process' first command or at a frame
/// boundary; in a program that ends no frames, or if the daemon orders so, at any command.
fn is_time_to_begin(connection: &Connection, moment: Moment) -> bool {
    let skip = CAPTURE.skip_frames.load(Relaxed);
    match moment {
        Moment::FirstCommand => skip == 0,
        Moment::Command => {
            let is_anywhere = CAPTURE.at_any_command.load(Relaxed);
            skip == 0 && (is_anywhere || !waits_for_frame(connection, FRAME_PATIENCE_NS))
        }
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
    let order = CAPTURE.generation.load(Relaxed);
    let epoch = CAPTURE.last_epoch.fetch_add(1, Relaxed) + 1;
    CAPTURE.first_epoch.store(epoch, Relaxed);
    announce_exit();
    if has_keyframes() {
        gapii_edges::register_barrier();
    }
    if moment == Moment::FirstCommand {
        // The epoch first: other threads are held until the table is switched, and all of their commands are recorded.
        // BEGIN, in Epoch::begin: this thread has read the mode page.
        EPOCH.begin(epoch, order);
        table::switch(Hooks::Capturing);
    } else {
        // Hooks first: a thread that knows the new epoch must not call through the old hooks any more. Until the epoch
        // is set, handlers record nothing.
        table::switch(Hooks::Capturing);
        // BEGIN: as above.
        EPOCH.begin(epoch, order);
    }
}

/// Whether a keyframe is written at this safe point: at the end of a frame, or, in a program that ends no frames, at any
/// command.
fn is_time_for_keyframe(connection: &Connection, moment: Moment) -> bool {
    let is_safe = match moment {
        Moment::FrameEnd => true,
        Moment::Command => !waits_for_frame(connection, FRAME_PATIENCE_NS),
        Moment::FirstCommand | Moment::LastFrame => false,
    };
    let is_due = CAPTURE.frames.load(Relaxed) >= CAPTURE.next_keyframe.load(Relaxed);
    is_safe
        && (is_due
            || is_keyframe_wanted(connection)
            || wanted_at(connection, ended_frames(connection)).is_some())
}

/// Returns the number of frames that the process has ended.
fn ended_frames(connection: &Connection) -> u64 {
    connection.shared.segment.header().frames.load(Relaxed)
}

/// Returns the number of frames behind which the daemon wants a keyframe, if that is `ended` or less and the running capture
/// does not have that keyframe yet.
fn wanted_at(connection: &Connection, ended: u64) -> Option<u64> {
    let frame = connection.shared.mode.keyframe_at()?.get();
    (ended >= frame && CAPTURE.keyframe_at_made.load(Relaxed) != frame).then_some(frame)
}

/// Whether the daemon has asked for a keyframe that the running capture does not have yet.
fn is_keyframe_wanted(connection: &Connection) -> bool {
    has_keyframes()
        && is_running()
        && CAPTURE.keyframes_made.load(Relaxed) != connection.shared.mode.keyframes_asked()
}

/// Begins a new epoch within the running capture. No thread is stopped: each describes its state before its next
/// command.
fn begin_anew(connection: &Connection) {
    let frame = ended_frames(connection);
    let keyframe = Keyframe { frame, at_ns: system::now_ns() };
    // Records of the next epoch have to come after the keyframe, so the keyframe is written first.
    if !attach::write_from_outside(KEYFRAME, &keyframe.encode()) {
        return;
    }
    let every = u64::from(CAPTURE.keyframe_every.load(Relaxed));
    let recorded = CAPTURE.frames.load(Relaxed);
    CAPTURE.next_keyframe.store(recorded.saturating_add(every), Relaxed);
    CAPTURE.keyframes_made.store(connection.shared.mode.keyframes_asked(), Relaxed);
    // Another thread may have ended a frame since; that is not in this keyframe's count.
    if let Some(at) = wanted_at(connection, frame) {
        CAPTURE.keyframe_at_made.store(at, Relaxed);
    }
    let epoch = CAPTURE.last_epoch.fetch_add(1, Relaxed) + 1;
    // BEGIN, in Epoch::begin: this thread has written the keyframe.
    EPOCH.begin(epoch, CAPTURE.generation.load(Relaxed));
}

fn end(connection: &Connection, reason: ProcessEnd) {
    write_capture_end(reason);
    capture::leave(connection);
}

fn write_capture_end(reason: ProcessEnd) {
    let limit = CAPTURE.frame_limit.load(Relaxed);
    let frames = CAPTURE.frames.load(Relaxed).min(if limit == 0 { u64::MAX } else { limit });
    attach::write_from_outside(CAPTURE_END, &CaptureEnd { reason, frames }.encode());
}
