//! Traced calls: commands for which an enabled tracer has callbacks, or whose calls may end a frame by the capture's rule
//! (see [`frame_ends`]). In a recording, a changed parameter gives a note
//! with the program's own arguments ahead of the command's records; a skipped call gives one note in place of the
//! records; a changed result gives a note behind them. Commands that callbacks call are recorded as the tracer's own. A
//! capture that begins or ends within the call has no note about the result.
//!
//! While a command is traced, its slot leads to the [trampoline](crate::trampoline), which calls [`call`]. This function
//! copies the parameters into a structure, runs the prologues, calls the code that the slot would hold without tracers,
//! and runs the epilogues. The code that records commands is unaware of tracers. Only this module writes notes about
//! what callbacks have changed into a recording.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::fs::OpenOptions;

use gapii_abi::app;
use gapii_abi::atom::{Traced, TracedKind};
use gapii_tool_api::{gapii_call, gapii_callback};
use gapii_tracers::{Callback, Moment, Tracers};

use crate::attach;
use crate::capture::{self, NOT_CAPTURING};
use crate::environment;
use crate::frame::Frame;
use crate::frame_ends;
use crate::frame_rule;
use crate::generated::ids;
use crate::shape::{PARAMS_BYTES_MAX, Parameters, Place, Returned, Shape};
use crate::signature::{Outcome, RESULT_BYTES_MAX, Signature};
use crate::table;
use crate::tls::{Words, words};

/// The tracers of EGL, GLX, OpenGL, OpenGL ES and Level Zero.
pub static TRACERS: Tracers = Tracers::new(ids::COUNT, switch);

/// Lets the table's slots lead to the traced calls. Called by one thread at a time.
fn switch(traced: &gapii_tracers::Traced<'_>) {
    table::trace(traced);
    leave_mark(traced);
}

/// Creates the file that `GAPII_TRACED_MARK` names, once, for `gapii-ctl run --tool`: a tool traces a command.
fn leave_mark(traced: &gapii_tracers::Traced<'_>) {
    static IS_LEFT: AtomicBool = AtomicBool::new(false);
    // Relaxed: only one thread at a time is here, and the value says nothing about other memory.
    if IS_LEFT.load(Relaxed) {
        return;
    }
    let Some(path) = environment::variable(app::TRACED_MARK_VARIABLE) else { return };
    if (0..ids::COUNT).any(|id| traced.has(id)) {
        IS_LEFT.store(true, Relaxed);
        // Another process of the run may have left it; a program that can't write there is said to trace nothing.
        let _ = OpenOptions::new().write(true).create_new(true).open(path);
    }
}

/// Makes a call of a command with parameters `P` and a result that is returned as `R`, if the call is traced.
///
/// The compiler makes a copy of this function for each list of types, about 150 for 1,480 commands. The copies know at
/// compile time where each argument is. One function for all commands that looks up the place and size of each
/// argument takes 150 instructions more for a call with four arguments.
///
/// # Safety
/// Called by the trampoline; `frame` is of a call of this command.
pub unsafe extern "C" fn call<P: Parameters, R: Returned>(
    signature: &'static Signature,
    frame: Frame,
) -> Outcome {
    match TRACERS.begin(usize::from(signature.id)) {
        Some(call) => {
            // SAFETY: passed on.
            let result = unsafe { run::<P, R>(call, signature, frame) };
            Outcome { jump_to: ptr::null_mut(), result }
        }
        // SAFETY: passed on.
        None if frame_rule::is_watched(usize::from(signature.id)) => unsafe {
            pass::<P, R>(signature, frame)
        },
        None => Outcome { jump_to: table::below(signature.id), result: 0 },
    }
}

/// Makes a call that no tracer looks at, and that may end a frame.
///
/// # Safety
/// As for [`call`].
unsafe fn pass<P: Parameters, R: Returned>(signature: &'static Signature, frame: Frame) -> Outcome {
    let mut params = Params::ROOM;
    // SAFETY: the frame is of this command.
    unsafe { P::take(frame, params.address()) };
    // SAFETY: the parameters are the command's.
    let returned = unsafe { call_below::<P, R>(signature, params.address()) };
    Outcome { jump_to: ptr::null_mut(), result: signature.result_in_register(returned) }
}

/// Calls what the command's slot would hold without tracers. Returns the result in its low bytes.
///
/// # Safety
/// `params` points at the command's structure of parameters.
#[inline(always)]
unsafe fn call_below<P: Parameters, R: Returned>(
    signature: &'static Signature,
    params: *mut u8,
) -> u64 {
    let frame_end = match frame_rule::is_watched(usize::from(signature.id)) {
        // SAFETY: passed on.
        true => unsafe { frame_ends::before(signature.id, params) },
        false => None,
    };
    // SAFETY: the command's own function, or one that stands in for it, with the command's parameters.
    let returned = unsafe { P::call::<R>(table::below(signature.id), params) };
    if let Some(frame_end) = frame_end {
        frame_ends::after(frame_end);
    }
    returned
}

