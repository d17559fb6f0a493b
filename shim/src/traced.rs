//! Traced calls: commands for which an enabled tracer has callbacks.
//!
//! While a command is traced its slot leads to the [trampoline](crate::trampoline), which calls [`call`] here. That
//! copies the parameters for the callbacks, and calls the code that the slot would hold without tracers:
//! recording knows nothing of it. What the callbacks changed goes into the recording as notes, here and nowhere
//! else.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use gapii_abi::atom::{Traced, TracedKind};
use gapii_tool_api::{gapii_call, gapii_callback};
use gapii_tracers::{Callback, Moment, Tracers};

use crate::capture::{self, NOT_CAPTURING};
use crate::frame::Frame;
use crate::generated::ids;
use crate::signature::{Class, PARAMS_BYTES_MAX, Place, RESULT_BYTES_MAX, Signature};
use crate::table::{self, Code};
use crate::thread;

/// The tracers of EGL, OpenGL ES and Level Zero.
pub static TRACERS: Tracers = Tracers::new(ids::COUNT, table::trace);

/// Makes the call of command `id` whose arguments are in `frame`, and leaves its result there. Or, if the call
/// is not traced, returns the code that the trampoline has to jump to.
///
/// # Safety
/// Called by the trampoline; `frame` is of a call of this command.
pub unsafe extern "C" fn call(id: u16, frame: Frame) -> Code {
    match TRACERS.begin(usize::from(id)) {
        Some(call) => {
            // SAFETY: passed on.
            unsafe { run(call, id, frame) };
            ptr::null_mut()
        }
        None => table::below(id),
    }
}

#[inline(always)]
unsafe fn run(mut call: gapii_tracers::Call<'_>, id: u16, frame: Frame) {
    let signature = Signature::of(id);
    let mut room = Params::ROOM;
    let params = Params::new(&mut room);
    // SAFETY: the frame is of this command.
    unsafe { params.take(signature, frame) };
    let mut result = 0;
    let result: *mut u64 = &raw mut result;
    let mut passing = Passing {
        id,
        moment: Moment::Prologue,
        is_skipped: false,
        capture: NOT_CAPTURING,
        params: if signature.places().is_empty() { ptr::null_mut() } else { params.0 },
        result: if signature.result_bytes() == 0 { ptr::null_mut() } else { result.cast() },
        result_bytes: signature.result_bytes(),
    };
    passing.prologues(&mut call);
    if passing.is_skipped {
        passing.epilogues(&mut call);
        // SAFETY: the frame is as the trampoline left it.
        unsafe { passing.note_skipped(frame) };
    } else {
        // SAFETY: as above.
        unsafe { passing.note_changed(frame) };
        // SAFETY: the frame is of this command, and the parameters are.
        unsafe { params.put_back(signature, frame) };
        // SAFETY: the command's own function, or one that stands in for it.
        let returned = unsafe { frame.call(table::below(id), signature) };
        // SAFETY: above.
        unsafe { result.write(returned) };
        passing.epilogues(&mut call);
        // SAFETY: as large as every result.
        unsafe { passing.note_result((&raw const returned).cast()) };
    }
    // SAFETY: above.
    frame.set_result(signature.result_in_register(unsafe { result.read() }));
}

/// Where a command's structure of parameters is.
///
/// Parameters are copied in their own sizes: a load of more than one store has written waits until both are in the
/// cache.
#[derive(Clone, Copy)]
struct Params(*mut u8);

type Room = [MaybeUninit<u64>; PARAMS_BYTES_MAX / 8];

impl Params {
    const ROOM: Room = [const { MaybeUninit::uninit() }; PARAMS_BYTES_MAX / 8];

    fn new(room: &mut Room) -> Self {
        Self(room.as_mut_ptr().cast())
    }

