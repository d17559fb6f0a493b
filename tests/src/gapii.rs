//! Runs the tools of the project as a user does, each test in a session of its own.
//!
//! Reads their `--json` output and nothing else: a field that is missing ends the test.

use std::ffi::OsStr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::Duration;

pub use gapii_test_json::{Arguments, Command};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::artifacts::artifact;
use crate::process::{Finished, LIMIT, Running, run};

/// A session: a folder for sockets and files, which is removed when the value is dropped.
pub struct Session {
    folder: TempDir,
}

/// Result of `gapii-ctl run`.
pub struct Recording {
    pub trace: Trace,
    /// Status and output of `gapii-ctl run`; the output includes the program's.
    pub run: Finished,
}

/// A daemon of the session, which gets SIGTERM when the value is dropped.
pub struct Daemon {
    /// `None` after the daemon was ended.
    process: Option<Running>,
}

/// A trace file.
pub struct Trace {
    pub path: PathBuf,
}

impl Session {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("gapii-test-").tempdir();
        Self { folder: folder.expect("the folder for temporary files is writable") }
    }

    /// Path of a file in the session's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `gapii-ctl` with `arguments`; more may be added.
    pub fn ctl<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Process {
        let mut command = Process::new(artifact("gapii-ctl"));
        self.adopt(&mut command);
        command.args(arguments);
        command
    }

    /// Gives `command` this session's environment, and removes the caller's variables of gapii.
    pub fn adopt(&self, command: &mut Process) {
        command
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("GAPII_SHIM", artifact("libgapii.so"));
        for name in [
            "GAPII_SOCKET",
            "GAPII_CTL_SOCKET",
            "GAPII_VIA",
            "GAPII_WAIT",
            "GAPII_WAIT_SECONDS",
            "GAPII_PROCESS",
            "GAPII_LAUNCH",
        ] {
            command.env_remove(name);
        }
    }

    /// A daemon that serves this session, with `options` of `gapiid`.
    pub fn daemon(&self, options: &[&str]) -> Daemon {
        self.daemon_with(options, &[])
    }

    /// A daemon with `options` of `gapiid` and with `variables` in its environment.
    pub fn daemon_with(&self, options: &[&str], variables: &[(&str, &Path)]) -> Daemon {
        let mut command = Process::new(artifact("gapiid"));
        self.adopt(&mut command);
        let process = Running::start(command.args(options).envs(variables.iter().copied()));
        let socket = self.path("gapii/ctl.sock");
        crate::wait::until("the daemon to listen", Duration::from_secs(10), || {
            UnixStream::connect(&socket).ok().map(drop)
        });
        Daemon { process: Some(process) }
    }

    /// `gapii-ctl run OPTIONS -o FILE -- PROGRAM`, with the program's arguments and environment.
    pub fn run_command(&self, options: &[&str], trace: &Path, program: &Process) -> Process {
        let mut command = self.ctl(["run"]);
        command.args(options).args(["--force", "-o"]).arg(trace);
        append(&mut command, program);
        command
    }

    /// Records `program` into a new file and waits for its end.
    pub fn record(&self, options: &[&str], program: &Process) -> Recording {
        let file = tempfile::Builder::new().suffix(".gapii").tempfile_in(self.folder.path());
        let (_, path) = file.expect("a file").keep().expect("a file that stays");
        let run = run(&mut self.run_command(options, &path, program));
        Recording { trace: Trace { path }, run }
    }

    /// The applications that `gapii-ctl apps` lists.
    pub fn apps(&self) -> Vec<Value> {
        let apps = run(&mut self.ctl(["apps", "--json"])).ok();
        match serde_json::from_str(&apps.stdout) {
            Ok(Value::Array(apps)) => apps,
            other => panic!("apps --json is a list: {other:?}"),
        }
    }

    /// Waits until the only connected application is in `mode`, and returns its entry.
    pub fn app_in_mode(&self, mode: &str) -> Value {
        crate::wait::until(&format!("an application in mode {mode}"), LIMIT, || {
            let mut apps = self.apps();
            (apps.len() == 1 && apps[0]["mode"] == mode).then(|| apps.remove(0))
        })
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.running().pid()
    }

    /// CPU time of all its threads.
    pub fn cpu_time(&self) -> Duration {
        let tasks = format!("/proc/{}/task", self.pid());
        let tasks = std::fs::read_dir(tasks).expect("the daemon runs").flatten();
        let times = tasks.map(|task| schedstat(&task.path().join("schedstat")));
        Duration::from_nanos(times.sum())
    }

    /// Log of the daemon so far.
    pub fn log(&self) -> String {
        self.running().stderr_so_far()
    }

    pub fn signal(&self, signal: Signal) {
        self.running().signal(signal);
    }

    /// Sends SIGTERM and waits for the end.
    pub fn end(self) -> Finished {
        self.finish_by(Signal::TERM)
    }

    /// Sends SIGKILL and waits for the end.
    pub fn kill(self) {
        self.finish_by(Signal::KILL);
    }

    fn finish_by(mut self, signal: Signal) -> Finished {
        self.signal(signal);
        self.process.take().expect("a daemon is ended once").finish(LIMIT)
    }

    fn running(&self) -> &Running {
        self.process.as_ref().expect("a daemon is ended once")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(process) = &self.process {
            process.signal(Signal::TERM);
            // A daemon that does not end in time is killed when `process` is dropped.
            process.ended_within(Duration::from_secs(10));
        }
    }
}

/// Nanoseconds on a CPU; 0 for a thread that has just ended.
fn schedstat(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

impl Trace {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// `gapii-ctl NAME FILE`, with `options`.
    pub fn ask(&self, name: &str, options: &[&str]) -> Finished {
        let mut command = Process::new(artifact("gapii-ctl"));
        run(command.arg(name).arg(&self.path).args(options))
    }

    pub fn info(&self) -> Value {
        let info = self.ask("info", &["--json"]);
        gapii_test_json::value(&info.stdout).unwrap_or_else(|error| panic!("{error} {info}"))
    }

    /// Every command, including commands in flight at the end.
    #[track_caller]
    pub fn commands(&self) -> Vec<Command> {
        commands(&self.ask("dump", &["--json"]).ok())
    }

    #[track_caller]
    pub fn verify(&self) {
        self.ask("verify", &[]).ok();
    }

    /// The trace is well-formed and ends for `reason`, with nothing lost.
    #[track_caller]
    pub fn is_whole(&self, reason: &str) {
        self.verify();
        let info = self.info();
        assert_eq!(info["end_of_stream"]["reason"], reason, "{info:#}");
        assert_eq!(info["lost"]["commands"], 0, "{info:#}");
    }
}

/// The commands in the output of `dump --json`.
#[track_caller]
pub fn commands(dump: &Finished) -> Vec<Command> {
    gapii_test_json::commands(&dump.stdout).unwrap_or_else(|error| panic!("{error}"))
}

/// Adds `-- PROGRAM ARGUMENTS` to `command`, and the program's environment.
pub fn append(command: &mut Process, program: &Process) {
    command.arg("--").arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
}
