//! Records of commands that nobody called: those that would make what there is.
//!
//! They are written like those of recorded commands, with flag [`SETUP`], and the driver hears
//! nothing of them.

use core::ffi::CStr;
use std::time::Instant;

use gapii_abi::atom::{EFFECT, LEAVES, SETUP, SNAPSHOT, SUBJECT, Snapshot, Subject, SubjectKind};

use super::missing::Missing;
use crate::call::Call;
use crate::capture;
use crate::observe::{self, Observation};
use crate::scalar::Scalar;
use crate::thread::{Thread, write_meta};

/// Longest fixed part that is needed here, in words.
const FIXED_WORDS: usize = 8;

/// A thread that is inside the shim, and writes records of its own accord.
pub struct Emitter {
    thread: &'static mut Thread,
    /// The capture is timed, which these commands are not.
    is_timed: bool,
    /// What has to be left out.
    missing: Missing,
    /// When the program was held.
    since: Instant,
}

/// A command on its way into a record.
#[must_use = "a command is written by `done` or `returns`"]
pub struct Command<'e> {
    thread: &'e mut Thread,
    id: u16,
    fixed: [u64; FIXED_WORDS],
    fixed_bytes: usize,
    reads: [Option<Observation>; 2],
}

impl Emitter {
    /// The thread must be inside the shim.
    pub fn new(thread: &'static mut Thread) -> Self {
        let is_timed = thread.producer.is_on_hold();
        thread.producer.resume();
        thread.begin_describing();
        Self { thread, is_timed, missing: Missing::default(), since: Instant::now() }
    }

    /// Says that all has been written, and what is missing; the thread is still inside.
    pub fn finish(self) -> &'static mut Thread {
        let missing = self.missing.text();
        let held_us = u32::try_from(self.since.elapsed().as_micros()).unwrap_or(u32::MAX);
        let mut payload = Snapshot { len: missing.len() as u32, held_us }.encode().to_vec();
        payload.extend_from_slice(missing.as_bytes());
        write_meta(self.thread, SNAPSHOT, &payload);
        self.thread.end_describing();
        if self.is_timed {
            self.thread.producer.hold();
        }
        self.thread
    }

    /// What follows describes somebody, who in a capture with keyframes may have been described before.
    pub fn subject(&mut self, kind: SubjectKind, id: u64) {
        if capture::has_keyframes() {
            write_meta(self.thread, SUBJECT, &subject(kind, id, false));
        }
    }

    /// Notes something that can't be described, in a sentence.
    pub fn leave_out(&mut self, what: &str) {
        self.missing.add(what);
    }

    /// The same of an object, whose name comes behind what it lacks.
    pub fn leave_out_of(&mut self, what: &str, name: u32) {
        self.missing.add_of(what, name);
    }

    /// A command of the `glGen` kind, that gives out this name.
    pub fn make(&mut self, id: u16, name: u32) {
        let name = &raw const name;
        self.command(id).arg(1_i32).arg(name).returns((), [observe::array(name, 1, 4)]);
    }

    pub fn command(&mut self, id: u16) -> Command<'_> {
        let (fixed, reads) = ([0; FIXED_WORDS], [None, None]);
        Command { thread: self.thread, id, fixed, fixed_bytes: 0, reads }
    }
}

/// Payload of a record that names who is described, or who was made.
pub fn subject(kind: SubjectKind, id: u64, is_made: bool) -> [u8; Subject::LEN] {
    Subject { id, kind, made: is_made.into() }.encode()
}