    /// # Safety
    /// `place` is one of a command's.
    #[inline(always)]
    unsafe fn at(self, place: &Place) -> *mut u8 {
        // SAFETY: every parameter ends at PARAMS_BYTES_MAX at the latest.
        unsafe { self.0.add(place.offset.into()) }
    }

    /// Copies the arguments of a call.
    ///
    /// # Safety
    /// `frame` is of a call of a command with this signature.
    #[inline(always)]
    unsafe fn take(self, signature: &Signature, frame: Frame) {
        if signature.has(Signature::HAS_NARROW | Signature::HAS_STRUCTURES) {
            // SAFETY: passed on.
            return unsafe { self.take_carefully(signature, frame) };
        }
        for place in signature.places() {
            // SAFETY: the caller's duty.
            let argument = unsafe { frame.at(place.word) };
            // SAFETY: of this command.
            let param = unsafe { self.at(place) };
            // SAFETY: as above.
            let word = unsafe { argument.read() };
            match place.bytes {
                // SAFETY: the structure has a parameter of that size there, aligned to it.
                8 => unsafe { param.cast::<u64>().write(word) },
                // SAFETY: as above; all others are of 4 bytes.
                _ => unsafe { param.cast::<u32>().write(word as u32) },
            }
        }
    }

    /// The same where parameters have fewer than 4 bytes, or are addresses of structures.
    #[inline(never)]
    unsafe fn take_carefully(self, signature: &Signature, frame: Frame) {
        for place in signature.places() {
            // SAFETY: the caller's duty.
            let argument = unsafe { frame.at(place.word) };
            // SAFETY: of this command.
            let param = unsafe { self.at(place) };
            if matches!(place.class, Class::Structure { .. }) {
                // SAFETY: a pointer is a word.
                unsafe { param.cast::<*mut u64>().write(argument) };
            } else {
                // SAFETY: the low bytes of a word come first.
                unsafe { ptr::copy_nonoverlapping(argument.cast(), param, place.bytes.into()) };
            }
        }
    }

    /// Makes the call's arguments what callbacks have left here.
    ///
    /// # Safety
    /// As for [`Self::take`], which was called before.
    #[inline(always)]
    unsafe fn put_back(self, signature: &Signature, frame: Frame) {
        if signature.has(Signature::HAS_NARROW | Signature::HAS_STRUCTURES) {
            // SAFETY: passed on.
            return unsafe { self.put_back_carefully(signature, frame) };
        }
        for place in signature.places() {
            // SAFETY: of this command.
            let param = unsafe { self.at(place) };
            let word = match place.bytes {
                // SAFETY: the structure has a parameter of that size there, aligned to it.
                8 => unsafe { param.cast::<u64>().read() },
                // SAFETY: as above; all others are of 4 bytes.
                _ => u64::from(unsafe { param.cast::<u32>().read() }),
            };
            // SAFETY: the caller's duty.
            let argument = unsafe { frame.at(place.word) };
            // SAFETY: as above.
            unsafe { argument.write(word) };
        }
    }

    /// The same where callees rely on parameters that are extended, or where parameters are addresses of
    /// structures.
    #[inline(never)]
    unsafe fn put_back_carefully(self, signature: &Signature, frame: Frame) {
        for place in signature.places() {
            // SAFETY: of this command.
            let param = unsafe { self.at(place) };
            // SAFETY: the caller's duty.
            let argument = unsafe { frame.at(place.word) };
            if let Class::Structure { bytes } = place.class {
                // SAFETY: a pointer was written there.
                let structure = unsafe { param.cast::<*const u8>().read() };
                // SAFETY: the program's structure, or one that a callback has put in its place.
                unsafe { ptr::copy(structure, argument.cast(), bytes.into()) };
            } else {
                let mut bytes = [0; 8];
                let room = bytes.as_mut_ptr();
                // SAFETY: the structure has so many bytes there, of 8 at most.
                unsafe { ptr::copy_nonoverlapping(param, room, place.bytes.into()) };
                // SAFETY: the caller's duty.
                unsafe { argument.write(place.class.extend(u64::from_le_bytes(bytes))) };
            }
        }
    }
}

