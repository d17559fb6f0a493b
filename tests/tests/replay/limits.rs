//! Limits of a replay: a small trace may make the driver allocate and compute without end.

use std::process::Command;
use std::time::{Duration, Instant};

use gapii_tests::display::{Display, surfaceless};
use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::{record_app_once, replay as played};
use gapii_tests::wait;
use rustix::process::Signal;
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

/// `command`, in a process that may have `gib` GiB of addresses.
fn with_addresses(gib: u64, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v \"$0\"; exec \"$@\""]).arg((gib << 20).to_string());
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// The program draws from arrays in its own memory, which lie far apart.
#[test]
fn replay_with_few_addresses_is_exact_or_says_how_many_it_needs() {
    let session = Session::new();
    let recorded = record_app_once(&session, "client_arrays", &["--observe-frames", "1"]).unwrap();
    let verify = played(&session, &recorded.trace.path, &["--verify", "--json"]);
    let report = run(&mut with_addresses(24, &verify)).ok().stdout;
    let report: Value = serde_json::from_str(&report).expect("a report");
    assert!(report["verified"]["frames"].as_u64() > Some(0), "{report:#}");
    assert_eq!((&report["skipped"], &report["verified"]["different"]), (&0.into(), &0.into()));
    let refused = run(&mut with_addresses(8, &played(&session, &recorded.trace.path, &[])));
    let said = refused.exited_with(3).stderr;
    for part in ["15 GiB of address space are needed", "`ulimit -v unlimited`"] {
        assert!(said.contains(part), "{said}");
    }
}

/// Whether all threads of a process wait, and one of them for signals.
fn waits(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let stats: Vec<String> =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok()).collect();
    stats.iter().all(|stat| stat.contains(") S "))
        && stats.iter().any(|it| it.contains("(signals)"))
}

#[test]
fn replay_that_the_driver_does_not_return_to_ends_when_it_is_asked_to_stop() {
    let session = Session::new();
    let recording = record(&session, &["many", "1"]);
    let display = Display::start();
    let mut command: Command = session.ctl(["replay", "--window"]);
    display.use_in(command.arg(&recording.trace.path).env_remove("EGL_PLATFORM"));
    let finished = display.mute(|| {
        let replay = Running::start(&mut command);
        let mut looks = 0;
        wait::until("a replay that waits for its display", LIMIT, || {
            looks = if waits(replay.pid()) { looks + 1 } else { 0 };
            (looks >= 50).then_some(())
        });
        replay.signal(Signal::TERM);
        replay.finish(LIMIT)
    });
    finished.exited_with(128 + Signal::TERM.as_raw());
}
