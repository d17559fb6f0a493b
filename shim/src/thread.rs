//! A recording thread: its ring, and whether its next command may be recorded.
//!
//! The state lies in memory that `fork` wipes. All zeros therefore mean "not a thread of this process", and every
//! fast path misses on zeros.

use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use gapii_abi::atom::{
    self, EFFECT, GapCause, HEADER_LEN, Header, LEAVE, META_FIRST, TRACED, TracedKind,
};
use gapii_commands::Api;
use gapii_commands::constants;
use gapii_edges::Gate;
use gapii_ringbuf::{Overflow, Producer, Reservation, Room, Slot};

use crate::call::Call;
use crate::capture::{self, EPOCH, NOT_CAPTURING};
use crate::connection::Connection;
use crate::errno::ErrnoGuard;
use crate::frames::Frames;
use crate::limits;
use crate::orphan::{self, Outlook};
use crate::pages;
use crate::process;
use crate::ranges::Ranges;
use crate::scratch::Scratch;
use crate::seats;
use crate::snapshot;
use crate::thread_exit::ThreadExit;
use crate::timing::Timing;
use crate::tls::{Words, words};
use crate::tracking;

/// Ready word of a thread whose GL commands are not recorded, because its current context is not an OpenGL ES
/// context.
const EGL_ONLY: u64 = 1;
/// Ready word of a thread while a tracer's callback runs. It lets no command take the fast path, so each command is
/// recorded after a note that says it is the tracer's own.
const OWN: u64 = 2;
/// Both of the above.
const OWN_EGL_ONLY: u64 = 3;
/// How often a thread that waits for room checks that the daemon is alive.
const LOOK_AROUND: Duration = Duration::from_millis(50);
/// Number of low bits of a store number that hold the epoch; the daemon's `blob_epoch` is in the bits above.
const EPOCH_BITS: u32 = 20;
/// `EGL_OPENGL_ES_API`.
pub const OPENGL_ES_API: u32 = constants::EGL_OPENGL_ES_API;

/// A thread that records, or has recorded.
#[repr(C, align(128))]
pub struct Thread {
    /// Closed while the thread is inside a command; otherwise it holds the epoch in which the thread may record.
    gate: Gate,
    /// The value that opens `gate` again when a command is done.
    pub idle: u64,
    /// Observations of this size or more are blobs, in bytes.
    pub blob_min_bytes: u64,
    /// The producing half of the thread's ring.
    pub producer: Producer,
    /// The thread's id; 0 if this memory was wiped or the slot was never used.
    tid: u32,
    /// The epoch in which the thread last introduced itself.
    epoch: u64,
    connection: *const Connection,
    gap: Gap,
    /// The ranges of memory that the present command reads or writes.
    pub ranges: Ranges,
    /// The most bytes of a blob that one record holds.
    pub piece_bytes: u64,
    /// The thread is writing a snapshot.
    pub is_describing: bool,
    /// The daemon may have some of the snapshot's content already, so look before sending.
    pub looks_first: bool,
    /// How many blobs in a row, up to the last one, were new to the daemon.
    pub new_blobs: u32,
    /// Null until it is first needed.
    scratch: *mut Scratch,
    /// The memory for reading back frames.
    pub frames: Frames,
    /// The timestamps of the present command.
    pub timing: Timing,
}

/// Records that were dropped and that no gap record in the ring reports yet.
struct Gap {
    records: u64,
    calls: u64,
    bytes: u64,
    first_stamp: u64,
    start_ns: u64,
}

impl Thread {
    /// The gate, which is closed while the thread is inside a command.
    #[inline(always)]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Reserves room for one record, with a stamp if the record needs one. Waits or drops the record if the ring is
    /// full.
    ///
    /// # Safety
    /// Only in the thread itself, inside the shim. The payload must be written before the record is published.
    #[inline(always)]
    pub unsafe fn reserve(&mut self, header: Header) -> Option<Reservation> {
        // SAFETY: the producer is this thread's.
        match unsafe { self.producer.reserve(header) } {
            Some(record) => Some(record),
            // SAFETY: passed on.
            None => unsafe { self.reserve_slowly(header) },
        }
    }

    /// Publishes a record: from here on the daemon can read it.
    ///
    /// # Safety
    /// `record` is the last reservation that [`Thread::reserve`] returned, and its payload is written.
    #[inline(always)]
    pub unsafe fn publish(&mut self, record: Reservation) {
        // SAFETY: passed on.
        if !unsafe { self.producer.publish(record) } {
            // SAFETY: passed on.
            unsafe { self.publish_timed(record) };
        }
    }

