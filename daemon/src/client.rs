//! One client's connection: requests arrive, events are sent, and captures run in between. Progress events go out every
//! 250 ms. Without a hello within `HELLO_LIMIT`, 2 s, the connection ends. A message that cannot be decoded is answered
//! with an error and counted; as a first message it ends the connection. A message longer than 1 MiB, or more than 4
//! unused descriptors, ends the connection. A client has at most 1 take-up in progress; [`crate::saving`] limits its
//! saves. When a client is gone, its captures stop, and they and its saves do not wait for a slow reader of the output.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gapii_control::{
    AppInfo, CTL_VERSION_MAX, CTL_VERSION_MIN, ClientHello, ControlError, Ended, Event,
    FrameBuffer, FrameError, Held, Request, SaveRequest, ServerHello, StartRequest, Started,
    StopRequest, Stopped, TakeUpRequest, code, common_version,
};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::descriptors;
use crate::door::Guest;
use crate::ending::told;
use crate::peer::{Peer, PeerError};
use crate::saving::ClientSaves;
use crate::session::Session;
use gapii_capture::capture::Capture;
use gapii_remote::rights;

/// Interval of progress events: 250 ms.
const PROGRESS_PERIOD: Duration = Duration::from_millis(250);

/// Time that a client has to send its hello.
const HELLO_LIMIT: Duration = Duration::from_secs(2);

/// Time for which a message may wait for a client that reads nothing, once the daemon ends.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);

/// Largest number of descriptors that a client may have sent without a request that uses them.
const FDS_MAX: usize = 4;

/// Largest number of messages about held programs that wait for a client. Further ones are dropped.
const HELD_MAX: usize = 64;

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
enum Hangup {
    #[error("the client is gone: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the client has not said hello within {} s", HELLO_LIMIT.as_secs())]
    Silent,
    #[error("{0}")]
    Refused(ControlError),
    #[error("the client reads no answers")]
    Deaf,
    #[error("the connection becomes a link")]
    Link,
}

/// What to type after an error that no user of `gapii-ctl` can cause.
const LOOK_FOR_THE_REASON: &str = "`gapii-ctl doctor` looks for the reason";

/// What to type after an error of the protocol.
const COMPARE_VERSIONS: &str = "compare `gapii-ctl --version` with `gapiid --version`";

struct Client {
    session: Arc<Session>,
    socket: UnixStream,
    buffer: FrameBuffer,
    /// Descriptors that have arrived and that no request has used yet.
    fds: Vec<OwnedFd>,
    /// Tells that the daemon ends.
    ending: watch::Receiver<bool>,
    /// The connection's place at the door, until the hello.
    guest: Option<Guest>,
    greeted: bool,
    /// Pid of the client, or 0 until it is known.
    pid: u32,
    captures: BTreeMap<u64, Arc<Capture>>,
    ended_in: mpsc::UnboundedReceiver<Ended>,
    ended: mpsc::UnboundedSender<Ended>,
    held_in: mpsc::Receiver<Held>,
    held: mpsc::Sender<Held>,
    /// Answers to saves, which take a while.
    answers_in: mpsc::UnboundedReceiver<Event>,
    answers: mpsc::UnboundedSender<Event>,
    saves: ClientSaves,
    /// Captures that another daemon began, or why they cannot be continued.
    taken_up_in: mpsc::UnboundedReceiver<TakenUp>,
    taken_up: mpsc::UnboundedSender<TakenUp>,
    /// The client has asked to continue a capture and waits for the answer.
    takes_up: bool,
}

type TakenUp = Result<(Arc<Capture>, Vec<AppInfo>), ControlError>;

/// Serves a client until it is gone, or until the daemon ends and its captures are complete.
///
/// Returns the connection if the client has asked to turn it into a link; see [`crate::remote`].
pub async fn serve(
    session: Arc<Session>,
    socket: UnixStream,
    ending: watch::Receiver<bool>,
    guest: Option<Guest>,
) -> Option<UnixStream> {
    let (ended, ended_in) = mpsc::unbounded_channel();
    let (held, held_in) = mpsc::channel(HELD_MAX);
    let (answers, answers_in) = mpsc::unbounded_channel();
    let (taken_up, taken_up_in) = mpsc::unbounded_channel();
    let mut client = Client {
        session,
        socket,
        buffer: FrameBuffer::default(),
        fds: Vec::new(),
        ending,
        guest,
        greeted: false,
        pid: 0,
        captures: BTreeMap::new(),
        ended_in,
        ended,
        held_in,
        held,
        answers_in,
        answers,
        saves: ClientSaves::new(),
        taken_up_in,
        taken_up,
        takes_up: false,
    };
    let ended = client.run().await;
    if client.greeted {
        client.session.dismiss_client();
    }
    match ended {
        Ok(()) => {}
        Err(Hangup::Link) => return Some(client.socket),
        Err(hangup) => client.hang_up(&hangup).await,
    }
    client.taken_up_in.close();
    while let Ok(taken_up) = client.taken_up_in.try_recv() {
        taken_up.iter().for_each(|(capture, _)| capture.abandon());
    }
    client.captures.values().for_each(|capture| capture.abandon());
    None
}

