//! Runs `gapii-ctl` for a question. At most as many at once as there are cores, and one replay; the others wait their turn. A
//! process whose reader is gone is killed.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most bytes of messages that are kept of a process.
const MESSAGES_MAX: u64 = 1 << 20;
/// Bytes that are read at once from an answer that is passed on.
const PIECE: usize = 64 << 10;

/// The program that answers questions.
#[derive(Clone, Debug)]
pub struct Tool {
    path: PathBuf,
    readers: Arc<Semaphore>,
    players: Arc<Semaphore>,
}

/// What a question costs, and so how many run at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Reads the trace.
    Read,
    /// Plays the trace on the driver, which uses all cores.
    Replay,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The tool could not be started or read.
    #[error("can't run gapii-ctl: {0}")]
    Io(#[from] io::Error),
    /// The tool's own sentence.
    #[error("{0}")]
    Refused(String),
}

/// The output of a process as it comes.
pub struct Pieces {
    child: Child,
    out: ChildStdout,
    /// Given back when the process is gone.
    _turn: OwnedSemaphorePermit,
    buffer: Box<[u8]>,
}

impl Tool {
    /// Uses the executable at `path`.
    pub fn new(path: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = |count| Arc::new(Semaphore::new(count));
        Self { path, readers: turns(cores.max(2)), players: turns(1) }
    }

    /// Returns what the tool prints for `words`.
    ///
    /// # Errors
    /// [`Unanswered`]. An answer beside a failure counts, such as the readable part of a damaged trace.
    pub async fn ask(&self, cost: Cost, words: &[OsString]) -> Result<Vec<u8>, Unanswered> {
        let _turn = self.turn(cost).await?;
        let mut child = self.start(words, Stdio::piped())?;
        let mut out = piped(child.stdout.take())?;
        let messages = piped(child.stderr.take())?;
        let (mut answer, mut said) = (Vec::new(), Vec::new());
        let (read, heard) = tokio::join!(out.read_to_end(&mut answer), hear(messages, &mut said));
        read?;
        heard?;
        let status = child.wait().await?;
        if answer.is_empty() && !status.success() {
            return Err(Unanswered::Refused(sentence(&said, status)));
        }
        Ok(answer)
    }

    /// Returns what the tool prints for `words`, piece by piece. A failure ends it early.
    ///
    /// # Errors
    /// [`Unanswered::Io`].
    pub async fn stream(&self, cost: Cost, words: &[OsString]) -> Result<Pieces, Unanswered> {
        let turn = self.turn(cost).await?;
        let mut child = self.start(words, Stdio::null())?;
        let out = piped(child.stdout.take())?;
        Ok(Pieces { child, out, _turn: turn, buffer: vec![0; PIECE].into() })
    }

    async fn turn(&self, cost: Cost) -> io::Result<OwnedSemaphorePermit> {
        let turns = match cost {
            Cost::Read => &self.readers,
            Cost::Replay => &self.players,
        };
        Arc::clone(turns).acquire_owned().await.map_err(io::Error::other)
    }

    fn start(&self, words: &[OsString], messages: Stdio) -> io::Result<Child> {
        let mut command = Command::new(&self.path);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages);
        command.kill_on_drop(true).spawn()
    }
}

/// A stream that was asked for is there once the process has started.
fn piped<T>(stream: Option<T>) -> io::Result<T> {
    stream.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// Reads messages to their end, so that the process never waits for a reader, and keeps the first ones.
async fn hear(mut messages: ChildStderr, said: &mut Vec<u8>) -> io::Result<()> {
    (&mut messages).take(MESSAGES_MAX).read_to_end(said).await?;
    tokio::io::copy(&mut messages, &mut tokio::io::sink()).await.map(|_| ())
}

/// Returns the tool's last sentence: the line of JSON with an error, which `--json` prints, or what it said last.
fn sentence(said: &[u8], status: ExitStatus) -> String {
    let said = String::from_utf8_lossy(said);
    let lines = || said.lines().rev().filter(|line| !line.trim().is_empty());
    let errors = lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let message = errors.filter_map(|it| Some(it["error"]["message"].as_str()?.to_owned())).next();
    let last = || lines().next().map(str::to_owned);
    message.or_else(last).unwrap_or_else(|| format!("gapii-ctl ended with {status}"))
}

impl Stream for Pieces {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { out, buffer, child, .. } = &mut *self;
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(out).poll_read(cx, &mut buffer) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error))),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                // Takes note of the end, so that no zombie stays; if it comes later, the runtime does.
                _ = child.try_wait();
                Poll::Ready(None)
            }
            Poll::Ready(Ok(())) => Poll::Ready(Some(Ok(buffer.filled().to_vec()))),
        }
    }
}