    /// Does [`Thread::publish`] and [`Thread::finish`] for the last record of a command.
    ///
    /// # Safety
    /// As for [`Thread::publish`].
    #[inline(always)]
    pub unsafe fn publish_last(&mut self, record: Reservation) {
        // SAFETY: passed on.
        if !unsafe { self.producer.publish_last(record) } {
            // SAFETY: passed on.
            unsafe { self.publish_timed(record) };
            self.finish_timed();
        }
    }

    /// Notes that the driver has returned.
    #[inline(always)]
    pub fn returned(&mut self) {
        if self.producer.is_on_hold() {
            self.returned_timed();
        }
    }

    /// Notes that the command is over. All of its records must have been published.
    #[inline(always)]
    pub fn finish(&mut self) {
        if !self.producer.finish() {
            self.finish_timed();
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn reserve_slowly(&mut self, header: Header) -> Option<Reservation> {
        if self.producer.is_on_hold() {
            // SAFETY: passed on.
            return unsafe { self.reserve_timed(header) };
        }
        let _errno = ErrnoGuard::new();
        pages::forget();
        // SAFETY: the connection outlives every thread of it.
        let connection = unsafe { self.connection.as_ref() }?;
        let span = header.span_untrusted() + self.gap.span();
        let room = match self.producer.make_room(span) {
            Room::Full
                if capture::overflow() == Overflow::Wait && !orphan::is_out_of_patience() =>
            {
                self.wait(connection, span)
            }
            room => room,
        };
        if room != Room::Ready {
            self.leave_out(header, connection.counter.newest_stamp());
            return None;
        }
        if self.gap.records > 0 {
            // SAFETY: there is room for the gap record and the other.
            unsafe { self.tell_gap(connection) };
        }
        // SAFETY: as above.
        unsafe { self.producer.reserve(header) }
    }

    /// Waits until the daemon has released room for `span` bytes. Returns [`Room::Full`] if the daemon is gone, or if
    /// it has released nothing for as long as the capture allows; in the latter case the process has left the
    /// capture.
    fn wait(&mut self, connection: &Connection, span: u64) -> Room {
        let mut progress = Instant::now();
        let mut released = self.released();
        loop {
            let look_around = if orphan::is_one() { orphan::LOOK_AROUND } else { LOOK_AROUND };
            match self.producer.wait_for_room(span, look_around) {
                Room::Full => {}
                room => return room,
            }
            if self.released() != released {
                (released, progress) = (self.released(), Instant::now());
            }
            let outlook = match connection.is_daemon_gone() {
                true => capture::outlook(connection),
                false if progress.elapsed() < capture::stall_limit() => continue,
                false => Outlook::Over,
            };
            match outlook {
                // From here on records that find no room are dropped, until another daemon releases some.
                Outlook::Open if orphan::is_out_of_patience() => return Room::Full,
                Outlook::Open => {}
                Outlook::GoesOn => progress = Instant::now(),
                Outlook::Over => {
                    capture::leave_lost(connection);
                    return Room::Full;
                }
            }
        }
    }

    fn released(&self) -> u64 {
        self.producer.slot().map_or(0, Slot::released_untrusted)
    }

    /// Returns the thread's working memory, which is mapped at its first use. `None` if it cannot be mapped.
    ///
    /// The reference is valid for the present command, and it must be the only one.
    pub fn scratch(&mut self) -> Option<&'static mut Scratch> {
        if self.scratch.is_null() {
            self.scratch = Scratch::map()?.as_ptr();
        }
        // SAFETY: mapped until the thread retires, and this thread's alone.
        unsafe { self.scratch.as_mut() }
    }

    /// Returns the number of the store that this thread's blobs go to. The number changes whenever the daemon or this
    /// process starts over, and only rises.
    pub fn blob_store(&self, blob_epoch: u32) -> u64 {
        (u64::from(blob_epoch) << EPOCH_BITS) + self.epoch
    }

    /// The connection over which the thread records.
    pub fn connection(&self) -> Option<&'static Connection> {
        // SAFETY: null, or what `claim` has noted; connections are leaked, never freed.
        unsafe { self.connection.as_ref() }
    }

    /// Counts a record that is not written because a record that must come before it was lost.
    #[cold]
    pub fn lose(&mut self, header: Header) {
        if let Some(connection) = self.connection() {
            self.leave_out(header, connection.counter.newest_stamp());
        }
    }

