//! Records of commands that nobody called: those that would make what there is.
//!
//! They are written like those of recorded commands, with flag [`SETUP`], and the driver hears
//! nothing of them.

use core::ffi::CStr;
use std::time::Instant;

use gapii_abi::atom::{EFFECT, LEAVES, SETUP, SNAPSHOT, SUBJECT, Snapshot, Subject, SubjectKind};
use gapii_recorder::observe::{self, Observation};
use gapii_recorder::{Recorder, Scalar};

use super::missing::Missing;
use crate::capture;

/// Longest fixed part that is needed here, in words.
const FIXED_WORDS: usize = 8;

/// A thread that is inside the shim, and writes records of its own accord.
pub struct Emitter<'r> {
    recorder: &'r mut Recorder,
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
    recorder: &'e mut Recorder,
    id: u16,
    fixed: [u64; FIXED_WORDS],
    fixed_bytes: usize,
    reads: [Option<Observation>; 2],
}

impl<'r> Emitter<'r> {
    /// The thread must be inside the shim.
    pub fn new(recorder: &'r mut Recorder) -> Self {
        let is_timed = recorder.begin_describing();
        Self { recorder, is_timed, missing: Missing::default(), since: Instant::now() }
    }

    /// Says that all has been written, and what is missing; the thread is still inside.
    pub fn finish(self) {
        let missing = self.missing.text();
        let held_us = u32::try_from(self.since.elapsed().as_micros()).unwrap_or(u32::MAX);
        let mut payload = Snapshot { len: missing.len() as u32, held_us }.encode().to_vec();
        payload.extend_from_slice(missing.as_bytes());
        self.recorder.write_meta(SNAPSHOT, &payload);
        self.recorder.end_describing(self.is_timed);
    }

    /// What follows describes somebody, who in a capture with keyframes may have been described before.
    pub fn subject(&mut self, kind: SubjectKind, id: u64) {
        if capture::has_keyframes() {
            self.recorder.write_meta(SUBJECT, &subject(kind, id, false));
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
        Command { recorder: self.recorder, id, fixed, fixed_bytes: 0, reads }
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
        self.recorder.add_range(param, bytes.as_ptr() as u64, bytes.len() as u64);
        self
    }

    /// The same of memory that may not be there: what can't be copied is left out.
    pub fn range_at(self, param: u8, address: u64, len: u64) -> Self {
        self.recorder.add_range(param, address, len);
        self
    }

    /// Writes a command that returns nothing.
    pub fn done(self) {
        self.enter(SETUP | EFFECT);
    }

    /// Writes a command that returns `result` and has written `writes`.
    pub fn returns<R: Scalar, const N: usize>(self, result: R, mut writes: [Observation; N]) {
        let id = self.id;
        if let Some(recorder) = self.enter(SETUP | LEAVES) {
            recorder.leave(id, SETUP | EFFECT, result, &mut writes);
        }
    }
}

impl<'e> Command<'e> {
    /// Writes the enter record. `None`: there was no room.
    fn enter(self, flags: u16) -> Option<&'e mut Recorder> {
        let fixed_bytes = self.fixed_bytes as u32;
        let (recorder, id, fixed) = (self.recorder, self.id, &self.fixed);
        let written = match self.reads {
            [None, _] => write(recorder, id, flags, fixed_bytes, fixed, &mut []),
            [Some(one), None] => write(recorder, id, flags, fixed_bytes, fixed, &mut [one]),
            [Some(one), Some(two)] => {
                write(recorder, id, flags, fixed_bytes, fixed, &mut [one, two])
            }
        };
        written.then_some(recorder)
    }
}

fn write<const N: usize>(
    recorder: &mut Recorder,
    id: u16,
    flags: u16,
    fixed_bytes: u32,
    fixed: &[u64; FIXED_WORDS],
    reads: &mut [Observation; N],
) -> bool {
    // SAFETY: the fixed part is written below.
    let record = unsafe { recorder.reserve_observing(id, flags, fixed_bytes, reads) };
    let Some(record) = record else { return false };
    let fixed_bytes = (fixed_bytes as usize).next_multiple_of(8);
    for (at, word) in fixed.iter().take(fixed_bytes / 8).enumerate() {
        // SAFETY: payloads are reserved in whole words.
        let place = unsafe { record.payload.add(at * 8) };
        // SAFETY: as above; payloads are aligned to 8 bytes.
        unsafe { place.cast::<u64>().write(*word) };
    }
    // SAFETY: the fixed part is whole.
    unsafe { recorder.publish_observing(record, fixed_bytes, reads) };
    recorder.finish();
    true
}
