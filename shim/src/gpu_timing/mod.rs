//! Times on the GPU, in captures with `--gpu-timing`: two timestamp queries of GL_EXT_disjoint_timer_query around each command
//! that the GPU executes, or two writes of the device's counter around each command in a list of Level Zero. Results are read at the ends of frames, some frames later, and go into the trace as GPU_TIMES.
//!
//! Nothing here waits for the GPU, except where the results would be lost: before a thread gives up its context, and at the end of
//! the last recorded frame, each for at most `PATIENCE` (100 ms). Nothing here is called in other captures.
//!
//! A context in which the program uses timer queries itself, or asks whether the GPU was interrupted, which resets the answer, is
//! left to the program.

mod clocks;
mod device;
mod kind;
mod lists;
mod patience;
mod timer;
mod told;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

use gapii_recorder::Timed;

use crate::capture;
use crate::frame_rule;
use crate::tls::words;
use device::Device;
use kind::Kind;
use patience::PATIENCE;
use timer::Timer;

/// Most contexts whose commands are measured at a time.
const CONTEXTS_MAX: usize = 64;

/// The timer of one context.
struct Slot {
    /// Handle of the context; 0 if the slot is free.
    context: AtomicU64,
    /// Only the thread that has the context uses it, so nobody waits for it.
    timer: Mutex<Timer>,
}

static SLOTS: [Slot; CONTEXTS_MAX] =
    [const { Slot { context: AtomicU64::new(0), timer: Mutex::new(Timer::new()) } }; CONTEXTS_MAX];

/// Whether any slot has been used.
static HAS_TIMERS: AtomicBool = AtomicBool::new(false);

/// Called before the driver for each recorded command.
pub fn before_driver(command: &Timed, tell: &mut dyn FnMut(&[u8])) {
    if lists::is_level_zero(command.id) {
        return lists::before_driver(command, tell);
    }
    let context = words().context.get();
    match Kind::of(command, context) {
        Kind::Work => {
            let capture = capture::first_epoch();
            with_timer_or_new(context, |timer| timer.begin(&Device, context, capture, tell));
        }
        Kind::TimerQuery => {
            let capture = capture::first_epoch();
            with_timer_or_new(context, |timer| timer.yield_up(&Device, context, capture, tell));
        }
        Kind::Leaves { for_good } => {
            let patience = if for_good { PATIENCE } else { Duration::ZERO };
            collect(context, patience, tell);
        }
        Kind::FrameEnd | Kind::Finish | Kind::Other => {}
    }
}

/// Called after the driver for each recorded command.
pub fn after_driver(command: &Timed, tell: &mut dyn FnMut(&[u8])) {
    let is_level_zero = lists::is_level_zero(command.id);
    if is_level_zero {
        lists::after_driver(command, tell);
    }
    let may_end_frame =
        kind::ends_frame(command.id) || frame_rule::is_watched(usize::from(command.id));
    if may_end_frame {
        lists::collect(patience_at_frame_end(), tell);
    }
    if is_level_zero {
        return;
    }
    let context = words().context.get();
    match Kind::of(command, context) {
        Kind::Work => {
            let tid = words().thread().map_or(0, gapii_recorder::Thread::tid);
            with_timer(context, |timer| timer.end(&Device, command, tid));
        }
        Kind::Finish => collect(context, Duration::ZERO, tell),
        Kind::TimerQuery | Kind::Leaves { .. } | Kind::FrameEnd | Kind::Other => {}
    }
    if may_end_frame {
        collect(context, patience_at_frame_end(), tell);
    }
}

/// Deletes the queries in the current context after the capture that needed them. At safe points.
pub fn tidy() {
    if HAS_TIMERS.load(Relaxed) && !capture::is_running() {
        with_timer(words().context.get(), |timer| timer.put_away(&Device));
    }
}

/// Forgets a context: it is gone, and its queries with it.
pub fn forget(context: u64) {
    if HAS_TIMERS.load(Relaxed)
        && let Some(slot) = find(context)
    {
        if let Ok(mut timer) = slot.timer.try_lock() {
            *timer = Timer::new();
        }
        slot.context.store(0, Relaxed);
    }
}

/// Forgets all contexts and lists, in a forked child.
pub fn forget_all() {
    lists::forget_all();
    for slot in &SLOTS {
        forget(slot.context.load(Relaxed));
    }
}

/// Returns how long the end of a frame waits for results.
fn patience_at_frame_end() -> Duration {
    if capture::is_about_to_end() { PATIENCE } else { Duration::ZERO }
}

/// Tells the times of a context's commands whose results are there; waits for the others for up to `patience`.
fn collect(context: u64, patience: Duration, tell: &mut dyn FnMut(&[u8])) {
    with_timer(context, |timer| {
        // Results that an earlier capture has left are none of the present one's.
        if timer.capture() == capture::first_epoch() {
            timer.collect(&Device, patience, tell);
        }
    });
}

fn find(context: u64) -> Option<&'static Slot> {
    // Relaxed: the thread that has the context has written its handle, or has got the context from that thread.
    SLOTS.iter().find(|slot| context != 0 && slot.context.load(Relaxed) == context)
}

/// Returns the slot of a context, which may be a free one. `None` if there is none.
fn find_or_take(context: u64) -> Option<&'static Slot> {
    let take = || {
        HAS_TIMERS.store(true, Relaxed);
        let is_taken =
            |slot: &&Slot| slot.context.compare_exchange(0, context, Relaxed, Relaxed).is_ok();
        SLOTS.iter().find(is_taken)
    };
    if context == 0 { None } else { find(context).or_else(take) }
}

fn with_timer(context: u64, act: impl FnOnce(&mut Timer)) {
    if let Some(slot) = find(context)
        && let Ok(mut timer) = slot.timer.try_lock()
    {
        act(&mut timer);
    }
}

fn with_timer_or_new(context: u64, act: impl FnOnce(&mut Timer)) {
    if let Some(slot) = find_or_take(context)
        && let Ok(mut timer) = slot.timer.try_lock()
    {
        act(&mut timer);
    }
}
