//! `Connection`: a client's conversation with the daemon over its Unix socket, or over a link.
//!
//! Speaks only to a daemon of the same user or of root, since requests carry descriptors, or to one of
//! another machine that has proved who it is. Decides
//! nothing about what is asked.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gapii_protocol::control::{
    self, ClientHello, ControlError, Event, ExitedRequest, FILTER_VERSION, FrameBuffer,
    KEEPING_VERSION, LINK_VERSION, Request, SHARING_VERSION, SaveRequest, ServerHello,
    StartRequest, TRIGGER_VERSION, TakeUpRequest, code,
};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::args::{Address, Connect};
use crate::failure::Failure;
use crate::via::{Link, Via};

/// How long an answer may take. The daemon answers from memory.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);
/// How long it may take to write what is kept, to a slow disk too.
const SAVE_DEADLINE: Duration = Duration::from_secs(600);

pub struct Connection {
    /// Goes before the link, which ends with it.
    stream: UnixStream,
    /// To a daemon of another machine.
    link: Option<Link>,
    /// Where the daemon is, for people.
    path: PathBuf,
    patience: Duration,
    received: FrameBuffer,
    pub server: ServerHello,
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody listens there.
    Absent(Failure),
    /// Somebody does, but not one we can or may talk to.
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
    /// Connects to the daemon that the flags name.
    pub fn open(connect: &Connect) -> Result<Connection, Failure> {
        match &connect.via {
            Some(via) => Connection::over(via, connect.credentials.as_deref()),
            None => Ok(Connection::to_path(&socket_path(connect))?),
        }
    }

    /// Connects to a daemon of another machine.
    fn over(via: &Via, credentials: Option<&Path>) -> Result<Connection, Failure> {
        let (stream, link) = Link::open(via, credentials)?;
        Connection::greet(stream, Some(link), Path::new(&via.to_string()))
    }

    /// Connects to the daemon that listens on `path`.
    pub fn to_path(path: &Path) -> Result<Connection, ConnectError> {
        let stream = UnixStream::connect(path).map_err(|error| connect_error(path, &error))?;
        Connection::greet(stream, None, path).map_err(ConnectError::Unusable)
    }

    /// One request, one answer.
    pub fn ask(&mut self, request: &Request) -> Result<Event, Failure> {
        let sent = self.send(request);
        // A refusal may stand before the end that sending has met.
        self.answer().or_else(|failure| sent.and(Err(failure)))
    }

    /// Sends a request that is not answered, or whose answer is read later.
    pub fn send(&mut self, request: &Request) -> Result<(), Failure> {
        let frame = self.frame(request)?;
        self.stream.write_all(&frame).map_err(|error| self.broken(&error))
    }

