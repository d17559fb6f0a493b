//! A fake daemon whose answers a test chooses, and `gapii-ctl` connected to it.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::fs::{DirBuilder, File};
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread::JoinHandle;

use gapii_abi::atom::EndReason;
use gapii_control::{
    CTL_VERSION_MIN, Ended, Event, FrameBuffer, Request, ServerHello, Started, Summary,
};
use gapii_test_json::output::{self, Printed};
use rustix::fs::{Mode, OFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::process::Pid;
use rustix::pty::OpenptFlags;
use tempfile::TempDir;

/// `gapii-ctl`, isolated from the machine's daemons and displays.
pub fn ctl(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gapii-ctl"));
    command
        .current_dir(folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env("GAPII_SHIM", harmless_library())
        .env("GAPIID", "/no/such/gapiid")
        .env_remove("GAPII_CTL_SOCKET")
        .env_remove("GAPII_SOCKET")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// A library that every program loads anyway, used in place of the shim.
fn harmless_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let path = maps.split_whitespace().find(|word| word.contains("/libc.so")).unwrap();
    PathBuf::from(path)
}

/// Runs to the end and checks the exit status, and JSON by its schema. Returns the output.
pub fn run(command: &mut Command, status: i32) -> (String, String) {
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let Output { status: found, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(stdout), text(stderr));
    assert_eq!(found.code(), Some(status), "{command:?}\n{stdout}{stderr}");
    if let Some(form) = output::form_of(command) {
        let printed = Printed { status: found, stdout: &stdout, stderr: &stderr };
        output::check(command.get_program(), &form, printed);
    }
    (stdout, stderr)
}

/// Runs to the end with standard error on a terminal. Returns the status, and what the terminal shows.
pub fn on_a_terminal(command: Command) -> (ExitStatus, String) {
    watched_on_a_terminal(command, |_, _| {})
}

/// Does the same; calls `watch` with the process and with what it has shown, whenever it shows something.
pub fn watched_on_a_terminal(
    mut command: Command,
    mut watch: impl FnMut(Pid, &str),
) -> (ExitStatus, String) {
    let controller = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::unlockpt(&controller).unwrap();
    let name = rustix::pty::ptsname(&controller, Vec::new()).unwrap();
    let terminal = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut child = command.stderr(terminal).spawn().unwrap();
    // Closes the last descriptor of the terminal, so that reading ends with the child.
    drop(command);
    let (mut shown, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = rustix::io::read(&controller, &mut bytes) {
        shown.extend_from_slice(&bytes[..count]);
        watch(Pid::from_child(&child), &String::from_utf8_lossy(&shown));
    }
    (child.wait().unwrap(), String::from_utf8_lossy(&shown).into_owned())
}

/// Checks that a failure is one line of `gapii-ctl`, without a full stop.
pub fn one_sentence(stderr: &str) -> &str {
    let sentence = stderr.strip_suffix('\n').unwrap();
    assert!(!sentence.contains('\n'), "{stderr}");
    assert!(!sentence.ends_with('.'), "{stderr}");
    sentence.strip_prefix("gapii-ctl: ").unwrap()
}

/// A fake daemon that listens in a folder of its own and serves one connection at a time.
pub struct FakeDaemon {
    pub folder: TempDir,
    listener: UnixListener,
}

impl FakeDaemon {
    pub fn new() -> FakeDaemon {
        FakeDaemon::listening_below("gapii")
    }

    /// The private daemon of a run.
    pub fn of_a_run() -> FakeDaemon {
        FakeDaemon::listening_below("gapii-run-1")
    }

    fn listening_below(name: &str) -> FakeDaemon {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join(name);
        DirBuilder::new().mode(0o700).create(&below).unwrap();
        let listener = UnixListener::bind(below.join("ctl.sock")).unwrap();
        FakeDaemon { folder, listener }
    }

    pub fn ctl(&self) -> Command {
        ctl(self.folder.path())
    }

    /// Serves connections with `serve` until it returns true.
    pub fn serve(
        &self,
        mut serve: impl FnMut(Conversation) -> bool + Send + 'static,
    ) -> JoinHandle<()> {
        let listener = self.listener.try_clone().unwrap();
        std::thread::spawn(move || while !serve(Conversation::new(listener.accept().unwrap().0)) {})
    }
}

/// The daemon's end of a connection.
pub struct Conversation {
    stream: UnixStream,
    received: FrameBuffer,
    /// Output that the last `Start` request passed.
    pub output: Option<File>,
}

impl Conversation {
    fn new(stream: UnixStream) -> Conversation {
        Conversation { stream, received: FrameBuffer::default(), output: None }
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn say(&mut self, event: &Event) {
        gapii_control::write_message(&mut self.stream, event).unwrap();
    }

    /// Reads the client's hello and answers it as a daemon of the oldest version.
    pub fn greet(&mut self) {
        self.greet_as(CTL_VERSION_MIN);
    }

    /// Reads the client's hello and answers it as a daemon of this version.
    pub fn greet_as(&mut self, version: u16) {
        assert!(matches!(self.hear(), Some(Request::Hello(_))));
        self.say(&Event::Hello(ServerHello { version, ..ServerHello::default() }));
    }

    /// The next request; `None` after the last.
    pub fn hear(&mut self) -> Option<Request> {
        loop {
            if let Some(body) = self.received.next_body().unwrap() {
                return Some(gapii_control::decode(&body).unwrap());
            }
            if !self.receive() {
                return None;
            }
        }
    }

    /// Sets up capture 7, and returns its output.
    pub fn start_capture(&mut self) -> File {
        assert!(matches!(self.hear(), Some(Request::Start(_))));
        self.say(&Event::Started(Started { capture: 7, ..Started::default() }));
        self.output.take().unwrap()
    }

    pub fn end_capture(&mut self, summary: Summary) {
        self.say(&Event::Ended(Ended { capture: 7, summary }));
    }

    fn receive(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.stream, &mut parts, &mut control, flags);
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.output = descriptors.last().map(File::from);
            }
        }
        let count = received.map_or(0, |received| received.bytes);
        self.received.extend(&bytes[..count]);
        count > 0
    }
}

/// A capture that ended as it should.
pub fn summary() -> Summary {
    Summary {
        reason: EndReason::Frames.name().into(),
        frames: 100,
        calls: 4200,
        threads: 1,
        processes: 1,
        raw_bytes: 1_000_000,
        file_bytes: 50_000,
        ..Summary::default()
    }
}

/// Waits until `file` can be read to its end.
pub fn contents(path: &Path) -> String {
    let mut text = String::new();
    File::open(path).unwrap().read_to_string(&mut text).unwrap();
    text
}
