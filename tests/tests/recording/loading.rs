//! A program for each way of loading EGL and OpenGL ES: it behaves as natively, and its trace has every command of its
//! scene.

use std::path::Path;
use std::process::Command as Process;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::{behaves_as_natively, names, offscreen};
use gapii_tests::programs::{plugin, program, static_program};
use gapii_tests::scene;

/// Records a program that draws nothing but the scene.
fn check_scene(mut process: Process) {
    let session = Session::new();
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    assert_eq!(names(&recording.trace.commands()), scene::scene());
    assert_eq!(recording.trace.info()["frames"], scene::FRAMES);
}

#[test]
fn linked_program_is_recorded() {
    check_scene(offscreen(&program("load_linked"), [""; 0]));
}

#[test]
fn program_that_opens_sonames_is_recorded() {
    check_scene(offscreen(&program("load_dlopen"), ["libEGL.so.1", "libGLESv2.so.2"]));
}

#[test]
fn program_that_opens_paths_is_recorded() {
    let paths = ["libEGL.so.1", "libGLESv2.so.2"].map(system_library);
    check_scene(offscreen(&program("load_dlopen"), paths));
}

/// As Firefox does.
#[test]
fn program_that_takes_opengl_es_from_desktop_opengl_is_recorded() {
    check_scene(offscreen(&program("load_dlopen"), ["libEGL.so.1", "libGL.so.1"]));
}

#[test]
fn plugin_opened_with_deepbind_is_recorded() {
    check_scene(offscreen(&program("load_deepbind"), [plugin()]));
}

#[test]
fn program_that_has_the_archive_linked_in_is_recorded() {
    check_scene(offscreen(&static_program(), [""; 0]));
}

#[test]
fn program_that_asks_for_every_function_is_recorded() {
    let session = Session::new();
    let mut process = offscreen(&program("load_procaddress"), [""; 0]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let (asked, drawn): (Vec<_>, Vec<_>) =
        names(&commands).into_iter().partition(|name| *name == "eglGetProcAddress");
    assert_eq!(drawn, scene::scene());
    // Eleven of EGL, 27 of GLES, and one that does not exist, twice.
    assert_eq!(asked.len(), 40);
}

#[test]
fn desktop_gl_through_egl_is_handed_on_unrecorded() {
    let session = Session::new();
    let recording =
        behaves_as_natively(&session, &mut offscreen(&program("load_desktop"), [""; 0]));
    check_gles_half(&recording.trace);
}

#[test]
fn desktop_gl_through_glx_is_handed_on_unrecorded() {
    let display = Display::start();
    let session = Session::new();
    let mut process = offscreen(&program("load_glx"), [""; 0]);
    display.use_in(&mut process);
    let recording = behaves_as_natively(&session, &mut process);
    check_gles_half(&recording.trace);
    assert_eq!(names(&recording.trace.commands()), scene::scene());
}

/// Checks that the trace has the GL commands of the scene and no others.
#[track_caller]
fn check_gles_half(trace: &Trace) {
    trace.is_whole("exit");
    let commands = trace.commands();
    let gl: Vec<_> = names(&commands).into_iter().filter(|name| name.starts_with("gl")).collect();
    let expected: Vec<_> =
        scene::draw().into_iter().filter(|name| name.starts_with("gl")).collect();
    assert_eq!(gl, expected);
    let clears = commands.iter().filter(|command| command.name == "glClearColor");
    let green: Vec<_> = clears.map(|clear| clear.argument("green")).collect();
    assert_eq!(green, [0.25; scene::FRAMES as usize]);
}

/// Path of the library that `ld.so` would load.
fn system_library(name: &str) -> std::path::PathBuf {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let found =
        folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| {
        panic!("{name} is missing; install it: apt-get install libegl1 libgles2")
    })
}
