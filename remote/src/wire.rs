//! `Wire`: one connection of a link; sends the frames of a `Line` and receives frames for it. Sends a sign of life
//! after 2 s without a frame; a connection that has delivered nothing for `SILENCE_LIMIT`, 10 s, corrupts bytes or
//! breaks the protocol is abandoned, and the line sends its frames again over the next one. Time without listening does
//! not count as silence. At the end it sends the rest for up to 2 s.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};

use crate::frame::{self, Frame, FrameError, Inbox, Kind};
use crate::line::{Line, LineError, Taken};

/// Longest interval between two sent frames; a sign of life fills the gap.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
/// A connection that has delivered nothing for this time counts as lost.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which both limits are checked.
const TICK: Duration = Duration::from_millis(500);
/// Time limit for sending the last frames and BYE.
const LAST_WORD_LIMIT: Duration = Duration::from_secs(2);
/// Approximate number of bytes that are passed to a connection at once.
const BATCH: usize = 128 << 10;
/// Size of the read buffer, in bytes.
const READ_LEN: usize = 32 << 10;

/// One connection.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
    inbox: Inbox,
    /// Encoded frames that are being written, and how many of their bytes were written.
    out: Vec<u8>,
    out_gone: usize,
    is_unflushed: bool,
    heard: Instant,
    spoke: Instant,
    ticks: Interval,
    read: Vec<u8>,
}

/// Why a connection is unusable.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    #[error("the connection was cut")]
    Cut,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the peer was silent for {} s", SILENCE_LIMIT.as_secs())]
    Silent,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Line(#[from] LineError),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Creates a connection that sends `first` before any frame of the line.
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

    /// Sends and receives until a new frame has arrived. Returns `None` after an acknowledgement, because there may be
    /// more room to send. Receives only if `listens` is true.
    ///
    /// Cancellation-safe: nothing is lost when the future is dropped.
    pub async fn next(&mut self, line: &mut Line, listens: bool) -> Result<Option<Frame>, Lost> {
        poll_fn(|context| self.poll_next(context, line, listens)).await
    }

    /// Sends the line's remaining frames and BYE. Gives up after 2 s.
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
            // Wait for the end of input: a carrier such as ssh has then delivered everything.
            while self.stream.read(&mut self.read).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // A failure means that the peer has gone, which ends the link as well.
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
        // Checked after receiving, because a received frame may explain why sending failed.
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

    /// Receives until a frame or acknowledgement needs processing.
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

    /// Sends queued frames; ready when all were written and flushed.
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

/// Awaits [`Wire::next`] of `wire`; never completes while there is no connection.
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
    async fn frames_arrive_in_order_and_are_acknowledged() {
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
    async fn silent_connection_is_lost_unless_signs_of_life_arrive() {
        let (mut ours, mut theirs) = pair();
        let (mut line, mut other) = (Line::new(1 << 20), Line::new(1 << 20));
        let both = async {
            tokio::select! {
                lost = ours.next(&mut line, true) => lost,
                lost = theirs.next(&mut other, false) => lost,
            }
        };
        let began = Instant::now();
        // The only received frame is a sign of life: an acknowledgement of 0 frames.
        assert!(matches!(both.await, Ok(None)));
        assert!(began.elapsed() >= SIGN_OF_LIFE);
        // The other end is silent from here on.
        let lost = loop {
            match ours.next(&mut line, true).await {
                Ok(_) => {}
                Err(lost) => break lost,
            }
        };
        assert!(matches!(lost, Lost::Silent), "{lost}");
    }

    #[tokio::test]
    async fn bye_arrives_after_all_frames() {
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