    /// Counts a record as dropped.
    fn leave_out(&mut self, header: Header, stamp: u64) {
        // A command counts as lost with its enter record, or with its leave record if it takes effect there.
        let is_call = header.id() < META_FIRST && header.flags() & (LEAVE | EFFECT) != LEAVE;
        let (calls, bytes) = (u64::from(is_call), header.span_untrusted());
        if self.gap.records == 0 {
            (self.gap.first_stamp, self.gap.start_ns) = (stamp, process::clock_ns());
        }
        self.gap.records += 1;
        self.gap.calls += calls;
        self.gap.bytes += bytes;
        if let Some(slot) = self.producer.slot() {
            slot.count_dropped(1, calls, bytes);
        }
        // A shorter record must not find room before the gap is reported.
        self.producer.forget_room();
    }

    unsafe fn tell_gap(&mut self, connection: &Connection) {
        let header = Header::new(atom::GAP, 0, HEADER_LEN + atom::Gap::LEN as u32);
        // SAFETY: the caller made room.
        let Some(record) = (unsafe { self.producer.reserve(header) }) else { return };
        let gap = core::mem::replace(&mut self.gap, Gap::NONE);
        let payload = atom::Gap {
            records: gap.records,
            calls: gap.calls,
            bytes: gap.bytes,
            first_stamp: gap.first_stamp,
            last_stamp: connection.counter.newest_stamp(),
            start_ns: gap.start_ns,
            end_ns: process::clock_ns(),
            cause: GapCause::Dropped,
        };
        // SAFETY: the reserved payload has this length.
        unsafe { record.payload.cast().write(payload.encode()) };
        // SAFETY: the payload is whole.
        unsafe { self.producer.publish(record) };
        self.producer.forget_stamp();
    }

    /// Whether this thread has introduced itself in this epoch.
    fn is_current(&self, connection: &Connection, epoch: u64) -> bool {
        self.epoch == epoch && ptr::eq(self.connection, connection)
    }

    fn set_gate(&mut self, words: &Words) {
        let is_open = match words.context_api {
            0 => !is_glx_loaded(),
            api => api == OPENGL_ES_API,
        };
        self.set_idle(is_open, words);
    }

    fn set_idle(&mut self, is_open: bool, words: &Words) {
        self.idle = match (is_open, words.in_callback != 0) {
            (true, false) => self.epoch,
            (false, false) => EGL_ONLY,
            (true, true) => OWN,
            (false, true) => OWN_EGL_ONLY,
        };
    }

    /// Whether GL commands are recorded.
    fn is_open(&self) -> bool {
        !matches!(self.idle, EGL_ONLY | OWN_EGL_ONLY)
    }
}

impl Gap {
    const NONE: Gap = Gap { records: 0, calls: 0, bytes: 0, first_stamp: 0, start_ns: 0 };

    /// Bytes of ring space that the gap record takes; 0 if there is no gap.
    fn span(&self) -> u64 {
        if self.records == 0 { 0 } else { u64::from(HEADER_LEN) + 8 + atom::Gap::LEN as u64 }
    }
}

/// Begins a record after the fast path missed: the thread or the epoch is new, the command is called from inside
/// another, a tracer's callback runs, or nothing is recorded.
///
/// # Safety
/// Only in a thread of the program.
#[cold]
#[inline(never)]
pub unsafe fn begin_slowly(id: u16) -> Option<&'static mut Thread> {
    if EPOCH.now() == NOT_CAPTURING {
        return None;
    }
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    if words.in_slow_path != 0 || is_inside(words) {
        count_reentrant();
        return None;
    }
    let _errno = ErrnoGuard::new();
    words.in_slow_path = 1;
    let thread = attach(words, id);
    words.in_slow_path = 0;
    thread
}

/// Tells the daemon the thread's new context, and updates whether its GL commands are recorded.
pub fn context_changed() {
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    let Some(connection) = process::connection() else { return };
    // SAFETY: thread states stay mapped; this thread alone uses its own.
    let Some(thread) = (unsafe { words.thread.as_mut() }) else { return };
    if thread.tid == 0 || !thread.is_current(connection, EPOCH.now()) {
        return;
    }
    thread.gate.close();
    introduce_context(thread, words);
    thread.set_gate(words);
    let epoch = thread.epoch;
    let thread = snapshot::describe_current(thread, epoch);
    thread.gate.leave(thread.idle);
}

/// Sets whether the commands that this thread calls from here on are a tracer's own. A thread without a recording
/// state learns it when it gets one. Inside a recorded command the state stays as it is, because commands from inside
/// are not recorded.
///
/// # Safety
/// `words` are this thread's.
#[inline(always)]
pub unsafe fn set_in_callback(words: *mut Words, is_in_callback: bool) {
    // SAFETY: the caller's duty.
    let words = unsafe { &mut *words };
    words.in_callback = u32::from(is_in_callback);
    if EPOCH.now() != NOT_CAPTURING {
        learn_in_callback(words);
    }
}