    /// Asks for a capture into `output` and waits until it is set up.
    pub fn start(
        &mut self,
        request: StartRequest,
        output: BorrowedFd<'_>,
    ) -> Result<control::Started, Failure> {
        if !request.filter.is_empty() {
            self.must_speak(FILTER_VERSION, "knows no --thread, --api and --function")?;
        }
        if request.when.is_some() {
            self.must_speak(TRIGGER_VERSION, "knows no --when")?;
        }
        let frame = self.frame(&Request::Start(request))?;
        let sent = self.send_with(&frame, output).map_err(|error| self.broken(&error))?;
        self.stream.write_all(&frame[sent..]).map_err(|error| self.broken(&error))?;
        match self.answer()? {
            Event::Started(started) => Ok(started),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Asks for a capture to go on in `output`, and waits for the answer.
    pub fn take_up(
        &mut self,
        request: TakeUpRequest,
        output: BorrowedFd<'_>,
    ) -> Result<Result<control::Started, ControlError>, Failure> {
        let frame = self.frame(&Request::TakeUp(request))?;
        let sent = self.send_with(&frame, output).map_err(|error| self.broken(&error))?;
        self.stream.write_all(&frame[sent..]).map_err(|error| self.broken(&error))?;
        match self.answer()? {
            Event::Started(started) => Ok(Ok(started)),
            Event::Error(error) => Ok(Err(error)),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Whether a link leads to it.
    pub fn is_of_another_machine(&self) -> bool {
        self.link.is_some()
    }

    /// Where the daemon listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells how an application ended that is kept, and waits until that is known: whoever asks for what was kept
    /// from then on is told it, too.
    pub fn tell_exit(
        &mut self,
        exited: ExitedRequest,
        held: impl FnMut(&control::Held),
    ) -> Result<(), Failure> {
        self.send(&Request::Exited(exited))?;
        // Requests are dealt with in their order.
        self.send(&Request::Apps)?;
        match self.answer_past_holds(held)? {
            Event::Apps(_) => Ok(()),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Has what is kept of an application written into `output`, however long that takes.
    pub fn save(
        &mut self,
        request: SaveRequest,
        output: BorrowedFd<'_>,
        held: impl FnMut(&control::Held),
    ) -> Result<control::Saved, Failure> {
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

    /// Refuses a daemon that does not know how to keep anything.
    pub fn must_keep(&self) -> Result<(), Failure> {
        self.must_speak(KEEPING_VERSION, "keeps nothing")
    }

    /// Refuses a daemon that has one capture of each program, without a name.
    pub fn must_share(&self) -> Result<(), Failure> {
        self.must_speak(SHARING_VERSION, "knows no names, pauses and limits of bytes")
    }

    /// Refuses a daemon that does not speak this version, and says what it lacks.
    fn must_speak(&self, version: u16, lack: &str) -> Result<(), Failure> {
        match self.server.version >= version {
            true => Ok(()),
            false => Err(Failure::unreachable(format!(
                "the daemon at {} is older and {lack}; end it, and start the gapiid of this version",
                self.path.display()
            ))),
        }
    }

    /// Every event that has arrived, without waiting; None at the end of the conversation.
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
            Some(sentence) if !open && events.is_empty() => Err(Failure::unreachable(sentence)),
            _ => Ok(if open || !events.is_empty() { Some(events) } else { None }),
        }
    }

    /// How long a daemon that works may say nothing, beyond what one of this machine may.
    pub fn grace(&self) -> Duration {
        self.link.as_ref().map_or(Duration::ZERO, Link::grace)
    }

    /// Makes it a connection of a link, for a client of another machine.
    pub fn into_link(mut self) -> Result<UnixStream, Failure> {
        self.must_speak(LINK_VERSION, "knows no clients of other machines")?;
        match self.ask(&Request::Link)? {
            Event::Link => {}
            other => return Err(self.out_of_turn(&other)),
        }
        let limits = self.stream.set_read_timeout(None);
        let limits = limits.and_then(|()| self.stream.set_write_timeout(None));
        limits.map_err(|error| self.broken(&error))?;
        Ok(self.stream)
    }

    /// The sentence for an answer that does not fit the question.
    pub fn out_of_turn(&self, event: &Event) -> Failure {
        match event {
            Event::Error(error) => refusal(error),
            _ => Failure::unreachable(format!(
                "the daemon at {} answered something that was not asked",
                self.path.display()
            )),
        }
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
        control::encode(request).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Sends the beginning of `frame` with a descriptor attached; the length sent.
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
                Ok(0) => return Err(self.broken(&io::ErrorKind::UnexpectedEof.into())),
                Ok(received) => self.received.extend(&bytes[..received]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// The next answer; holds that are told of before it, which may be on their way at any time, go to `held`.
    fn answer_past_holds(
        &mut self,
        mut held: impl FnMut(&control::Held),
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
        body.map(|body| control::decode(&body).map_err(|error| self.foreign(&error))).transpose()
    }

    fn foreign(&self, error: &control::FrameError) -> Failure {
        Failure::unreachable(format!(
            "what listens on {} is not a gapii daemon of this version: {error}",
            self.path.display()
        ))
    }

    fn broken(&self, error: &io::Error) -> Failure {
        if let Some(sentence) = self.link.as_ref().and_then(Link::failure) {
            return Failure::unreachable(sentence);
        }
        let path = self.path.display();
        Failure::unreachable(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("what listens on {path} has not answered for {} s", self.patience.as_secs())
            }
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => {
                format!("what listens on {path} closed the connection")
            }
            _ => format!("the connection to {path} broke: {error}"),
        })
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The socket that the flags name, or the user's own.
pub fn socket_path(connect: &Connect) -> PathBuf {
    match &connect.connect {
        Some(Address::Unix(path)) => path.clone(),
        None => socket_folder().join(control::SOCKET_NAME),
    }
}

/// Where the user's own daemon keeps its sockets.
pub fn socket_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if !folder.is_empty() => Path::new(&folder).join("gapii"),
        _ => PathBuf::from("/run/gapii"),
    }
}

/// The sentence and status for a refused request.
fn refusal(error: &ControlError) -> Failure {
    let sentence = error.message.clone();
    match error.code.as_str() {
        code::AMBIGUOUS | code::BAD_REQUEST => Failure::usage(sentence),
        code::NO_CAPTURE => Failure::no(sentence),
        _ => Failure::unreachable(sentence),
    }
}

fn connect_error(path: &Path, error: &io::Error) -> ConnectError {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ConnectError::Absent(Failure::unreachable(format!(
                "no daemon listens on {path}; start one with `gapiid`, \
                 or use `gapii-ctl run`, which brings its own"
            )))
        }
        io::ErrorKind::PermissionDenied => ConnectError::Unusable(Failure::unreachable(format!(
            "not allowed to use {path}; it belongs to another user's daemon"
        ))),
        _ => ConnectError::Unusable(Failure::unreachable(format!("can't use {path}: {error}"))),
    }
}

/// A daemon gets our output file and decides what we load, so it must be ours or root's.
fn check_peer(stream: &UnixStream, path: &Path) -> Result<(), Failure> {
    let peer = rustix::net::sockopt::socket_peercred(stream).map_err(|errno| {
        Failure::unreachable(format!("can't tell who listens on {}: {errno}", path.display()))
    })?;
    let ours = rustix::process::geteuid();
    if peer.uid == ours || peer.uid.is_root() {
        return Ok(());
    }
    Err(Failure::unreachable(format!(
        "what listens on {} runs as user {}, and only user {}'s own daemon or root's is trusted",
        path.display(),
        peer.uid.as_raw(),
        ours.as_raw()
    )))
}
