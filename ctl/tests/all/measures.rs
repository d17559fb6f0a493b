//! `run --measure` with a fake daemon that tells which frames the program ended.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use gapii_control::{
    AppInfo, CTL_VERSION_MAX, CaptureInfo, Event, Progress, RUNNING_LAUNCH_VERSION, Request,
    StatusInfo, Target, mode,
};
use serde_json::Value;

use crate::support::{Conversation, FakeDaemon, contents, one_sentence, run, summary};

/// A program that writes its process id and waits for its end.
const PROGRAM: &str = "echo $$ > pid; exec sleep 60";

/// Milliseconds since the program connected, and frames that it has ended.
type Look = (u64, u64);

fn pid(file: &Path) -> u32 {
    loop {
        let pid = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(pid) = pid.strip_suffix('\n') {
            return pid.parse().unwrap();
        }
        std::thread::yield_now();
    }
}

/// The status with a program, which the capture records from `recorded` frames on, and with a faster stranger.
fn status(pid: u32, (ms, frames): Look, recorded: Option<u64>) -> Event {
    let mode = if recorded.is_some() { mode::CAPTURING } else { mode::IDLE }.to_owned();
    let app = AppInfo { pid, frames, connected_ns: ms * 1_000_000, mode, ..AppInfo::default() };
    let stranger = AppInfo { pid: 1, process: 1, frames: frames * 50, ..app.clone() };
    let progress = Progress { frames: recorded.unwrap_or(0), ..Progress::default() };
    let capture = CaptureInfo { capture: 7, progress, ..CaptureInfo::default() };
    let captures = recorded.map(|_| capture).into_iter().collect();
    Event::Status(StatusInfo { apps: vec![stranger, app], captures, ..StatusInfo::default() })
}

fn tell(status_of: &mut Conversation, event: &Event) {
    assert_eq!(status_of.hear(), Some(Request::Status));
    status_of.say(event);
}

/// A daemon that calls `tell` with the connection over which a capture is planned, and with the one that asks for the status.
fn daemon_of(
    daemon: &FakeDaemon,
    mut tell: impl FnMut(&mut Conversation, &mut Conversation) + Send + 'static,
) -> JoinHandle<()> {
    let mut planned = None;
    let mut greeted = 0;
    daemon.serve(move |mut conversation| {
        conversation.greet_as(CTL_VERSION_MAX);
        greeted += 1;
        match (greeted, &mut planned) {
            // `run` looks whether a daemon listens.
            (1, _) => return false,
            (_, None) => planned = Some(conversation),
            (_, Some(planned)) => {
                tell(planned, &mut conversation);
                return true;
            }
        }
        false
    })
}

/// A daemon that shows these counts before the capture and during it, and then ends the capture.
fn measured(daemon: &FakeDaemon, before: Vec<Look>, during: Vec<Look>) -> JoinHandle<()> {
    let file: PathBuf = daemon.folder.path().join("pid");
    daemon_of(daemon, move |planned, asked| {
        let pid = pid(&file);
        for look in &before {
            tell(asked, &status(pid, *look, None));
        }
        match planned.hear() {
            Some(Request::Start(start)) => assert!(matches!(start.target, Target::Launch(_))),
            other => panic!("{other:?}"),
        }
        planned.say(&Event::Started(gapii_control::Started { capture: 7, ..Default::default() }));
        for (frames, look) in (1..).zip(&during) {
            tell(asked, &status(pid, *look, Some(frames)));
        }
        planned.end_capture(summary());
    })
}

/// A daemon that no program is connected to.
fn without_frames(daemon: &FakeDaemon) -> JoinHandle<()> {
    daemon_of(daemon, |_, asked| {
        while let Some(Request::Status) = asked.hear() {
            asked.say(&Event::Status(StatusInfo::default()));
        }
    })
}

fn run_measured(daemon: &FakeDaemon, status: i32, options: &[&str]) -> (String, String) {
    let mut command = daemon.ctl();
    command.args(["run", "--measure=1", "--quit", "-o", "x.gapii"]).args(options);
    run(command.args(["--", "sh", "-c", PROGRAM]), status)
}

/// 100 frames in the second that is left out, and 100 frames of 10 ms.
fn a_hundred_a_second() -> Vec<Look> {
    vec![(20, 0), (50, 1), (1100, 101), (2100, 201)]
}

