//! A link: the conversation with a remote client, across its connections. Passes requests to `client`, and events and
//! pieces of the output back. Holds up to `--remote-tail` bytes (16 MiB by default) that are not acknowledged; then the
//! pipe fills, and the capture sees a slow output (`--if-slow`). Without a connection the link waits `--remote-grace`
//! (30 s) and then ends like a client that leaves. One output at a time; another one is refused as busy. When the
//! daemon is done, the client has 3 s to receive the rest.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use gapii_control::{ControlError, Event, FrameBuffer, PREFIX_LEN, code};
use gapii_remote::frame::{Frame, Kind};
use gapii_remote::knock::Welcome;
use gapii_remote::line::Line;
use gapii_remote::secret::Secret;
use gapii_remote::wire::{Lost, Wire, next_of};
use gapii_remote::{AnyStream, rights};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::counters::{Refusal, count};
use super::links::Arrival;
use super::output::Output;
use crate::ending::told;
use crate::session::Session;

/// Time for a client to receive the rest when the daemon's side is done.
const LAST_LIMIT: Duration = Duration::from_secs(3);

/// A link.
pub struct Link {
    id: u64,
    session: Arc<Session>,
    secret: Secret,
    line: Line,
    wire: Option<Wire<AnyStream>>,
    arrivals: mpsc::Receiver<Arrival>,
    /// The socket whose other end `client` serves.
    control: UnixStream,
    events: FrameBuffer,
    /// A request that `client` has not received completely.
    request: Option<Request>,
    output: Option<Output>,
    /// Events that are sent after the output.
    held_back: VecDeque<Vec<u8>>,
    /// When the link ends, unless something happens before.
    deadline: Option<Instant>,
    /// `client` sends no more events.
    is_done: bool,
}

struct Request {
    bytes: Vec<u8>,
    sent: usize,
    output: Option<OwnedFd>,
}

/// Why a link ends.
#[derive(Debug, thiserror::Error)]
enum Over {
    #[error("the client is done")]
    Bye,
    #[error("the daemon is done")]
    Done,
    #[error("the client has not come back")]
    GivenUp,
    #[error("the client is refused: {0}")]
    Misbehaved(String),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Event that a link waits for.
enum Happened {
    Connection(Arrival),
    Frame(Option<Frame>),
    Lost(Lost),
    Events(usize),
    Sent(usize),
    Piece,
    OutputEnd,
    DaemonEnds,
    Deadline,
}

impl Link {
    /// Makes a link without a connection. `arrivals` receives its connections.
    pub fn new(
        id: u64,
        session: &Arc<Session>,
        secret: Secret,
        control: UnixStream,
        arrivals: mpsc::Receiver<Arrival>,
    ) -> Self {
        Self {
            id,
            session: Arc::clone(session),
            secret,
            line: Line::new(session.links.options.tail_bytes()),
            wire: None,
            arrivals,
            control,
            events: FrameBuffer::default(),
            request: None,
            output: None,
            held_back: VecDeque::new(),
            deadline: Some(Instant::now() + LAST_LIMIT),
            is_done: false,
        }
    }

    /// Runs until the client is done or has not come back in time, or the daemon has ended.
    pub async fn run(mut self, mut ending: watch::Receiver<bool>) {
        let over = loop {
            let held_before = self.line.held_bytes();
            let step = self.step(&mut ending).await;
            self.session.links.counters.held(held_before, self.line.held_bytes());
            if let Err(over) = step {
                break over;
            }
        };
        let (id, counters) = (self.id, &self.session.links.counters);
        match &over {
            Over::GivenUp => count(&counters.given_up),
            Over::Misbehaved(_) => counters.refuse(Refusal::Message),
            _ => {}
        }
        tracing::info!(link = id, "link {id} has ended: {over}");
        counters.held(self.line.held_bytes(), 0);
        if let Some(wire) = self.wire.take() {
            wire.say_bye(&mut self.line).await;
        }
    }

