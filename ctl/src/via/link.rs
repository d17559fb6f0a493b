//! `Task`: the client's end of a link, across its connections. A piece of the output is acknowledged after it was
//! written, so a slow disk holds the daemon up. A lost connection is tried again after 100 ms, then twice as long, up
//! to 5 s, for as long as the daemon keeps the link (`--remote-grace`); then, or if the daemon refuses, the task ends.
//! An output that cannot be written ends the capture with that error.
//!
//! It forwards requests and events, and writes the output, in the order in which the daemon sent them.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::time::Duration;

use gapii_control::{Event, FrameBuffer, PREFIX_LEN};
use gapii_remote::frame::{Frame, Kind};
use gapii_remote::knock::{Resume, Welcome};
use gapii_remote::line::Line;
use gapii_remote::wire::{Lost, Wire, next_of};
use gapii_remote::{AnyStream, rights, secret};
use tokio::net::UnixStream;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep, timeout_at};

use super::output::{Output, OutputError};
use super::transport::{NoWay, Way};
use crate::text;

/// Limit for requests that the daemon has not acknowledged, in bytes.
const ROOM_BYTES: usize = 2 << 20;
/// First pause between attempts to reconnect; each further pause is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause between attempts to reconnect.
const PAUSE_MAX: Duration = Duration::from_secs(5);

type Going = Pin<Box<dyn Future<Output = Result<(AnyStream, Welcome), String>>>>;
type Writing = JoinHandle<(Output, Result<(), OutputError>)>;

pub struct Task {
    way: Way,
    /// The local socket; `Connection` has the other end.
    control: UnixStream,
    requests: FrameBuffer,
    /// Descriptors that came with a request that is incomplete so far.
    fds: Vec<OwnedFd>,
    /// Bytes that `Connection` has not read yet.
    events: Vec<u8>,
    line: Line,
    wire: Option<Wire<AnyStream>>,
    /// The attempt to reconnect that is under way.
    going: Option<Going>,
    lost_at: Instant,
    welcome: Welcome,
    output: Option<Output>,
    writing: Option<Writing>,
    /// Why the output failed.
    output_error: Option<String>,
}

/// Why a task ends.
enum Over {
    /// `Connection` was dropped, or the daemon ended the link.
    Done,
    Failed(String),
}

enum Happened {
    Frame(Option<Frame>),
    Lost(Lost),
    Connected(Result<(AnyStream, Welcome), String>),
    Requests(usize),
    EventsTaken(usize),
    Written(Result<(Output, Result<(), OutputError>), tokio::task::JoinError>),
}

impl Task {
    /// Connects for the first time.
    pub async fn begin(way: Way, control: StdStream) -> Result<Task, String> {
        let (stream, welcome) = way.go(None).await.map_err(NoWay::sentence)?;
        let control = control.set_nonblocking(true).and_then(|()| UnixStream::from_std(control));
        Ok(Task {
            way,
            control: control.map_err(|error| format!("can't make a link: {error}"))?,
            requests: FrameBuffer::default(),
            fds: Vec::new(),
            events: Vec::new(),
            line: Line::new(ROOM_BYTES),
            wire: Some(Wire::new(stream, Vec::new())),
            going: None,
            lost_at: Instant::now(),
            welcome,
            output: None,
            writing: None,
            output_error: None,
        })
    }

    /// Returns how long the daemon keeps the link without a connection.
    pub fn grace(&self) -> Duration {
        Duration::from_millis(self.welcome.grace_ms)
    }

    /// Runs until `Connection` is dropped; `failed` is called if the task ends for another reason.
    pub async fn run(mut self, failed: impl FnOnce(String)) {
        let over = loop {
            if let Err(over) = self.step().await {
                break over;
            }
        };
        match (over, self.wire) {
            (Over::Done, Some(wire)) => wire.say_bye(&mut self.line).await,
            (Over::Done, None) => {}
            (Over::Failed(sentence), _) => failed(sentence),
        }
    }