/// A traced call, as callbacks see it: by its address.
pub struct Passing {
    pub id: u16,
    pub moment: Moment,
    pub is_skipped: bool,
    /// The capture that was running when the prologues had run, or [`NOT_CAPTURING`].
    capture: u64,
    /// Null for a command without parameters.
    pub params: *mut u8,
    /// Null for a command without a result.
    pub result: *mut u8,
    result_bytes: u8,
}

impl Passing {
    #[inline(never)]
    fn prologues(&mut self, call: &mut gapii_tracers::Call<'_>) {
        thread::set_in_callback(true);
        let passing: *mut Self = self;
        call.prologues(|callback, user_data, instance| {
            // SAFETY: the call's own.
            unsafe { run_callback(callback, passing, user_data, instance) };
        });
        thread::set_in_callback(false);
        self.capture = running_capture();
    }

    #[inline(never)]
    fn epilogues(&mut self, call: &mut gapii_tracers::Call<'_>) {
        self.moment = Moment::Epilogue;
        thread::set_in_callback(true);
        let passing: *mut Self = self;
        call.epilogues(|callback, user_data, instance| {
            // SAFETY: the call's own.
            unsafe { run_callback(callback, passing, user_data, instance) };
        });
        thread::set_in_callback(false);
    }

    /// Writes, ahead of the command's records, what the program passed, where prologues have changed it.
    ///
    /// # Safety
    /// `frame` has the arguments that the program passed.
    #[inline]
    unsafe fn note_changed(&self, frame: Frame) {
        if self.capture != NOT_CAPTURING {
            // SAFETY: passed on.
            unsafe { self.note_changed_in_capture(frame) };
        }
    }

    #[cold]
    unsafe fn note_changed_in_capture(&self, frame: Frame) {
        let signature = Signature::of(self.id);
        let mut room = Params::ROOM;
        let made = Params::new(&mut room);
        // SAFETY: the caller's duty.
        unsafe { made.take(signature, frame) };
        let is_changed = signature.places().iter().any(|place| {
            let parameter = |from: *const u8| {
                // SAFETY: the structure has a parameter there.
                let at = unsafe { from.add(place.offset.into()) };
                // SAFETY: of so many bytes.
                unsafe { core::slice::from_raw_parts(at, place.bytes.into()) }
            };
            parameter(made.0) != parameter(self.params)
        });
        if is_changed {
            let mut note = Note::new(TracedKind::Changed, self.id);
            // SAFETY: the command's structure.
            unsafe { note.add_params(made.0, signature.places()) };
            note.write();
        }
    }

    /// Writes, in place of the command's records, both what the program passed and what prologues made of it,
    /// and what the program gets.
    ///
    /// # Safety
    /// As for [`Self::note_changed`].
    #[cold]
    unsafe fn note_skipped(&self, frame: Frame) {
        if self.capture == NOT_CAPTURING {
            return;
        }
        let signature = Signature::of(self.id);
        let mut room = Params::ROOM;
        let made = Params::new(&mut room);
        // SAFETY: the caller's duty.
        unsafe { made.take(signature, frame) };
        let mut note = Note::new(TracedKind::Skipped, self.id);
        // SAFETY: the command's structure.
        unsafe { note.add_params(made.0, signature.places()) };
        // SAFETY: the callbacks' copy is another such structure.
        unsafe { note.add_params(self.params, signature.places()) };
        // SAFETY: the call's own.
        unsafe { note.add_result(self.result, self.result_bytes.into()) };
        note.write();
    }

    /// Writes, behind the command's records, what the program gets, where epilogues have changed it.
    ///
    /// # Safety
    /// `returned` is as large as the command's result.
    #[inline]
    unsafe fn note_result(&self, returned: *const u8) {
        if self.capture != NOT_CAPTURING && self.capture == running_capture() {
            // SAFETY: passed on.
            unsafe { self.note_result_in_capture(returned) };
        }
    }