impl Client {
    async fn run(&mut self) -> Result<(), Hangup> {
        let mut ending = self.ending.clone();
        let peer = Peer::of(&self.socket).map_err(|error| {
            let suggestion = match error {
                // The client knows where its own daemon would be.
                PeerError::OtherUser { .. } => "",
                PeerError::NoPid => {
                    "run `gapii-ctl` in the pid namespace of the daemon, or in one above it"
                }
                PeerError::Unknown(_) => LOOK_FOR_THE_REASON,
            };
            Hangup::Refused(ControlError::new(code::NOT_ALLOWED, error.to_string(), suggestion))
        })?;
        self.pid = peer.pid.as_raw_pid().cast_unsigned();
        let mut tick = progress_interval();
        let hello_limit = tokio::time::sleep(HELLO_LIMIT);
        tokio::pin!(hello_limit);
        let mut bytes = [0; 4096];
        loop {
            tokio::select! {
                received = rights::receive(&self.socket, &mut bytes, &mut self.fds) => {
                    match received? {
                        0 => return Ok(()),
                        count => self.take(&bytes[..count]).await?,
                    }
                }
                Some(ended) = self.ended_in.recv() => {
                    self.captures.remove(&ended.capture);
                    self.send(&Event::Ended(ended)).await?;
                }
                Some(held) = self.held_in.recv() => self.send(&Event::Held(held)).await?,
                Some(answer) = self.answers_in.recv() => self.send(&answer).await?,
                Some(taken_up) = self.taken_up_in.recv() => {
                    let event = self.note_taken_up(taken_up);
                    self.send(&event).await?;
                }
                _ = tick.tick(), if !self.captures.is_empty() => self.send_progress().await?,
                () = told(&mut ending) => return self.see_captures_end().await,
                () = &mut hello_limit, if self.guest.is_some() => return Err(Hangup::Silent),
            }
        }
    }

