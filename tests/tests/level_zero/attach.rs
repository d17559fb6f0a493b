//! Captures of Level Zero that begin in the middle of a program: a snapshot comes first, and the replay makes the same.

use std::process::Command as Process;
use std::thread::sleep;
use std::time::Duration;

use gapii_tests::gapii::{self, Daemon, Session, Trace};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::process::{self, LIMIT, Running, send_signal};
use gapii_tests::programs::level_zero;
use gapii_tests::turns;
use gapii_tests::wait::until;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::replay::{plays_alike, verify};

/// A program that runs until this is dropped, idle beside a daemon.
struct Idle<'s> {
    session: &'s Session,
    pid: u32,
    run: Option<Running>,
    _daemon: Daemon,
}

impl<'s> Idle<'s> {
    fn start(session: &'s Session, name: &str, arguments: &[&str]) -> Self {
        let daemon = session.daemon(&[]);
        let mut program = on_null_driver(&level_zero(name));
        program.args(arguments);
        let mut command = session.ctl(["run", "--idle"]);
        gapii::append(&mut command, &program);
        let run = Running::start(&mut command);
        let pid = until("the program to run", LIMIT, || run.stdout_line()?.parse().ok());
        Self { session, pid, run: Some(run), _daemon: daemon }
    }

    /// Captures as the options of `start` say.
    fn capture(&self, options: &[&str], name: &str) -> Trace {
        let path = self.session.path(name);
        let mut start: Process = self.session.ctl(["start", "--force", "-o"]);
        process::run(start.arg(&path).args(options)).ok();
        Trace::new(path)
    }
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        send_signal(self.pid, Signal::KILL);
        if let Some(run) = self.run.take() {
            run.finish(LIMIT);
        }
    }
}

/// Number of captures of one running program.
const MOMENTS: usize = 50;

#[test]
fn program_of_a_thousand_kernels_is_attached_to_at_random_moments_and_replays() {
    let session = Session::new();
    let mixer = Idle::start(&session, "mixer", &["0"]);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for moment in 0..turns::times(MOMENTS) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(moment as u64 | 1);
        // The first captures begin while the program makes its objects.
        sleep(Duration::from_micros((random >> 40) % 20_000));
        let trace = mixer.capture(&["--frames", "3"], &format!("moment{moment}.gapii"));
        trace.is_whole("frames");
        assert_eq!(trace.info()["missing"], json!([]), "moment {moment}");
        let report = plays_alike(&session, &trace);
        assert_eq!(report["frames"], 3, "moment {moment}: {report:#}");
    }
}

#[test]
fn replay_of_an_attached_capture_depends_on_modules_and_contents() {
    let session = Session::new();
    let mixer = Idle::start(&session, "mixer", &["0"]);
    let trace = mixer.capture(&["--frames", "40"], "attached.gapii");
    plays_alike(&session, &trace);
    for flaw in ["modules", "copies"] {
        let (finished, report) = verify(&session, &trace, flaw);
        assert_eq!(finished.status.code(), Some(1), "{flaw}: {finished}");
        assert!(report["verified"]["different"].as_u64() > Some(0), "{flaw}: {report:#}");
    }
}

#[test]
fn program_of_two_threads_is_attached_to_and_replays() {
    let session = Session::new();
    let mixer = Idle::start(&session, "mixer", &["0", "2"]);
    for attach in 0..turns::times(10) {
        let trace = mixer.capture(&["--frames", "4"], &format!("attach{attach}.gapii"));
        trace.is_whole("frames");
        assert_eq!(trace.info()["missing"], json!([]), "attach {attach}");
        let (_, report) = verify(&session, &trace, "");
        // The capture ends while the other thread is in a command.
        let skips = report["skips"].as_array().cloned().unwrap_or_default();
        let was_in_flight = |skip: &Value| {
            skip["why"].as_str().is_some_and(|why| why.starts_with("it had not returned"))
        };
        assert!(skips.iter().all(was_in_flight), "attach {attach}: {report:#}");
        assert!(report["verified"]["equal"].as_u64() > Some(5000), "{report:#}");
        // Each wait looks at all memory, also at memory that the other thread's queue is writing.
        let differences = report["verified"]["differences"].as_array().cloned();
        let is_memory =
            |it: &Value| it["part"].as_str().is_some_and(|part| part.starts_with("memory at 0x"));
        assert!(differences.unwrap_or_default().iter().all(is_memory), "{report:#}");
    }
}

#[test]
fn snapshot_says_which_work_and_which_commands_it_lacks() {
    let session = Session::new();
    for (state, missing) in [
        ("waiting", "Level Zero: work that 1 queues or immediate lists had not finished"),
        ("dead", "Level Zero: 1 commands in lists that use destroyed objects"),
        ("timed", "Level Zero: the timestamps of 1 signalled events"),
    ] {
        let program = Idle::start(&session, "leftover", &[state]);
        let trace = program.capture(&["--seconds", "4"], &format!("{state}.gapii"));
        assert_eq!(trace.info()["missing"], json!([missing]), "{state}");
    }
}

#[test]
fn kept_frames_begin_at_a_keyframe_and_replay() {
    let session = Session::new();
    let mut program = on_null_driver(&level_zero("mixer"));
    program.arg("41");
    let keep = ["--keep-frames", "4", "--keyframe-every", "3"];
    let recording = session.record(&keep, &program);
    recording.run.ok();
    let info = recording.trace.info();
    assert_eq!((&info["snapshot"], &info["missing"]), (&json!(true), &json!([])), "{info:#}");
    let report = plays_alike(&session, &recording.trace);
    assert!(report["frames"].as_u64().is_some_and(|frames| (4..8).contains(&frames)), "{report:#}");
}