impl Command<'_> {
    /// The next argument.
    pub fn arg<T: Scalar>(mut self, value: T) -> Self {
        let size = size_of::<T>();
        let at = self.fixed_bytes.next_multiple_of(size.max(1));
        debug_assert!(at + size <= size_of_val(&self.fixed), "more arguments than are needed here");
        if at + size <= size_of_val(&self.fixed) {
            // SAFETY: inside the words.
            let place = unsafe { self.fixed.as_mut_ptr().byte_add(at) };
            // SAFETY: as above; a scalar has no padding.
            unsafe { place.cast::<T>().write_unaligned(value) };
            self.fixed_bytes = at + size;
        }
        self
    }

    /// Memory that the command always reads, in the order of its parameters.
    pub fn reads(mut self, seen: Observation) -> Self {
        if let Some(free) = self.reads.iter_mut().find(|read| read.is_none()) {
            *free = Some(seen);
        }
        self
    }

    /// The next argument: numbers that the command always reads.
    pub fn numbers<T>(self, values: &[T]) -> Self {
        let (at, len) = (values.as_ptr(), values.len() as i64);
        self.arg(at).reads(observe::array(at, len, size_of::<T>()))
    }

    /// The next argument: a text with its end that the command always reads.
    pub fn text(self, text: &CStr) -> Self {
        self.arg(text.as_ptr()).reads(observe::c_string(text.as_ptr()))
    }

    /// Memory that it reads for the parameter of that index because of what is bound or set.
    pub fn range(self, param: u8, bytes: &[u8]) -> Self {
        self.thread.add_range(param, bytes.as_ptr() as u64, bytes.len() as u64);
        self
    }

    /// The same of memory that may not be there: what can't be copied is left out.
    pub fn range_at(self, param: u8, address: u64, len: u64) -> Self {
        self.thread.add_range(param, address, len);
        self
    }

    /// Writes a command that returns nothing.
    pub fn done(self) {
        self.enter(SETUP | EFFECT);
    }

    /// Writes a command that returns `result` and has written `writes`.
    pub fn returns<R: Scalar, const N: usize>(self, result: R, mut writes: [Observation; N]) {
        let (thread, id): (*mut Thread, _) = (self.thread, self.id);
        if !self.enter(SETUP | LEAVES) {
            return;
        }
        // SAFETY: the command has given the thread back, which is the emitter's for ever.
        let call = unsafe { Call::inside(thread, id) };
        // SAFETY: in the thread itself.
        unsafe { call.in_flight().leave(id, SETUP | EFFECT, result, &mut writes) };
        // SAFETY: as above.
        unsafe { &*thread }.gate().close();
    }

    /// False: there was no room.
    fn enter(self, flags: u16) -> bool {
        let thread: *mut Thread = self.thread;
        // SAFETY: the emitter's, and nobody else uses it meanwhile.
        let call = unsafe { Call::inside(thread, self.id) };
        let fixed_bytes = self.fixed_bytes as u32;
        let written = match self.reads {
            [None, _] => write(call, flags, fixed_bytes, &self.fixed, &mut []),
            [Some(one), None] => write(call, flags, fixed_bytes, &self.fixed, &mut [one]),
            [Some(one), Some(two)] => write(call, flags, fixed_bytes, &self.fixed, &mut [one, two]),
        };
        // SAFETY: as above; the thread stays inside.
        unsafe { &*thread }.gate().close();
        written
    }
}

fn write<const N: usize>(
    call: Call,
    flags: u16,
    fixed_bytes: u32,
    fixed: &[u64; FIXED_WORDS],
    reads: &mut [Observation; N],
) -> bool {
    // SAFETY: the fixed part is written below.
    let Some(entering) = (unsafe { call.reserve_observing(flags, fixed_bytes, reads) }) else {
        return false;
    };
    let fixed_bytes = (fixed_bytes as usize).next_multiple_of(8);
    for (at, word) in fixed.iter().take(fixed_bytes / 8).enumerate() {
        // SAFETY: payloads are reserved in whole words.
        unsafe { entering.put(at * 8, *word) };
    }
    // SAFETY: the fixed part is whole.
    let call = unsafe { entering.publish_observing(fixed_bytes, reads) };
    // SAFETY: nothing follows.
    unsafe { call.finish() };
    true
}
