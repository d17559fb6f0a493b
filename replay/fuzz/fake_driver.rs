//! A fake driver: returns names and handles, remembers what is bound and mapped, and reads and
//! writes all memory that a real driver would, so that a pointer which leads nowhere ends the
//! process.
//!
//! A function that it does not implement takes any arguments and returns 0, or true for EGL.

#![allow(non_snake_case, clippy::too_many_arguments)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gapii_replay::Loader;
use gapii_trace::Description;

const ARRAY_BUFFER: u32 = 0x8892;
const ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const PIXEL_PACK_BUFFER: u32 = 0x88EB;
const PIXEL_UNPACK_BUFFER: u32 = 0x88EC;
/// Targets, with the names by which glGetIntegerv returns their bindings.
const BINDINGS: &[(u32, u32)] = &[
    (ARRAY_BUFFER, 0x8894),
    (ELEMENT_ARRAY_BUFFER, 0x8895),
    (PIXEL_PACK_BUFFER, 0x88ED),
    (PIXEL_UNPACK_BUFFER, 0x88EF),
    (0x8A11, 0x8A28),
    (0x8C8E, 0x8C8F),
    (0x8F36, 0x8F36),
    (0x8F37, 0x8F37),
    (0x8F3F, 0x8F43),
    (0x90EE, 0x90EF),
    (0x90D2, 0x90D3),
    (0x92C0, 0x92C1),
    (0x8C2A, 0x8C2A),
];
const BUFFER_BYTES_MAX: i64 = 16 << 20;
const OBJECTS_MAX: usize = 1024;

pub struct FakeDriver;

#[derive(Default)]
struct State {
    next_name: u32,
    bound: HashMap<u32, u32>,
    buffers: HashMap<u32, Buffer>,
    arrays: HashMap<u32, Array>,
    pack_alignment: i64,
    pack_row_length: i64,
    pack_skip: i64,
}

#[derive(Default)]
struct Buffer {
    size: i64,
    map: Option<(i64, Box<[u8]>)>,
}

#[derive(Clone, Copy, Default)]
struct Array {
    is_on: bool,
    buffer: u32,
    element_bytes: usize,
    stride: usize,
    pointer: usize,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resets the driver to the state in which it was loaded.
pub fn reset() {
    *state() = State { pack_alignment: 4, ..State::default() };
}

macro_rules! functions {
    ($name:expr; $($function:ident),* $(,)?) => {
        match $name {
            $(stringify!($function) => $function as *const () as *mut c_void,)*
            _ => null_mut(),
        }
    };
}

// SAFETY: functions of this file have the signatures of their names; the others ignore their
// arguments, as the calling convention allows. None is ever unloaded.
unsafe impl Loader for FakeDriver {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let name = name.to_str().ok()?;
        let found = functions!(name;
            eglGetDisplay, eglGetPlatformDisplay, eglGetPlatformDisplayEXT, eglInitialize,
            eglChooseConfig, eglGetConfigs, eglGetConfigAttrib, eglCreateContext,
            eglCreatePbufferSurface, eglQuerySurface, eglQueryContext, eglQueryString, eglGetError,
            eglGetProcAddress, eglQueryDevicesEXT, eglCreateSync, eglCreateSyncKHR, eglCreateImage,
            eglCreateImageKHR, eglClientWaitSync, eglClientWaitSyncKHR,
            glGetString, glGetStringi, glGetError, glGetIntegerv, glGetInteger64v, glGetFloatv,
            glGetBooleanv, glGetIntegeri_v, glGenBuffers, glGenTextures, glGenFramebuffers,
            glGenRenderbuffers, glGenVertexArrays, glGenQueries, glGenSamplers,
            glGenTransformFeedbacks, glGenProgramPipelines, glGenQueriesEXT, glGenVertexArraysOES,
            glDeleteTextures, glDeleteFramebuffers, glDeleteRenderbuffers, glDeleteVertexArrays,
            glDeleteQueries, glDeleteSamplers, glDeleteBuffers, glBindBuffer, glBindBufferBase,
            glBindBufferRange, glBufferData, glBufferSubData, glMapBufferRange, glMapBufferOES,
            glUnmapBuffer, glUnmapBufferOES, glIsBuffer, glGetBufferPointerv, glGetBufferPointervOES,
            glGetBufferParameteriv, glGetBufferParameteri64v, glPixelStorei, glReadPixels,
            glReadnPixels, glTexImage2D, glTexSubImage2D, glTexImage3D, glCompressedTexImage2D,
            glVertexAttribPointer, glVertexAttribIPointer, glEnableVertexAttribArray,
            glDisableVertexAttribArray, glDrawArrays, glDrawArraysInstanced, glDrawElements,
            glDrawElementsInstanced, glDrawRangeElements, glDrawArraysIndirect,
            glDrawElementsIndirect, glDispatchComputeIndirect, glMultiDrawArraysEXT,
            glMultiDrawElementsEXT, glVertexPointer, glColorPointer, glTexCoordPointer,
            glNormalPointer, glCreateShader, glCreateProgram, glCreateShaderProgramv,
            glShaderSource, glTransformFeedbackVaryings, glGetUniformIndices, glShaderBinary,
            glProgramBinary, glGetProgramBinary, glGetProgramiv, glGetShaderiv, glGetShaderInfoLog,
            glGetProgramInfoLog, glGetShaderSource, glGetActiveUniform, glGetActiveAttrib,
            glGetTransformFeedbackVarying, glGetProgramResourceiv, glGetUniformfv, glGetUniformiv,
            glGetnUniformfv, glGetVertexAttribfv, glGetVertexAttribPointerv, glGetInternalformativ,
            glGetDebugMessageLog, glDebugMessageCallback, glDebugMessageInsert, glObjectLabel,
            glUniform1fv, glUniform2fv, glUniform3fv, glUniform4fv, glUniform4iv,
            glUniformMatrix4fv, glProgramUniform4fv, glFenceSync, glClientWaitSync, glGetSynciv,
            glInvalidateFramebuffer, glDrawBuffers, glGetUniformLocation, glGetAttribLocation,
            glBindAttribLocation, glTexParameterfv, glClearBufferfv,
        );
        let known = Description::built_in().functions();
        let is_known = known.binary_search_by_key(&name, |known| &known.name).is_ok();
        let any = match name.starts_with("egl") {
            true => yes as *const () as *mut c_void,
            false => nothing as *const () as *mut c_void,
        };
        NonNull::new(if found.is_null() && is_known { any } else { found })
    }
}

