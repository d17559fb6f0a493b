//! Real programs from Debian, one for each way in which real programs load EGL: their first hundred
//! frames, their own output and their own exit status.

use std::process::Command as Process;
use std::time::Duration;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::{Finished, Running, run};

const FRAMES: u64 = 100;
const LIMIT: Duration = Duration::from_secs(60);

/// A program, as it ends by itself and as it goes on until it is told to end.
struct Program<'a> {
    ending: &'a [&'a str],
    endless: &'a [&'a str],
}

/// Links EGL. Its output would be lost in a buffer when it is told to end.
const GEARS: Program = Program {
    ending: &["timeout", "3", "stdbuf", "-oL", "es2gears_x11"],
    endless: &["stdbuf", "-oL", "es2gears_x11"],
};

/// glad over `dlopen`.
const GLMARK: Program = Program {
    ending: &["glmark2-es2", "-s", "200x200", "-b", "build:duration=2.0"],
    endless: &["glmark2-es2", "-s", "200x200", "-b", "build", "--run-forever"],
};

const TESTGLES2: &str = "/usr/libexec/installed-tests/SDL2/testgles2";

/// SDL's own loader, which apitrace can't follow.
const SDL: Program = Program { ending: &["timeout", "3", TESTGLES2], endless: &[TESTGLES2] };

/// libepoxy, and several threads.
const MPV: Program = Program {
    ending: &[
        "mpv",
        "--no-config",
        "--quiet",
        "--no-audio",
        "--vo=gpu",
        "--gpu-api=opengl",
        "--opengl-es=yes",
        "--gpu-context=x11egl",
        "--length=3",
        "av://lavfi:testsrc=size=160x120:rate=60",
    ],
    endless: &[
        "mpv",
        "--no-config",
        "--quiet",
        "--no-audio",
        "--vo=gpu",
        "--gpu-api=opengl",
        "--opengl-es=yes",
        "--gpu-context=x11egl",
        "av://lavfi:testsrc=size=160x120:rate=60",
    ],
};

impl Program<'_> {
    /// Recorded for a hundred frames and left alone, it ends as natively, having said the same.
    fn check_ending(&self) {
        let display = Display::start();
        let session = Session::new();
        let process = process(self.ending, &display);
        let native = run(&mut crate::process(self.ending, &display));
        let recording = session.record(&["--frames", &FRAMES.to_string()], &process);
        assert_eq!(recording.run.shell_status(), native.shell_status(), "{}", recording.run);
        assert_eq!(lines(&recording.run), lines(&native));
        check_trace(&recording.trace);
    }

    /// Told to end after a hundred frames, it does, and has said nothing that it does not say natively.
    fn check_endless(&self) {
        let display = Display::start();
        let session = Session::new();
        let native = lines(&run(&mut process(self.ending, &display)));
        let trace = Trace::new(session.path("endless.gapii"));
        let options = ["--frames", &FRAMES.to_string(), "--quit"];
        let mut command =
            session.run_command(&options, &trace.path, &process(self.endless, &display));
        let finished = Running::start(&mut command).finish(LIMIT).ok();
        let strange: Vec<_> =
            lines(&finished).into_iter().filter(|line| !native.contains(line)).collect();
        assert!(strange.is_empty(), "{strange:?} is not in {native:?}");
        check_trace(&trace);
    }
}

fn process(words: &[&str], display: &Display) -> Process {
    let mut process = Process::new(words[0]);
    process.args(&words[1..]).env_remove("EGL_PLATFORM");
    display.use_in(&mut process);
    process
}

#[track_caller]
fn check_trace(trace: &Trace) {
    trace.is_whole("frames");
    let info = trace.info();
    assert_eq!(info["frames"], FRAMES, "{info:#}");
    let swaps =
        trace.commands().iter().filter(|c| c.name == "eglSwapBuffers" && c.succeeded()).count();
    assert_eq!(swaps as u64, FRAMES);
}

/// What a program said, its figures masked, each line once, `gapii-ctl`'s own left out.
fn lines(finished: &Finished) -> Vec<String> {
    let said = finished.stdout.split(['\n', '\r']).chain(finished.stderr.split(['\n', '\r']));
    let mut lines = Vec::new();
    for line in said.map(masked) {
        let ours = line.starts_with("gapii-ctl:");
        if !ours && !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Digits, and runs of them with points, are one `#`.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    for c in line.trim().chars() {
        let figure = c.is_ascii_digit() || c == '.' && masked.ends_with('#');
        match figure {
            true if masked.ends_with('#') => {}
            true => masked.push('#'),
            false => masked.push(c),
        }
    }
    masked
}

#[test]
fn es2gears_is_recorded() {
    GEARS.check_ending();
    GEARS.check_endless();
}

#[test]
fn glmark2_is_recorded() {
    GLMARK.check_ending();
    GLMARK.check_endless();
}

#[test]
fn testgles2_is_recorded() {
    SDL.check_ending();
    SDL.check_endless();
}

#[test]
fn mpv_is_recorded() {
    MPV.check_ending();
    MPV.check_endless();
}