    async fn step(&mut self) -> Result<(), Over> {
        let mut bytes = [0; 4096];
        match self.wait(&mut bytes).await? {
            Happened::Frame(None) => Ok(()),
            Happened::Frame(Some(frame)) => self.take(frame),
            Happened::Lost(lost) => {
                self.lose(&lost);
                Ok(())
            }
            Happened::Connected(Ok((stream, welcome))) => self.connected(stream, &welcome),
            Happened::Connected(Err(sentence)) => Err(Over::Failed(sentence)),
            Happened::Requests(0) => Err(Over::Done),
            Happened::Requests(count) => {
                self.requests.extend(&bytes[..count]);
                self.pass_requests()
            }
            Happened::EventsTaken(count) => {
                self.events.drain(..count);
                Ok(())
            }
            Happened::Written(written) => self.written(written),
        }
    }

    async fn wait(&mut self, bytes: &mut [u8]) -> Result<Happened, Over> {
        let Self { control, events, line, wire, going, writing, fds, .. } = self;
        // Each input is processed before the next is read.
        let listens = events.is_empty() && writing.is_none();
        let has_room = line.has_room();
        let happened = tokio::select! {
            frame = next_of(wire, line, listens) => match frame {
                Ok(frame) => Happened::Frame(frame),
                Err(lost) => Happened::Lost(lost),
            },
            arrived = optional(going.as_mut()) => Happened::Connected(arrived),
            received = rights::receive(control, bytes, fds), if has_room => {
                Happened::Requests(received.unwrap_or(0))
            }
            sent = rights::send_part(control, events, &[]), if !events.is_empty() => {
                // A failure is ignored: a closed socket is noticed above.
                Happened::EventsTaken(sent.unwrap_or(events.len()))
            }
            written = optional(writing.as_mut()) => Happened::Written(written),
        };
        Ok(happened)
    }

    /// Processes requests of `Connection`.
    fn pass_requests(&mut self) -> Result<(), Over> {
        let broken = |error: gapii_control::FrameError| Over::Failed(error.to_string());
        while let Some(body) = self.requests.next_body().map_err(broken)? {
            let kind = match std::mem::take(&mut self.fds).into_iter().next() {
                Some(descriptor) => {
                    self.output = Some(Output::new(descriptor));
                    self.output_error = None;
                    Kind::RequestWithOutput
                }
                None => Kind::Request,
            };
            self.line.say(kind, 0, &body);
        }
        Ok(())
    }

    /// Processes frames of the daemon.
    fn take(&mut self, frame: Frame) -> Result<(), Over> {
        let Frame { kind, offset, payload, .. } = frame;
        match kind {
            Kind::Event => {
                let body = self.corrected(payload);
                self.events.extend_from_slice(&(body.len() as u32).to_le_bytes());
                self.events.extend_from_slice(&body);
            }
            Kind::Chunk => {
                if let Some(mut output) = self.output.take() {
                    // Writing may block until a reader reads; it must not block the link.
                    self.writing = Some(spawn_blocking(move || {
                        let written = output.write(offset, &payload);
                        (output, written)
                    }));
                    return Ok(());
                }
            }
            Kind::OutputEnd => {
                // Closed here, because the reader of a pipe waits for it.
                let checked = self.output.take().map(|output| output.check(offset, &payload));
                if let Some(Err(error)) = checked {
                    return Err(Over::Failed(format!("{}: {error}", self.way.via)));
                }
            }
            Kind::Bye => return Err(Over::Done),
            kind => {
                let via = &self.way.via;
                return Err(Over::Failed(format!("{via} says a {kind:?}, which nobody expects")));
            }
        }
        self.line.dealt_with();
        Ok(())
    }