extern "C" fn nothing() -> u64 {
    0
}

extern "C" fn yes() -> u64 {
    1
}

/// Reads memory as a driver does that copies it.
fn read(at: *const c_void, len: usize) {
    if at.is_null() || len == 0 {
        return;
    }
    let last = len - 1;
    let steps = (0..last.min(1 << 20)).step_by(1024);
    for offset in steps.chain([last]) {
        // SAFETY: none is given: the purpose is to find out whether all of it can be read.
        unsafe { at.cast::<u8>().wrapping_add(offset).read_volatile() };
    }
}

fn elements(at: *const c_void, count: i32, size: usize) {
    read(at, usize::try_from(count).unwrap_or(0).saturating_mul(size));
}

/// Writes memory as a driver does.
fn write(at: *mut c_void, len: usize) {
    if at.is_null() || len == 0 {
        return;
    }
    let last = len - 1;
    for offset in (0..last.min(1 << 20)).chain([last]) {
        // SAFETY: as for `read`.
        unsafe { at.cast::<u8>().wrapping_add(offset).write_volatile(1) };
    }
}

fn put<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: as for `read`.
        unsafe { at.write_unaligned(value) };
    }
}

fn texts(texts: *const *const c_char, count: i32, lengths: *const i32) {
    if texts.is_null() {
        return;
    }
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as for `read`.
        let text = unsafe { texts.wrapping_add(index).read_unaligned() };
        let len = match lengths.is_null() {
            true => -1,
            // SAFETY: as for `read`.
            false => unsafe { lengths.wrapping_add(index).read_unaligned() },
        };
        text_of(text, len);
    }
}

fn text_of(text: *const c_char, len: i32) {
    match usize::try_from(len) {
        Ok(len) => read(text.cast(), len),
        Err(_) if text.is_null() => {}
        // SAFETY: as for `read`.
        Err(_) => drop(unsafe { CStr::from_ptr(text) }.to_bytes().len()),
    }
}

fn text_into(room: i32, length: *mut i32, text: *mut c_char) {
    let len = usize::try_from(room).unwrap_or(0).min(1 << 16);
    put(length, len.saturating_sub(1) as i32);
    if !text.is_null() && len > 0 {
        write(text.cast(), len - 1);
        put(text.wrapping_add(len - 1), 0);
    }
}

// EGL.

fn attributes(list: *const i32) {
    for pair in 0..256 {
        // SAFETY: as for `read`.
        if list.is_null() || unsafe { list.wrapping_add(2 * pair).read_unaligned() } == 0x3038 {
            return;
        }
    }
}

fn handle() -> usize {
    let mut state = state();
    state.next_name += 1;
    0x1000 + state.next_name as usize
}

extern "C" fn eglGetDisplay(_: usize) -> usize {
    0x77
}

extern "C" fn eglGetPlatformDisplay(_: u32, _: usize, list: *const isize) -> usize {
    read(list.cast(), 8);
    0x77
}

extern "C" fn eglGetPlatformDisplayEXT(_: u32, _: usize, list: *const i32) -> usize {
    attributes(list);
    0x77
}

