//! EGL commands: their effects on the state of threads and processes, and the memory that they access.

use std::sync::Arc;

use crate::program::{Program, Seen, Thread, thread};
use gapii_state::commands::*;
use gapii_state::{ContextApi, Ignore, Nothing};

const EGL_NONE: i32 = 0x3038;
const EGL_CONTEXT_MAJOR_VERSION: i32 = 0x3098;
const EGL_CONTEXT_MINOR_VERSION: i32 = 0x30FB;
const EGL_OPENGL_API: u32 = 0x30A2;
const EGL_PLATFORM_X11: u32 = 0x31D5;
const EGL_PLATFORM_WAYLAND: u32 = 0x31D8;
const EGL_PLATFORM_XCB: u32 = 0x31DC;
const EGL_TRACK_REFERENCES: u64 = 0x3352;
const DISPLAY: u64 = 0xD0;
const CONFIG: u64 = 0xC0;
const SURFACE: u64 = 0x50;

fn create_context(thread: &mut Thread, memory: &Program, handle: u64, share: u64, list: u64) {
    eglCreateContext::leave(thread, memory, &mut Ignore, DISPLAY, CONFIG, share, list, handle);
}

fn make_current(thread: &mut Thread, context: u64, is_done: bool) {
    let (draw, read) = (SURFACE, SURFACE);
    eglMakeCurrent::enter(thread, &Nothing, &mut Ignore, DISPLAY, draw, read, context);
    let result = u32::from(is_done);
    eglMakeCurrent::leave(thread, &Nothing, &mut Ignore, DISPLAY, draw, read, context, result);
}

fn current(thread: &Thread) -> u64 {
    thread.context.as_ref().map_or(0, |context| context.handle)
}

fn api(thread: &Thread) -> Option<ContextApi> {
    thread.context.as_ref().map(|context| context.api)
}

#[test]
fn context_has_the_version_that_was_asked_for() {
    let check = |list: &[i32], expected: (u8, u8)| {
        let mut thread = thread();
        let mut program = Program::default();
        let list = if list.is_empty() { 0 } else { program.put_i32(list) };
        create_context(&mut thread, &program, 1, 0, list);
        make_current(&mut thread, 1, true);
        assert_eq!(thread.context.unwrap().version, expected);
    };
    check(&[], (1, 0));
    check(&[EGL_NONE], (1, 0));
    check(&[EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE], (2, 0));
    let both = [EGL_CONTEXT_MINOR_VERSION, 1, EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE];
    check(&both, (3, 1));
}

#[test]
fn context_shares_with_the_one_it_was_created_with() {
    let mut thread = thread();
    let program = Program::default();
    let mut group_of = |handle: u64, share: u64| {
        create_context(&mut thread, &program, handle, share, 0);
        make_current(&mut thread, handle, true);
        thread.context.as_ref().unwrap().group.clone()
    };
    let first = group_of(1, 0);
    assert!(Arc::ptr_eq(&first, &group_of(2, 1)));
    assert!(Arc::ptr_eq(&first, &group_of(3, 2)));
    assert!(!Arc::ptr_eq(&first, &group_of(4, 0)));
    assert!(!Arc::ptr_eq(&first, &group_of(5, 99)));
}

#[test]
fn context_has_the_api_that_was_bound() {
    let mut thread = thread();
    eglBindAPI::leave(&mut thread, &Nothing, &mut Ignore, EGL_OPENGL_API, 1);
    create_context(&mut thread, &Program::default(), 1, 0, 0);
    make_current(&mut thread, 1, true);
    assert_eq!(api(&thread), Some(ContextApi::Compatibility));
}

#[test]
fn failed_bind_api_keeps_the_bound_api() {
    let mut thread = thread();
    eglBindAPI::leave(&mut thread, &Nothing, &mut Ignore, EGL_OPENGL_API, 0);
    create_context(&mut thread, &Program::default(), 1, 0, 0);
    make_current(&mut thread, 1, true);
    assert_eq!(api(&thread), Some(ContextApi::Es));
}

#[test]
fn released_thread_has_no_context_and_makes_those_of_opengl_es() {
    let mut thread = thread();
    create_context(&mut thread, &Program::default(), 1, 0, 0);
    make_current(&mut thread, 1, true);
    eglBindAPI::leave(&mut thread, &Nothing, &mut Ignore, EGL_OPENGL_API, 1);
    eglReleaseThread::enter(&mut thread, &Nothing, &mut Ignore);
    eglReleaseThread::leave(&mut thread, &Nothing, &mut Ignore, 0);
    assert_eq!(current(&thread), 1, "the driver failed");
    eglReleaseThread::enter(&mut thread, &Nothing, &mut Ignore);
    eglReleaseThread::leave(&mut thread, &Nothing, &mut Ignore, 1);
    assert_eq!(current(&thread), 0);
    create_context(&mut thread, &Program::default(), 2, 0, 0);
    make_current(&mut thread, 2, true);
    assert_eq!(api(&thread), Some(ContextApi::Es));
}