    async fn step(&mut self, ending: &mut watch::Receiver<bool>) -> Result<(), Over> {
        let mut bytes = [0; 4096];
        match self.wait(&mut bytes, ending).await? {
            Happened::Connection(arrival) => self.connect(arrival),
            Happened::Frame(frame) => frame.map_or(Ok(()), |frame| self.take(frame))?,
            Happened::Lost(lost) => self.lose(&lost),
            Happened::Events(0) => self.finish(),
            Happened::Events(count) => {
                self.events.extend(&bytes[..count]);
                self.take_events()?;
            }
            Happened::Sent(count) => self.sent(count),
            Happened::Piece => {}
            Happened::OutputEnd => self.end_output(),
            Happened::DaemonEnds => return Err(Over::Done),
            Happened::Deadline if self.is_done => return Err(Over::Done),
            Happened::Deadline => return Err(Over::GivenUp),
        }
        let is_settled = self.line.is_settled() && self.output.is_none();
        if self.is_done && (is_settled || self.wire.is_none()) {
            return Err(Over::Done);
        }
        Ok(())
    }

    async fn wait(
        &mut self,
        bytes: &mut [u8],
        ending: &mut watch::Receiver<bool>,
    ) -> Result<Happened, Over> {
        let Self { line, wire, control, request, output, arrivals, deadline, is_done, .. } = self;
        let (has_room, is_connected) = (line.has_room(), wire.is_some());
        let mut fds = Vec::new();
        let happened = tokio::select! {
            Some(arrival) = arrivals.recv() => Happened::Connection(arrival),
            frame = next_of(wire, line, request.is_none()) => match frame {
                Ok(frame) => Happened::Frame(frame),
                Err(lost) => Happened::Lost(lost),
            },
            received = rights::receive(control, bytes, &mut fds), if has_room && !*is_done => {
                // A client that leaves without a word is gone.
                Happened::Events(received.unwrap_or(0))
            }
            sent = send_request(control, request) => sent.map_or(Happened::Events(0), Happened::Sent),
            piece = next_piece(output), if has_room => match piece? {
                Some((offset, piece)) => {
                    line.say(Kind::Chunk, offset, piece);
                    Happened::Piece
                }
                None => Happened::OutputEnd,
            },
            () = told(ending), if !is_connected => Happened::DaemonEnds,
            () = passed(*deadline) => Happened::Deadline,
        };
        Ok(happened)
    }

    /// Takes a connection, the first or a later one.
    fn connect(&mut self, Arrival { stream, version, taken }: Arrival) {
        let (id, links) = (self.id, &self.session.links);
        if let Err(error) = self.line.reconnected(taken) {
            links.counters.refuse(Refusal::Resume);
            return tracing::warn!(link = id, "link {id} is not resumed: {error}");
        }
        let welcome = Welcome {
            version,
            link: id,
            secret: self.secret.clone(),
            taken: self.line.taken(),
            grace_ms: u64::from(links.options.remote_grace) * 1000,
        };
        let Ok(frame) = welcome.frame() else { return };
        count(&links.counters.connections);
        if taken > 0 || self.line.taken() > 0 || self.wire.is_some() {
            count(&links.counters.resumed);
            tracing::info!(link = id, "link {id} resumes behind {taken} frames");
        }
        self.wire = Some(Wire::new(stream, frame));
        if !self.is_done {
            self.deadline = None;
        }
    }

    fn lose(&mut self, lost: &Lost) {
        let (id, links) = (self.id, &self.session.links);
        let grace = links.options.remote_grace;
        count(&links.counters.lost);
        tracing::info!(
            link = id,
            "link {id} has lost its connection and waits for at most {grace} s: {lost}"
        );
        self.wire = None;
        self.deadline = Some(Instant::now() + Duration::from_secs(grace.into()));
    }