extern "C" fn eglInitialize(_: usize, major: *mut i32, minor: *mut i32) -> u32 {
    put(major, 1);
    put(minor, 5);
    1
}

extern "C" fn eglChooseConfig(
    display: usize,
    list: *const i32,
    configs: *mut usize,
    size: i32,
    count: *mut i32,
) -> u32 {
    attributes(list);
    eglGetConfigs(display, configs, size, count)
}

extern "C" fn eglGetConfigs(_: usize, configs: *mut usize, size: i32, count: *mut i32) -> u32 {
    let most = if configs.is_null() { 2 } else { size.clamp(0, 2) };
    for index in 0..most as usize {
        if !configs.is_null() {
            put(configs.wrapping_add(index), 0x51 + index);
        }
    }
    put(count, most);
    1
}

extern "C" fn eglGetConfigAttrib(_: usize, _: usize, attribute: i32, value: *mut i32) -> u32 {
    put(
        value,
        match attribute {
            0x3020 => 32,
            0x3021..=0x3024 => 8,
            0x3025 => 24,
            0x3026 => 8,
            0x3033 => 7,
            0x3040 => 0x4F,
            // Colours are fixed-point numbers.
            0x3339 => 0x333A,
            _ => 0,
        },
    );
    1
}

extern "C" fn eglCreateContext(_: usize, _: usize, _: usize, list: *const i32) -> usize {
    attributes(list);
    handle()
}

extern "C" fn eglCreatePbufferSurface(_: usize, _: usize, list: *const i32) -> usize {
    attributes(list);
    handle()
}

extern "C" fn eglQuerySurface(_: usize, _: usize, _: i32, value: *mut i32) -> u32 {
    put(value, 64);
    1
}

extern "C" fn eglQueryContext(_: usize, _: usize, _: i32, value: *mut i32) -> u32 {
    put(value, 3);
    1
}

extern "C" fn eglQueryString(_: usize, _: i32) -> *const c_char {
    c"EGL_KHR_create_context EGL_KHR_surfaceless_context EGL_MESA_platform_surfaceless".as_ptr()
}

extern "C" fn eglGetError() -> i32 {
    0x3000
}

extern "C" fn eglGetProcAddress(name: *const c_char) -> *mut c_void {
    text_of(name, -1);
    null_mut()
}

extern "C" fn eglQueryDevicesEXT(_: i32, _: *mut usize, count: *mut i32) -> u32 {
    put(count, 0);
    1
}

extern "C" fn eglCreateSync(_: usize, _: u32, list: *const isize) -> usize {
    read(list.cast(), 8);
    handle()
}

extern "C" fn eglCreateSyncKHR(_: usize, _: u32, list: *const i32) -> usize {
    attributes(list);
    handle()
}

extern "C" fn eglCreateImage(_: usize, _: usize, _: u32, _: usize, list: *const isize) -> usize {
    read(list.cast(), 8);
    handle()
}

extern "C" fn eglCreateImageKHR(_: usize, _: usize, _: u32, _: usize, list: *const i32) -> usize {
    attributes(list);
    handle()
}

extern "C" fn eglClientWaitSync(_: usize, _: usize, _: i32, _: u64) -> i32 {
    0x30F6
}

extern "C" fn eglClientWaitSyncKHR(_: usize, _: usize, _: i32, _: u64) -> i32 {
    0x30F6
}

// Queries of a context.

extern "C" fn glGetString(name: u32) -> *const u8 {
    match name {
        0x1F02 => c"OpenGL ES 3.2 pretended".as_ptr().cast(),
        0x1F03 => c"GL_OES_mapbuffer GL_EXT_buffer_storage GL_KHR_debug".as_ptr().cast(),
        0x1F00 | 0x1F01 | 0x8B8C => c"pretended".as_ptr().cast(),
        _ => std::ptr::null(),
    }
}

extern "C" fn glGetStringi(_: u32, index: u32) -> *const u8 {
    if index == 0 { c"GL_OES_mapbuffer".as_ptr().cast() } else { std::ptr::null() }
}

extern "C" fn glGetError() -> u32 {
    0
}

/// Values of a query, and their number.
fn values(name: u32) -> ([i64; 16], usize) {
    let state = state();
    let target = BINDINGS.iter().find(|(_, binding)| *binding == name).map(|(target, _)| target);
    let first = match (target, name) {
        (Some(target), _) => i64::from(state.bound.get(target).copied().unwrap_or(0)),
        (_, 0x0D05) => state.pack_alignment,
        (_, 0x0D02) => state.pack_row_length,
        (_, 0x0D03 | 0x0D04) => state.pack_skip,
        (_, 0x0CF5) => 4,
        (_, 0x821D | 0x8869) => 16,
        (_, 0x821B) => 3,
        (_, 0x821C) => 2,
        (_, 0x0BA2) => 64,
        _ => 0,
    };
    let count = match name {
        0x0BA2 | 0x0C10 | 0x0C22 | 0x8005 => 4,
        0x0BA6..=0x0BA8 | 0x86A3 => 16,
        _ => 1,
    };
    ([first; 16], count)
}

