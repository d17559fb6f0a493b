//! Captures of Level Zero that begin in the middle of a program: a snapshot comes first, and the replay makes the same.

use std::process::Command as Process;
use std::thread::sleep;
use std::time::Duration;

use gapii_tests::gapii::{self, Daemon, Session, Trace};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::process::{self, LIMIT, Running, send_signal};
use gapii_tests::programs::level_zero;
use gapii_tests::wait::until;
use rustix::process::Signal;
use serde_json::json;

use crate::replay::{plays_alike, verify};

/// A program of a thousand kernels that runs until it is dropped, idle beside a daemon.
struct Mixer<'s> {
    session: &'s Session,
    pid: u32,
    run: Option<Running>,
    _daemon: Daemon,
}

impl<'s> Mixer<'s> {
    fn start(session: &'s Session, arguments: &[&str]) -> Self {
        let daemon = session.daemon(&[]);
        let mut program = on_null_driver(&level_zero("mixer"));
        program.arg("0").args(arguments);
        let mut command = session.ctl(["run", "--idle"]);
        gapii::append(&mut command, &program);
        let run = Running::start(&mut command);
        let pid = until("the program to run", LIMIT, || run.stdout_line()?.parse().ok());
        Self { session, pid, run: Some(run), _daemon: daemon }
    }

    /// Captures the next frames.
    fn capture(&self, frames: u32, name: &str) -> Trace {
        let path = self.session.path(name);
        let mut start: Process = self.session.ctl(["start", "--frames"]);
        process::run(start.arg(frames.to_string()).arg("-o").arg(&path)).ok();
        Trace::new(path)
    }
}

impl Drop for Mixer<'_> {
    fn drop(&mut self) {
        send_signal(self.pid, Signal::KILL);
        if let Some(run) = self.run.take() {
            run.finish(LIMIT);
        }
    }
}

/// Number of captures of one running program.
const MOMENTS: u64 = 50;

#[test]
fn program_of_a_thousand_kernels_is_attached_to_at_random_moments_and_replays() {
    let session = Session::new();
    let mixer = Mixer::start(&session, &[]);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for moment in 0..MOMENTS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(moment | 1);
        // The first captures begin while the program makes its objects.
        sleep(Duration::from_micros((random >> 40) % 20_000));
        let trace = mixer.capture(3, &format!("moment{moment}.gapii"));
        trace.is_whole("frames");
        assert_eq!(trace.info()["missing"], json!([]), "moment {moment}");
        let report = plays_alike(&session, &trace);
        assert_eq!(report["frames"], 3, "moment {moment}: {report:#}");
    }
}

#[test]
fn replay_of_an_attached_capture_depends_on_modules_and_contents() {
    let session = Session::new();
    let mixer = Mixer::start(&session, &[]);
    let trace = mixer.capture(5, "attached.gapii");
    plays_alike(&session, &trace);
    for flaw in ["modules", "copies"] {
        let (finished, report) = verify(&session, &trace, flaw);
        assert_eq!(finished.status.code(), Some(1), "{flaw}: {finished}");
        assert!(report["verified"]["different"].as_u64() > Some(0), "{flaw}: {report:#}");
    }
}
