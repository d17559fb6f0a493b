//! Writes setup commands: records of commands that recreate state and that the program did not call. They have the form
//! of recorded commands, with the flag [`SETUP`]; the driver is not called, and they are not timed. A setup command
//! that finds no room in the ring is dropped and counted. The SNAPSHOT record at the end of a thread's part has what is
//! missing and for how long the thread was held; a TIME ahead of it has when that began.

use core::ffi::CStr;

use gapii_abi::atom::{
    CONTEXT, Context, EFFECT, LEAVES, SETUP, SNAPSHOT, SUBJECT, Snapshot, Subject, SubjectKind,
    TIME, Time, TimeKind,
};
use gapii_recorder::observe::{self, Observation};
use gapii_recorder::{Recorder, Scalar, clock_ns};
use gapii_state::NO_PARAM;

use super::missing::Missing;
use super::owed::{Debts, Uploaded};
use crate::capture;
use crate::generated::ids::GL_GET_FLOATV;
use crate::tls::words;

/// Maximum size of the arguments of a setup command, in 8-byte words.
const FIXED_WORDS: usize = 16;
/// Maximum number of parameters at which a setup command always reads memory.
const READS_MAX: usize = 4;

/// Writes setup commands into the ring of this thread, which is inside the shim.
pub struct Emitter<'r> {
    recorder: &'r mut Recorder,
    /// Whether the capture is timed. Setup commands have no times.
    is_timed: bool,
    /// State that the snapshot leaves out.
    missing: Missing,
    /// When the thread stopped to write the snapshot, in nanoseconds of `CLOCK_MONOTONIC`.
    since_ns: u64,
    debts: Debts,
}

/// A command that is being written.
#[must_use = "a command is written by `done` or `returns`"]
pub struct Command<'e> {
    recorder: &'e mut Recorder,
    id: u16,
    fixed: [u64; FIXED_WORDS],
    fixed_bytes: usize,
    reads: [Option<Observation>; READS_MAX],
}

impl<'r> Emitter<'r> {
    /// The thread must be inside the shim.
    pub fn new(recorder: &'r mut Recorder) -> Self {
        let is_timed = recorder.begin_describing();
        let (missing, debts) = (Missing::default(), Debts::default());
        Self { recorder, is_timed, missing, since_ns: clock_ns(), debts }
    }

    /// Writes the SNAPSHOT record, which ends the part and lists the missing state. The thread is still inside the shim.
    pub fn finish(self) {
        let missing = self.missing.text();
        let duration_ns = clock_ns().saturating_sub(self.since_ns);
        let hold = Time { at_ns: self.since_ns, kind: TimeKind::Hold, function: 0, duration_ns };
        self.recorder.write_meta(TIME, &hold.encode());
        let held_us = u32::try_from(duration_ns / 1000).unwrap_or(u32::MAX);
        let mut payload = Snapshot { len: missing.len() as u32, held_us }.encode().to_vec();
        payload.extend_from_slice(missing.as_bytes());
        self.recorder.write_meta(SNAPSHOT, &payload);
        self.recorder.end_describing(self.is_timed);
    }

    /// Whether contents of this size would be sent while the program runs on, as far as there is room for copies.
    pub fn owes(&mut self, bytes: usize) -> bool {
        self.debts.prepare(bytes)
    }

    /// The bytes that a command uploads; they are sent later if there is room for a copy. They may stay in `bytes`, and
    /// must live there until the command is written.
    pub fn uploaded(&mut self, bytes: &mut Vec<u8>) -> Uploaded {
        self.debts.owe(bytes).unwrap_or_else(|| Uploaded::of(bytes))
    }

    /// Begins the description of a subject. In a capture with keyframes, an earlier one may have described it.
    pub fn subject(&mut self, kind: SubjectKind, id: u64) {
        if capture::has_keyframes() {
            self.recorder.write_meta(SUBJECT, &subject(kind, id, false));
        }
    }

    /// Lists state that can't be described as missing.
    pub fn leave_out(&mut self, what: &str) {
        self.missing.add(what);
    }

    /// Lists a part of an object as missing. The object's name is appended to `what`.
    pub fn leave_out_of(&mut self, what: &str, name: u32) {
        self.missing.add_of(what, name);
    }

    /// States that the following commands are called in a context of the shim's own, of this API and client version.
    pub fn in_spare_context(&mut self, context: u64, api: u32, client_version: u32) {
        let record = Context { context, api, client_version };
        self.recorder.write_meta(CONTEXT, &record.encode());
    }

    /// States that the following commands are called in the thread's current context again.
    pub fn in_own_context(&mut self) {
        let words = words();
        let record = Context {
            context: words.context.get(),
            api: words.context_api.get(),
            client_version: words.context_version.get(),
        };
        self.recorder.write_meta(CONTEXT, &record.encode());
    }