#[inline(always)]
unsafe fn run<P: Parameters, R: Returned>(
    mut call: gapii_tracers::Call<'_>,
    signature: &'static Signature,
    frame: Frame,
) -> u64 {
    let mut passing = Passing {
        signature,
        moment: Moment::Prologue,
        is_skipped: false,
        result: 0,
        params: Params::ROOM,
    };
    // SAFETY: the frame is of this command.
    unsafe { P::take(frame, passing.params.address()) };
    let words = words();
    passing.run_prologues(&mut call, words);
    let capture = running_capture();
    if passing.is_skipped {
        // SAFETY: the frame is as the trampoline left it.
        return unsafe { passing.skip(call, capture, frame) };
    }
    if capture != NOT_CAPTURING {
        // SAFETY: the frame is as the trampoline left it.
        unsafe { passing.note_changed(frame) };
    }
    // SAFETY: the structure is the command's.
    let returned = unsafe { call_below::<P, R>(signature, passing.params.address()) };
    passing.result = returned;
    passing.run_epilogues(&mut call, words);
    if capture != NOT_CAPTURING && capture == running_capture() {
        passing.note_result(returned);
    }
    signature.result_in_register(passing.result)
}

/// A command's structure of parameters.
#[repr(C, align(8))]
struct Params(MaybeUninit<[u8; PARAMS_BYTES_MAX]>);

impl Params {
    const ROOM: Self = Self(MaybeUninit::uninit());

    #[inline(always)]
    fn address(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// Copies the arguments of a call.
    ///
    /// # Safety
    /// `frame` is of a call of a command with this shape.
    unsafe fn take(&mut self, shape: &Shape, frame: Frame) {
        // SAFETY: the caller's duty; every parameter ends at PARAMS_BYTES_MAX at the latest.
        unsafe { (shape.take)(frame, self.address()) };
    }
}

/// A traced call. Callbacks receive its address as their `gapii_call`.
pub struct Passing {
    pub signature: &'static Signature,
    pub moment: Moment,
    pub is_skipped: bool,
    /// The result in its low bytes.
    result: u64,
    params: Params,
}

impl Passing {
    /// Returns the address of the command's structure of parameters; null for a command without parameters.
    pub fn params(&mut self) -> *mut u8 {
        if self.signature.places().is_empty() { ptr::null_mut() } else { self.params.address() }
    }

    /// Returns the address of the result; null for a command without a result.
    pub fn result(&mut self) -> *mut u8 {
        match self.signature.result_bytes() {
            0 => ptr::null_mut(),
            _ => (&raw mut self.result).cast(),
        }
    }

    #[inline(always)]
    fn run_prologues(&mut self, call: &mut gapii_tracers::Call<'_>, words: &Words) {
        attach::set_in_callback(words, true);
        let passing: *mut Self = self;
        call.prologues(|callback, user_data, instance| {
            // SAFETY: `passing` and `instance` belong to this call.
            unsafe { run_callback(callback, passing, user_data, instance) };
        });
        attach::set_in_callback(words, false);
    }

    #[inline(always)]
    fn run_epilogues(&mut self, call: &mut gapii_tracers::Call<'_>, words: &Words) {
        self.moment = Moment::Epilogue;
        attach::set_in_callback(words, true);
        let passing: *mut Self = self;
        call.epilogues(|callback, user_data, instance| {
            // SAFETY: `passing` and `instance` belong to this call.
            unsafe { run_callback(callback, passing, user_data, instance) };
        });
        attach::set_in_callback(words, false);
    }

    /// Ends a call that a prologue has skipped. Returns the result, extended to a register.
    ///
    /// # Safety
    /// `frame` has the arguments that the program passed.
    #[cold]
    #[inline(never)]
    unsafe fn skip(
        &mut self,
        mut call: gapii_tracers::Call<'_>,
        capture: u64,
        frame: Frame,
    ) -> u64 {
        self.run_epilogues(&mut call, words());
        if capture != NOT_CAPTURING {
            // SAFETY: the caller's duty.
            unsafe { self.note_skipped(frame) };
        }
        self.signature.result_in_register(self.result)
    }

