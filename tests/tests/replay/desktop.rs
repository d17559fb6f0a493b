//! Programs of desktop OpenGL: they behave as natively, each command is recorded under its own context, and a
//! replay answers and draws the same.

use std::process::Command as Process;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Command, Recording, Session};
use gapii_tests::loading::{behaves_as_natively, offscreen, same_behaviour};
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::replays::{played, replay, verified, verified_frames};
use gapii_tests::scene;
use serde_json::{Value, json};

/// Records a program with each frame observed, plays the trace exactly, and returns its commands.
#[track_caller]
fn check(name: &str) -> Vec<Command> {
    let session = Session::new();
    let native = run(&mut offscreen(&program(name), [""; 0])).ok();
    let options = ["--observe-frames", "1"];
    let recording = session.record(&options, &offscreen(&program(name), [""; 0]));
    let played = played(&session, &recording, &native.stdout).unwrap_or_else(|why| panic!("{why}"));
    recording.trace.is_whole("exit");
    assert_eq!(played.has_verified(played.drawn), Ok(()));
    verified(&session, &recording.trace, &["--strict"]).unwrap_or_else(|why| panic!("{why}"));
    recording.trace.commands()
}

#[test]
fn core_profile_is_played_exactly() {
    check("desktop_core");
}

#[test]
fn objects_that_are_changed_by_their_names_are_played_exactly() {
    check("desktop_named");
}

/// An image of a texture without a name, and one that the driver compresses, are read back with their sizes.
#[test]
fn extensions_of_old_programs_are_played_exactly() {
    let commands = check("desktop_extensions");
    let written = |name: &str| -> Vec<u64> {
        let of_name = commands.iter().filter(|command| command.name == name);
        of_name.flat_map(|command| command.writes.iter().map(|range| range.size)).collect()
    };
    let frames = 2;
    assert_eq!(written("glGetTexImage"), vec![5 * 3 * 4; frames]);
    assert_eq!(written("glGetCompressedTexImage"), vec![8 * 8; frames]);
}

/// Records a program for which the driver has a version of OpenGL, and plays the trace exactly.
#[track_caller]
fn check_with_version(name: &str, version: &str, options: &[&str]) -> Value {
    const OVERRIDE: &str = "MESA_GL_VERSION_OVERRIDE";
    let session = Session::new();
    let mut process = offscreen(&program(name), [""; 0]);
    process.env(OVERRIDE, version);
    let recording = session.record(&[options, &["--observe-frames", "1"]].concat(), &process);
    recording.trace.is_whole("exit");
    let mut replay = replay(&session, &recording.trace.path, &["--verify", "--strict"]);
    run(replay.env(OVERRIDE, version)).ok();
    recording.trace.info()
}

/// Before OpenGL 4.4 an array may have any stride.
#[test]
fn arrays_with_strides_of_more_than_4095_bytes_are_played_exactly() {
    check_with_version("desktop_extensions", "4.3COMPAT", &[]);
}

/// Rectangular textures are an extension there, and a surface is drawn rather than blitted.
#[test]
fn context_below_opengl_3_is_described_to_a_capture_that_begins_later() {
    let info = check_with_version("desktop_rectangles", "2.1", &["--skip-frames", "2"]);
    assert_eq!(info["missing"], json!(["depth and stencil of a surface"]), "{info:#}");
}

#[test]
fn compatibility_profile_is_played_exactly() {
    check("desktop_compatibility");
}

/// Records a program that takes turns in a context of OpenGL ES and one of desktop OpenGL, which `creates` makes. The clear
/// colour tells the two apart.
#[track_caller]
fn take_turns(session: &Session, process: &mut Process, creates: &str) {
    let Recording { trace, .. } = behaves_as_natively(session, process);
    trace.is_whole("exit");
    let commands = trace.commands();
    let contexts = |green: f64| -> Vec<u64> {
        let of_color = commands.iter().filter(|it| it.name == "glClearColor");
        of_color.filter(|it| it.argument("green") == green).map(|it| it.context).collect()
    };
    let made = |name| commands.iter().filter(move |it| it.name == name);
    let handle = |it: &Command| it.result.as_u64().expect("a handle");
    let es = made("eglCreateContext").next().map(handle).expect("a context of OpenGL ES");
    let desktop = made(creates).next_back().map(handle).expect("a context of desktop OpenGL");
    assert_ne!(es, desktop);
    assert_eq!(contexts(0.75), [desktop; 2]);
    assert_eq!(contexts(0.25), [es; scene::FRAMES as usize]);
    verified(session, &trace, &["--strict"]).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn both_apis_of_egl_take_turns_each_under_its_own_context() {
    let mut process = offscreen(&program("load_desktop"), [""; 0]);
    take_turns(&Session::new(), &mut process, "eglCreateContext");
}

#[test]
fn glx_and_egl_take_turns_each_under_its_own_context() {
    let display = Display::start();
    let mut process = offscreen(&program("load_glx"), [""; 0]);
    display.use_in(&mut process);
    take_turns(&Session::new(), &mut process, "glXCreateNewContext");
}

/// A program of 4 or 5 frames, of which the capture has those from the third on.
#[track_caller]
fn check_later(name: &str, missing: &[&str]) {
    let session = Session::new();
    let native = run(&mut offscreen(&program(name), [""; 0])).ok();
    let frames = native.stdout.lines().filter(|line| line.starts_with("frame ")).count() as u64;
    let keep = ["--keep-frames", "2", "--keyframe-every", "2", "--observe-frames", "1"];
    for options in [&["--skip-frames", "2", "--observe-frames", "1"][..], &keep] {
        let recording = session.record(options, &offscreen(&program(name), [""; 0]));
        same_behaviour(&native, &recording.run);
        let info = recording.trace.info();
        assert_eq!(info["missing"], json!(missing), "{name} {options:?}: {info:#}");
        let verified = verified_frames(&session, &recording.trace);
        assert!((2..=frames - 2).contains(&verified), "{name} {options:?}: {verified} of {frames}");
    }
}

#[test]
fn core_profile_is_described_to_a_capture_that_begins_later() {
    check_later("desktop_core", &[]);
}

#[test]
fn state_of_desktop_opengl_is_described_to_a_capture_that_begins_later() {
    check_later("desktop_kept", &["what queries had counted that have ended"]);
}

#[test]
fn capture_that_begins_later_disturbs_no_context_of_the_compatibility_profile() {
    let session = Session::new();
    let name = "desktop_compatibility";
    let native = run(&mut offscreen(&program(name), [""; 0])).ok();
    let keep = ["--keep-frames", "2", "--keyframe-every", "2"];
    for options in [&["--skip-frames", "2"][..], &keep] {
        let recording = session.record(options, &offscreen(&program(name), [""; 0]));
        same_behaviour(&native, &recording.run);
    }
}

/// Lists, matrix stacks, lights, maps, pixel transfer and the rest of the compatibility profile.
#[test]
fn lists_and_fixed_function_are_described_to_a_capture_that_begins_later() {
    check_later("desktop_lists", &[]);
}

#[test]
fn lists_and_fixed_function_are_played_exactly() {
    check("desktop_lists");
}
