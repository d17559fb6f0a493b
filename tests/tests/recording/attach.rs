//! Captures that begin in the middle of a program: a snapshot comes first, the following commands play exactly, and the
//! program does not notice.

use std::process::Command;
use std::time::Duration;

use gapii_tests::attaching::{
    attach, attach_at_random, kill_who_attaches, run_idle, start_and_stop,
};
use gapii_tests::display::Display;
use gapii_tests::exporting::shown_as_read_back;
use gapii_tests::gapii::{Session, append};
use gapii_tests::loading::offscreen;
use gapii_tests::pictures::NOT_PLAYED;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::{app, names_in, program};
use gapii_tests::replays::{replay, verified};
use gapii_tests::{fake_driver, glmark2};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Records a program from its frame `skip` on; compares answers and frames with those of a replay, and the program's output
/// with its native output.
fn check(session: &Session, name: &str, skip: u64) -> Result<(), String> {
    let native = run(&mut offscreen(&app(name), [""; 0]));
    let skip = skip.to_string();
    let options = ["--observe-frames", "1", "--skip-frames", &skip];
    let recording = session.record(&options, &offscreen(&app(name), [""; 0]));
    if (recording.run.status, &recording.run.stdout) != (native.status, &native.stdout) {
        return Err(format!("natively {native}\nwith us {}", recording.run));
    }
    recording.trace.verify();
    let info = recording.trace.info();
    if info["calls"] == 0 {
        return Ok(());
    }
    if info["snapshot"] != true {
        return Err("no snapshot".to_owned());
    }
    verified(session, &recording.trace, &[]).map(|_| ())
}

fn check_all(skip: u64) {
    let session = Session::new();
    let names = names_in("apps");
    let wrong: Vec<String> = names
        .iter()
        .filter_map(|name| check(&session, name, skip).err().map(|what| format!("{name}: {what}")))
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_are_played_exactly_from_their_first_frame_on() {
    check_all(1);
}

#[test]
fn programs_are_played_exactly_from_their_third_frame_on() {
    check_all(3);
}

#[test]
fn eglretrace_shows_programs_from_their_second_frame_on() {
    let session = Session::new();
    let names = names_in("apps");
    let names = names.iter().filter(|name| !NOT_PLAYED.iter().any(|(other, _)| other == name));
    let wrong: Vec<String> = names
        .filter_map(|name| {
            shown_as_read_back(&session, name, &["--skip-frames", "2"])
                .err()
                .map(|what| format!("{name}: {what}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A driver with OpenGL ES 2 only has no `glBlitFramebuffer`.
#[test]
fn what_was_drawn_to_a_surface_of_opengl_es_2_is_there() {
    let session = Session::new();
    let (name, version) = ("MESA_GLES_VERSION_OVERRIDE", "2.0");
    let mut program = offscreen(&app("kept_surface"), [""; 0]);
    let options = ["--observe-frames", "1", "--skip-frames", "3"];
    let recording = session.record(&options, program.env(name, version));
    recording.run.clone().ok();
    assert_eq!(recording.trace.info()["snapshot"], true);
    let mut replay = replay(&session, &recording.trace.path, &["--verify"]);
    let played = run(replay.env(name, version));
    assert!(played.status.success(), "{played}");
}

#[test]
fn scene_is_attached_to_while_it_runs_again_and_again() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let display = Display::start();
    let running = run_idle(&session, &glmark2::command(&display, "texture", 30));
    std::thread::sleep(Duration::from_millis(500));
    for number in 0..5 {
        let trace = attach(&session, &format!("{number}.gapii"), "3");
        assert_eq!(trace.info()["snapshot"], true);
        let report = verified(&session, &trace, &[]).unwrap();
        assert_eq!(report["verified"]["frames"], 3, "{report:#}");
        session.app_in_mode("idle");
    }
    drop(running);
}

#[test]
fn two_threads_are_attached_to_at_random_moments() {
    attach_at_random(2, 10);
}

#[test]
fn three_threads_are_attached_to_at_random_moments() {
    attach_at_random(3, 10);
}

#[test]
fn four_threads_are_attached_to_at_random_moments() {
    attach_at_random(4, 10);
}

#[test]
fn program_is_captured_often_and_grows_by_nothing() {
    start_and_stop(40);
}

#[test]
fn program_outlives_whoever_attaches() {
    kill_who_attaches(8);
}

/// State from before the attach is unknown in a program that is not monitored. Later commands are recorded, and the program
/// goes on as before.
#[test]
fn program_that_is_not_monitored_is_recorded_without_what_was_before() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut command = session.ctl(["run", "--idle", "--no-monitor"]);
    append(&mut command, &offscreen(&program("threads_forever"), ["2", "600"]));
    let running = Running::start(&mut command);
    for number in 0..3 {
        session.app_in_mode("asleep");
        let trace = attach(&session, &format!("{number}.gapii"), "4");
        let info = trace.info();
        assert_eq!(info["frames"], 4, "{info:#}");
        let missing = info["missing"].as_array().expect("a list");
        let said = |line: &Value| line.as_str().is_some_and(|line| line.contains("--no-monitor"));
        assert!(missing.iter().any(said), "{info:#}");
        let commands = trace.commands();
        assert!(commands.iter().any(|command| command.name == "glDrawArrays"), "{info:#}");
    }
    running.signal(Signal::TERM);
    running.finish(LIMIT).ok();
}

/// An attachment whose name was deleted cannot be described; the trace says that it is missing.
#[test]
fn attachment_that_was_deleted_is_named() {
    let session = Session::new();
    let process = offscreen(&program("deleted_attachment"), ["6"]);
    let recording = session.record(&["--skip-frames", "2"], &process);
    recording.run.ok();
    let info = recording.trace.info();
    assert_eq!(info["missing"], json!(["what a framebuffer has of deleted object 1"]), "{info:#}");
}

/// Attaches to a program with a thread in glFinish, which takes `turns` turns of a loop each time.
fn attach_to_busy_driver(turns: &str) -> Value {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut process = Command::new(program("in_driver"));
    process.env("FAKE_DRIVER_FINISH", turns);
    let page = session.path("page");
    fake_driver::use_in(&mut process, Some(&page));
    // Ends the process, should it be left.
    let _page = fake_driver::Page::new(&page);
    let running = run_idle(&session, &process);
    let info = attach(&session, "busy.gapii", "2").info();
    drop(running);
    info
}

fn threads_in_the_driver(info: &Value) -> usize {
    let missing = info["missing"].as_array().expect("a list").iter();
    missing.filter(|line| line.as_str().is_some_and(|line| line.contains("that thread"))).count()
}

#[test]
fn thread_in_the_driver_is_waited_for() {
    let info = attach_to_busy_driver("10000000");
    assert_eq!(threads_in_the_driver(&info), 0, "{info:#}");
}

#[test]
fn thread_that_does_not_come_out_of_the_driver_is_named() {
    let info = attach_to_busy_driver("100000000000");
    assert_eq!(threads_in_the_driver(&info), 1, "{info:#}");
    let held = info["held_us"].as_u64().expect("a number");
    assert!((250_000..1_000_000).contains(&held), "{info:#}");
}