    /// Writes a command like `glGenBuffers` that returns `name`.
    pub fn make(&mut self, id: u16, name: u32) {
        let name = &raw const name;
        self.command(id).arg(1_i32).arg(name).returns((), [observe::array(name, 1, 4)]);
    }

    /// Writes a `glGetFloatv` that returned `values`.
    pub fn answer_floats(&mut self, name: u32, values: &[f32]) {
        let address = values.as_ptr();
        let answer = observe::array(address, values.len() as i64, 4);
        self.command(GL_GET_FLOATV).arg(name).arg(address).returns((), [answer]);
    }

    /// Begins a command, which is written when it is [done](Command::done) or [returns](Command::returns).
    pub fn command(&mut self, id: u16) -> Command<'_> {
        let (fixed, reads) = ([0; FIXED_WORDS], [None; READS_MAX]);
        Command { recorder: self.recorder, id, fixed, fixed_bytes: 0, reads }
    }
}

/// Returns the payload of a SUBJECT record.
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

    /// The next argument, as a word of which the first `size` bytes count.
    pub fn word(self, word: u64, size: usize) -> Self {
        match size {
            1 => self.arg(word as u8),
            2 => self.arg(word as u16),
            4 => self.arg(word as u32),
            _ => self.arg(word),
        }
    }

    /// All arguments at once, as a record has them: `bytes` bytes in whole words.
    pub fn words(mut self, words: &[u64], bytes: usize) -> Self {
        debug_assert!(words.len() <= FIXED_WORDS, "more arguments than are needed here");
        for (to, from) in self.fixed.iter_mut().zip(words) {
            *to = *from;
        }
        self.fixed_bytes = bytes.min(size_of_val(&self.fixed));
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

    /// The next argument: a NUL-terminated string that the command always reads.
    pub fn text(self, text: &CStr) -> Self {
        self.arg(text.as_ptr()).reads(observe::c_string(text.as_ptr()))
    }

    /// Memory that the command reads for the parameter at index `param`, depending on bindings or state.
    pub fn range(self, param: u8, bytes: &[u8]) -> Self {
        self.recorder.add_range(param, bytes.as_ptr() as u64, bytes.len() as u64);
        self
    }

    /// [`Command::range`] for memory that may be unmapped or is still to be sent: bytes that can't be copied are left out.
    pub fn uploaded(self, param: u8, contents: Uploaded) -> Self {
        let Uploaded { address, len, owed } = contents;
        match owed {
            Some(number) => self.recorder.add_owed_range(param, address, len, number),
            None => self.recorder.add_range(param, address, len),
        }
        self
    }

    /// Memory of the program that the command reads, and of which the shim has a copy. All ranges of a command are
    /// copies, or none is.
    pub fn copy(self, param: u8, address: u64, copy: &[u8]) -> Self {
        self.recorder.add_copied_range(param, address, copy);
        self
    }

    /// Memory that belongs to no parameter. It is found again by its address.
    pub fn memory(self, address: u64, len: u64) -> Self {
        self.recorder.set_range_apart();
        self.recorder.add_range(NO_PARAM, address, len);
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

impl Command<'_> {
    /// Writes a command that returns `result` and has written `slots`, at most three, and copied ranges.
    pub fn returns_copies<R: Scalar>(
        self,
        result: R,
        slots: &[Observation],
        ranges: &[(u8, u64, &[u8])],
    ) {
        let id = self.id;
        let Some(recorder) = self.enter(SETUP | LEAVES) else { return };
        for (param, address, copy) in ranges {
            recorder.add_copied_range(*param, *address, copy);
        }
        let flags = SETUP | EFFECT;
        match *slots {
            [] => recorder.leave(id, flags, result, &mut []),
            [one] => recorder.leave(id, flags, result, &mut [one]),
            [one, two] => recorder.leave(id, flags, result, &mut [one, two]),
            [one, two, three, ..] => recorder.leave(id, flags, result, &mut [one, two, three]),
        }
    }
}

impl<'e> Command<'e> {
    /// Writes the enter record. `None`: there was no room.
    fn enter(self, flags: u16) -> Option<&'e mut Recorder> {
        let fixed_bytes = self.fixed_bytes as u32;
        let (recorder, id, fixed) = (self.recorder, self.id, &self.fixed);
        let written = match self.reads {
            [None, ..] => write(recorder, id, flags, fixed_bytes, fixed, &mut []),
            [Some(one), None, ..] => write(recorder, id, flags, fixed_bytes, fixed, &mut [one]),
            [Some(one), Some(two), None, _] => {
                write(recorder, id, flags, fixed_bytes, fixed, &mut [one, two])
            }
            [Some(one), Some(two), Some(three), None] => {
                write(recorder, id, flags, fixed_bytes, fixed, &mut [one, two, three])
            }
            [Some(one), Some(two), Some(three), Some(four)] => {
                write(recorder, id, flags, fixed_bytes, fixed, &mut [one, two, three, four])
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
