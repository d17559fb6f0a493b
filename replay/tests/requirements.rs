//! A driver that lacks what a trace's commands need: replay reports everything that is missing
//! before it plays anything.

#![allow(non_snake_case)]

use std::ffi::{CStr, c_void};
use std::io::Cursor;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use gapii_replay::{Loader, Options, Quiet, Report, replay};
use gapii_trace::TraceReader;

#[allow(dead_code, reason = "some of it is the fuzzer's")]
#[path = "../fuzz/fake_driver.rs"]
mod fake_driver;
#[allow(dead_code, reason = "most of it is the fuzzer's")]
#[path = "../fuzz/script.rs"]
mod script;

use fake_driver::FakeDriver;
use script::Written;

/// One test at a time, since they share one driver.
static TURN: Mutex<()> = Mutex::new(());

/// A driver of OpenGL ES 3.1 with one extension. Its loader has a stub for every other function,
/// like libglvnd's.
struct Meagre;

// SAFETY: the function below has the signature of its name.
unsafe impl Loader for Meagre {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match name.to_bytes() {
            b"glGetString" => NonNull::new(glGetString as *mut c_void),
            _ => FakeDriver.find(name),
        }
    }
}

/// The same driver, without addresses for the functions that it lacks.
struct Bare;

// SAFETY: as above.
unsafe impl Loader for Bare {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match name.to_bytes() {
            b"glBufferStorageEXT" | b"glBlendBarrier" => None,
            _ => Meagre.find(name),
        }
    }
}

extern "C" fn glGetString(name: u32) -> *const u8 {
    match name {
        0x1F02 => c"OpenGL ES 3.1 meagre".as_ptr().cast(),
        0x1F03 => c"GL_OES_mapbuffer".as_ptr().cast(),
        _ => c"meagre".as_ptr().cast(),
    }
}

fn played(
    driver: &dyn Loader,
    extensions: &str,
    commands: &[Written<'_>],
) -> Result<Report, String> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    fake_driver::reset();
    let trace = script::trace_with(extensions, commands);
    let mut reader = TraceReader::open(Cursor::new(trace)).expect("a whole header");
    replay(&mut reader, driver, Options::default(), &mut Quiet).map_err(|error| error.to_string())
}

fn commands() -> [Written<'static>; 4] {
    let plain = |name, args| Written { name, args, ..Written::default() };
    [
        plain("glBufferStorageEXT", &[0x8892, 4, 0, 0x42]),
        plain("glUnmapBufferOES", &[0x8892]),
        plain("glInsertEventMarkerEXT", &[0, 0]),
        plain("glBlendBarrier", &[]),
    ]
}

const RECORDED: &str = "GL_EXT_buffer_storage GL_EXT_debug_marker GL_OES_mapbuffer";
const VERSION: &str =
    "the trace calls glBlendBarrier, which takes OpenGL ES 3.2; the driver has 3.1";

#[test]
fn everything_that_is_missing_is_reported_at_once() {
    let why = played(&Meagre, RECORDED, &commands()).expect_err("a driver that lacks something");
    let expected = [
        VERSION,
        "the driver has no GL_EXT_buffer_storage, which glBufferStorageEXT in the trace needs",
        "the driver has no GL_EXT_debug_marker, which glInsertEventMarkerEXT in the trace needs",
    ];
    assert_eq!(why.trim().lines().map(str::trim).collect::<Vec<_>>(), expected);
}

#[test]
fn extension_that_the_recording_had_not_either_is_not_missed() {
    let why = played(&Meagre, "GL_OES_mapbuffer", &commands()).expect_err("an older driver");
    assert_eq!(why, VERSION);
    let report = played(&Meagre, "GL_OES_mapbuffer", &commands()[..3]).expect("it is played");
    assert_eq!((report.skipped, report.skips_by_function.len()), (0, 0), "{:?}", report.skips);
}

#[test]
fn function_without_an_address_is_missed_if_it_was_there() {
    let why = played(&Bare, RECORDED, &commands()[..1]).expect_err("no function");
    let expected = "the trace calls glBufferStorageEXT, which the driver does not have";
    assert_eq!(why.trim().lines().next(), Some(expected));
    assert!(played(&Bare, "", &commands()[..1]).is_ok());
}

#[test]
fn driver_that_has_it_all_plays() {
    let extensions = "GL_EXT_buffer_storage GL_KHR_debug GL_OES_mapbuffer";
    let report = played(&FakeDriver, extensions, &commands()).expect("it is played");
    assert_eq!(report.skipped, 0, "{:?}", report.skips);
}
