//! Several captures at a time, and clients that read their trace late or slowly.

use std::fs::File;
use std::io::Read;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::gapii::{Session, Trace};
use crate::process::{LIMIT, Running, ended_within, run, send_signal};
use crate::wait;

/// Time within which a client that is no longer needed must end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// `gapii-ctl` that writes a trace to a pipe, which the test reads when it calls [`Piped::read`].
pub struct Piped {
    child: Child,
    pipe: ChildStdout,
    trace: Trace,
    said: std::path::PathBuf,
}

impl Piped {
    /// Starts `command`, which writes a trace to its standard output.
    pub fn start(session: &Session, name: &str, mut command: Command) -> Self {
        let said = session.path(&format!("{name}.said"));
        let errors = File::create(&said).expect("the session's folder is writable");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().expect("gapii-ctl can be started");
        let pipe = child.stdout.take().expect("stdout is a pipe");
        Self { child, pipe, trace: Trace::new(session.path(&format!("{name}.gapii"))), said }
    }

    /// Reads to the end, with `pause` after each piece; returns the trace and the client's messages.
    pub fn read(mut self, pause: Duration) -> (Trace, String) {
        let mut file = File::create(&self.trace.path).expect("the session's folder is writable");
        let mut piece = vec![0; 64 << 10];
        loop {
            let count = self.pipe.read(&mut piece).expect("the pipe can be read");
            if count == 0 {
                break;
            }
            std::io::Write::write_all(&mut file, &piece[..count]).expect("the disk has room");
            if !pause.is_zero() {
                std::thread::park_timeout(pause);
            }
        }
        // `gapii-ctl run` goes on until its program ends.
        send_signal(self.child.id(), Signal::TERM);
        assert!(ended_within(self.child.id(), LIMIT), "gapii-ctl ends with its output");
        let _ = self.child.wait();
        let said = std::fs::read_to_string(&self.said).unwrap_or_default();
        (Trace::new(self.trace.path.clone()), said)
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // SIGTERM first: a client that is killed leaves the program that it started.
        send_signal(self.child.id(), Signal::TERM);
        if !ended_within(self.child.id(), PATIENCE) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Entry of the capture `name` in `gapii-ctl list`.
pub fn listed(session: &Session, name: &str) -> Option<Value> {
    let list = run(&mut session.ctl(["list", "--json"])).ok();
    let captures: Vec<Value> = serde_json::from_str(&list.stdout).expect("list --json is a list");
    captures.into_iter().find(|capture| capture["name"] == name)
}

/// Waits until the progress of capture `name` satisfies `so_far`.
pub fn until(session: &Session, name: &str, what: &str, so_far: impl Fn(&Value) -> bool) -> Value {
    wait::until(&format!("capture {name}: {what}"), LIMIT, || {
        listed(session, name).filter(|capture| so_far(&capture["progress"]))
    })
}

/// Starts a capture of the session's only program.
pub fn start(session: &Session, name: &str, options: &[&str]) -> (Running, Trace) {
    let trace = Trace::new(session.path(&format!("{name}.gapii")));
    let mut command = session.ctl(["start", "--force", "--name", name]);
    (Running::start(command.args(options).arg("-o").arg(&trace.path)), trace)
}

/// A JSON value as a number.
#[track_caller]
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Frames per second of all programs, measured for `time`.
pub fn frames_in(session: &Session, time: Duration) -> f64 {
    let frames = || session.apps().iter().map(|app| number(&app["frames"])).sum::<u64>();
    let (began, first) = (Instant::now(), frames());
    wait::until("time to pass", LIMIT, || (began.elapsed() >= time).then_some(()));
    (frames() - first) as f64 / began.elapsed().as_secs_f64()
}
