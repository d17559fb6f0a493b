//! `gapii-ctl watch`: its figures of programs that are captured and of programs that are not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use gapii_tests::artifacts::artifact;
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::sharing::{number, start, until};
use serde_json::Value;

/// A program that draws a frame of four commands every few milliseconds.
fn told() -> Command {
    offscreen(&program("told"), [""; 0])
}

/// Figures of the only program, for an interval of half a second.
fn watched(session: &Session) -> Value {
    let mut watch = session.ctl(["watch", "--json", "--interval", "0.5", "--count", "2"]);
    let said = run(&mut watch).ok();
    let last: Value = serde_json::from_str(said.stdout.lines().nth(1).unwrap()).unwrap();
    let [app] = &last["apps"].as_array().unwrap()[..] else { panic!("{last:#}") };
    app.clone()
}

fn rate(app: &Value, name: &str) -> f64 {
    app[name].as_f64().unwrap_or_else(|| panic!("no {name}: {app:#}"))
}

#[test]
fn program_has_frames_and_in_captures_commands_that_count_once() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let idle = watched(&session);
    assert_eq!((&idle["mode"], rate(&idle, "commands_per_s")), (&"idle".into(), 0.0), "{idle:#}");
    assert!(rate(&idle, "frames_per_s") > 10.0, "{idle:#}");

    let (first, _) = start(&session, "first", &[]);
    until(&session, "first", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let (second, _) = start(&session, "second", &["--function", "glClear"]);
    until(&session, "second", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let both = watched(&session);
    assert_eq!(both["mode"], "capturing", "{both:#}");
    assert!(rate(&both, "ring_bytes_per_s") > 1000.0, "{both:#}");
    let of_a_frame = rate(&both, "commands_per_s") / rate(&both, "frames_per_s");
    assert!((3.0..5.0).contains(&of_a_frame), "{of_a_frame} commands a frame: {both:#}");

    run(&mut session.ctl(["stop", "first"])).ok();
    first.finish(LIMIT).ok();
    let filtered = watched(&session);
    let of_a_frame = rate(&filtered, "commands_per_s") / rate(&filtered, "frames_per_s");
    assert!((3.0..5.0).contains(&of_a_frame), "{of_a_frame} commands a frame: {filtered:#}");
    run(&mut session.ctl(["stop", "second"])).ok();
    second.finish(LIMIT).ok();
    program.finish(LIMIT).ok();
}

#[test]
fn table_on_a_terminal_stays_in_its_place() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let words = format!("{} watch --interval 0.2 --count 3", artifact("gapii-ctl").display());
    let mut command = Command::new("script");
    session.adopt(command.args(["-qec", &words, "/dev/null"]).env("TERM", "xterm"));
    let said = Running::start(&mut command).finish(LIMIT).ok();
    assert_eq!(said.stdout.matches("FRAMES/S").count(), 3, "{said}");
    assert_eq!(said.stdout.matches("\x1b[2F\x1b[J").count(), 2, "{said}");
    program.finish(LIMIT).ok();
}
