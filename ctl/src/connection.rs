//! `Connection`: a client's connection to the daemon, over a Unix socket or over a link. Trusts only a local daemon of
//! the same user or of root, because requests carry file descriptors. An answer must come within `ANSWER_DEADLINE`, 5 s
//! (plus a link's grace), that of a save within 600 s. A daemon without a feature is named too old. Socket:
//! `--connect`, else `gapii/ctl.sock` in `$XDG_RUNTIME_DIR`, else in `/run`; if nobody listens there, that of the user's only
//! `gapii-ctl run`. Does not interpret requests.
//!
//! A remote daemon must have authenticated itself.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gapii_control::{
    ClientHello, ControlError, Event, ExitedRequest, FILTER_VERSION, FRAME_RULE_VERSION,
    FrameBuffer, KEEPING_VERSION, LINK_VERSION, RUNNING_LAUNCH_VERSION, Request, SHARING_VERSION,
    SaveRequest, ServerHello, StartRequest, TRIGGER_VERSION, TakeUpRequest, code,
};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::args::{Address, Connect};
use crate::failure::Failure;
use crate::run_daemons;
use crate::text;
use crate::via::{Link, Via};

/// Time limit for an answer. The daemon answers from memory.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);
/// Time limit for saving kept frames, also to a slow disk.
const SAVE_DEADLINE: Duration = Duration::from_secs(600);

pub struct Connection {
    /// Declared before the link, so that it is dropped first; the link ends with it.
    stream: UnixStream,
    /// The link, if the daemon is remote.
    link: Option<Link>,
    /// The daemon's address for messages.
    path: PathBuf,
    patience: Duration,
    received: FrameBuffer,
    pub server: ServerHello,
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// No daemon listens at the address.
    Absent(Failure),
    /// A daemon listens, but cannot or may not be used.
    Unusable(Failure),
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        match error {
            ConnectError::Absent(failure) | ConnectError::Unusable(failure) => failure,
        }
    }
}

impl Connection {
    /// Connects to the daemon that the flags select.
    pub fn open(connect: &Connect) -> Result<Connection, Failure> {
        match &connect.via {
            Some(via) => Connection::over(via, connect.credentials.as_deref()),
            None => Connection::here(connect),
        }
    }

    /// Connects to the daemon of this machine that the flags select: the named one, otherwise the one on the user's usual
    /// socket, otherwise that of the user's only `gapii-ctl run`, which is said.
    pub fn here(connect: &Connect) -> Result<Connection, Failure> {
        let absent = match Connection::to_path(&socket_path(connect)) {
            Err(ConnectError::Absent(absent)) if connect.connect.is_none() => absent,
            other => return Ok(other?),
        };
        match &run_daemons::listening()[..] {
            [] => Err(absent),
            [only] => match Connection::to_path(&only.socket) {
                Ok(connection) => {
                    text::say(&format!("using {}, {}", only.description(), only.address()));
                    Ok(connection)
                }
                // It has ended in this moment.
                Err(ConnectError::Absent(_)) => Err(absent),
                Err(ConnectError::Unusable(failure)) => Err(failure),
            },
            several => {
                let arguments = std::env::args_os().skip(1);
                let arguments = arguments.map(|word| word.to_string_lossy().into_owned());
                Err(run_daemons::several(several, &arguments.collect::<Vec<_>>()))
            }
        }
    }

    /// Connects to a daemon on another machine.
    fn over(via: &Via, credentials: Option<&Path>) -> Result<Connection, Failure> {
        let (stream, link) = Link::open(via, credentials)?;
        Connection::greet(stream, Some(link), Path::new(&via.to_string()))
    }

    /// Connects to the daemon that listens on `path`.
    pub fn to_path(path: &Path) -> Result<Connection, ConnectError> {
        let stream = UnixStream::connect(path).map_err(|error| connect_error(path, &error))?;
        Connection::greet(stream, None, path).map_err(ConnectError::Unusable)
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, request: &Request) -> Result<Event, Failure> {
        let sent = self.send(request);
        // The daemon may have sent a refusal before it closed the connection.
        self.answer().or_else(|failure| sent.and(Err(failure)))
    }

    /// Sends a request without waiting for an answer.
    pub fn send(&mut self, request: &Request) -> Result<(), Failure> {
        let frame = self.frame(request)?;
        self.stream.write_all(&frame).map_err(|error| self.broken(&error))
    }

