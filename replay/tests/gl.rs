//! Arguments that the driver gets for commands of OpenGL ES: its own names and locations, strings,
//! and memory of the player.

#![allow(non_snake_case, clippy::too_many_arguments)]

mod spying;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use gapii_replay::{Loader, Report};
use spying::{Written, note, plain, spies};

/// A driver that notes some calls.
struct Spy;

// SAFETY: the functions below have the signatures of their names.
unsafe impl Loader for Spy {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        spies!(
            name;
            glBindTexture, glClientWaitSync, glCreateProgram, glDeleteTextures, glGenTextures, glGetUniformLocation,
            glIsSync, glIsTexture, glLinkProgram, glShaderSource, glTexImage2D, glTexParameteriv, glUniform1i, glUniform4fv,
        )
    }
}

/// A driver that notes which contexts are destroyed.
struct ContextSpy;

// SAFETY: as above.
unsafe impl Loader for ContextSpy {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        spies!(name; eglCreateContext, eglDestroyContext, glFinish)
    }
}

unsafe extern "C" fn eglCreateContext(_: usize, _: usize, _: usize, _: *const i32) -> usize {
    static HANDLE: AtomicUsize = AtomicUsize::new(900);
    HANDLE.fetch_add(1, Relaxed)
}

unsafe extern "C" fn eglDestroyContext(_: usize, _: usize) -> u32 {
    note("destroy".to_owned());
    1
}

unsafe extern "C" fn glFinish() {
    note("finish".to_owned());
}

unsafe extern "C" fn glGenTextures(n: i32, textures: *mut u32) {
    // SAFETY: the player gives room for `n` names.
    let textures = unsafe { std::slice::from_raw_parts_mut(textures, n as usize) };
    for (at, texture) in textures.iter_mut().enumerate() {
        *texture = 900 + at as u32;
    }
    BOUND.store(0, Relaxed);
}

const TEXTURE_2D: u32 = 0xDE1;
/// The texture that was bound last with a valid target.
static BOUND: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn glBindTexture(target: u32, texture: u32) {
    if target == TEXTURE_2D {
        BOUND.store(texture, Relaxed);
    }
    note(format!("bind {texture}"));
}

unsafe extern "C" fn glIsTexture(texture: u32) -> u8 {
    u8::from(texture == BOUND.load(Relaxed))
}

unsafe extern "C" fn glIsSync(sync: *mut c_void) -> u8 {
    note(format!("a sync: {}", !sync.is_null()));
    0
}

unsafe extern "C" fn glDeleteTextures(n: i32, textures: *const u32) {
    // SAFETY: the player gives `n` names.
    note(format!("delete {:?}", unsafe { std::slice::from_raw_parts(textures, n as usize) }));
}

/// The player links no program of its own then.
unsafe extern "C" fn glCreateProgram() -> u32 {
    0
}

unsafe extern "C" fn glClientWaitSync(_sync: *mut c_void, _flags: u32, timeout: u64) -> u32 {
    note(format!("wait {timeout}"));
    0x911A
}

unsafe extern "C" fn glGetUniformLocation(_program: u32, name: *const c_char) -> i32 {
    // SAFETY: the player passes NUL-terminated strings.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"lights" => 20,
        b"lights[1]" => 21,
        _ => -1,
    }
}

unsafe extern "C" fn glLinkProgram(_program: u32) {}

unsafe extern "C" fn glUniform1i(location: i32, _value: i32) {
    note(format!("uniform {location}"));
}

unsafe extern "C" fn glUniform4fv(_location: i32, count: i32, _value: *const f32) {
    note(format!("uniforms {count}"));
}

unsafe extern "C" fn glShaderSource(
    _shader: u32,
    count: i32,
    texts: *const *const c_char,
    lengths: *const i32,
) {
    // SAFETY: the player passes `count` strings.
    let texts = unsafe { std::slice::from_raw_parts(texts, count as usize) };
    // SAFETY: each is NUL-terminated.
    let texts: Vec<_> = texts.iter().map(|text| unsafe { CStr::from_ptr(*text) }).collect();
    note(format!("source {texts:?}, lengths: {}", !lengths.is_null()));
}

unsafe extern "C" fn glTexParameteriv(_target: u32, _name: u32, params: *const i32) {
    // SAFETY: the player passes zeros where the program passed null.
    note(format!("parameter {}", unsafe { *params }));
}

unsafe extern "C" fn glTexImage2D(
    _target: u32,
    _level: i32,
    _internal: i32,
    width: i32,
    _height: i32,
    _border: i32,
    _format: u32,
    _ty: u32,
    pixels: *const c_void,
) {
    note(format!("image {width}, pixels: {}", !pixels.is_null()));
}