    /// Takes bytes that arrived, and carries out the requests in them.
    async fn take(&mut self, bytes: &[u8]) -> Result<(), Hangup> {
        if self.fds.len() > FDS_MAX {
            let message =
                format!("the client sent {} descriptors without a request", self.fds.len());
            let error = ControlError::new(code::BAD_REQUEST, message, LOOK_FOR_THE_REASON);
            return Err(Hangup::Refused(error));
        }
        self.buffer.extend(bytes);
        while let Some(body) = self.buffer.next_body()? {
            if *self.ending.borrow() {
                // Nothing more is answered; the caller tells how the captures end.
                return Ok(());
            }
            let event = match gapii_control::decode::<Request>(&body) {
                Ok(question @ (Request::Apps | Request::Status)) if self.greeted => {
                    self.report(&question).await?;
                    continue;
                }
                Ok(request) => self.answer(request)?,
                Err(error) => {
                    let message = format!("the daemon cannot read the client's message: {error}");
                    let error = ControlError::new(code::BAD_REQUEST, message, COMPARE_VERSIONS);
                    if !self.greeted {
                        return Err(Hangup::Refused(error));
                    }
                    self.session.reject(|counters| &counters.ctl_messages);
                    Some(Event::Error(error))
                }
            };
            if let Some(event) = event {
                self.send(&event).await?;
                if event == Event::Link {
                    return Err(Hangup::Link);
                }
            }
        }
        if self.buffer.is_empty() {
            // They came with requests that need none.
            self.fds.clear();
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Result<Option<Event>, Hangup> {
        let result = match request {
            Request::Hello(hello) => self.greet(&hello),
            _ if !self.greeted => {
                let message = "the client's first message is a request, and must be its hello";
                let error = ControlError::new(code::OUT_OF_TURN, message, LOOK_FOR_THE_REASON);
                Err(Hangup::Refused(error))?
            }
            // `take` answers them with a report.
            Request::Apps | Request::Status => return Ok(None),
            Request::Start(request) if request.keep.is_some() => self
                .session
                .start_keeping(request, self.held.clone())
                .map(|apps| Event::Started(Started { capture: 0, apps })),
            Request::Start(request) => self.start(request),
            Request::TakeUp(request) => match self.take_up(request) {
                Ok(()) => return Ok(None),
                Err(error) => Err(error),
            },
            Request::Save(request) => match self.save(request) {
                Ok(()) => return Ok(None),
                Err(error) => Err(error),
            },
            Request::Stop(request) => self.session.stop(&request).map(Event::Stopped),
            Request::Pause(request) => self.pause(&request, true),
            Request::Resume(request) => self.pause(&request, false),
            Request::Link if self.captures.is_empty() && self.buffer.is_empty() => Ok(Event::Link),
            Request::Link => {
                let message = "this connection cannot become a link, because it has captures or unread requests";
                Err(ControlError::new(code::OUT_OF_TURN, message, LOOK_FOR_THE_REASON))
            }
            Request::Exited(exited) => {
                if let Some(pid) = exited.pid {
                    self.session.exited(pid, exited.signal);
                }
                if let Some(capture) = self.captures.get(&exited.capture) {
                    capture.exited(exited.pid, exited.signal);
                }
                return Ok(None);
            }
        };
        match result {
            // The request was the hello.
            Err(error) if !self.greeted => Err(Hangup::Refused(error)),
            result => Ok(Some(result.unwrap_or_else(Event::Error))),
        }
    }

    /// Answers a question with the session's next report.
    async fn report(&self, question: &Request) -> Result<(), Hangup> {
        // Relaxed: a number for people.
        self.session.reports.questions.fetch_add(1, Ordering::Relaxed);
        let report = self.session.reports.next().await;
        let message = match question {
            Request::Apps => report.apps(),
            _ => report.status(),
        };
        match message {
            Some(message) => self.send_bytes(&message).await,
            None => {
                let error = ControlError::new(
                    code::INTERNAL,
                    "the answer is longer than a message may be (1 MiB)",
                    "`gapii-ctl status` shows the same, cut to what fits",
                );
                self.send(&Event::Error(error)).await
            }
        }
    }

    fn greet(&mut self, hello: &ClientHello) -> Result<Event, ControlError> {
        if self.greeted {
            return Err(ControlError::new(
                code::OUT_OF_TURN,
                "the client said hello a second time on one connection",
                LOOK_FOR_THE_REASON,
            ));
        }
        let theirs = (hello.version_min, hello.version_max);
        let version = common_version((CTL_VERSION_MIN, CTL_VERSION_MAX), theirs);
        let Some(version) = version else {
            let message = format!(
                "the client speaks versions {} to {} of the protocol, and the daemon {CTL_VERSION_MIN} to \
                 {CTL_VERSION_MAX}",
                theirs.0, theirs.1,
            );
            let suggestion = match theirs.1 < CTL_VERSION_MIN {
                true => "use the `gapii-ctl` of the daemon's build",
                false => "end the daemon, and start the one of this build with `gapiid`",
            };
            return Err(ControlError::new(code::VERSION, message, suggestion));
        };
        if self.guest.take().is_some_and(|guest| !guest.enter()) {
            let message = "too many other clients connected while this one said hello";
            return Err(ControlError::new(
                code::TOO_MANY,
                message,
                "repeat the command; `gapii-ctl status` shows how many are refused",
            ));
        }
        self.session.admit_client()?;
        self.greeted = true;
        let (client, program) = (self.pid, &hello.client);
        tracing::debug!(client, version, %program, "client {client} is connected: {program}");
        Ok(Event::Hello(ServerHello {
            version,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            session: self.session.id_text(),
            pid: std::process::id(),
        }))
    }

    fn pause(&self, request: &StopRequest, pauses: bool) -> Result<Event, ControlError> {
        let captures = self.session.pause(request, pauses)?;
        Ok(Event::Stopped(Stopped { captures, ..Stopped::default() }))
    }

    fn start(&mut self, request: StartRequest) -> Result<Event, ControlError> {
        let output = self.output("start")?;
        let (capture, apps) =
            self.session.start(request, (self.pid, output), self.ended.clone())?;
        let id = capture.plan.id;
        self.captures.insert(id, capture);
        let client = self.pid;
        tracing::info!(client, capture = id, "capture {id} begins, for client {client}");
        Ok(Event::Started(Started { capture: id, apps }))
    }

    /// Continues a capture that another daemon began. The answer is sent once the capture runs.
    fn take_up(&mut self, request: TakeUpRequest) -> Result<(), ControlError> {
        let output = std::mem::take(&mut self.fds).into_iter().next().ok_or_else(|| {
            let message = "the client sent no file of the capture that it wants to continue";
            ControlError::new(code::NO_OUTPUT, message, LOOK_FOR_THE_REASON)
        })?;
        if self.takes_up {
            let message = "another capture of this client is being continued";
            let suggestion = "`gapii-ctl list` shows when it runs again";
            return Err(ControlError::new(code::TOO_MANY, message, suggestion));
        }
        self.takes_up = true;
        let who = (self.pid, output);
        let going_on = Arc::clone(&self.session).take_up(request, who, self.ended.clone());
        let answers = self.taken_up.clone();
        tokio::spawn(async move {
            if let Err(mpsc::error::SendError(Ok((capture, _)))) = answers.send(going_on.await) {
                capture.abandon();
            }
        });
        Ok(())
    }

    fn note_taken_up(&mut self, taken_up: TakenUp) -> Event {
        self.takes_up = false;
        match taken_up {
            Ok((capture, apps)) => {
                let (id, client) = (capture.plan.id, self.pid);
                tracing::info!(client, capture = id, "capture {id} continues, for client {client}");
                self.captures.insert(id, capture);
                Event::Started(Started { capture: id, apps })
            }
            Err(error) => Event::Error(error),
        }
    }

    /// Starts a save. The answer is sent once it is done.
    fn save(&mut self, request: SaveRequest) -> Result<(), ControlError> {
        let output = self.output("save")?;
        self.saves.start(&self.session, request, output, self.answers.clone())
    }

    /// Returns the descriptor that came with a request that writes.
    fn output(&mut self, what: &str) -> Result<OwnedFd, ControlError> {
        let came = std::mem::take(&mut self.fds).into_iter().next();
        came.ok_or_else(|| match descriptors::are_exhausted() {
            true => descriptors::exhausted(),
            false => {
                let message = format!("the client sent no descriptor to which {what} can write");
                ControlError::new(code::NO_OUTPUT, message, LOOK_FOR_THE_REASON)
            }
        })
    }

    async fn send_progress(&self) -> Result<(), Hangup> {
        for (id, capture) in &self.captures {
            self.send(&Event::Progress(capture.progress.message(*id))).await?;
        }
        Ok(())
    }

    /// Tells the client how its captures ended, because the daemon ends, and nothing else.
    async fn see_captures_end(&mut self) -> Result<(), Hangup> {
        while !self.captures.is_empty() {
            let Some(ended) = self.ended_in.recv().await else { break };
            self.captures.remove(&ended.capture);
            self.send(&Event::Ended(ended)).await?;
        }
        Ok(())
    }

    async fn hang_up(&self, hangup: &Hangup) {
        let client = self.pid;
        match hangup {
            Hangup::Io(_) => tracing::debug!(client, "client {client} is disconnected: {hangup}"),
            _ => self.session.refusals.say(format_args!("client {client} is refused: {hangup}")),
        }
        let error = match hangup {
            Hangup::Io(_) | Hangup::Deaf | Hangup::Link => return,
            Hangup::Silent => {
                self.session.reject(|counters| &counters.ctl_timeouts);
                let suggestion = "repeat the command when the machine is less busy, or look for the reason with `gapii-ctl doctor`";
                ControlError::new(code::OUT_OF_TURN, hangup.to_string(), suggestion)
            }
            Hangup::Frame(error) => {
                self.session.reject(|counters| &counters.ctl_messages);
                ControlError::new(code::BAD_REQUEST, error.to_string(), COMPARE_VERSIONS)
            }
            Hangup::Refused(error) => {
                self.session.reject(|counters| &counters.ctl_peers);
                error.clone()
            }
        };
        // A client that does not wait for the answer needs none.
        let _ = self.send(&Event::Error(error)).await;
    }

    /// Sends a message. A client that reads nothing holds up only itself, and not the daemon's end.
    async fn send(&self, event: &Event) -> Result<(), Hangup> {
        self.send_bytes(&gapii_control::encode(event)?).await
    }

    async fn send_bytes(&self, message: &[u8]) -> Result<(), Hangup> {
        let mut ending = self.ending.clone();
        let too_late = async {
            told(&mut ending).await;
            tokio::time::sleep(LAST_WORDS_LIMIT).await;
        };
        tokio::select! {
            sent = rights::send(&self.socket, message, &[]) => Ok(sent?),
            () = too_late => Err(Hangup::Deaf),
        }
    }
}

fn progress_interval() -> Interval {
    let mut tick = interval(PROGRESS_PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
