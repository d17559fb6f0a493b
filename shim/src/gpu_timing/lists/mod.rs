//! Times on the GPU of commands in lists of Level Zero: before and behind each of them the shim appends a write of the
//! device's counter into memory of its own. The counts of an execution are read once the program has waited, or before the
//! list is executed again, emptied or destroyed.
//!
//! Nothing here waits for the device, except at the end of the last recorded frame, for at most as long as the caller says.
//! No result of these calls reaches the program.

mod device;
mod kind;
mod measured;
mod pairs;

use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gapii_recorder::Timed;

use super::patience::wait_until;
use crate::capture;
use crate::generated::gpu_work::GPU_WAITS;
use crate::program_memory::ProgramMemory;
use crate::tls::words;
use device::{Append, Device, append_count};
use gapii_state::Values;
use kind::Kind;
pub use kind::is_level_zero;
use measured::Measured;

/// Most lists that are looked at in one command that executes lists.
const EXECUTED_MAX: u32 = 1 << 16;
/// Most events whose wait is left out of a command's time.
const EVENTS_MAX: u32 = 1 << 10;

/// The measured lists; null until the first one, and in a forked child.
static MEASURED: AtomicPtr<Mutex<Measured>> = AtomicPtr::new(ptr::null_mut());

/// Called before the driver for each recorded command of Level Zero.
pub fn before_driver(command: &Timed, tell: &mut dyn FnMut(&[u8])) {
    match Kind::of(command) {
        Kind::Work { list } => begin(command, list, tell),
        Kind::Executes { count, lists } => {
            let lists = handles(count, lists);
            with_measured_or_new(tell, |measured, tell| measured.submit(&Device, &lists, tell));
        }
        Kind::Empties { list } => with_measured(tell, |it, tell| it.empty(&Device, list, tell)),
        Kind::Ends { list } => with_measured(tell, |it, tell| it.end(&Device, list, tell)),
        Kind::EndsContext { context } => {
            with_measured(tell, |measured, tell| measured.end_context(&Device, context, tell));
        }
        Kind::Numbers { list } => {
            with_measured_or_new(tell, |measured, tell| measured.leave(&Device, list, tell));
        }
        Kind::Clones { list } => {
            with_measured_or_new(tell, |measured, tell| measured.share(&Device, list, tell));
        }
        Kind::CapturesGraph => {
            with_measured_or_new(tell, |measured, tell| {
                measured.leave_immediate_lists(&Device, tell);
            });
        }
        Kind::Waits | Kind::Other => {}
    }
}

/// Called after the driver for each recorded command of Level Zero.
pub fn after_driver(command: &Timed, tell: &mut dyn FnMut(&[u8])) {
    match Kind::of(command) {
        Kind::Work { list } => end(command, list, tell),
        Kind::Executes { count, lists } => {
            let lists = handles(count, lists);
            with_measured(tell, |measured, _| measured.submitted(&lists, command.called_ns));
        }
        Kind::Waits => collect(Duration::ZERO, tell),
        _ => {}
    }
}

/// Tells the times of all executions whose counts are there; waits for the others for up to `patience`.
pub fn collect(patience: Duration, tell: &mut dyn FnMut(&[u8])) {
    wait_until(patience, || {
        let mut is_complete = true;
        with_measured(tell, |measured, tell| is_complete = measured.collect(&Device, tell));
        is_complete
    });
}

/// Forgets all lists, in a forked child. The memory stays the parent's.
pub fn forget_all() {
    MEASURED.store(ptr::null_mut(), Release);
}

/// Returns the lists that a command executes.
fn handles(count: u32, lists: u64) -> Vec<u64> {
    let count = i64::from(count.min(EXECUTED_MAX));
    (0..count).map(|at| ProgramMemory.element::<u64>(lists, at)).collect()
}

fn begin(command: &Timed, list: u64, tell: &mut dyn FnMut(&[u8])) {
    let mut pair = None;
    with_measured_or_new(tell, |measured, tell| pair = measured.begin(&Device, list, tell));
    let Some([before, _]) = pair.map(pairs::Pair::addresses) else { return };
    // The lock is free: a synchronous list executes the append at once.
    let append = append_count(list, before, &events_of(command));
    if append != Append::Done {
        let is_unsupported = append == Append::Unsupported;
        with_measured(tell, |measured, tell| measured.give_up(list, is_unsupported, tell));
    }
}

fn end(command: &Timed, list: u64, tell: &mut dyn FnMut(&[u8])) {
    let mut pair = None;
    with_measured(tell, |measured, _| pair = measured.present(list));
    let Some([_, behind]) = pair.map(pairs::Pair::addresses) else { return };
    let is_appended = append_count(list, behind, &[]) == Append::Done;
    let tid = words().thread().map_or(0, gapii_recorder::Thread::tid);
    with_measured(tell, |measured, _| measured.end_command(list, command, tid, is_appended));
}

/// Returns the events that a command waits for.
fn events_of(command: &Timed) -> Vec<u64> {
    let Ok(at) = GPU_WAITS.binary_search_by_key(&command.id, |(id, _)| *id) else {
        return Vec::new();
    };
    let word = |at: usize| command.arguments.get(at).copied().unwrap_or(0);
    let first = usize::from(GPU_WAITS[at].1);
    let (count, events) = (word(first) as u32, word(first + 1));
    if events == 0 || count > EVENTS_MAX {
        return Vec::new();
    }
    let events = (0..i64::from(count)).map(|at| ProgramMemory.readable_element(events, at));
    events.collect::<Option<_>>().unwrap_or_default()
}

/// Passes the measured lists to `act`. What it tells is told when the lock is free, because a ring may be full.
fn with_measured(
    tell: &mut dyn FnMut(&[u8]),
    act: impl FnOnce(&mut Measured, &mut dyn FnMut(&[u8])),
) {
    let known = MEASURED.load(Acquire);
    // SAFETY: null, or made by `Box::into_raw` and never freed.
    let Some(measured) = (unsafe { known.as_ref() }) else { return };
    let mut told = Vec::new();
    let mut measured = measured.lock().unwrap_or_else(PoisonError::into_inner);
    measured.join(&Device, capture::first_epoch());
    act(&mut measured, &mut |payload| told.push(payload.to_vec()));
    drop(measured);
    told.iter().for_each(|payload| tell(payload));
}

fn with_measured_or_new(
    tell: &mut dyn FnMut(&[u8]),
    act: impl FnOnce(&mut Measured, &mut dyn FnMut(&[u8])),
) {
    if MEASURED.load(Acquire).is_null() {
        let fresh = Box::into_raw(Box::default());
        if MEASURED.compare_exchange(ptr::null_mut(), fresh, Release, Acquire).is_err() {
            // SAFETY: it was not published, so no other thread has it.
            drop(unsafe { Box::from_raw(fresh) });
        }
    }
    with_measured(tell, act);
}
