//! Traced calls: commands for which an enabled tracer has callbacks.
//!
//! While that is so a generated handler stands in the command's slot. It copies the parameters for the
//! callbacks, and calls on to what would stand there otherwise: recording knows nothing of it. What the
//! callbacks changed goes into the recording as notes, here and nowhere else.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use gapii_abi::atom::{Traced, TracedKind};
use gapii_tool_api::{gapii_call, gapii_callback};
use gapii_tracers::{Callback, Moment, Tracers};

use crate::capture::{self, NOT_CAPTURING};
use crate::generated::ids;
use crate::generated::traced::LAYOUTS;
use crate::scalar::Scalar;
use crate::table;
use crate::thread;

pub static TRACERS: Tracers = Tracers::new(ids::COUNT, table::trace);

/// Bytes of a command's parameters, at most.
const PARAMS_BYTES_MAX: usize = 128;
/// Bytes of a command's result, at most.
const RESULT_BYTES_MAX: usize = 8;

/// Where a parameter is in its command's structure, in bytes.
pub struct Place {
    pub offset: u8,
    pub bytes: u8,
}

/// What a traced handler calls on to, of the type that is wanted.
macro_rules! below {
    ($id:ident) => {
        core::mem::transmute::<$crate::table::Code, _>($crate::table::below($id))
    };
}
pub(crate) use below;

/// Calls `below` with `params`, or with what prologues make of them, and returns its result, or what
/// callbacks make of that.
///
/// # Safety
/// `P` is the structure of command `id`, and `R` its result. `below` calls on.
#[inline(always)]
pub unsafe fn traced<P: Copy, R: Scalar>(id: u16, params: P, below: impl Fn(P) -> R) -> R {
    match TRACERS.begin(usize::from(id)) {
        // SAFETY: passed on.
        Some(call) => unsafe { run(call, id, params, below) },
        None => below(params),
    }
}

unsafe fn run<P: Copy, R: Scalar>(
    mut call: gapii_tracers::Call<'_>,
    id: u16,
    made: P,
    below: impl Fn(P) -> R,
) -> R {
    const {
        assert!(size_of::<P>() <= PARAMS_BYTES_MAX && size_of::<R>() <= RESULT_BYTES_MAX);
    }
    let mut params = made;
    let mut result = MaybeUninit::<R>::zeroed();
    let mut passing = Passing {
        id,
        moment: Moment::Prologue,
        is_skipped: false,
        capture: NOT_CAPTURING,
        params: address(&raw mut params),
        result: address(result.as_mut_ptr()),
        result_bytes: size_of::<R>() as u8,
    };
    passing.prologues(&mut call);
    let made = (&raw const made).cast();
    if passing.is_skipped {
        passing.epilogues(&mut call);
        // SAFETY: of the command's structure.
        unsafe { passing.note_skipped(made) };
    } else {
        // SAFETY: as above.
        unsafe { passing.note_changed(made) };
        let returned = below(params);
        result.write(returned);
        passing.epilogues(&mut call);
        // SAFETY: as large as the result.
        unsafe { passing.note_result((&raw const returned).cast()) };
    }
    // SAFETY: all zero, or written; and numbers and pointers may have any value.
    unsafe { result.assume_init() }
}

/// Null where there is nothing.
fn address<T>(value: *mut T) -> *mut u8 {
    if size_of::<T>() == 0 { ptr::null_mut() } else { value.cast() }
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

    /// Ahead of the command's records: what the program passed, where prologues have changed it.
    ///
    /// # Safety
    /// `made` is a structure of the command's parameters.
    #[inline]
    unsafe fn note_changed(&self, made: *const u8) {
        if self.capture != NOT_CAPTURING {
            // SAFETY: passed on.
            unsafe { self.note_changed_in_capture(made) };
        }
    }

    #[cold]
    unsafe fn note_changed_in_capture(&self, made: *const u8) {
        let is_changed = layout(self.id).iter().any(|place| {
            let parameter = |from: *const u8| {
                // SAFETY: the structure has a parameter there.
                let at = unsafe { from.add(place.offset.into()) };
                // SAFETY: of so many bytes.
                unsafe { core::slice::from_raw_parts(at, place.bytes.into()) }
            };
            parameter(made) != parameter(self.params)
        });
        if is_changed {
            let mut note = Note::new(TracedKind::Changed, self.id);
            // SAFETY: the caller's duty.
            unsafe { note.add_params(made, layout(self.id)) };
            note.write();
        }
    }

    /// In place of the command's records: both what the program passed and what prologues made of it, and
    /// what the program gets.
    ///
    /// # Safety
    /// As for [`Self::note_changed`].
    #[cold]
    unsafe fn note_skipped(&self, made: *const u8) {
        if self.capture == NOT_CAPTURING {
            return;
        }
        let mut note = Note::new(TracedKind::Skipped, self.id);
        // SAFETY: the caller's duty.
        unsafe { note.add_params(made, layout(self.id)) };
        // SAFETY: the callbacks' copy is another such structure.
        unsafe { note.add_params(self.params, layout(self.id)) };
        // SAFETY: the call's own.
        unsafe { note.add_result(self.result, self.result_bytes.into()) };
        note.write();
    }

    /// Behind the command's records: what the program gets, where epilogues have changed it.
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

/// Of a capture that goes on from a keyframe it is the same number all the time.
fn running_capture() -> u64 {
    if capture::is_running() { capture::first_epoch() } else { NOT_CAPTURING }
}

fn layout(id: u16) -> &'static [Place] {
    LAYOUTS.get(usize::from(id)).copied().unwrap_or_default()
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