fn put_values<T: Copy>(name: u32, at: *mut T, from: impl Fn(i64) -> T) {
    let (values, count) = values(name);
    for (index, value) in values.into_iter().take(count).enumerate() {
        if !at.is_null() {
            put(at.wrapping_add(index), from(value));
        }
    }
}

extern "C" fn glGetIntegerv(name: u32, at: *mut i32) {
    put_values(name, at, |value| value as i32);
}

extern "C" fn glGetInteger64v(name: u32, at: *mut i64) {
    put_values(name, at, |value| value);
}

extern "C" fn glGetFloatv(name: u32, at: *mut f32) {
    put_values(name, at, |value| value as f32);
}

extern "C" fn glGetBooleanv(name: u32, at: *mut u8) {
    put_values(name, at, |value| u8::from(value != 0));
}

extern "C" fn glGetIntegeri_v(name: u32, _: u32, at: *mut i32) {
    put_values(name, at, |value| value as i32);
}

// Objects.

macro_rules! generating {
    ($($function:ident),*) => {$(
        extern "C" fn $function(count: i32, names: *mut u32) {
            for index in 0..usize::try_from(count).unwrap_or(0) {
                if !names.is_null() {
                    put(names.wrapping_add(index), handle() as u32);
                }
            }
        }
    )*};
}

generating!(
    glGenBuffers,
    glGenTextures,
    glGenFramebuffers,
    glGenRenderbuffers,
    glGenVertexArrays,
    glGenQueries,
    glGenSamplers,
    glGenTransformFeedbacks,
    glGenProgramPipelines,
    glGenQueriesEXT,
    glGenVertexArraysOES
);

macro_rules! deleting {
    ($($function:ident),*) => {$(
        extern "C" fn $function(count: i32, names: *const u32) {
            elements(names.cast(), count, 4);
        }
    )*};
}

deleting!(
    glDeleteTextures,
    glDeleteFramebuffers,
    glDeleteRenderbuffers,
    glDeleteVertexArrays,
    glDeleteQueries,
    glDeleteSamplers
);

extern "C" fn glDeleteBuffers(count: i32, names: *const u32) {
    elements(names.cast(), count, 4);
    for index in 0..usize::try_from(count).unwrap_or(0) {
        if !names.is_null() {
            // SAFETY: as for `read`.
            let name = unsafe { names.wrapping_add(index).read_unaligned() };
            let mut state = state();
            state.buffers.remove(&name);
            state.bound.retain(|_, bound| *bound != name);
        }
    }
}

extern "C" fn glBindBuffer(target: u32, name: u32) {
    let mut state = state();
    if BINDINGS.iter().any(|(known, _)| *known == target) {
        state.bound.insert(target, name);
        if name != 0 && state.buffers.len() < OBJECTS_MAX {
            state.buffers.entry(name).or_default();
        }
    }
}

extern "C" fn glBindBufferBase(target: u32, _: u32, name: u32) {
    glBindBuffer(target, name);
}

extern "C" fn glBindBufferRange(target: u32, _: u32, name: u32, _: isize, _: isize) {
    glBindBuffer(target, name);
}

impl State {
    fn buffer(&mut self, target: u32) -> Option<&mut Buffer> {
        let name = self.bound.get(&target).copied().filter(|name| *name != 0)?;
        self.buffers.get_mut(&name)
    }

    fn is_bound(&self, target: u32) -> bool {
        self.bound.get(&target).is_some_and(|name| *name != 0)
    }
}

extern "C" fn glBufferData(target: u32, size: isize, data: *const c_void, _: u32) {
    let mut state = state();
    let Some(buffer) = state.buffer(target) else { return };
    buffer.map = None;
    buffer.size = 0;
    if size >= 0 && size as i64 <= BUFFER_BYTES_MAX {
        buffer.size = size as i64;
        read(data, size as usize);
    }
}

extern "C" fn glBufferSubData(target: u32, offset: isize, size: isize, data: *const c_void) {
    let mut state = state();
    let Some(buffer) = state.buffer(target) else { return };
    let end = (offset as i64).checked_add(size as i64);
    if offset >= 0 && size >= 0 && end.is_some_and(|end| end <= buffer.size) {
        read(data, size as usize);
    }
}

extern "C" fn glMapBufferRange(target: u32, offset: isize, length: isize, _: u32) -> *mut c_void {
    let mut state = state();
    let Some(buffer) = state.buffer(target) else { return null_mut() };
    let end = (offset as i64).checked_add(length as i64);
    let fits = offset >= 0 && length > 0 && end.is_some_and(|end| end <= buffer.size);
    if !fits || buffer.map.is_some() {
        return null_mut();
    }
    let map = buffer.map.insert((offset as i64, vec![0; length as usize].into_boxed_slice()));
    map.1.as_mut_ptr().cast()
}