    /// Requests a capture into `output` and waits until it is set up.
    pub fn start(
        &mut self,
        request: StartRequest,
        output: BorrowedFd<'_>,
    ) -> Result<gapii_control::Started, Failure> {
        if !request.filter.is_empty() {
            self.must_speak(FILTER_VERSION, "does not support --thread, --api and --function")?;
        }
        if !request.frame_rule.is_empty() {
            self.must_speak(FRAME_RULE_VERSION, "does not support --frame-end")?;
        }
        if request.when.is_some() {
            self.must_speak(TRIGGER_VERSION, "does not support --when")?;
        }
        let frame = self.frame(&Request::Start(request))?;
        let sent = self.send_with(&frame, output).map_err(|error| self.broken(&error))?;
        self.stream.write_all(&frame[sent..]).map_err(|error| self.broken(&error))?;
        match self.answer()? {
            Event::Started(started) => Ok(started),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Requests the continuation of a capture in `output` and waits for the answer.
    pub fn take_up(
        &mut self,
        request: TakeUpRequest,
        output: BorrowedFd<'_>,
    ) -> Result<Result<gapii_control::Started, ControlError>, Failure> {
        let frame = self.frame(&Request::TakeUp(request))?;
        let sent = self.send_with(&frame, output).map_err(|error| self.broken(&error))?;
        self.stream.write_all(&frame[sent..]).map_err(|error| self.broken(&error))?;
        match self.answer()? {
            Event::Started(started) => Ok(Ok(started)),
            Event::Error(error) => Ok(Err(error)),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Whether the daemon is remote.
    pub fn is_of_another_machine(&self) -> bool {
        self.link.is_some()
    }

    /// Returns the daemon's address for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reports how an application whose frames are kept ended, and waits until the daemon has processed the report.
    /// Later requests for the kept frames then get this information, too.
    pub fn tell_exit(
        &mut self,
        exited: ExitedRequest,
        held: impl FnMut(&gapii_control::Held),
    ) -> Result<(), Failure> {
        self.send(&Request::Exited(exited))?;
        // The daemon processes requests in order, so an answer to this one shows that the report was processed.
        self.send(&Request::Apps)?;
        match self.answer_past_holds(held)? {
            Event::Apps(_) => Ok(()),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Requests that an application's kept frames are written into `output`, and waits `SAVE_DEADLINE` for the answer.
    pub fn save(
        &mut self,
        request: SaveRequest,
        output: BorrowedFd<'_>,
        held: impl FnMut(&gapii_control::Held),
    ) -> Result<gapii_control::Saved, Failure> {
        self.must_keep()?;
        self.stream.set_read_timeout(Some(SAVE_DEADLINE)).map_err(|error| self.broken(&error))?;
        let frame = self.frame(&Request::Save(request))?;
        let sent = self.send_with(&frame, output).map_err(|error| self.broken(&error))?;
        self.stream.write_all(&frame[sent..]).map_err(|error| self.broken(&error))?;
        match self.answer_past_holds(held)? {
            Event::Saved(saved) => Ok(saved),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Fails if the daemon is too old to keep frames.
    pub fn must_keep(&self) -> Result<(), Failure> {
        self.must_speak(KEEPING_VERSION, "keeps nothing")
    }

    /// Fails if the daemon is too old for several, named captures of a program.
    pub fn must_share(&self) -> Result<(), Failure> {
        self.must_speak(SHARING_VERSION, "does not support names, pauses and limits of bytes")
    }

    /// Fails if the daemon is too old to begin a capture of a launch whose programs run already.
    pub fn must_know_running_launches(&self) -> Result<(), Failure> {
        self.must_speak(RUNNING_LAUNCH_VERSION, "does not support --measure")
    }

    /// Fails with the name of the missing feature if the daemon does not support protocol `version`.
    fn must_speak(&self, version: u16, lack: &str) -> Result<(), Failure> {
        match self.server.version >= version {
            true => Ok(()),
            false => Err(Failure::unreachable(format!(
                "the daemon at {} is older and {lack}; end it, and start this version with `gapiid`",
                self.path.display()
            ))),
        }
    }

    /// Returns the events that have arrived, without waiting; `None` after the connection has ended.
    pub fn arrived(&mut self) -> Result<Option<Vec<Event>>, Failure> {
        let mut open = true;
        let mut bytes = [0u8; 4096];
        loop {
            match rustix::net::recv(&self.stream, &mut bytes, rustix::net::RecvFlags::DONTWAIT) {
                Ok((_, 0)) => {
                    open = false;
                    break;
                }
                Ok((_, received)) => self.received.extend(&bytes[..received]),
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => {
                    open = false;
                    break;
                }
                Err(errno) => return Err(self.broken(&errno.into())),
            }
        }
        let mut events = Vec::new();
        while let Some(event) = self.next_received()? {
            events.push(event);
        }
        match self.link.as_ref().and_then(Link::failure) {
            Some(sentence) if !open && events.is_empty() => Err(Failure::system(sentence)),
            _ => Ok(if open || !events.is_empty() { Some(events) } else { None }),
        }
    }

    /// Additional time that a remote daemon may be silent.
    pub fn grace(&self) -> Duration {
        self.link.as_ref().map_or(Duration::ZERO, Link::grace)
    }

    /// Turns the connection into that of a link, for a remote client.
    pub fn into_link(mut self) -> Result<UnixStream, Failure> {
        self.must_speak(LINK_VERSION, "does not support clients of other machines")?;
        match self.ask(&Request::Link)? {
            Event::Link => {}
            other => return Err(self.out_of_turn(&other)),
        }
        let limits = self.stream.set_read_timeout(None);
        let limits = limits.and_then(|()| self.stream.set_write_timeout(None));
        limits.map_err(|error| self.broken(&error))?;
        Ok(self.stream)
    }

    /// Builds the error for an answer that does not match the request.
    pub fn out_of_turn(&self, event: &Event) -> Failure {
        match event {
            Event::Error(error) => refusal(error),
            _ => Failure::unreachable(format!(
                "the daemon at {} sent an answer that does not match the request; `gapii-ctl doctor` compares the versions",
                self.path.display()
            )),
        }
    }

    /// Builds the error for a connection that the daemon has closed.
    pub fn closed(&self) -> Failure {
        self.broken(&io::ErrorKind::UnexpectedEof.into())
    }

    fn greet(stream: UnixStream, link: Option<Link>, path: &Path) -> Result<Connection, Failure> {
        check_peer(&stream, path)?;
        // A link may be without a connection for a while.
        let patience = ANSWER_DEADLINE + link.as_ref().map_or(Duration::ZERO, Link::grace);
        let deadlines = stream
            .set_read_timeout(Some(patience))
            .and_then(|()| stream.set_write_timeout(Some(patience)));
        let mut connection = Connection {
            stream,
            link,
            patience,
            path: path.to_owned(),
            received: FrameBuffer::default(),
            server: ServerHello::default(),
        };
        deadlines.map_err(|error| connection.broken(&error))?;
        let client = concat!("gapii-ctl ", env!("CARGO_PKG_VERSION"));
        match connection.ask(&Request::Hello(ClientHello::new(client)))? {
            Event::Hello(server) => connection.server = server,
            other => return Err(connection.out_of_turn(&other)),
        }
        Ok(connection)
    }

    fn frame(&self, request: &Request) -> Result<Vec<u8>, Failure> {
        gapii_control::encode(request).map_err(|error| Failure::system(error.to_string()))
    }

    /// Sends a prefix of `frame` with a descriptor attached; returns the prefix's length.
    fn send_with(&self, frame: &[u8], descriptor: BorrowedFd<'_>) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors = [descriptor];
        if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("no room for a descriptor"));
        }
        let parts = [IoSlice::new(frame)];
        Ok(rustix::net::sendmsg(&self.stream, &parts, &mut control, SendFlags::NOSIGNAL)?)
    }

    fn answer(&mut self) -> Result<Event, Failure> {
        let mut bytes = [0u8; 4096];
        loop {
            if let Some(event) = self.next_received()? {
                return Ok(event);
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(self.closed()),
                Ok(received) => self.received.extend(&bytes[..received]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// Waits for the next answer. Hold events, which can arrive at any time before it, go to `held`.
    fn answer_past_holds(
        &mut self,
        mut held: impl FnMut(&gapii_control::Held),
    ) -> Result<Event, Failure> {
        loop {
            match self.answer()? {
                Event::Held(on_its_way) => held(&on_its_way),
                other => return Ok(other),
            }
        }
    }

    fn next_received(&mut self) -> Result<Option<Event>, Failure> {
        let body = self.received.next_body().map_err(|error| self.foreign(&error))?;
        body.map(|body| gapii_control::decode(&body).map_err(|error| self.foreign(&error)))
            .transpose()
    }

    fn foreign(&self, error: &gapii_control::FrameError) -> Failure {
        Failure::unreachable(format!(
            "the process that listens on {} is not a gapii daemon of this version: {error}; name another one with `--connect ADDRESS`",
            self.path.display()
        ))
    }

    fn broken(&self, error: &io::Error) -> Failure {
        if let Some(sentence) = self.link.as_ref().and_then(Link::failure) {
            return Failure::system(sentence);
        }
        let path = self.path.display();
        Failure::unreachable(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!(
                    "the process that listens on {path} has not answered for {} s; `gapii-ctl doctor` looks for the reason",
                    self.patience.as_secs()
                )
            }
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => {
                format!(
                    "the process that listens on {path} closed the connection; `gapii-ctl doctor` looks for the reason"
                )
            }
            _ => format!(
                "the connection to {path} broke: {error}; `gapii-ctl doctor` looks for the reason"
            ),
        })
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Returns the socket that the flags select, or the user's own.
pub fn socket_path(connect: &Connect) -> PathBuf {
    match &connect.connect {
        Some(Address::Unix(path)) => path.clone(),
        None => socket_folder().join(gapii_control::SOCKET_NAME),
    }
}

/// Returns the folder of the sockets of the user's own daemon.
pub fn socket_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if !folder.is_empty() => Path::new(&folder).join("gapii"),
        _ => PathBuf::from("/run/gapii"),
    }
}

/// Returns a command after which this user's own daemon is found, for a user whose environment names the folder of
/// another user.
pub fn own_folder_command() -> String {
    let user = rustix::process::geteuid();
    let own = format!("/run/user/{}", user.as_raw());
    if user.is_root() {
        // Root's folder is /run/gapii.
        "unset XDG_RUNTIME_DIR".to_owned()
    } else if Path::new(&own).is_dir() {
        format!("export XDG_RUNTIME_DIR={own}")
    } else {
        "export XDG_RUNTIME_DIR=$(mktemp -d)".to_owned()
    }
}

/// Builds the message and exit status for a refused request. An older daemon suggests nothing, and the client of another
/// user alone knows where its own daemon would be.
fn refusal(error: &ControlError) -> Failure {
    let suggestion = match error.code.as_str() {
        _ if !error.suggestion.is_empty() => error.suggestion.to_string(),
        code::NOT_ALLOWED => format!("your own daemon is found after `{}`", own_folder_command()),
        _ => "`gapii-ctl status` shows what the daemon serves".to_owned(),
    };
    let sentence = format!("{}; {suggestion}", error.message);
    match error.code.as_str() {
        code::AMBIGUOUS | code::BAD_REQUEST => Failure::usage(sentence),
        code::NO_CAPTURE => Failure::no(sentence),
        _ => Failure::unreachable(sentence),
    }
}

/// Returns the command that starts a daemon whose socket for clients is `path`; `None` if no daemon names its socket so.
pub fn starting_command(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    if folder == socket_folder() {
        return Some("gapiid".to_owned());
    }
    let has_name = path.file_name().is_some_and(|name| name == gapii_control::SOCKET_NAME);
    has_name.then(|| format!("gapiid --socket-dir {}", folder.display()))
}

/// Returns what to do where no daemon listens.
fn absent(path: &Path) -> String {
    let name = path.display();
    let own = socket_folder().join(gapii_control::SOCKET_NAME);
    match starting_command(path) {
        Some(command) if path == own => format!(
            "no daemon listens on {name}; start one with `{command}`, or use `gapii-ctl run`, which brings its own"
        ),
        Some(command) => format!(
            "no daemon listens on {name}; start one there with `{command}`, or leave out --connect for the one on {}",
            own.display()
        ),
        None => format!(
            "no daemon listens on {name}; a daemon's socket is named {}, and the usual one is `--connect unix:{}`",
            gapii_control::SOCKET_NAME,
            own.display()
        ),
    }
}

fn connect_error(path: &Path, error: &io::Error) -> ConnectError {
    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
        return ConnectError::Absent(Failure::unreachable(absent(path)));
    }
    let path = path.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => ConnectError::Unusable(Failure::unreachable(format!(
            "not allowed to use {path}: it is for the daemon of another user; your own is found after `{}`, or with \
             `--connect ADDRESS`",
            own_folder_command()
        ))),
        _ => ConnectError::Unusable(Failure::unreachable(format!(
            "can't use {path}: {error}; name another daemon with `--connect ADDRESS`"
        ))),
    }
}

/// Checks the daemon's user: the daemon gets the output file and chooses the library that is loaded, so it must be
/// the same user or root.
fn check_peer(stream: &UnixStream, path: &Path) -> Result<(), Failure> {
    let peer = rustix::net::sockopt::socket_peercred(stream).map_err(|errno| {
        Failure::system(format!(
            "can't get the user of the process that listens on {}: {errno}",
            path.display()
        ))
    })?;
    let ours = rustix::process::geteuid();
    if peer.uid == ours || peer.uid.is_root() {
        return Ok(());
    }
    Err(Failure::unreachable(format!(
        "the process that listens on {} runs as user {}; only a daemon of user {} or of root is trusted; it is found \
         after `{}`, or with `--connect ADDRESS`",
        path.display(),
        peer.uid.as_raw(),
        ours.as_raw(),
        own_folder_command()
    )))
}
