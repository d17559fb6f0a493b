//! `Wire`: one connection of a link. Carries what a `Line` has to say, and what arrives.
//!
//! Gives up a connection that is silent, garbles something, or says what nobody may say; what was on its
//! way is the line's, and goes over the next one.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};

use crate::frame::{self, Frame, FrameError, Inbox, Kind};
use crate::line::{Line, LineError, Taken};

/// Something is said at least this often.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
/// A connection over which nothing has come for so long is lost.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// How often both are looked after.
const TICK: Duration = Duration::from_millis(500);
/// How long a last word may take.
const LAST_WORD_LIMIT: Duration = Duration::from_secs(2);
/// Bytes handed to a connection at once, about.
const BATCH: usize = 128 << 10;
/// Bytes taken from a connection at once.
const READ_LEN: usize = 32 << 10;

/// One connection.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
    inbox: Inbox,
    /// Bytes on their way, and how many of them have gone.
    out: Vec<u8>,
    out_gone: usize,
    is_unflushed: bool,
    heard: Instant,
    spoke: Instant,
    ticks: Interval,
    read: Vec<u8>,
}

/// Why a connection is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    #[error("it was cut")]
    Cut,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("nothing came for {} s", SILENCE_LIMIT.as_secs())]
    Silent,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Line(#[from] LineError),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// A connection over which `first` goes before what the line has to say.
    pub fn new(stream: S, first: Vec<u8>) -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        Self {
            stream,
            inbox: Inbox::default(),
            out: first,
            out_gone: 0,
            is_unflushed: false,
            heard: now,
            spoke: now,
            ticks,
            read: vec![0; READ_LEN],
        }
    }

    /// Carries bytes both ways until a frame has come that is to be dealt with; none: something was
    /// acknowledged, look again what can be done. Takes nothing unless it `listens`. Loses nothing when it
    /// is dropped.
    pub async fn next(&mut self, line: &mut Line, listens: bool) -> Result<Option<Frame>, Lost> {
        poll_fn(|context| self.poll_next(context, line, listens)).await
    }

    /// Says all that the line has, and that nothing follows. Who does not take it within a moment does
    /// without.
    pub async fn say_bye(mut self, line: &mut Line) {
        let last = async {
            loop {
                let carried = poll_fn(|context| self.poll_carry(context, line)).await;
                if carried.is_err() || self.out_gone == self.out.len() {
                    break;
                }
            }
            self.stream.write_all(&frame::encode(Kind::Bye, 0, 0, b"")).await?;
            self.stream.flush().await?;
            self.stream.shutdown().await?;
            // What carries it, such as ssh, is done when nothing more comes.
            while self.stream.read(&mut self.read).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // A peer that is gone knows.
        let _ = timeout(LAST_WORD_LIMIT, last).await;
    }

    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        line: &mut Line,
        listens: bool,
    ) -> Poll<Result<Option<Frame>, Lost>> {
        let carried = self.poll_carry(context, line);
        if listens {
            if let Poll::Ready(taken) = self.poll_take(context, line) {
                return Poll::Ready(taken);
            }
        } else {
            self.heard = Instant::now();
        }
        // Only now: what arrives may say why nothing goes out.
        if let Poll::Ready(Err(error)) = carried {
            return Poll::Ready(Err(error));
        }
        while self.ticks.poll_tick(context).is_ready() {
            if self.heard.elapsed() >= SILENCE_LIMIT {
                return Poll::Ready(Err(Lost::Silent));
            }
            if self.spoke.elapsed() >= SIGN_OF_LIFE && self.out_gone == self.out.len() {
                let sign = line.sign_of_life();
                self.out.extend(sign);
                if let Poll::Ready(Err(error)) = self.poll_carry(context, line) {
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Pending
    }

    /// Takes what arrives until something is to be done.
    fn poll_take(
        &mut self,
        context: &mut Context<'_>,
        line: &mut Line,
    ) -> Poll<Result<Option<Frame>, Lost>> {
        loop {
            if let Some(frame) = self.inbox.next_frame()? {
                self.heard = Instant::now();
                match line.take(frame)? {
                    Taken::New(frame) => return Poll::Ready(Ok(Some(frame))),
                    Taken::Released => return Poll::Ready(Ok(None)),
                    Taken::Known => continue,
                }
            }
            let mut room = ReadBuf::new(&mut self.read);
            match Pin::new(&mut self.stream).poll_read(context, &mut room) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if room.filled().is_empty() => {
                    return Poll::Ready(Err(Lost::Cut));
                }
                Poll::Ready(Ok(())) => self.inbox.extend(room.filled()),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(error))),
            }
        }
    }

    /// Hands over what is to be said; ready when all of it has gone.
    fn poll_carry(&mut self, context: &mut Context<'_>, line: &mut Line) -> Poll<Result<(), Lost>> {
        loop {
            if self.out_gone == self.out.len() {
                self.out.clear();
                self.out_gone = 0;
                self.out.extend(line.news().unwrap_or_default());
                while self.out.len() < BATCH {
                    let Some(frame) = line.next_to_go() else { break };
                    self.out.extend_from_slice(frame);
                }
            }
            if self.out.is_empty() {
                break;
            }
            let left = &self.out[self.out_gone..];
            match Pin::new(&mut self.stream).poll_write(context, left) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::Cut)),
                Poll::Ready(Ok(count)) => {
                    self.out_gone += count;
                    self.is_unflushed = true;
                    self.spoke = Instant::now();
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(error))),
            }
        }
        if self.is_unflushed {
            match Pin::new(&mut self.stream).poll_flush(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(flushed) => flushed.map_err(lost)?,
            }
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }
}