extern "C" fn glMapBufferOES(target: u32, access: u32) -> *mut c_void {
    let size = state().buffer(target).map_or(0, |buffer| buffer.size);
    glMapBufferRange(target, 0, size as isize, access)
}

extern "C" fn glUnmapBuffer(target: u32) -> u8 {
    u8::from(state().buffer(target).is_some_and(|buffer| buffer.map.take().is_some()))
}

extern "C" fn glUnmapBufferOES(target: u32) -> u8 {
    glUnmapBuffer(target)
}

extern "C" fn glIsBuffer(name: u32) -> u8 {
    u8::from(state().buffers.contains_key(&name))
}

extern "C" fn glGetBufferPointerv(target: u32, _: u32, at: *mut *mut c_void) {
    let mut state = state();
    let Some(buffer) = state.buffer(target) else { return };
    put(at, buffer.map.as_mut().map_or(null_mut(), |(_, map)| map.as_mut_ptr().cast()));
}

extern "C" fn glGetBufferPointervOES(target: u32, name: u32, at: *mut *mut c_void) {
    glGetBufferPointerv(target, name, at);
}

extern "C" fn glGetBufferParameteri64v(target: u32, name: u32, at: *mut i64) {
    let mut state = state();
    let Some(buffer) = state.buffer(target) else { return };
    let map = buffer.map.as_ref();
    let value = match name {
        0x8764 => buffer.size,
        0x88BC => i64::from(map.is_some()),
        0x9120 => map.map_or(0, |(_, map)| map.len() as i64),
        0x9121 => map.map_or(0, |(offset, _)| *offset),
        _ => 0,
    };
    put(at, value);
}

extern "C" fn glGetBufferParameteriv(target: u32, name: u32, at: *mut i32) {
    let mut value = 0;
    if state().buffer(target).is_some() {
        glGetBufferParameteri64v(target, name, &raw mut value);
        put(at, value as i32);
    }
}

// Pixels.

extern "C" fn glPixelStorei(name: u32, value: i32) {
    let mut state = state();
    match name {
        0x0D05 if matches!(value, 1 | 2 | 4 | 8) => state.pack_alignment = i64::from(value),
        0x0D02 if value >= 0 => state.pack_row_length = i64::from(value),
        0x0D03 | 0x0D04 if value >= 0 => state.pack_skip = i64::from(value),
        _ => {}
    }
}

extern "C" fn glReadPixels(
    _: i32,
    _: i32,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
    pixels: *mut c_void,
) {
    let bytes = match (format, ty) {
        (0x1908, 0x1401) => 4,
        (0x1908, 0x1406) => 16,
        (0x1907, 0x1401) => 3,
        _ => return,
    };
    let state = state();
    if width <= 0 || height <= 0 || state.is_bound(PIXEL_PACK_BUFFER) {
        return;
    }
    let texels = if state.pack_row_length > 0 { state.pack_row_length } else { i64::from(width) };
    let align = state.pack_alignment;
    let row = (texels * bytes + align - 1) / align * align;
    let skip = state.pack_skip.saturating_mul(row).saturating_add(state.pack_skip * bytes);
    let Ok(skip) = usize::try_from(skip) else { return };
    for line in [0, i64::from(height) - 1] {
        let at = skip.wrapping_add((line * row) as usize);
        write(pixels.cast::<u8>().wrapping_add(at).cast(), (i64::from(width) * bytes) as usize);
    }
}

extern "C" fn glReadnPixels(
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
    size: i32,
    pixels: *mut c_void,
) {
    if i64::from(width) * i64::from(height) * 16 <= i64::from(size) {
        glReadPixels(x, y, width, height, format, ty, pixels);
    }
}

fn upload(sizes: [i32; 3], pixels: *const c_void) {
    let fits = sizes.iter().all(|size| (1..=16384).contains(size));
    if fits && !state().is_bound(PIXEL_UNPACK_BUFFER) {
        read(pixels, sizes.iter().map(|size| *size as usize).product::<usize>() * 4);
    }
}

extern "C" fn glTexImage2D(
    _: u32,
    _: i32,
    _: i32,
    width: i32,
    height: i32,
    _: i32,
    _: u32,
    _: u32,
    pixels: *const c_void,
) {
    upload([width, height, 1], pixels);
}

extern "C" fn glTexSubImage2D(
    _: u32,
    _: i32,
    _: i32,
    _: i32,
    width: i32,
    height: i32,
    _: u32,
    _: u32,
    pixels: *const c_void,
) {
    upload([width, height, 1], pixels);
}