    fn written(
        &mut self,
        written: Result<(Output, Result<(), OutputError>), tokio::task::JoinError>,
    ) -> Result<(), Over> {
        self.writing = None;
        match written {
            Ok((output, Ok(()))) => self.output = Some(output),
            Ok((_, Err(OutputError::Io(error)))) => {
                let sentence = OutputError::Io(error).to_string();
                self.line.say(Kind::OutputFailed, 0, sentence.as_bytes());
                self.output_error = Some(sentence);
            }
            Ok((_, Err(error))) => {
                return Err(Over::Failed(format!("{}: {error}", self.way.via)));
            }
            Err(error) => return Err(Over::Failed(format!("the output's writer failed: {error}"))),
        }
        self.line.dealt_with();
        Ok(())
    }

    /// Completes an event before it is forwarded: only this side knows about errors of the output.
    fn corrected(&mut self, body: Vec<u8>) -> Vec<u8> {
        let Some(error) = &self.output_error else { return body };
        let event = match gapii_control::decode::<Event>(&body) {
            Ok(Event::Ended(mut ended)) => {
                ended.summary.error = Some(error.as_str().into());
                Event::Ended(ended)
            }
            Ok(Event::Saved(mut saved)) => {
                saved.summary.error = Some(error.as_str().into());
                Event::Saved(saved)
            }
            _ => return body,
        };
        gapii_control::encode(&event).map_or(body, |mut frame| frame.split_off(PREFIX_LEN))
    }

    fn lose(&mut self, lost: &Lost) {
        let grace = self.grace();
        text::say(&format_args!(
            "the connection to {} is lost: {lost}; trying again for {} s",
            self.way.via,
            grace.as_secs()
        ));
        self.wire = None;
        self.lost_at = Instant::now();
        let resume = Resume {
            link: self.welcome.link,
            secret: self.welcome.secret.clone(),
            taken: self.line.taken(),
        };
        self.going = Some(Box::pin(go_again(self.way.clone(), resume, grace)));
    }

    fn connected(&mut self, stream: AnyStream, welcome: &Welcome) -> Result<(), Over> {
        self.going = None;
        let via = &self.way.via;
        if welcome.link != self.welcome.link {
            return Err(Over::Failed(format!("{via} goes on with something else")));
        }
        let resumed = self.line.reconnected(welcome.taken);
        resumed.map_err(|error| Over::Failed(format!("{via}: {error}")))?;
        text::say(&format_args!(
            "connected to {via} again after {:.1?}; nothing is lost",
            self.lost_at.elapsed()
        ));
        self.wire = Some(Wire::new(stream, Vec::new()));
        Ok(())
    }
}

async fn optional<F: Future + Unpin>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// Reconnects with growing pauses for as long as the daemon keeps the link.
async fn go_again(
    way: Way,
    resume: Resume,
    grace: Duration,
) -> Result<(AnyStream, Welcome), String> {
    let deadline = Instant::now() + grace;
    let mut pause = PAUSE_MIN;
    let mut why = format!("{} does not answer", way.via);
    loop {
        match timeout_at(deadline, way.go(Some(resume.clone()))).await {
            Ok(Ok(arrived)) => return Ok(arrived),
            Ok(Err(NoWay::Final(sentence))) => return Err(sentence),
            Ok(Err(NoWay::Passing(sentence))) => why = sentence,
            Err(_) => {}
        }
        let pause_now = pause.mul_f64(jitter());
        if Instant::now() + pause_now >= deadline {
            return Err(format!("{why}; given up after {} s", grace.as_secs()));
        }
        sleep(pause_now).await;
        pause = (2 * pause).min(PAUSE_MAX);
    }
}

/// Returns a random factor from 0.5 to 1, so that clients that lost their connections together do not reconnect
/// together.
fn jitter() -> f64 {
    let [byte] = secret::random::<1>().unwrap_or([255]);
    0.5 + f64::from(byte) / 510.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_between_a_half_and_one() {
        for _ in 0..1000 {
            assert!((0.5..=1.0).contains(&jitter()));
        }
    }
}