fn lost(error: io::Error) -> Lost {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionReset => Lost::Cut,
        _ => Lost::Io(error),
    }
}

/// [`Wire::next`] of the connection there is, or never while there is none.
pub async fn next_of<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Option<Wire<S>>,
    line: &mut Line,
    listens: bool,
) -> Result<Option<Frame>, Lost> {
    match wire {
        Some(wire) => wire.next(line, listens).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{DuplexStream, duplex};

    fn pair() -> (Wire<DuplexStream>, Wire<DuplexStream>) {
        // Small, so that writes are cut in pieces.
        let (ours, theirs) = duplex(100);
        (Wire::new(ours, Vec::new()), Wire::new(theirs, Vec::new()))
    }

    #[tokio::test]
    async fn everything_said_arrives_in_order_and_is_acknowledged() {
        let (mut ours, mut theirs) = pair();
        let (mut said, mut heard) = (Line::new(1 << 20), Line::new(1 << 20));
        for number in 0..50_u8 {
            said.say(Kind::Chunk, number.into(), &[number; 300]);
        }
        let hearing = async {
            let mut frames = Vec::new();
            while frames.len() < 50 {
                frames.extend(theirs.next(&mut heard, true).await.unwrap());
                heard.dealt_with();
            }
            frames
        };
        tokio::pin!(hearing);
        let frames = loop {
            tokio::select! {
                frames = &mut hearing => break frames,
                // Acknowledgements.
                taken = ours.next(&mut said, true) => assert_eq!(taken.unwrap(), None),
            }
        };
        let offsets: Vec<u64> = frames.iter().map(|frame| frame.offset).collect();
        assert_eq!(offsets, (0..50).collect::<Vec<u64>>());
    }

    #[tokio::test]
    async fn end_of_the_stream_is_a_cut() {
        let (mut ours, theirs) = pair();
        drop(theirs);
        let mut line = Line::new(1 << 20);
        assert!(matches!(ours.next(&mut line, true).await, Err(Lost::Cut)));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_a_loss_and_signs_of_life_prevent_it() {
        let (mut ours, mut theirs) = pair();
        let (mut line, mut other) = (Line::new(1 << 20), Line::new(1 << 20));
        let both = async {
            tokio::select! {
                lost = ours.next(&mut line, true) => lost,
                lost = theirs.next(&mut other, false) => lost,
            }
        };
        let began = Instant::now();
        // An acknowledgement of nothing is a sign of life, and all that comes.
        assert!(matches!(both.await, Ok(None)));
        assert!(began.elapsed() >= SIGN_OF_LIFE);
        // The other end does nothing from here on.
        let lost = loop {
            match ours.next(&mut line, true).await {
                Ok(_) => {}
                Err(lost) => break lost,
            }
        };
        assert!(matches!(lost, Lost::Silent), "{lost}");
    }

    #[tokio::test]
    async fn bye_comes_after_what_was_said() {
        let (ours, mut theirs) = pair();
        let (mut line, mut other) = (Line::new(1 << 20), Line::new(1 << 20));
        line.say(Kind::Event, 0, b"last");
        let hearing = async {
            let mut kinds = Vec::new();
            while let Ok(frame) = theirs.next(&mut other, true).await {
                kinds.extend(frame.map(|frame| frame.kind));
            }
            kinds
        };
        let (kinds, ()) = tokio::join!(hearing, ours.say_bye(&mut line));
        assert_eq!(kinds, [Kind::Event, Kind::Bye]);
    }
}