    /// If prologues have changed a parameter, writes what the program passed, ahead of the command's records.
    ///
    /// # Safety
    /// `frame` has the arguments that the program passed.
    #[cold]
    unsafe fn note_changed(&mut self, frame: Frame) {
        let mut made = Params::ROOM;
        // SAFETY: the caller's duty.
        unsafe { made.take(self.signature.shape(), frame) };
        let (made, params) = (made.address(), self.params.address());
        let is_changed = self.signature.places().iter().any(|place| {
            let parameter = |from: *const u8| {
                // SAFETY: the structure has a parameter there.
                let at = unsafe { from.add(place.offset.into()) };
                // SAFETY: the parameter has this many bytes.
                unsafe { core::slice::from_raw_parts(at, place.bytes.into()) }
            };
            parameter(made) != parameter(params)
        });
        if is_changed {
            // SAFETY: `made` is the command's structure of parameters.
            unsafe { note_params(self.signature, made) };
        }
    }

    /// Writes, in place of the command's records, what the program passed, what prologues made of it, and what the
    /// program gets.
    ///
    /// # Safety
    /// As for [`Self::note_changed`].
    unsafe fn note_skipped(&mut self, frame: Frame) {
        let mut made = Params::ROOM;
        // SAFETY: the caller's duty.
        unsafe { made.take(self.signature.shape(), frame) };
        let places = self.signature.places();
        let mut note = Note::new(TracedKind::Skipped, self.signature.id);
        // SAFETY: `made` is the command's structure of parameters.
        unsafe { note.add_params(made.address(), places) };
        // SAFETY: so is the structure that callbacks see.
        unsafe { note.add_params(self.params.address(), places) };
        note.add_result(self.result_bytes());
        note.write();
    }

    /// If epilogues have changed the result, writes what the program gets, behind the command's records.
    #[cold]
    fn note_result(&mut self, returned: u64) {
        let len = self.result_bytes().len();
        if returned.to_ne_bytes().get(..len) != Some(self.result_bytes()) {
            let mut note = Note::new(TracedKind::Result, self.signature.id);
            note.add_result(self.result_bytes());
            note.write();
        }
    }

    /// Returns the bytes of the result; none for a command without a result.
    fn result_bytes(&mut self) -> &[u8] {
        let len = self.signature.result_bytes().into();
        // SAFETY: RESULT_BYTES_MAX is the size of a word.
        unsafe { core::slice::from_raw_parts((&raw const self.result).cast(), len) }
    }
}

/// Writes what the program passed to a command, ahead of the command's records, while a capture runs.
///
/// # Safety
/// `params` points at the command's structure of parameters.
pub unsafe fn note_params(signature: &Signature, params: *const u8) {
    if capture::is_running() {
        let mut note = Note::new(TracedKind::Changed, signature.id);
        // SAFETY: the caller's duty.
        unsafe { note.add_params(params, signature.places()) };
        note.write();
    }
}

/// Returns the number of the running capture, or [`NOT_CAPTURING`]. The number stays the same when a capture continues
/// from a keyframe.
fn running_capture() -> u64 {
    if capture::is_running() { capture::first_epoch() } else { NOT_CAPTURING }
}

/// Runs a callback of a tool.
///
/// # Safety
/// `callback` was registered as a `gapii_callback`; `passing` and `instance` belong to the same call.
unsafe fn run_callback(
    callback: Callback,
    passing: *mut Passing,
    user_data: *mut c_void,
    instance: &mut *mut c_void,
) {
    // SAFETY: `tracer_api` registers callbacks of this type only.
    let callback = unsafe { core::mem::transmute::<Callback, gapii_callback>(callback) };
    if let Some(callback) = callback {
        // SAFETY: a tool's callback, with the arguments that the header documents.
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

    /// Appends the fixed part of an enter record with these parameters, padded to whole words.
    ///
    /// # Safety
    /// `params` points at a structure with this layout.
    unsafe fn add_params(&mut self, params: *const u8, layout: &[Place]) {
        let end =
            layout.last().map_or(0, |last| usize::from(last.offset) + usize::from(last.bytes));
        for place in layout {
            let offset = usize::from(place.offset);
            // SAFETY: the structure has a parameter there.
            let from = unsafe { params.add(offset) };
            // SAFETY: the parameter has this many bytes.
            let param = unsafe { core::slice::from_raw_parts(from, place.bytes.into()) };
            self.add(self.len + offset, param);
        }
        let args_len = end.next_multiple_of(8);
        self.bytes[4..8].copy_from_slice(&(args_len as u32).to_le_bytes());
        self.len += args_len;
    }

    fn add_result(&mut self, result: &[u8]) {
        self.add(self.len, result);
        self.len += result.len().next_multiple_of(8);
    }

    fn add(&mut self, at: usize, from: &[u8]) {
        if let Some(to) = self.bytes.get_mut(at..at + from.len()) {
            to.copy_from_slice(from);
        }
    }

    fn write(&self) {
        attach::write_note(self.command, self.bytes.get(..self.len).unwrap_or_default());
    }
}
