//! Child processes with a deadline, run to their end or watched while they run.
//!
//! A child that exceeds its deadline is killed, and the test fails. Dropping a child's owner ends the child.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use gapii_test_json::output::{self, Printed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Longest time that a single command of a test may take on two shared cores.
pub const LIMIT: Duration = Duration::from_secs(120);
/// Time within which a process that is no longer needed must end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// A command that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// # Panics
    /// If the command did not exit with `code`.
    #[track_caller]
    pub fn exited_with(self, code: i32) -> Self {
        assert!(self.status.code() == Some(code), "expected exit status {code}: {self}");
        self
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        self.exited_with(0)
    }

    /// Exit status as a shell reports it: 128 plus the signal's number for a program that a signal ended.
    pub fn shell_status(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }
}

impl Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { command, status, stdout, stderr } = self;
        write!(f, "{command}\n{status}\nstdout: {stdout}\nstderr: {stderr}")
    }
}

/// Runs `command` to its end within [`LIMIT`].
pub fn run(command: &mut Command) -> Finished {
    Running::start(command).finish(LIMIT)
}

/// A child whose output is collected while it runs. Killed on drop.
pub struct Running {
    command: String,
    /// The program, and the form of what it prints as JSON, if it does.
    json: Option<(OsString, String)>,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Output,
    stderr: Output,
}

impl Running {
    /// # Panics
    /// If the program can't be started; the message names the package of a known program.
    pub fn start(command: &mut Command) -> Self {
        let described = describe(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{described}: {error}{}", hint(command.get_program())));
        let stdout = Output::collect(child.stdout.take().expect("stdout is a pipe"));
        let stderr = Output::collect(child.stderr.take().expect("stderr is a pipe"));
        let json = output::form_of(command).map(|form| (command.get_program().to_owned(), form));
        Self { command: described, json, stdin: child.stdin.take(), child, stdout, stderr }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Blocks until the child's output contains `wanted`.
    pub fn wait_for_words(&self, wanted: &str, limit: Duration) {
        crate::wait::until(&format!("{:?} from {}", wanted, self.command), limit, || {
            let said = [&self.stdout, &self.stderr].map(Output::so_far);
            said.iter().any(|text| text.contains(wanted)).then_some(())
        });
    }

    /// The first line of stdout; `None` before it is complete.
    pub fn stdout_line(&self) -> Option<String> {
        let text = self.stdout.so_far();
        text.split_once('\n').map(|(line, _)| line.to_owned())
    }

    pub fn stderr_so_far(&self) -> String {
        self.stderr.so_far()
    }

    /// Writes to the child's stdin.
    pub fn say(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open until close_stdin");
        stdin.write_all(text.as_bytes()).expect("the child reads its stdin");
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: Signal) {
        send_signal(self.pid(), signal);
    }

    /// True when the child has ended within `limit`.
    pub fn ended_within(&self, limit: Duration) -> bool {
        ended_within(self.pid(), limit)
    }

    /// Waits for the end; closes stdin first.
    ///
    /// # Panics
    /// When it has not ended within `limit`.
    pub fn finish(mut self, limit: Duration) -> Finished {
        self.close_stdin();
        let in_time = self.ended_within(limit);
        if !in_time {
            self.end();
        }
        let status = self.child.wait().expect("a child can be waited for");
        let finished = Finished {
            command: self.command.clone(),
            status,
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        };
        assert!(in_time, "not ended within {limit:?}: {finished}");
        if let Some((program, form)) = &self.json {
            let Finished { status, stdout, stderr, .. } = &finished;
            output::check(program, form, Printed { status: *status, stdout, stderr });
        }
        finished
    }

    /// Ends the child: with SIGTERM first, since a tool that is killed leaves the program that it started.
    fn end(&mut self) {
        self.signal(Signal::TERM);
        if !self.ended_within(PATIENCE) {
            self.kill();
        }
    }

    fn kill(&mut self) {
        // Fails if the child has ended by itself in the meantime.
        let _ = self.child.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        let _ = self.child.wait();
    }
}

/// Sends `signal` to a process that this test started, directly or through a tool.
pub fn send_signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a pid is not zero");
    // Fails if the process is gone already.
    let _ = kill_process(pid, signal);
}

/// True when process `pid` is gone or a zombie within `limit`.
pub fn ended_within(pid: u32, limit: Duration) -> bool {
    let pid = Pid::from_raw(pid as i32).expect("a pid is not zero");
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    let ready = poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout));
    matches!(ready, Ok(1..))
}

/// Fails the test if `program` is not installed.
pub fn require(program: &str) {
    if let Some(what_to_do) = missing(program) {
        panic!("{what_to_do}");
    }
}

/// Returns the command that installs `program` if it is missing.
pub fn missing(program: &str) -> Option<String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(program).exists());
    (!found).then(|| format!("{program} is missing{}", hint(OsStr::new(program))))
}

fn hint(program: &OsStr) -> String {
    const PACKAGES: &[(&str, &str)] = &[
        ("cc", "gcc"),
        ("nm", "binutils"),
        ("readelf", "binutils"),
        ("Xvfb", "xvfb"),
        ("apitrace", "apitrace"),
        ("zstd", "zstd"),
        ("es2gears_x11", "mesa-utils"),
        ("glxgears", "mesa-utils"),
        ("pipes", "xscreensaver-gl"),
        ("es2_info", "mesa-utils"),
        ("eglinfo", "mesa-utils"),
        ("glmark2-es2", "glmark2-es2-x11"),
        ("testgles2", "libsdl2-tests"),
        ("mpv", "mpv"),
        ("setarch", "util-linux"),
        ("valgrind", "valgrind"),
        ("lttng", "lttng-tools"),
        ("lttng-sessiond", "lttng-tools"),
        ("pkg-config", "pkgconf"),
        ("setsid", "util-linux"),
        ("taskset", "util-linux"),
        ("unshare", "util-linux"),
    ];
    let name = std::path::Path::new(program).file_name().unwrap_or(program);
    PACKAGES
        .iter()
        .find(|(known, _)| name == *known)
        .map_or(String::new(), |(_, package)| format!("; install it: apt-get install {package}"))
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Output of a child, collected by a thread so that the child never waits for the test.
struct Output {
    text: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Output {
    fn collect(mut stream: impl Read + Send + 'static) -> Self {
        let text = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let shared = text.clone();
        let reader = std::thread::spawn(move || {
            let mut piece = vec![0; 64 << 10];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                shared.lock().expect("no reader panics").extend_from_slice(&piece[..length]);
            }
        });
        Self { text, reader: Some(reader) }
    }

    fn so_far(&self) -> String {
        let text = self.text.lock().expect("no reader panics");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Output after the child's end. Waits at most [`LIMIT`] for a grandchild that holds the pipe open.
    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            crate::wait::until("the end of a child's output", LIMIT, || {
                reader.is_finished().then_some(())
            });
        }
        self.so_far()
    }
}