extern "C" fn glTexImage3D(
    _: u32,
    _: i32,
    _: i32,
    width: i32,
    height: i32,
    depth: i32,
    _: i32,
    _: u32,
    _: u32,
    pixels: *const c_void,
) {
    upload([width.min(2048), height.min(2048), depth.min(64)], pixels);
}

extern "C" fn glCompressedTexImage2D(
    _: u32,
    _: i32,
    _: u32,
    _: i32,
    _: i32,
    _: i32,
    size: i32,
    pixels: *const c_void,
) {
    if !state().is_bound(PIXEL_UNPACK_BUFFER) && size <= 1 << 28 {
        elements(pixels, size, 1);
    }
}

// Vertices.

fn set_array(index: u32, size: i32, ty: u32, stride: i32, pointer: *const c_void) {
    let bytes = match ty {
        0x1400 | 0x1401 => 1,
        0x1402 | 0x1403 => 2,
        0x1404..=0x1406 | 0x140C => 4,
        _ => return,
    };
    if index < 16 && (1..=4).contains(&size) && (0..=2048).contains(&stride) {
        let mut state = state();
        let buffer = state.bound.get(&ARRAY_BUFFER).copied().unwrap_or(0);
        let element_bytes = bytes * size as usize;
        let stride = if stride == 0 { element_bytes } else { stride as usize };
        let is_on = state.arrays.get(&index).is_some_and(|array| array.is_on);
        let array = Array { is_on, buffer, element_bytes, stride, pointer: pointer as usize };
        state.arrays.insert(index, array);
    }
}

extern "C" fn glVertexAttribPointer(
    index: u32,
    size: i32,
    ty: u32,
    _: u8,
    stride: i32,
    pointer: *const c_void,
) {
    set_array(index, size, ty, stride, pointer);
}

extern "C" fn glVertexAttribIPointer(
    index: u32,
    size: i32,
    ty: u32,
    stride: i32,
    pointer: *const c_void,
) {
    set_array(index, size, ty, stride, pointer);
}

macro_rules! fixed_arrays {
    ($($function:ident: $index:literal),*) => {$(
        extern "C" fn $function(size: i32, ty: u32, stride: i32, pointer: *const c_void) {
            set_array($index, size, ty, stride, pointer);
            set_on($index, true);
        }
    )*};
}

fixed_arrays!(glVertexPointer: 12, glColorPointer: 13, glTexCoordPointer: 14);

extern "C" fn glNormalPointer(ty: u32, stride: i32, pointer: *const c_void) {
    set_array(15, 3, ty, stride, pointer);
    set_on(15, true);
}

fn set_on(index: u32, is_on: bool) {
    if index < 16 {
        state().arrays.entry(index).or_default().is_on = is_on;
    }
}

extern "C" fn glEnableVertexAttribArray(index: u32) {
    set_on(index, true);
}

extern "C" fn glDisableVertexAttribArray(index: u32) {
    set_on(index, false);
}

/// Fetches vertices of all arrays in the program's memory.
fn fetch(vertices: impl Iterator<Item = usize> + Clone) {
    let arrays: Vec<Array> = state().arrays.values().copied().collect();
    for array in arrays.iter().filter(|array| array.is_on && array.buffer == 0) {
        if array.pointer == 0 {
            continue;
        }
        for vertex in vertices.clone() {
            let at = array.pointer.wrapping_add(vertex * array.stride);
            read(at as *const c_void, array.element_bytes);
        }
    }
}

extern "C" fn glDrawArrays(_: u32, first: i32, count: i32) {
    if first >= 0 && count > 0 {
        let last = first as usize + count as usize - 1;
        fetch([first as usize, last].into_iter());
    }
}

extern "C" fn glDrawArraysInstanced(mode: u32, first: i32, count: i32, _: i32) {
    glDrawArrays(mode, first, count);
}

extern "C" fn glDrawElements(_: u32, count: i32, ty: u32, indices: *const c_void) {
    let size = match ty {
        0x1401 => 1,
        0x1403 => 2,
        0x1405 => 4,
        _ => return,
    };
    if count <= 0 || state().is_bound(ELEMENT_ARRAY_BUFFER) || indices.is_null() {
        return;
    }
    elements(indices, count, size);
    let index = |at: usize| {
        let at = indices.cast::<u8>().wrapping_add(at * size);
        // SAFETY: as for `read`.
        (0..size)
            .rev()
            .fold(0, |index, byte| index << 8 | unsafe { *at.wrapping_add(byte) } as usize)
    };
    fetch((0..(count as usize).min(64)).map(index));
}

extern "C" fn glDrawElementsInstanced(
    mode: u32,
    count: i32,
    ty: u32,
    indices: *const c_void,
    _: i32,
) {
    glDrawElements(mode, count, ty, indices);
}

