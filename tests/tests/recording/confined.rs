//! A program that closes a sandbox after its first frame, as Chromium's GPU process does: the shim makes no system call that
//! ends such a program, from the start, after an attach, and when the daemon is gone.

use std::process::Command;

use gapii_tests::attaching::{attach, run_idle};
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use rustix::process::Signal;
use serde_json::json;

/// `confined`, on a driver without threads, as Chromium's sandbox needs it.
fn confined(arguments: &[&str]) -> Command {
    let mut command = offscreen(&program("confined"), arguments);
    command.env("LP_NUM_THREADS", "0").env("MESA_SHADER_CACHE_DISABLE", "true");
    command
}

#[test]
fn program_that_confines_itself_is_recorded_from_its_start() {
    let session = Session::new();
    let recording = session.record(&["--observe-frames", "1"], &confined(&["20"]));
    recording.run.clone().ok();
    recording.trace.is_whole("exit");
    assert_eq!(verified_frames(&session, &recording.trace), 21);
}

#[test]
fn program_that_has_confined_itself_is_attached_to_and_outlives_the_daemon() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let mut running = run_idle(&session, &confined(&[]));
    running.wait_for_words("confined\n", LIMIT);
    for number in 0..2 {
        let trace = attach(&session, &format!("{number}.gapii"), "3");
        let info = trace.info();
        assert_eq!((&info["snapshot"], &info["missing"]), (&json!(true), &json!([])));
        assert_eq!(verified_frames(&session, &trace), 3);
        session.app_in_mode("idle");
    }
    let path = session.path("cut.gapii");
    let mut start = session.ctl(["start", "--seconds", "3600", "-o"]);
    let start = Running::start(start.arg(path).args(["--app", "confined"]));
    session.app_in_mode("capturing");
    daemon.kill();
    // The frames that it draws from here on look for another daemon.
    running.close_stdin();
    running.finish(LIMIT).ok();
    start.signal(Signal::TERM);
    start.finish(LIMIT);
}