#[test]
fn frame_times_before_and_during_the_recording_are_said() {
    let daemon = FakeDaemon::new();
    let serving = measured(&daemon, a_hundred_a_second(), vec![(2200, 202), (2700, 222)]);
    let (_, stderr) = run_measured(&daemon, 0, &[]);
    let line = "gapii-ctl: frame time 10.00 ms before recording began, 25.00 ms while recording: 2.50 times as long";
    assert_eq!(stderr.lines().last(), Some(line), "{stderr}");
    serving.join().unwrap();

    let daemon = FakeDaemon::new();
    let serving = measured(&daemon, a_hundred_a_second(), vec![(2200, 202), (2700, 222)]);
    let (stdout, stderr) = run_measured(&daemon, 0, &["--json"]);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    let slowdown = &answer["slowdown"];
    assert_eq!((&slowdown["factor"], &slowdown["unknown"]), (&2.5.into(), &Value::Null));
    assert_eq!(
        slowdown["pid"],
        contents(&daemon.folder.path().join("pid")).trim().parse::<u32>().unwrap()
    );
    assert_eq!(
        (&slowdown["before"]["frames"], &slowdown["during"]["frame_ms"]),
        (&100.into(), &25.0.into())
    );
    assert!(!stderr.contains("frame time"), "{stderr}");
    serving.join().unwrap();
}

#[test]
fn recording_that_is_too_short_to_compare_is_said_and_is_no_failure() {
    let daemon = FakeDaemon::new();
    let serving = measured(&daemon, a_hundred_a_second(), vec![(2200, 202), (2205, 203)]);
    let (_, stderr) = run_measured(&daemon, 0, &[]);
    let expected =
        "gapii-ctl: how much slower the program was is not known: 1 frame of it could be timed";
    assert!(stderr.lines().any(|line| line.starts_with(expected)), "{stderr}");
    serving.join().unwrap();
}

#[test]
fn program_that_ends_before_recording_begins_leaves_no_trace_and_not_status_0() {
    for (script, status) in [("exit 0", 125), ("exit 9", 9)] {
        let daemon = FakeDaemon::new();
        let serving = without_frames(&daemon);
        let mut command = daemon.ctl();
        command.args(["run", "--measure", "-o", "x.gapii", "--json", "--", "sh", "-c", script]);
        let (stdout, _) = run(&mut command, status);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        let error = answer["capture"]["error"]["message"].as_str().unwrap();
        assert!(error.starts_with("nothing was recorded: the program ended before"), "{error}");
        assert_eq!(answer["slowdown"]["unknown"], "recording did not begin");
        assert!(!daemon.folder.path().join("x.gapii").exists());
        serving.join().unwrap();
    }
}

#[test]
fn options_that_record_nothing_and_older_daemons_are_refused() {
    let daemon = FakeDaemon::new();
    for option in [&["--idle"][..], &["--wait"], &["--keep-frames", "9"]] {
        let mut command = daemon.ctl();
        let (_, stderr) =
            run(command.args(["run", "--measure"]).args(option).args(["--", "true"]), 125);
        assert!(
            one_sentence(&stderr).contains(&format!("which {} does not make", option[0])),
            "{stderr}"
        );
    }
    for time in ["0.5", "601", "soon"] {
        let option = format!("--measure={time}");
        let (_, stderr) = run(daemon.ctl().args(["run", &option, "--", "true"]), 125);
        assert!(stderr.contains("invalid value"), "{stderr}");
    }
    let serving = daemon.serve(|mut conversation| {
        conversation.greet_as(RUNNING_LAUNCH_VERSION - 1);
        false
    });
    let mut command = daemon.ctl();
    let (_, stderr) = run(command.args(["run", "--measure", "-o", "x.gapii", "--", "true"]), 125);
    assert!(one_sentence(&stderr).contains("is older and does not support --measure"), "{stderr}");
    assert!(!daemon.folder.path().join("x.gapii").exists());
    drop(serving);
}

#[test]
fn stop_before_recording_begins_ends_the_program() {
    let daemon = FakeDaemon::new();
    let serving = without_frames(&daemon);
    let mut command = daemon.ctl();
    let script = format!("kill -TERM $PPID; {PROGRAM}");
    command.args(["run", "--measure", "-o", "x.gapii", "--", "sh", "-c", &script]);
    let (_, stderr) = run(&mut command, 128 + 15);
    assert_eq!(
        one_sentence(&stderr),
        "nothing was recorded: it was stopped before recording began"
    );
    assert!(!daemon.folder.path().join("x.gapii").exists());
    drop(serving);
}
