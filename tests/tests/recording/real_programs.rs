//! Real programs from Debian, one for each way in which real programs load EGL: their first hundred
//! frames, their own output and their own exit status.

use std::time::Duration;

use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::{Finished, Running, run};
use gapii_tests::programs::{self, TESTGLES2};
use rustix::process::Signal;

const FRAMES: u64 = 100;
const LIMIT: Duration = Duration::from_secs(60);

/// A program that draws until it is told to end.
struct Program<'a> {
    words: &'a [&'a str],
    /// Text that the program prints before it draws.
    ready: &'a str,
    /// Arguments with which the program ends by itself; empty if it has none.
    ending: &'a [&'a str],
}

/// Links EGL. Its output would be lost in a buffer when it is told to end.
const GEARS: Program =
    Program { words: &["stdbuf", "-oL", "es2gears_x11"], ready: "\ninfo:", ending: &[] };

/// glad over `dlopen`.
const GLMARK: Program = Program {
    words: &["stdbuf", "-oL", "glmark2-es2", "-s", "200x200", "-b", "build:duration=100.0"],
    ready: "[build]",
    ending: &["glmark2-es2", "-s", "200x200", "-b", "build:duration=2.0"],
};

/// SDL's own loader, which apitrace can't follow. By default it would get its GLES context from
/// GLX, which gapii does not record; `run` tells it to use EGL.
const SDL: Program = Program { words: TESTGLES2, ready: "SDL_GL_DEPTH_SIZE", ending: &[] };

/// libepoxy, and several threads.
const MPV: Program = Program { words: programs::MPV, ready: "VO:", ending: programs::MPV_ENDING };

impl Program<'_> {
    /// Recorded for a hundred frames and left alone, then told to end: it ends as natively, and has
    /// said the same.
    fn check_told_to_end(&self) {
        let display = Display::start();
        let session = Session::new();
        let native = self.told_to_end(&display);
        let trace = Trace::new(session.path("told.gapii"));
        let process = display.command(self.words);
        let options = ["--frames", &FRAMES.to_string()];
        let run = Running::start(&mut session.run_command(&options, &trace.path, &process));
        run.wait_for_words(&format!("gapii-ctl: {FRAMES} frames"), LIMIT);
        run.signal(Signal::TERM);
        same_end(&run.finish(LIMIT), &native);
        check_trace(&trace);
    }

    /// Ends the program by `--quit`: its end is a success, and it prints nothing that it does not print natively.
    fn check_quit(&self) {
        let display = Display::start();
        let session = Session::new();
        let native = lines(&self.told_to_end(&display));
        let process = display.command(self.words);
        let recording = session.record(&["--frames", &FRAMES.to_string(), "--quit"], &process);
        // The last line may be cut off where the program was.
        let said_natively = |line: &String| native.iter().any(|known| known.starts_with(line));
        let said = lines(&recording.run.ok());
        let strange: Vec<_> = said.into_iter().filter(|line| !said_natively(line)).collect();
        assert!(strange.is_empty(), "{strange:?} is not in {native:?}");
        check_trace(&recording.trace);
    }

    /// Recorded for a hundred frames and left alone, it comes to its own end as natively.
    fn check_ending(&self) {
        let display = Display::start();
        let session = Session::new();
        let native = run(&mut display.command(self.ending));
        let process = display.command(self.ending);
        let recording = session.record(&["--frames", &FRAMES.to_string()], &process);
        same_end(&recording.run, &native);
        check_trace(&recording.trace);
    }

    /// Natively, told to end when it has drawn for a second.
    fn told_to_end(&self, display: &Display) -> Finished {
        let native = Running::start(&mut display.command(self.words));
        native.wait_for_words(self.ready, LIMIT);
        assert!(!native.ended_within(Duration::from_secs(1)), "{} was to draw on", self.words[0]);
        native.signal(Signal::TERM);
        native.finish(LIMIT)
    }
}

#[track_caller]
fn same_end(recorded: &Finished, native: &Finished) {
    assert_eq!(recorded.shell_status(), native.shell_status(), "{recorded}");
    assert_eq!(lines(recorded), lines(native));
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

/// Returns the lines of a program's output, each once, with masked figures and without the lines of `gapii-ctl`.
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
    GEARS.check_told_to_end();
    GEARS.check_quit();
}

#[test]
fn glmark2_is_recorded() {
    GLMARK.check_ending();
    GLMARK.check_told_to_end();
    GLMARK.check_quit();
}

#[test]
fn testgles2_is_recorded() {
    SDL.check_told_to_end();
    SDL.check_quit();
}

#[test]
fn mpv_is_recorded() {
    MPV.check_ending();
    MPV.check_told_to_end();
    MPV.check_quit();
}