extern "C" fn glDrawRangeElements(
    mode: u32,
    _: u32,
    _: u32,
    count: i32,
    ty: u32,
    indices: *const c_void,
) {
    glDrawElements(mode, count, ty, indices);
}

fn indirect(target: u32, at: *const c_void, len: usize) {
    if !state().is_bound(target) {
        read(at, len);
    }
}

extern "C" fn glDrawArraysIndirect(_: u32, at: *const c_void) {
    indirect(0x8F3F, at, 16);
}

extern "C" fn glDrawElementsIndirect(_: u32, _: u32, at: *const c_void) {
    indirect(0x8F3F, at, 20);
}

extern "C" fn glDispatchComputeIndirect(at: isize) {
    let _ = at;
}

extern "C" fn glMultiDrawArraysEXT(mode: u32, first: *const i32, count: *const i32, draws: i32) {
    elements(first.cast(), draws, 4);
    elements(count.cast(), draws, 4);
    for draw in 0..usize::try_from(draws).unwrap_or(0).min(64) {
        if !first.is_null() && !count.is_null() {
            // SAFETY: as for `read`.
            let first = unsafe { first.wrapping_add(draw).read_unaligned() };
            // SAFETY: as for `read`.
            let count = unsafe { count.wrapping_add(draw).read_unaligned() };
            glDrawArrays(mode, first, count);
        }
    }
}

extern "C" fn glMultiDrawElementsEXT(
    mode: u32,
    count: *const i32,
    ty: u32,
    indices: *const *const c_void,
    draws: i32,
) {
    elements(count.cast(), draws, 4);
    elements(indices.cast(), draws, 8);
    for draw in 0..usize::try_from(draws).unwrap_or(0).min(64) {
        if !count.is_null() && !indices.is_null() {
            // SAFETY: as for `read`.
            let count = unsafe { count.wrapping_add(draw).read_unaligned() };
            // SAFETY: as for `read`.
            let indices = unsafe { indices.wrapping_add(draw).read_unaligned() };
            glDrawElements(mode, count, ty, indices);
        }
    }
}

// Programs.

extern "C" fn glCreateShader(_: u32) -> u32 {
    handle() as u32
}

extern "C" fn glCreateProgram() -> u32 {
    handle() as u32
}

extern "C" fn glCreateShaderProgramv(_: u32, count: i32, sources: *const *const c_char) -> u32 {
    texts(sources, count, std::ptr::null());
    handle() as u32
}

extern "C" fn glShaderSource(
    _: u32,
    count: i32,
    sources: *const *const c_char,
    lengths: *const i32,
) {
    texts(sources, count, lengths);
}

extern "C" fn glTransformFeedbackVaryings(_: u32, count: i32, names: *const *const c_char, _: u32) {
    texts(names, count, std::ptr::null());
}

extern "C" fn glGetUniformIndices(
    _: u32,
    count: i32,
    names: *const *const c_char,
    indices: *mut u32,
) {
    texts(names, count, std::ptr::null());
    write(indices.cast(), usize::try_from(count).unwrap_or(0) * 4);
}

extern "C" fn glShaderBinary(
    count: i32,
    shaders: *const u32,
    _: u32,
    binary: *const c_void,
    length: i32,
) {
    elements(shaders.cast(), count, 4);
    elements(binary, length, 1);
}

extern "C" fn glProgramBinary(_: u32, _: u32, binary: *const c_void, length: i32) {
    elements(binary, length, 1);
}

extern "C" fn glGetProgramBinary(
    _: u32,
    size: i32,
    length: *mut i32,
    format: *mut u32,
    binary: *mut c_void,
) {
    let len = usize::try_from(size).unwrap_or(0).min(1 << 16);
    put(length, len as i32);
    put(format, 1);
    write(binary, len);
}

extern "C" fn glGetProgramiv(_: u32, _: u32, at: *mut i32) {
    put(at, 1);
}

extern "C" fn glGetShaderiv(_: u32, _: u32, at: *mut i32) {
    put(at, 1);
}

extern "C" fn glGetShaderInfoLog(_: u32, size: i32, length: *mut i32, text: *mut c_char) {
    text_into(size, length, text);
}

extern "C" fn glGetProgramInfoLog(_: u32, size: i32, length: *mut i32, text: *mut c_char) {
    text_into(size, length, text);
}

extern "C" fn glGetShaderSource(_: u32, size: i32, length: *mut i32, text: *mut c_char) {
    text_into(size, length, text);
}

macro_rules! describing {
    ($($function:ident),*) => {$(
        extern "C" fn $function(
            _: u32,
            _: u32,
            room: i32,
            length: *mut i32,
            size: *mut i32,
            ty: *mut u32,
            name: *mut c_char,
        ) {
            put(size, 1);
            put(ty, 0x1406);
            text_into(room, length, name);
        }
    )*};
}

describing!(glGetActiveUniform, glGetActiveAttrib, glGetTransformFeedbackVarying);

