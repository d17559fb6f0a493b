//! How a thread comes to record: claims a slot, introduces itself in each epoch (THREAD, CONTEXT and LIMITS records),
//! and describes the state that it finds. Without a free slot the command goes to the driver unrecorded, and
//! `unslotted_calls` counts it; the thread does not wait. Commands of OpenGL are not recorded while no
//! context of EGL or GLX is current and a library of GLX or desktop OpenGL is loaded, which may have contexts of another kind. The slot is retired when the thread ends.
//!
//! [`begin`] is the beginning of every record that the shim itself writes from outside a command.
//! [`crate::begin`] is the same for commands of the program.

use core::sync::atomic::Ordering::Relaxed;

use gapii_abi::atom::{self, META_FIRST, SUBJECT, SubjectKind, TRACED, TracedKind};
use gapii_commands::Api;
use gapii_recorder::{Call, Entered, ErrnoGuard, Part, Recorder, Thread};

use crate::capture::{self, EPOCH, NOT_CAPTURING};
use crate::claim;
use crate::connection::Connection;
use crate::driver;
use crate::limits;
use crate::lists;
use crate::process;
use crate::scope;
use crate::snapshot::{self, Outdated};
use crate::thread_exit::ThreadExit;
use crate::tls::{IN_SLOW_PATH, Words, words};
use crate::tracking;

/// Begins a record in a thread that is outside the shim. `None` if nothing is recorded, or if the thread is inside a
/// command.
pub fn begin(id: u16) -> Option<Call> {
    let thread = words().thread();
    // SAFETY: this thread's own state.
    let entered = thread.and_then(|thread| unsafe { thread.enter(&EPOCH) });
    Some(Call::new(entered.or_else(|| begin_slowly(id))?, id))
}

/// Enters the thread for command `id` after the fast path missed: the thread or the epoch is new, the command is called
/// from inside another, a tracer's callback runs, or nothing is recorded. Not in a child that was forked and has not
/// become a process of its own.
pub fn begin_slowly(id: u16) -> Option<Entered> {
    if EPOCH.now() == NOT_CAPTURING {
        return None;
    }
    let words = words();
    if words.is_aside(IN_SLOW_PATH) || scope::is_recording(words) {
        process::count_reentrant();
        return None;
    }
    let _errno = ErrnoGuard::save();
    words.set_aside(IN_SLOW_PATH, true);
    let entered = attach(words, id);
    words.set_aside(IN_SLOW_PATH, false);
    entered
}

/// Tells the daemon the thread's new context, and updates whether its GL commands are recorded.
pub fn context_changed() {
    let words = words();
    let (Some(connection), Some(thread)) = (process::connection(), words.thread()) else { return };
    if !thread.is_claimed() || !is_current(thread, connection, EPOCH.now()) {
        return;
    }
    // SAFETY: this thread's own state.
    let Some(mut entered) = (unsafe { thread.enter_between_commands() }) else { return };
    introduce_context(&mut entered, words);
    tracking::with_state(|state| snapshot::describe_current(&mut entered, state, thread.epoch()));
    update_ready(thread, words);
}

/// Sets whether the commands that this thread calls from here on are a tracer's own. A thread without a recording
/// state learns it when it gets one. Inside a recorded command the state stays as it is, because commands from inside
/// are not recorded.
#[inline(always)]
pub fn set_in_callback(words: &Words, is_in_callback: bool) {
    words.in_callback.set(is_in_callback);
    if EPOCH.now() != NOT_CAPTURING {
        learn_in_callback(words);
    }
}

#[cold]
fn learn_in_callback(words: &Words) {
    if let Some(thread) = words.thread() {
        thread.set_own(words.in_callback.get());
    }
}

/// Notes a context that the running capture saw being made, so that no snapshot describes it.
pub fn note_made(context: u64) {
    let Some(new_group) = tracking::with_state(|state| {
        state.process.contexts().note_described(context, capture::epoch())
    }) else {
        return;
    };
    if capture::has_keyframes() {
        let made = |kind, id| {
            write_from_outside(SUBJECT, &snapshot::subject(kind, id, true));
        };
        new_group.into_iter().for_each(|group| made(SubjectKind::Group, group));
        made(SubjectKind::Context, context);
    }
}

/// Writes a record that is not a command, from a thread that is outside the shim. The record carries a stamp of its
/// own. Returns false if the thread is not recorded or there is no room.
pub fn write_from_outside(id: u16, payload: &[u8]) -> bool {
    let Some(mut call) = begin(id) else { return false };
    call.recorder().writer().forget_stamp();
    // SAFETY: the payload is written below.
    let Some(call) = (unsafe { call.reserve(0, payload.len() as u32) }) else { return false };
    for (at, word) in payload.chunks_exact(8).enumerate() {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        // SAFETY: within the payload.
        unsafe { call.put(at * 8, word) };
    }
    // SAFETY: all of the payload is written: it is of whole words.
    let call = unsafe { call.publish() };
    call.finish();
    true
}

/// Writes a [`TRACED`] record about a command that this thread is about to make or has made, if that command is
/// recorded.
pub fn write_note(command: u16, payload: &[u8]) {
    let Some(mut call) = begin(command) else { return };
    call.recorder().write_meta(TRACED, payload);
    call.in_flight().finish();
}

