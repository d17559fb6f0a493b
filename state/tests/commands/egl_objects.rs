//! Objects of EGL in the state of the tools.

use crate::program::{Program, thread};
use gapii_state::commands::*;
use gapii_state::{Ignore, Nothing};

const DISPLAY: u64 = 0xD0;
const CONFIG: u64 = 0xC0;
const EGL_NONE: i32 = 0x3038;
const EGL_HEIGHT: i32 = 0x3056;
const EGL_WIDTH: i32 = 0x3057;
const EGL_SAMPLES: i32 = 0x3031;
const EGL_SUCCESS: i32 = 0x3000;
const EGL_SYNC_FENCE: u32 = 0x30F9;

#[test]
fn config_is_known_when_a_command_has_returned_it() {
    let check = |result: u32, room: i32, found: i32, expected: &[u64]| {
        let mut thread = thread();
        let mut program = Program::default();
        let list = program.put_i32(&[EGL_NONE]);
        let (configs, count) = (program.put_u64(&[7, 8, 9]), program.put_i32(&[found]));
        eglChooseConfig::leave(
            &mut thread,
            &program,
            &mut Ignore,
            DISPLAY,
            list,
            configs,
            room,
            count,
            result,
        );
        let process = thread.process.lock();
        let names: Vec<u64> = process.configs.named().map(|(config, _)| config.name()).collect();
        assert_eq!(names, expected);
        assert!(process.configs.named().all(|(_, config)| config.display == DISPLAY));
    };
    check(1, 3, 3, &[7, 8, 9]);
    check(1, 3, 1, &[7]);
    check(1, 2, 3, &[7, 8]);
    check(0, 3, 3, &[]);
}

#[test]
fn attribute_of_a_config_is_the_queried_value() {
    let mut thread = thread();
    let mut program = Program::default();
    let value = program.put_i32(&[4]);
    for (attribute, result) in [(EGL_SAMPLES, 1), (EGL_WIDTH, 0)] {
        eglGetConfigAttrib::leave(
            &mut thread,
            &program,
            &mut Ignore,
            DISPLAY,
            CONFIG,
            attribute,
            value,
            result,
        );
    }
    let process = thread.process.lock();
    let config = process.configs.get(process.configs.find(CONFIG)).unwrap();
    assert_eq!(config.attributes.iter().collect::<Vec<_>>(), [(&(EGL_SAMPLES as u32), &4)]);
}

#[test]
fn size_of_a_surface_is_requested_or_queried() {
    let mut thread = thread();
    let mut program = Program::default();
    let list = program.put_i32(&[EGL_WIDTH, 640, EGL_HEIGHT, 480, EGL_NONE]);
    let told = program.put_i32(&[800]);
    let (thread, seen) = (&mut thread, &mut Ignore);
    eglCreatePbufferSurface::leave(thread, &program, seen, DISPLAY, CONFIG, list, 5);
    eglCreateWindowSurface::leave(thread, &program, seen, DISPLAY, CONFIG, 0x77, 0, 6);
    eglQuerySurface::leave(thread, &program, seen, DISPLAY, 6, EGL_WIDTH, told, 1);
    eglQuerySurface::leave(thread, &program, seen, DISPLAY, 6, EGL_HEIGHT, told, 0);
    let process = thread.process.lock();
    let size = |handle: u64| {
        let surface = process.surfaces.get(process.surfaces.find(handle)).unwrap();
        (surface.width, surface.height, surface.native)
    };
    assert_eq!(size(5), (Some(640), Some(480), 0));
    assert_eq!(size(6), (Some(800), None, 0x77));
}

#[test]
fn surface_that_is_current_outlives_its_display() {
    let mut thread = thread();
    let program = Program::default();
    let (thread, seen) = (&mut thread, &mut Ignore);
    for (display, handle) in [(DISPLAY, 5), (DISPLAY, 6), (DISPLAY + 1, 7)] {
        eglCreatePbufferSurface::leave(thread, &program, seen, display, CONFIG, 0, handle);
    }
    eglCreateContext::leave(thread, &program, seen, DISPLAY, CONFIG, 0, 0, 1);
    eglMakeCurrent::enter(thread, &Nothing, seen, DISPLAY, 5, 5, 1);
    eglMakeCurrent::leave(thread, &Nothing, seen, DISPLAY, 5, 5, 1, 1);
    eglTerminate::enter(thread, &Nothing, seen, DISPLAY);
    let process = thread.process.lock();
    let names: Vec<u64> = process.surfaces.named().map(|(surface, _)| surface.name()).collect();
    assert_eq!(names, [7]);
    assert_eq!(process.surfaces.get(thread.draw_surface).unwrap().display, DISPLAY);
}

#[test]
fn sync_is_destroyed_on_its_own_display_alone() {
    let mut thread = thread();
    let (thread, seen) = (&mut thread, &mut Ignore);
    eglCreateSyncKHR::leave(thread, &Nothing, seen, DISPLAY, EGL_SYNC_FENCE, 0, 3);
    eglDestroySync::enter(thread, &Nothing, seen, DISPLAY + 1, 3);
    assert!(thread.process.lock().egl_syncs.find(3).is_some());
    eglDestroySyncKHR::enter(thread, &Nothing, seen, DISPLAY, 3);
    assert!(thread.process.lock().egl_syncs.find(3).is_none());
}

#[test]
fn label_is_set_on_its_object_alone() {
    let mut thread = thread();
    let program = Program::default();
    let (thread, seen) = (&mut thread, &mut Ignore);
    let (of_thread, of_surface, of_image) = (0x33B0, 0x33B3, 0x33B4);
    eglCreatePbufferSurface::leave(thread, &program, seen, DISPLAY, CONFIG, 0, 5);
    for (kind, result) in [(of_thread, EGL_SUCCESS), (of_surface, EGL_SUCCESS), (of_image, 0x300C)]
    {
        eglLabelObjectKHR::leave(thread, &program, seen, DISPLAY, kind, 5, u64::from(kind), result);
    }
    assert_eq!(thread.label, u64::from(of_thread));
    let process = thread.process.lock();
    let surface = process.surfaces.get(process.surfaces.find(5)).unwrap();
    assert_eq!(surface.label, u64::from(of_surface));
}
