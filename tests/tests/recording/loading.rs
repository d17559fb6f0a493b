//! A program for each way of loading EGL and OpenGL ES: it behaves as natively, and its trace has every command of its
//! scene.

use std::path::Path;
use std::process::Command as Process;

use gapii_tests::display::Display;
use gapii_tests::gapii::Session;
use gapii_tests::loading::{behaves_as_natively, names, offscreen};
use gapii_tests::programs::{plugin, program, static_program};
use gapii_tests::replays::verified;
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

/// In a window of X. The program also asks for a function of desktop OpenGL that it does not call, by `dlsym` or by GLX.
#[test]
fn program_that_opens_libraries_of_glx_is_recorded_and_played() {
    let display = Display::start();
    let of_glx = ["glXChooseFBConfig", "glXGetVisualFromFBConfig", "glXCreateContextAttribsARB"];
    let drawn = scene::draw().into_iter().map(|name| match name {
        "eglSwapBuffers" => "glXSwapBuffers",
        other => other,
    });
    let all = of_glx.into_iter().chain(["glXMakeCurrent"]).chain(drawn);
    let expected: Vec<_> = all.chain(["glXMakeCurrent", "glXDestroyContext"]).collect();
    for words in [
        ["libGL.so.1", "libGL.so.1", "dlsym"],
        ["libGLX.so.0", "libOpenGL.so.0", "dlsym"],
        ["libGL.so.1", "libGL.so.1", "procaddress"],
    ] {
        let session = Session::new();
        let mut process = offscreen(&program("load_glx_library"), words);
        display.use_in(&mut process);
        let recording = behaves_as_natively(&session, &mut process);
        recording.trace.is_whole("exit");
        let commands = recording.trace.commands();
        let (asked, others): (Vec<_>, Vec<_>) =
            names(&commands).into_iter().partition(|name| *name == "glXGetProcAddressARB");
        assert_eq!(others, expected, "{words:?}");
        assert_eq!(asked.len(), if words[2] == "dlsym" { 1 } else { 29 }, "{words:?}");
        assert_eq!(recording.trace.info()["frames"], scene::FRAMES);
        verified(&session, &recording.trace, &[]).unwrap_or_else(|why| panic!("{words:?}: {why}"));
    }
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
