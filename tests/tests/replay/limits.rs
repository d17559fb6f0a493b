//! Limits of a replay: a small trace may make the driver allocate and compute without end.

use std::process::Command;
use std::time::{Duration, Instant};

use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::program;
use serde_json::Value;

fn record(session: &Session, arguments: &[&str]) -> Recording {
    let recording = session.record(&[], &offscreen(&program("many_textures"), arguments));
    recording.trace.is_whole("exit");
    let bytes = recording.trace.path.metadata().expect("a file").len();
    assert!(bytes < 200_000, "{bytes} bytes");
    recording
}

fn replay(session: &Session, recording: &Recording, options: &[&str]) -> Finished {
    let mut command: Command = session.ctl(["replay"]);
    surfaceless(&mut command);
    run(command.arg(&recording.trace.path).args(options))
}

#[track_caller]
fn is_ended(finished: Finished, parts: [&str; 3]) {
    let finished = finished.exited_with(1);
    for part in parts {
        assert!(finished.stderr.contains(part), "{part}: {finished}");
    }
    assert_eq!(finished.stderr.lines().count(), 1, "{finished}");
}

const MEMORY: [&str; 3] = [
    "was ended after 0 frames",
    "512.00 MiB are allowed by --memory",
    "allow more with `--memory SIZE`",
];

#[test]
fn trace_of_many_textures_takes_no_more_memory_than_is_allowed() {
    let session = Session::new();
    let recording = record(&session, &["many", "48"]);
    is_ended(replay(&session, &recording, &["--memory", "512M"]), MEMORY);
    replay(&session, &recording, &["--memory", "2G"]).ok();
}

#[test]
fn command_that_takes_much_memory_is_ended_in_its_middle() {
    let session = Session::new();
    let recording = record(&session, &["one"]);
    let limited = replay(&session, &recording, &["--memory", "256M"]);
    is_ended(limited, ["was ended after 0 frames", "256.00 MiB are allowed", "--memory SIZE"]);
    replay(&session, &recording, &["--memory", "2G"]).ok();
}

#[test]
fn trace_that_takes_long_is_ended_in_time() {
    let session = Session::new();
    let recording = record(&session, &["long", "600"]);
    let began = Instant::now();
    let limited = replay(&session, &recording, &["--time", "300ms"]);
    let taken = began.elapsed();
    is_ended(
        limited,
        ["was ended after 0 frames", "longer than the 300ms of --time", "--time TIME"],
    );
    assert!(taken < Duration::from_secs(10), "{taken:?}");
    let limited = replay(&session, &recording, &["--time", "300ms", "--json"]).exited_with(1);
    let said: Value = serde_json::from_str(&limited.stderr).expect("one document");
    assert!(said["error"]["message"].as_str().is_some_and(|it| it.contains("--time")), "{said}");
    replay(&session, &recording, &["--time", "100s"]).ok();
}