#[test]
fn context_destroyed_while_current_stays_until_it_is_released() {
    let mut thread = thread();
    create_context(&mut thread, &Program::default(), 1, 0, 0);
    make_current(&mut thread, 1, true);
    eglDestroyContext::enter(&mut thread, &Nothing, &mut Ignore, DISPLAY, 1);
    eglDestroyContext::leave(&mut thread, &Nothing, &mut Ignore, DISPLAY, 1, 1);
    assert_eq!(current(&thread), 1);
    make_current(&mut thread, 0, true);
    assert!(!thread.process.contexts().has(1));
}

#[test]
fn reference_counted_display_ends_with_its_last_reference() {
    let check = |list: &[u64], initialized: u32, terminated: u32, expected: bool| {
        let mut thread = thread();
        let mut program = Program::default();
        let list = program.put_u64(list);
        let platform = EGL_PLATFORM_WAYLAND;
        let (thread, seen) = (&mut thread, &mut Ignore);
        eglGetPlatformDisplay::leave(thread, &program, seen, platform, 0, list, DISPLAY);
        for _ in 0..initialized {
            eglInitialize::leave(thread, &program, seen, DISPLAY, 0, 0, 1);
        }
        create_context(thread, &program, 1, 0, 0);
        for _ in 0..terminated {
            eglTerminate::enter(thread, &program, seen, DISPLAY);
        }
        assert_eq!(thread.process.contexts().has(1), expected);
    };
    let none = EGL_NONE as u64;
    check(&[none], 1, 0, true);
    check(&[none], 1, 1, false);
    check(&[none], 2, 1, false);
    check(&[EGL_TRACK_REFERENCES, 1, none], 2, 1, true);
    check(&[EGL_TRACK_REFERENCES, 1, none], 2, 2, false);
    check(&[EGL_TRACK_REFERENCES, 0, none], 2, 1, false);
}

#[test]
fn native_window_is_observed_on_platforms_that_pass_it_by_address() {
    let check = |platform: u32, expected: &[u64]| {
        let mut thread = thread();
        let mut program = Program::default();
        let (list, window) = (program.put_u64(&[EGL_NONE as u64]), program.put_u64(&[7]));
        let (thread, mut seen) = (&mut thread, Seen::default());
        if platform != 0 {
            eglGetPlatformDisplay::leave(thread, &program, &mut seen, platform, 0, list, DISPLAY);
        }
        eglCreatePlatformWindowSurface::enter(
            thread, &program, &mut seen, DISPLAY, CONFIG, window, list,
        );
        let expected: Vec<_> = expected.iter().map(|len| (2, window, *len)).collect();
        assert_eq!(seen.ranges, expected, "{platform:#x}");
    };
    check(EGL_PLATFORM_X11, &[8]);
    check(EGL_PLATFORM_XCB, &[4]);
    check(EGL_PLATFORM_WAYLAND, &[]);
    check(0, &[]);
}

#[test]
fn exported_image_is_observed_with_all_its_planes() {
    let check = |planes: Option<i32>, is_done: bool, expected: u64| {
        let mut thread = thread();
        let mut program = Program::default();
        let (fds, count) = (program.put_i32(&[3; 4]), program.put_i32(&[planes.unwrap_or(0)]));
        let (thread, mut seen) = (&mut thread, Seen::default());
        let image = 0x11;
        eglCreateImageKHR::leave(thread, &program, &mut seen, DISPLAY, 0, 0, 0, 0, image);
        if planes.is_some() {
            eglExportDMABUFImageQueryMESA::leave(
                thread, &program, &mut seen, DISPLAY, image, 0, count, 0, 1,
            );
        }
        seen.ranges.clear();
        let result = u32::from(is_done);
        eglExportDMABUFImageMESA::leave(
            thread, &program, &mut seen, DISPLAY, image, fds, 0, 0, result,
        );
        let expected = if expected == 0 { vec![] } else { vec![(2, fds, expected)] };
        assert_eq!(seen.ranges, expected);
    };
    check(None, true, 4);
    check(Some(1), true, 4);
    check(Some(3), true, 12);
    check(Some(3), false, 0);
}

#[test]
fn frame_ends_with_a_swap_that_succeeded() {
    let mut thread = thread();
    let mut seen = Seen::default();
    for result in [1, 0, 1] {
        eglSwapBuffers::leave(&mut thread, &Nothing, &mut seen, DISPLAY, SURFACE, result);
    }
    assert_eq!(seen.frames, 2);
}
