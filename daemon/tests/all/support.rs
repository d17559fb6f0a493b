//! A daemon under test, applications that it records, and a client; each in a process of its own where the test
//! needs it.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs::File;
use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gapii_abi::app::launch_to_hex;
use gapii_control::{
    ClientHello, Ended, Event, Request, StartRequest, Started, StopRequest, Target, code,
};
use gapii_trace::{TraceReader, verify};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use tempfile::TempDir;

/// Limit of every wait.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Bytes that a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

/// A pipe that takes nothing more.
pub fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[0; PIPE_BYTES]).unwrap();
    (reader, writer)
}

/// A gapiid with its own sockets, which is ended on drop.
pub struct Daemon {
    pub folder: TempDir,
    child: Child,
}

impl Daemon {
    /// Starts a private daemon, as `gapii-ctl run` does.
    pub fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = command(&folder, &[&["--private"], options].concat());
        Self::begin(folder, command)
    }

    /// Starts a daemon that serves all peers; its log is the file `log`.
    pub fn serving(options: &[&str], variables: &[(&str, &Path)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(&folder, options);
        command
            .envs(variables.iter().copied())
            .stderr(File::create(folder.path().join("log")).unwrap());
        Self::begin(folder, command)
    }

    fn begin(folder: TempDir, mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut byte = [0];
        child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
        Self { folder, child }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn client(&self) -> Client {
        Client::greet(UnixStream::connect(self.path("ctl.sock")).unwrap())
    }

    pub fn app(&self) -> App {
        App::start(self, None)
    }

    pub fn launched_app(&self, launch: [u8; 16]) -> App {
        App::start(self, Some(launch))
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Limits the length of the daemon's files from now on.
    pub fn limit_files(&self, bytes: u64) {
        let limit = Rlimit { current: Some(bytes), maximum: None };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Fsize, limit).unwrap();
    }

    /// Forbids the daemon descriptors above the last one that it has from now on.
    pub fn limit_descriptors(&self) {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
        let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u64>().ok();
        let last = open.flatten().filter_map(number).max().unwrap();
        let limit = Rlimit { current: Some(last + 1), ..getrlimit(Resource::Nofile) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
    }

    pub fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Starts a second daemon on the same sockets. Returns its message, once it has given up.
    pub fn rival(&self) -> String {
        let output = command(&self.folder, &[]).stderr(Stdio::piped()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn open_descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Returns the number of resident bytes.
    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub fn threads(&self) -> usize {
        let tasks = format!("/proc/{}/task", self.child.id());
        std::fs::read_dir(tasks).unwrap().count()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gapiid"));
    command
        // The machine's own configuration must not affect the test.
        .args(["--config", "/dev/null"])
        .args(["--ready-fd", "1", "--slots", "8", "--socket-dir"])
        .arg(folder.path())
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A fake application, which is killed on drop.
pub struct App {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl App {
    fn start(daemon: &Daemon, launch: Option<[u8; 16]>) -> Self {
        // The example is in the same folder as the daemon's binary.
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_gapiid"));
        let mut command = Command::new(binary.with_file_name("examples").join("fake-app"));
        if let Some(launch) = launch {
            command.env("GAPII_LAUNCH", String::from_utf8(launch_to_hex(&launch).into()).unwrap());
        }
        let mut child = command
            .env("GAPII_SOCKET", daemon.path("app.sock"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut app = Self { child, orders, answers };
        assert!(app.answered(), "the application is not connected");
        app
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives orders, and waits until they are carried out.
    pub fn obey(&mut self, orders: &[&str]) {
        for order in orders {
            self.tell(order);
            assert!(self.answered(), "{order} failed");
        }
    }

    /// Gives an order that has no answer.
    pub fn tell(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    pub fn answered(&mut self) -> bool {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line == "done\n"
    }

    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that has sent its hello.
pub struct Client {
    pub socket: UnixStream,
}

impl Client {
    pub fn greet(socket: UnixStream) -> Self {
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let mut client = Self { socket };
        client.send(&Request::Hello(ClientHello::new("test")));
        assert!(matches!(client.receive(), Event::Hello(_)));
        client
    }

    /// Says hello. Returns `None` if the daemon has too many clients, or has closed the connection for others.
    pub fn try_greet(socket: UnixStream) -> Option<Self> {
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let mut client = Self { socket };
        let hello = Request::Hello(ClientHello::new("test"));
        gapii_control::write_message(&mut client.socket, &hello).ok()?;
        match gapii_control::read_message(&mut client.socket).ok()?? {
            Event::Hello(_) => Some(client),
            Event::Error(error) if error.code == code::TOO_MANY => None,
            other => panic!("not a hello: {other:?}"),
        }
    }

    pub fn send(&mut self, request: &Request) {
        gapii_control::write_message(&mut self.socket, request).unwrap();
    }

    pub fn receive(&mut self) -> Event {
        gapii_control::read_message(&mut self.socket).unwrap().expect("the daemon is there")
    }

    pub fn ask(&mut self, request: &Request) -> Event {
        self.send(request);
        self.receive()
    }

    /// Starts a capture, or returns the error.
    pub fn try_start(&mut self, request: StartRequest, output: impl AsFd) -> Event {
        self.send_with(&Request::Start(request), output);
        self.receive()
    }

    /// Sends a request and the descriptor that it writes to.
    pub fn send_with(&mut self, request: &Request, output: impl AsFd) {
        let frame = gapii_control::encode(request).unwrap();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds = [output.as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
        let bytes = [IoSlice::new(&frame)];
        let sent = sendmsg(&self.socket, &bytes, &mut control, SendFlags::NOSIGNAL).unwrap();
        self.socket.write_all(&frame[sent..]).unwrap();
    }

    pub fn start(&mut self, request: StartRequest, output: impl AsFd) -> Started {
        match self.try_start(request, output) {
            Event::Started(started) => started,
            other => panic!("not started: {other:?}"),
        }
    }

    /// Stops a capture that may end by itself, and waits for its end.
    pub fn stop(&mut self, target: Target) -> Ended {
        self.send(&Request::Stop(StopRequest { target, ..StopRequest::default() }));
        loop {
            match self.receive() {
                Event::Ended(ended) => return ended,
                Event::Progress(_) | Event::Stopped(_) => {}
                // It had ended when the daemon read the request.
                Event::Error(error) if error.code == code::NO_CAPTURE => {}
                other => panic!("not an end: {other:?}"),
            }
        }
    }

    /// Waits for the capture's end, and skips progress events.
    pub fn ended(&mut self) -> Ended {
        let deadline = Instant::now() + LIMIT;
        loop {
            assert!(Instant::now() < deadline, "waited in vain for a capture to end");
            match self.receive() {
                Event::Ended(ended) => return ended,
                Event::Progress(_) | Event::Stopped(_) => {}
                other => panic!("not an end: {other:?}"),
            }
        }
    }
}

/// Returns a request for a capture of `target` without options.
pub fn capture_of(target: Target) -> StartRequest {
    StartRequest { target, ..StartRequest::default() }
}

/// Opens a trace, which must be sound.
pub fn sound(file: &File) -> TraceReader<BufReader<File>> {
    let mut reader = TraceReader::open(BufReader::new(file.try_clone().unwrap())).unwrap();
    let verification = verify(&mut reader).unwrap();
    assert!(verification.ok, "{:#?}", verification.problems);
    reader
}

pub fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

fn wait(child: &mut Child) -> ExitStatus {
    until("a process to end", || child.try_wait().unwrap())
}