    /// Takes a frame from the client.
    fn take(&mut self, frame: Frame) -> Result<(), Over> {
        match frame.kind {
            Kind::Request => self.ask(&frame.payload, None),
            Kind::RequestWithOutput if self.output.is_some() => {
                let message = "this connection has an output that is not complete, and can have one at a time";
                let suggestion = "`gapii-ctl list` shows the captures";
                let error = ControlError::new(code::BUSY, message, suggestion);
                self.say(&Event::Error(error));
            }
            Kind::RequestWithOutput => {
                let (output, writer) = Output::new()?;
                self.output = Some(output);
                self.ask(&frame.payload, Some(writer));
            }
            Kind::OutputFailed => {
                let why = String::from_utf8_lossy(&frame.payload);
                let (id, why) = (self.id, why.escape_debug());
                tracing::info!(link = id, "link {id}: the client cannot write its output: {why}");
                // The writer notices that its reader is gone, and the capture ends.
                self.output = None;
                self.release_events();
            }
            Kind::Bye => return Err(Over::Bye),
            kind => {
                return Err(Over::Misbehaved(format!("a client may not send a {kind:?} frame")));
            }
        }
        self.line.dealt_with();
        Ok(())
    }

    fn ask(&mut self, body: &[u8], output: Option<OwnedFd>) {
        let mut bytes = Vec::with_capacity(PREFIX_LEN + body.len());
        // No payload is longer than the limit of messages.
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(body);
        self.request = Some(Request { bytes, sent: 0, output });
    }

    fn sent(&mut self, count: usize) {
        let Some(request) = &mut self.request else { return };
        request.output = None;
        request.sent += count;
        if request.sent == request.bytes.len() {
            self.request = None;
        }
    }

    fn take_events(&mut self) -> Result<(), Over> {
        let broken = |error: gapii_control::FrameError| Over::Io(io::Error::other(error));
        while let Some(body) = self.events.next_body().map_err(broken)? {
            let ends_output = matches!(
                gapii_control::decode::<Event>(&body).map_err(broken)?,
                Event::Ended(_) | Event::Saved(_)
            );
            // The output comes before the event that reports its end.
            if self.output.is_some() && ends_output {
                self.held_back.push_back(body);
            } else {
                self.line.say(Kind::Event, 0, &body);
            }
        }
        Ok(())
    }

    fn end_output(&mut self) {
        let Some(output) = self.output.take() else { return };
        let (len, hash) = output.sum();
        let id = self.id;
        tracing::info!(link = id, "link {id}: an output of {len} bytes is complete, BLAKE3 {hash}");
        self.session.links.counters.output(len);
        self.line.say(Kind::OutputEnd, len, hash.as_bytes());
        self.release_events();
    }

    fn release_events(&mut self) {
        for body in self.held_back.drain(..) {
            self.line.say(Kind::Event, 0, &body);
        }
    }

    /// Notes that `client` is done: the daemon ends, or has refused the client.
    fn finish(&mut self) {
        self.request = None;
        if !self.is_done {
            self.is_done = true;
            self.deadline = Some(Instant::now() + LAST_LIMIT);
        }
    }

    fn say(&mut self, event: &Event) {
        if let Ok(frame) = gapii_control::encode(event) {
            self.line.say(Kind::Event, 0, &frame[PREFIX_LEN..]);
        }
    }
}

async fn send_request(control: &UnixStream, request: &Option<Request>) -> io::Result<usize> {
    let Some(Request { bytes, sent, output }) = request else {
        return std::future::pending().await;
    };
    let fds: Vec<_> = output.iter().map(AsFd::as_fd).collect();
    rights::send_part(control, &bytes[*sent..], &fds).await
}

async fn next_piece(output: &mut Option<Output>) -> io::Result<Option<(u64, &[u8])>> {
    match output {
        Some(output) => output.next().await,
        None => std::future::pending().await,
    }
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