#[cold]
fn learn_in_callback(words: &Words) {
    // SAFETY: thread states stay mapped; this thread alone uses its own.
    let Some(thread) = (unsafe { words.thread.as_mut() }) else { return };
    if thread.tid != 0 && thread.gate.ready() != 0 {
        let is_open = thread.is_open();
        thread.set_idle(is_open, words);
        thread.gate.leave(thread.idle);
    }
}

/// Returns this thread's recording state, if it has one.
///
/// # Safety
/// Only inside a hooked command of this thread, while no other reference to the state is alive.
pub unsafe fn own() -> Option<&'static mut Thread> {
    // SAFETY: this thread's own words.
    let thread = unsafe { (*words()).thread };
    // SAFETY: thread states stay mapped; this thread alone uses its own.
    unsafe { thread.as_mut() }.filter(|thread| thread.tid != 0)
}

/// Whether a recorded command of this thread is in progress.
pub fn is_inside(words: &Words) -> bool {
    // SAFETY: thread states stay mapped.
    let thread = unsafe { words.thread.as_ref() };
    thread.is_some_and(|thread| thread.tid != 0 && thread.gate.ready() == 0)
}

/// Counts a command that was called from inside another command and therefore not recorded.
pub fn count_reentrant() {
    if let Some(connection) = process::connection() {
        connection.segment.header().reentrant_calls.fetch_add(1, Relaxed);
    }
}

fn attach(words: &mut Words, id: u16) -> Option<&'static mut Thread> {
    if process::is_forked_child() {
        words.thread = ptr::null_mut();
        process::become_own_process();
    }
    let connection = process::connection()?;
    EPOCH.follow()?;
    // SAFETY: thread states stay mapped; this thread alone uses its own.
    let owned = unsafe { words.thread.as_ref() };
    if !owned.is_some_and(|thread| ptr::eq(thread.connection, connection)) {
        words.thread = claim(connection)?;
    }
    // SAFETY: as above, and not null any more.
    let mut thread = unsafe { &mut *words.thread };
    // OUTSIDE and BEGIN, in Gate::enter_slowly: this thread looks for blobs in the table of this epoch's capture.
    let Some(epoch) = thread.gate.enter_slowly(&EPOCH) else {
        thread.gate.leave(thread.idle.max(EGL_ONLY));
        return None;
    };
    if !thread.is_current(connection, epoch) {
        if !capture::is_of_this_capture(thread.epoch) {
            // Records that an earlier capture lost are in that capture's account.
            thread.gap = Gap::NONE;
        }
        thread.epoch = epoch;
        if let Some(seat) = seats::this_seat() {
            seat.record_in(thread);
            seat.know(epoch);
        }
        thread.producer.forget_stamp();
        thread.set_timed(capture::times_driver());
        introduce(thread);
        introduce_context(thread, words);
        thread.set_gate(words);
        thread = snapshot::describe(thread, epoch);
    }
    if !thread.is_open() && const { Api::Gles.ids() }.contains(&id) {
        thread.gate.leave(thread.idle);
        return None;
    }
    if words.in_callback != 0 && id < META_FIRST {
        let own = atom::Traced { id, kind: TracedKind::Own, args_len: 0 };
        write_meta(thread, TRACED, &own.encode());
    }
    Some(thread)
}