    #[cold]
    unsafe fn note_result_in_capture(&self, returned: *const u8) {
        if self.result.is_null() {
            return;
        }
        // SAFETY: the caller's duty.
        let returned = unsafe { core::slice::from_raw_parts(returned, self.result_bytes.into()) };
        // SAFETY: the call's own.
        let given = unsafe { core::slice::from_raw_parts(self.result, self.result_bytes.into()) };
        if returned != given {
            let mut note = Note::new(TracedKind::Result, self.id);
            // SAFETY: as above.
            unsafe { note.add_result(self.result, self.result_bytes.into()) };
            note.write();
        }
    }
}

/// Returns the number of the capture that runs, or [`NOT_CAPTURING`]. It stays the same when a capture goes on
/// from a keyframe.
fn running_capture() -> u64 {
    if capture::is_running() { capture::first_epoch() } else { NOT_CAPTURING }
}

/// # Safety
/// `callback` was registered as a `gapii_callback`; `passing` and `instance` are of this call.
unsafe fn run_callback(
    callback: Callback,
    passing: *mut Passing,
    user_data: *mut c_void,
    instance: &mut *mut c_void,
) {
    // SAFETY: registered as this type; see `tracer_api`.
    let callback = unsafe { core::mem::transmute::<Callback, gapii_callback>(callback) };
    if let Some(callback) = callback {
        // SAFETY: a tool's callback, with what the header promises it.
        unsafe { callback(passing.cast::<gapii_call>(), user_data, instance) };
    }
}

/// The payload of a TRACED record.
struct Note {
    command: u16,
    bytes: [u8; Self::BYTES_MAX],
    len: usize,
}

impl Note {
    const HEAD_BYTES: usize = Traced::LEN;
    const BYTES_MAX: usize = Self::HEAD_BYTES + 2 * PARAMS_BYTES_MAX + RESULT_BYTES_MAX;

    fn new(kind: TracedKind, command: u16) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        let head = Traced { id: command, kind, args_len: 0 };
        bytes[..Self::HEAD_BYTES].copy_from_slice(&head.encode());
        Self { command, bytes, len: Self::HEAD_BYTES }
    }

    /// The fixed part of an enter record with these parameters, padded to whole words.
    ///
    /// # Safety
    /// `params` is a structure of this layout.
    unsafe fn add_params(&mut self, params: *const u8, layout: &[Place]) {
        let end =
            layout.last().map_or(0, |last| usize::from(last.offset) + usize::from(last.bytes));
        for place in layout {
            let offset = usize::from(place.offset);
            // SAFETY: the structure has a parameter there.
            let from = unsafe { params.add(offset) };
            // SAFETY: of so many bytes.
            unsafe { self.add(self.len + offset, from, place.bytes.into()) };
        }
        let args_len = end.next_multiple_of(8);
        self.bytes[4..8].copy_from_slice(&(args_len as u32).to_le_bytes());
        self.len += args_len;
    }

    /// # Safety
    /// `result` leads to so many bytes.
    unsafe fn add_result(&mut self, result: *const u8, bytes: usize) {
        if bytes > 0 {
            // SAFETY: passed on.
            unsafe { self.add(self.len, result, bytes) };
            self.len += bytes.next_multiple_of(8);
        }
    }

    /// # Safety
    /// `from` leads to so many bytes.
    unsafe fn add(&mut self, at: usize, from: *const u8, bytes: usize) {
        // SAFETY: the caller's duty.
        let from = unsafe { core::slice::from_raw_parts(from, bytes) };
        if let Some(to) = self.bytes.get_mut(at..at + bytes) {
            to.copy_from_slice(from);
        }
    }

    fn write(&self) {
        thread::write_note(self.command, self.bytes.get(..self.len).unwrap_or_default());
    }
}