/// Plays commands. Returns the driver's calls and the report.
fn played(commands: &[Written<'_>]) -> (Vec<String>, Report, MutexGuard<'static, ()>) {
    spying::played(&Spy, commands)
}

fn bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn driver_gets_its_own_names() {
    let names = [bytes(&[7, 8])];
    let (calls, ..) = played(&[
        Written { outputs: &names, ..plain("glGenTextures", &[2, 0x1000]) },
        plain("glBindTexture", &[0xDE1, 8]),
        plain("glBindTexture", &[0xDE1, 0]),
        Written { inputs: &names, ..plain("glDeleteTextures", &[2, 0x1000]) },
        // Binding creates the object again.
        plain("glBindTexture", &[0xDE1, 8]),
    ]);
    assert_eq!(calls, ["bind 901", "bind 0", "delete [900, 901]", "bind 900"]);
}

/// The recorded driver refused the first command, so that the name stays one of no object.
#[test]
fn name_of_a_refused_bind_names_no_object() {
    let (calls, ..) = played(&[
        plain("glBindTexture", &[0x1234, 8]),
        plain("glIsTexture", &[8]),
        plain("glBindTexture", &[0xDE1, 8]),
    ]);
    assert_eq!(calls, ["bind 900", "delete [900]", "bind 900"]);
}

#[test]
fn context_of_a_snapshot_is_destroyed_with_the_last_of_its_share_group() {
    let check = |is_setup, expected: [usize; 3]| {
        let create = |args, handle| Written {
            result: handle,
            is_setup: is_setup && handle != 0x52,
            ..plain("eglCreateContext", args)
        };
        let destroy = |args| Written { result: 1, ..plain("eglDestroyContext", args) };
        let finish = || plain("glFinish", &[]);
        let commands = [
            create(&[0x10, 0x20, 0, 0], 0x50),
            create(&[0x10, 0x20, 0x50, 0], 0x51),
            create(&[0x10, 0x20, 0x50, 0], 0x52),
            finish(),
            destroy(&[0x10, 0x51]),
            finish(),
            destroy(&[0x10, 0x52]),
            finish(),
            destroy(&[0x10, 0x50]),
            finish(),
        ];
        let (calls, ..) = spying::played(&ContextSpy, &commands);
        let between: Vec<usize> = calls.split(|call| call == "finish").map(<[_]>::len).collect();
        assert_eq!(between[1..4], expected, "{calls:?}");
    };
    check(false, [1, 1, 1]);
    check(true, [0, 1, 2]);
}

#[test]
fn sync_that_is_not_known_is_no_null() {
    let (calls, ..) = played(&[plain("glIsSync", &[0x5000]), plain("glIsSync", &[0])]);
    assert_eq!(calls, ["a sync: true", "a sync: false"]);
}

#[test]
fn uniform_is_set_where_the_driver_has_it() {
    let name = [b"lights".to_vec()];
    let (calls, ..) = played(&[
        Written { result: 3, ..plain("glCreateProgram", &[]) },
        plain("glUseProgram", &[3]),
        Written { inputs: &name, result: 5, ..plain("glGetUniformLocation", &[3, 0x1000]) },
        plain("glUniform1i", &[5, 1]),
        plain("glUniform1i", &[6, 1]),
        plain("glUniform1i", &[9, 1]),
        plain("glLinkProgram", &[3]),
        plain("glUniform1i", &[5, 1]),
    ]);
    assert_eq!(calls, ["uniform 20", "uniform 21", "uniform 9", "uniform 5"]);
}

#[test]
fn strings_are_nul_terminated_and_missing_ones_are_empty() {
    let texts = [[&3u32.to_le_bytes()[..], b"one", &0u32.to_le_bytes()].concat()];
    let (calls, ..) =
        played(&[Written { inputs: &texts, ..plain("glShaderSource", &[1, 3, 0x1000, 0]) }]);
    assert_eq!(calls, [r#"source ["one", "", ""], lengths: false"#]);
}

#[test]
fn wait_lasts_at_most_10_s() {
    let (calls, ..) = played(&[
        plain("glClientWaitSync", &[0x70, 1, u64::MAX]),
        plain("glClientWaitSync", &[0x70, 1, 5]),
    ]);
    assert_eq!(calls, ["wait 10000000000", "wait 5"]);
}

#[test]
fn null_becomes_zeros_where_drivers_do_not_check() {
    let (calls, ..) = played(&[plain("glTexParameteriv", &[0xDE1, 0x2801, 0])]);
    assert_eq!(calls, ["parameter 0"]);
}

#[test]
fn command_that_reads_beyond_memory_is_skipped() {
    let (calls, report, _turn) = played(&[
        plain("glUniform4fv", &[0, 4, 0x1000]),
        plain("glUniform4fv", &[0, u64::MAX, 0x1000]),
        plain("glBufferSubData", &[0x8892, 0, 1 << 60, 0x1000]),
    ]);
    assert_eq!(calls, ["uniforms 4", "uniforms -1"]);
    assert_eq!(report.skipped, 1);
}

#[test]
fn image_of_impossible_size_reaches_the_driver_without_pixels() {
    let most = i32::MAX as u64;
    let (calls, ..) = played(&[
        plain("glTexImage2D", &[0xDE1, 0, 0x1908, 4, 4, 0, 0x1908, 0x1401, 0x1000]),
        plain("glTexImage2D", &[0xDE1, 0, 0x1908, most, most, 0, 0x1908, 0x1401, 0x1000]),
    ]);
    assert_eq!(calls, ["image 4, pixels: true", "image 2147483647, pixels: false"]);
}
