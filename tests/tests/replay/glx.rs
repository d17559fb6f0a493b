//! Programs of GLX: they behave as natively, each command is recorded under its own context, and a replay, which plays
//! GLX through EGL, answers and draws the same.

use gapii_tests::display::Display;
use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::{behaves_as_natively, offscreen, same_behaviour};
use gapii_tests::piglit;
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::replays::{replay, verified, verified_frames};
use gapii_tests::scene;
use serde_json::json;

/// Records 20 frames of a program, of which each fourth is observed, and plays them exactly.
#[track_caller]
fn check(words: &[&str]) {
    let display = Display::start();
    let session = Session::new();
    let options = ["--frames", "20", "--quit", "--observe-frames", "4"];
    let Recording { trace, run: recorded } = session.record(&options, &display.command(words));
    recorded.ok();
    trace.is_whole("frames");
    let commands = trace.commands();
    let swaps = commands.iter().filter(|command| command.name == "glXSwapBuffers").count();
    assert_eq!(swaps, 20);
    assert_eq!(verified_frames(&session, &trace), 5);
}

/// Immediate mode and display lists in a context of `glXCreateContext`.
#[test]
fn gears_are_played_exactly() {
    check(&["glxgears"]);
}

#[test]
fn swaps_end_frames_by_their_name() {
    let (display, session) = (Display::start(), Session::new());
    let options = ["--frames", "3", "--quit", "--frame-end", "glXSwapBuffers"];
    let Recording { trace, run: recorded } =
        session.record(&options, &display.command(&["glxgears"]));
    recorded.ok();
    trace.is_whole("frames");
    assert_eq!(trace.commands().iter().filter(|it| it.name == "glXSwapBuffers").count(), 3);
}

/// SDL opens libGL and makes a context of desktop OpenGL.
#[test]
fn sdl_program_of_desktop_opengl_is_played_exactly() {
    check(&["/usr/libexec/installed-tests/SDL2/testgl2"]);
}

/// SDL makes contexts of OpenGL ES through GLX.
#[test]
fn sdl_program_of_opengl_es_is_played_exactly() {
    check(&["/usr/libexec/installed-tests/SDL2/testgles2"]);
}

/// Programs of piglit that found faults of replays, each of something that no other test does.
#[test]
fn programs_of_piglit_are_played_exactly() {
    let display = Display::start();
    let session = Session::new();
    let folder = piglit::folder();
    for words in [
        // Threads draw into one window, each with a context of its own.
        &["glx-multithread"][..],
        // X refuses to swap a drawable that is none of GLX.
        &["glx-swap-pixmap-bad"],
        // The sizes of drawables are not asked for.
        &["glx-query-drawable", "--attr=GLX_WIDTH", "--type=WINDOW"],
        // A context is made current again after it was destroyed.
        &["glx-destroycontext-3"],
        // glMapBuffer gives what a buffer holds.
        &["getteximage-luminance", "-fbo"],
        // glEnable takes arrays, as GL_EXT_vertex_array says.
        &["gl-1.1-color-material-array", "-fbo"],
    ] {
        let program = folder.join("bin").join(words[0]).to_string_lossy().into_owned();
        let words = [&[program.as_str()], &words[1..], &["-auto"]].concat();
        let mut process = display.command(&words);
        process.env("PIGLIT_PLATFORM", "glx").env("PIGLIT_SOURCE_DIR", &folder);
        let recording = session.record(&[], &process);
        assert!(recording.run.stdout.contains(r#""result": "pass""#), "{}", recording.run);
        let mut replay = replay(&session, &recording.trace.path, &["--verify", "--strict"]);
        run(&mut replay).ok();
    }
}

/// A program that draws into a window of X and does not swap it is not one without a surface.
#[test]
fn window_that_is_not_swapped_is_named() {
    let display = Display::start();
    let session = Session::new();
    let folder = piglit::folder();
    let program = folder.join("bin/dlist-clear").to_string_lossy().into_owned();
    let mut process = display.command(&[program.as_str(), "-auto", "-fbo"]);
    process.env("PIGLIT_PLATFORM", "glx").env("PIGLIT_SOURCE_DIR", &folder);
    let recording = session.record(&[], &process);
    let said = &recording.run.stderr;
    assert!(said.contains("the program ended before its first frame"), "{said}");
}

/// Records a program of which the capture has the frames from the third on, and plays it exactly.
#[track_caller]
fn check_later(name: &str, words: &[&str], missing: &[&str]) {
    let display = Display::start();
    let session = Session::new();
    let mut process = offscreen(&program(name), words);
    display.use_in(&mut process);
    let native = run(&mut process).ok();
    let options = ["--skip-frames", "2", "--observe-frames", "1"];
    let recording = session.record(&options, &process);
    same_behaviour(&native, &recording.run);
    let info = recording.trace.info();
    assert_eq!(info["missing"], json!(missing), "{info:#}");
    assert!(verified_frames(&session, &recording.trace) > 0);
}

#[test]
fn context_of_opengl_es_is_described_to_a_capture_that_begins_later() {
    check_later("load_glx_library", &["libGL.so.1", "libGL.so.1", "dlsym"], &[]);
}

#[test]
fn objects_of_glx_are_described_to_a_capture_that_begins_later() {
    let pbuffers = "what was drawn to pbuffers and pixmaps of GLX that are not current";
    let lists = "commands of 4 display lists: they took data from buffers or generic attributes, glXUseXFont or several \
                 threads compiled them, or all have more than 64 MiB";
    check_later("glx_kept", &[], &[pbuffers, lists]);
}

/// Desktop OpenGL through GLX and OpenGL ES through EGL take turns on one thread. The clear colour tells them apart.
#[test]
fn contexts_of_glx_and_egl_take_turns_each_under_its_own_context() {
    let display = Display::start();
    let session = Session::new();
    let mut process = offscreen(&program("load_glx"), [""; 0]);
    display.use_in(&mut process);
    let Recording { trace, .. } = behaves_as_natively(&session, &mut process);
    trace.is_whole("exit");
    let commands = trace.commands();
    let made = |name: &str| {
        let command = commands.iter().find(|command| command.name == name).expect("it was made");
        command.result.as_u64().expect("a handle")
    };
    let contexts = |green: f64| -> Vec<u64> {
        let clears = commands.iter().filter(|command| command.name == "glClearColor");
        clears.filter(|it| it.argument("green") == green).map(|it| it.context).collect()
    };
    assert_eq!(contexts(0.75), [made("glXCreateNewContext"); 2]);
    assert_eq!(contexts(0.25), [made("eglCreateContext"); scene::FRAMES as usize]);
    verified(&session, &trace, &["--strict"]).unwrap_or_else(|why| panic!("{why}"));
}
