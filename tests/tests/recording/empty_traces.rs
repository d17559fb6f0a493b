//! A trace without a command or without a frame: `run` says why.

use std::process::Command as Process;

use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::offscreen;
use gapii_tests::process::run;
use gapii_tests::programs::{app, program};

#[track_caller]
fn says(recording: &Recording, reason: &str) {
    let Recording { run, .. } = recording;
    assert!(run.stderr.contains(reason), "{reason:?} is not said: {run}");
}

#[test]
fn program_that_draws_offscreen_is_told_from_one_that_has_failed() {
    let session = Session::new();
    let mut headless = offscreen(&program("headless"), ["500", "check"]);
    let recording = session.record(&["--seconds", "0.5", "--quit"], &headless);
    says(&recording, "the trace has no frame; the program draws to pbuffers");
    assert!(recording.trace.info()["commands"].as_u64() > Some(100), "{}", recording.run);
    // Without a display and without this platform, EGL cannot be initialized.
    headless.env_remove("EGL_PLATFORM").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let recording = session.record(&[], &headless);
    says(&recording, "the trace has no frame; the program's eglInitialize failed");
}

#[test]
fn trace_without_a_command_says_what_kept_them_out() {
    let session = Session::new();
    let headless = offscreen(&program("headless"), ["500", "check"]);
    let options = ["--seconds", "0.5", "--quit", "--function", "glIsSync"];
    let recording = session.record(&options, &headless);
    says(&recording, "nothing was recorded: no command that the program made fits the filter");
    let options = ["--seconds", "0.5", "--quit", "--when", "function=glIsSync"];
    let recording = session.record(&options, &offscreen(&program("load_linked"), [""; 0]));
    says(&recording, "nothing was recorded: function=glIsSync did not happen");
    let recording = session.record(&[], &Process::new("true"));
    says(
        &recording,
        "/true made no command of OpenGL, EGL, GLX or Level Zero, and may have found no display: ",
    );
    // It needs no display.
    let recording = session.record(&[], &offscreen("true".as_ref(), [""; 0]));
    says(
        &recording,
        "/true made no command of OpenGL, EGL, GLX or Level Zero, and no library of a graphics API was seen in it",
    );
}

#[test]
fn trace_without_a_command_is_overwritten() {
    let session = Session::new();
    let path = session.path("again.gapii");
    let record =
        |program: &[&str]| run(session.ctl(["run", "-o"]).arg(&path).arg("--").args(program));
    record(&["true"]).exited_with(125);
    assert!(path.exists());
    let animation = app("animation");
    let animation = animation.to_str().expect("a plain name");
    record(&["env", "EGL_PLATFORM=surfaceless", animation]).ok();
    let refused = record(&["true"]).exited_with(125);
    assert!(refused.stderr.contains("again.gapii exists"), "{refused}");
}

#[test]
fn trace_of_a_thread_that_never_was_says_that_it_has_only_ends_of_frames() {
    let session = Session::new();
    let animation = offscreen(&app("animation"), [""; 0]);
    let recording = session.record(&["--thread", "nosuch"], &animation);
    says(&recording, "the trace has only the ends of frames: no other command");
    says(&recording, "fits the filter (threads nosuch)");
    let recording = session.record(&["--function", "glClear"], &animation);
    assert!(!recording.run.stderr.contains("only the ends of frames"), "{}", recording.run);
}

#[test]
fn program_without_a_command_is_quit_after_a_while() {
    let session = Session::new();
    let waits = offscreen(&program("waits"), [""; 0]);
    let recording = session.record(&["--seconds", "0.1", "--quit"], &waits);
    says(&recording, "nothing was recorded: ");
    recording.run.exited_with(125);
}