/// Claims a free slot for this thread. If there is none, waits for one as long as for room in a ring.
fn claim(connection: &'static Connection) -> Option<*mut Thread> {
    let tid = gettid();
    let started = Instant::now();
    let slot = loop {
        if let Some(slot) = connection.segment.claim(tid, thread_name()) {
            break slot;
        }
        let is_hopeless = capture::overflow() == Overflow::Drop || orphan::is_out_of_patience();
        if is_hopeless || started.elapsed() >= capture::stall_limit() {
            connection.segment.header().unslotted_calls.fetch_add(1, Relaxed);
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let state = connection.thread(slot);
    // SAFETY: a claimed slot's state is this thread's alone; all zero is a valid state.
    unsafe { state.write_bytes(0, 1) };
    // SAFETY: as above.
    let thread = unsafe { &mut *state };
    thread.tid = tid;
    thread.connection = connection;
    thread.blob_min_bytes = connection.blob_min_bytes;
    thread.piece_bytes = connection.piece_bytes;
    let (segment, counter, mode) = (&connection.segment, &connection.counter, &connection.mode);
    // SAFETY: the slot was just claimed; connections are never unmapped.
    let attached = unsafe { thread.producer.attach(segment, slot, counter, mode) };
    notice_exit(state);
    attached.then_some(state)
}

/// Writes the THREAD record, with which a thread's part of a capture begins.
fn introduce(thread: &mut Thread) {
    let record = atom::Thread { tid: thread.tid, flags: 0, name: thread_name() };
    write_meta(thread, atom::THREAD, &record.encode());
}

fn introduce_context(thread: &mut Thread, words: &Words) {
    let (context, api, client_version) = (words.context, words.context_api, words.context_version);
    let record = atom::Context { context, api, client_version };
    write_meta(thread, atom::CONTEXT, &record.encode());
    // SAFETY: the thread is inside the shim, and nothing else looks at its state now.
    let state = unsafe { tracking::state() };
    if let Some(context) = state.and_then(|state| state.context.as_deref()) {
        write_meta(thread, atom::LIMITS, &limits::payload(context));
    }
}

/// Writes a record that is not a command, from a thread that is outside the shim. The record carries a stamp of its
/// own. Returns false if the thread is not recorded or there is no room.
pub fn write_from_outside(id: u16, payload: &[u8]) -> bool {
    // SAFETY: in a thread of the program; the payload is written below.
    let Some(mut call) = (unsafe { Call::begin(id) }) else { return false };
    call.thread().producer.forget_stamp();
    // SAFETY: the payload is written below.
    let Some(call) = (unsafe { call.reserve(0, payload.len() as u32) }) else { return false };
    for (at, word) in payload.chunks_exact(8).enumerate() {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        // SAFETY: within the payload.
        unsafe { call.put(at * 8, word) };
    }
    // SAFETY: all of the payload is written: it is of whole words.
    let call = unsafe { call.publish() };
    // SAFETY: nothing follows.
    unsafe { call.finish() };
    true
}

/// Writes a [`TRACED`] record about a command that this thread is about to make or has made, if that command is
/// recorded.
pub fn write_note(command: u16, payload: &[u8]) {
    // SAFETY: in a thread of the program; the note is written in place of the command.
    let Some(mut call) = (unsafe { Call::begin(command) }) else { return };
    write_meta(call.thread(), TRACED, payload);
    // SAFETY: nothing follows.
    unsafe { call.in_flight().finish() };
}

/// Writes a record that is not a command. The record is dropped and counted if there is no room.
pub fn write_meta(thread: &mut Thread, id: u16, payload: &[u8]) {
    thread.untimed(|thread| write_meta_untimed(thread, id, payload));
}

fn write_meta_untimed(thread: &mut Thread, id: u16, payload: &[u8]) {
    let header = Header::new(id, 0, HEADER_LEN + payload.len() as u32);
    // SAFETY: in the thread itself, inside the shim.
    let Some(record) = (unsafe { thread.reserve(header) }) else { return };
    #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
    // SAFETY: as many bytes are reserved, in memory that is not the payload's.
    unsafe {
        ptr::copy_nonoverlapping(payload.as_ptr(), record.payload.as_ptr(), payload.len())
    };
    // SAFETY: the payload is whole.
    unsafe { thread.producer.publish(record) };
    thread.producer.finish();
}

/// Retires the thread's slot when the thread ends. If a later destructor of the thread makes commands, the thread
/// claims a slot again and registers again.
fn notice_exit(state: *mut Thread) {
    static EXIT: ThreadExit = ThreadExit::new(retire);
    EXIT.notice(state.cast());
}

unsafe extern "C" fn retire(state: *mut libc::c_void) {
    let _errno = ErrnoGuard::new();
    // SAFETY: the state that `notice_exit` was given; this is still its thread.
    let thread = unsafe { &mut *state.cast::<Thread>() };
    // SAFETY: this thread's own words.
    let words = unsafe { &mut *words() };
    if thread.tid == 0 || !ptr::eq(words.thread, thread) {
        return;
    }
    words.thread = ptr::null_mut();
    // SAFETY: the thread's own; no command of it is on its way.
    unsafe { Scratch::unmap(core::mem::replace(&mut thread.scratch, ptr::null_mut())) };
    thread.frames.unmap();
    thread.producer.retire();
}

/// Whether GLX is loaded, so that a command without a current EGL context may be a desktop OpenGL command.
fn is_glx_loaded() -> bool {
    let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY;
    let handle = crate::dlopen::real(c"libGLX.so.0", flags);
    if !handle.is_null() {
        // SAFETY: the handle that was just opened; the library stays through its other users.
        unsafe { libc::dlclose(handle) };
    }
    !handle.is_null()
}

fn gettid() -> u32 {
    // SAFETY: has no failure.
    unsafe { libc::gettid() as u32 }
}

fn thread_name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}