fn attach(words: &Words, id: u16) -> Option<Entered> {
    let connection = process::connection()?;
    EPOCH.follow()?;
    let thread = own_thread(words, connection)?;
    // SAFETY: this thread's own state, and it is in no command.
    let (mut entered, epoch) = unsafe { thread.enter_slowly(&EPOCH) }?;
    let is_busy = lists::is_busy();
    if is_busy && !is_current(thread, connection, epoch) {
        // The thread begins its part later. Until then it is recorded in the part before, if the capture has one.
        if !(connection.has(thread) && capture::is_of_this_capture(thread.epoch())) {
            return None;
        }
    } else if !is_current(thread, connection, epoch) {
        let mut newest = epoch;
        while begin_epoch(&mut entered, words, newest).is_err() {
            newest = EPOCH.follow()?;
        }
    }
    if !thread.records_gl() && const { Api::Gl.ids() }.contains(&id) {
        connection.shared.segment.header().foreign_calls.fetch_add(1, Relaxed);
        return None;
    }
    if !is_busy && (thread.watches() || snapshot::is_incomplete()) {
        tracking::with_state(|state| snapshot::describe_rest(&mut entered, state, epoch));
        update_ready(thread, words);
    }
    if words.in_callback.get() && id < META_FIRST {
        let own = atom::Traced { id, kind: TracedKind::Own, args_len: 0 };
        entered.write_meta(TRACED, &own.encode());
    }
    Some(entered)
}

/// Returns the state of this thread at `connection`; claims a slot if it has none.
fn own_thread(words: &Words, connection: &'static Connection) -> Option<&'static Thread> {
    let owned = words.thread().filter(|thread| connection.has(thread) && thread.is_claimed());
    owned.or_else(|| {
        let claimed = claim(connection)?;
        words.set_thread(Some(claimed));
        notice_exit(claimed);
        Some(claimed)
    })
}

/// Begins an epoch in this thread: introduces the thread, and describes the state that it finds.
fn begin_epoch(entered: &mut Entered, words: &Words, epoch: u64) -> Result<(), Outdated> {
    let order = EPOCH.order_of(epoch).ok_or(Outdated)?;
    let thread = entered.thread();
    let is_new_capture = !capture::is_of_this_capture(thread.epoch());
    thread.begin_epoch(epoch);
    if let Some(seat) = words.seat() {
        seat.record_in(thread);
    }
    snapshot::arrive(epoch);
    let (is_timed, is_gpu_timed) = (capture::times_driver(), capture::times_gpu());
    let part = Part { epoch, order, is_new_capture, is_timed, is_gpu_timed };
    entered.begin_epoch(part);
    entered.set_setup(words.in_setup.get());
    claim::introduce(entered, thread.tid());
    introduce_context(entered, words);
    update_ready(thread, words);
    if capture::began_in_the_middle(epoch) {
        let described =
            tracking::with_state_or_new(|state| snapshot::describe(entered, state, epoch));
        update_ready(thread, words);
        return described.unwrap_or(Ok(()));
    }
    snapshot::note_seen(entered);
    Ok(())
}

/// Whether a thread has introduced itself in this epoch.
fn is_current(thread: &Thread, connection: &Connection, epoch: u64) -> bool {
    thread.epoch() == epoch && connection.has(thread)
}

/// Claims a free slot for this thread. If there is none, counts the command that is not recorded.
fn claim(connection: &'static Connection) -> Option<&'static Thread> {
    let claimed = claim::claim(connection);
    if claimed.is_none() {
        connection.shared.segment.header().unslotted_calls.fetch_add(1, Relaxed);
    }
    claimed
}

fn introduce_context(recorder: &mut Recorder, words: &Words) {
    let record = atom::Context {
        context: words.context.get(),
        api: words.context_api.get(),
        client_version: words.context_version.get(),
    };
    recorder.write_meta(atom::CONTEXT, &record.encode());
    tracking::with_state(|state| {
        if let Some(context) = state.context.as_deref() {
            recorder.write_meta(atom::LIMITS, &limits::payload(context));
        }
    });
}

/// Updates how the thread's next command begins.
fn update_ready(thread: &Thread, words: &Words) {
    let records_gl = words.context_api.get() != 0 || !driver::has_desktop_library();
    let is_incomplete = |state: &mut gapii_state::Thread| {
        state.context.as_deref().is_some_and(snapshot::is_incomplete_in)
    };
    thread.set_watches(
        snapshot::is_incomplete() && tracking::with_state(is_incomplete) == Some(true),
    );
    thread.set_ready(records_gl, words.in_callback.get());
}

/// Retires the thread's slot when the thread ends. If a later destructor of the thread makes commands, the thread
/// claims a slot again and registers again.
fn notice_exit(thread: &'static Thread) {
    static EXIT: ThreadExit = ThreadExit::new(retire);
    EXIT.notice(core::ptr::from_ref(thread).cast_mut().cast());
}

unsafe extern "C" fn retire(state: *mut libc::c_void) {
    let _errno = ErrnoGuard::save();
    let words = words();
    let Some(thread) = words.thread() else { return };
    if thread.is_claimed() && core::ptr::eq(state.cast(), thread) {
        words.set_thread(None);
        // SAFETY: this thread's own state, and the thread ends.
        unsafe { thread.retire() };
    }
}