extern "C" fn glGetProgramResourceiv(
    _: u32,
    _: u32,
    _: u32,
    prop_count: i32,
    props: *const u32,
    count: i32,
    length: *mut i32,
    params: *mut i32,
) {
    elements(props.cast(), prop_count, 4);
    let written = usize::try_from(count).unwrap_or(0).min(1024);
    put(length, written as i32);
    write(params.cast(), written * 4);
}

extern "C" fn glGetUniformfv(_: u32, _: i32, at: *mut f32) {
    write(at.cast(), 64);
}

extern "C" fn glGetUniformiv(_: u32, _: i32, at: *mut i32) {
    write(at.cast(), 64);
}

extern "C" fn glGetnUniformfv(_: u32, _: i32, size: i32, at: *mut f32) {
    write(at.cast(), usize::try_from(size).unwrap_or(0).min(64));
}

extern "C" fn glGetVertexAttribfv(_: u32, _: u32, at: *mut f32) {
    write(at.cast(), 16);
}

extern "C" fn glGetVertexAttribPointerv(index: u32, _: u32, at: *mut usize) {
    put(at, state().arrays.get(&index).map_or(0, |array| array.pointer));
}

extern "C" fn glGetInternalformativ(_: u32, _: u32, _: u32, count: i32, at: *mut i32) {
    write(at.cast(), usize::try_from(count).unwrap_or(0).min(16) * 4);
}

extern "C" fn glGetUniformLocation(_: u32, name: *const c_char) -> i32 {
    text_of(name, -1);
    1
}

extern "C" fn glGetAttribLocation(_: u32, name: *const c_char) -> i32 {
    text_of(name, -1);
    1
}

extern "C" fn glBindAttribLocation(_: u32, _: u32, name: *const c_char) {
    text_of(name, -1);
}

macro_rules! uniforms {
    ($($function:ident: $size:literal),*) => {$(
        extern "C" fn $function(_: i32, count: i32, at: *const c_void) {
            // No uniform is that large; a driver reads no more than the uniform has.
            elements(at, count.min(4096), $size);
        }
    )*};
}

uniforms!(glUniform1fv: 4, glUniform2fv: 8, glUniform3fv: 12, glUniform4fv: 16, glUniform4iv: 16);

extern "C" fn glUniformMatrix4fv(_: i32, count: i32, _: u8, at: *const c_void) {
    elements(at, count.min(4096), 64);
}

extern "C" fn glProgramUniform4fv(_: u32, _: i32, count: i32, at: *const c_void) {
    elements(at, count.min(4096), 16);
}

// Debugging, and everything else.

type Callback = extern "C" fn(u32, u32, u32, u32, i32, *const c_char, *const c_void);

extern "C" fn glDebugMessageCallback(callback: Option<Callback>, user: *const c_void) {
    if let Some(callback) = callback {
        callback(0x8246, 0x8251, 1, 0x826B, 4, c"text".as_ptr(), user);
    }
}

extern "C" fn glDebugMessageInsert(
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    length: i32,
    text: *const c_char,
) {
    if length < 4096 {
        text_of(text, length);
    }
}

extern "C" fn glObjectLabel(_: u32, _: u32, length: i32, text: *const c_char) {
    if length < 256 {
        text_of(text, length);
    }
}

extern "C" fn glGetDebugMessageLog(
    count: u32,
    size: i32,
    sources: *mut u32,
    types: *mut u32,
    ids: *mut u32,
    severities: *mut u32,
    lengths: *mut i32,
    log: *mut c_char,
) -> u32 {
    let count = count.min(4);
    for list in [sources, types, ids, severities, lengths.cast()] {
        write(list.cast(), count as usize * 4);
    }
    if !log.is_null() {
        text_into(size, null_mut(), log);
    }
    count
}

extern "C" fn glFenceSync(_: u32, _: u32) -> usize {
    handle()
}

extern "C" fn glClientWaitSync(_: usize, _: u32, _: u64) -> u32 {
    0x911A
}

extern "C" fn glGetSynciv(_: usize, _: u32, count: i32, length: *mut i32, values: *mut i32) {
    put(length, count.clamp(0, 1));
    write(values.cast(), usize::try_from(count).unwrap_or(0).min(1) * 4);
}

extern "C" fn glInvalidateFramebuffer(_: u32, count: i32, attachments: *const u32) {
    elements(attachments.cast(), count, 4);
}

extern "C" fn glDrawBuffers(count: i32, buffers: *const u32) {
    if count <= 16 {
        elements(buffers.cast(), count, 4);
    }
}

extern "C" fn glTexParameterfv(_: u32, _: u32, at: *const f32) {
    read(at.cast(), 16);
}

extern "C" fn glClearBufferfv(_: u32, _: i32, at: *const f32) {
    read(at.cast(), 16);
}
