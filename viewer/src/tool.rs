//! Runs `gapii-ctl` for a question. At most as many at once as there are cores, and one replay; the others wait their turn. A
//! process whose reader is gone is ended. One that records is not: it ends with a whole trace.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};

use crate::process::{Processes, pid_of, streams_of};

/// Most bytes of messages that are kept of a process.
const MESSAGES_MAX: u64 = 1 << 20;
/// Bytes that are read at once from an answer that is passed on.
const PIECE: usize = 64 << 10;
/// Most pages that follow a daemon at once.
const WATCHERS_MAX: usize = 16;

/// The program that answers questions.
#[derive(Clone, Debug)]
pub struct Tool {
    path: PathBuf,
    readers: Arc<Semaphore>,
    players: Arc<Semaphore>,
    watchers: Arc<Semaphore>,
    processes: Processes,
}

/// Work that a question needs. It decides how many questions run at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Reads the trace.
    Read,
    /// Plays the trace on the driver, which uses all cores.
    Replay,
    /// Follows a daemon as long as the page is open, and waits most of the time.
    Watch,
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
pub struct Pieces(mpsc::Receiver<Vec<u8>>);

impl Tool {
    /// Uses the executable at `path`.
    pub fn new(path: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = |count| Arc::new(Semaphore::new(count));
        let (readers, players) = (turns(cores.max(2)), turns(1));
        let (watchers, processes) = (turns(WATCHERS_MAX), Processes::default());
        Self { path, readers, players, watchers, processes }
    }

    /// Returns what the tool prints for `words`.
    ///
    /// # Errors
    /// [`Unanswered`]. An answer beside a failure counts, such as the readable part of a damaged trace.
    pub async fn ask(&self, cost: Cost, words: &[OsString]) -> Result<Vec<u8>, Unanswered> {
        let Output { status, stdout, stderr } = self.output(cost, words).await?;
        answer(status, stdout, &stderr)
    }

    /// Lets the tool record, with `folder` as its current folder, and returns what it prints. Each of `stops` asks it to end
    /// with what it has, as Ctrl-C does. It goes on if nobody waits for it any more.
    ///
    /// # Errors
    /// [`Unanswered`]. An answer beside a failure counts: a trace that is not all that was asked for.
    pub async fn record(
        &self,
        words: &[OsString],
        folder: &Path,
        stops: &Notify,
    ) -> Result<Vec<u8>, Unanswered> {
        // Ctrl-C in the terminal of the viewer is not meant for it.
        let mut child = self.command(words).current_dir(folder).process_group(0).spawn()?;
        let (mut out, messages) = streams_of(&mut child)?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        {
            let mut all = pin!(async {
                tokio::join!(out.read_to_end(&mut stdout), hear(messages, &mut stderr))
            });
            let (read, heard) = loop {
                tokio::select! {
                    done = &mut all => break done,
                    () = stops.notified() => interrupt(&child)?,
                }
            };
            read?;
            heard?;
        }
        answer(child.wait().await?, stdout, &stderr)
    }

    /// Lets the tool do something.
    ///
    /// # Errors
    /// [`Unanswered`], for every status but 0.
    pub async fn succeed(&self, cost: Cost, words: &[OsString]) -> Result<(), Unanswered> {
        let Output { status, stderr, .. } = self.output(cost, words).await?;
        match status.success() {
            true => Ok(()),
            false => Err(Unanswered::Refused(sentence(&stderr, status))),
        }
    }

    async fn output(&self, cost: Cost, words: &[OsString]) -> Result<Output, Unanswered> {
        let turn = self.turn(cost).await?;
        let mut process = self.processes.start(&mut self.command(words), Some(turn))?;
        let (mut out, messages) = process.streams()?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let (read, heard) = tokio::join!(out.read_to_end(&mut stdout), hear(messages, &mut stderr));
        read?;
        heard?;
        Ok(Output { status: process.ended().await?, stdout, stderr })
    }

    /// Returns what the tool prints for `words`, piece by piece. A failure is one more line: `{"error": …}` with the tool's
    /// sentence.
    ///
    /// # Errors
    /// [`Unanswered::Io`].
    pub async fn stream(&self, cost: Cost, words: &[OsString]) -> Result<Pieces, Unanswered> {
        let turn = self.turn(cost).await?;
        let mut process = self.processes.start(&mut self.command(words), Some(turn))?;
        let (mut out, messages) = process.streams()?;
        let (pieces, taken) = mpsc::channel(1);
        // If nobody takes the pieces any more, the process ends with this task.
        tokio::spawn(async move {
            let mut said = Vec::new();
            let read =
                async { tokio::join!(pass_on(&mut out, &pieces), hear(messages, &mut said)).0 };
            let is_read = tokio::select! {
                read = read => read.is_ok(),
                () = pieces.closed() => false,
            };
            if !is_read {
                return;
            }
            if let Ok(status) = process.ended().await
                && !status.success()
            {
                let line = format!("{}\n", json!({ "error": sentence(&said, status) }));
                _ = pieces.send(line.into_bytes()).await;
            }
        });
        Ok(Pieces(taken))
    }

    /// Waits for a turn. A page that follows a daemon has one at once, or none.
    async fn turn(&self, cost: Cost) -> Result<OwnedSemaphorePermit, Unanswered> {
        let wait = async |turns: &Arc<Semaphore>| {
            let turn = Arc::clone(turns).acquire_owned().await;
            turn.map_err(|closed| Unanswered::Io(io::Error::other(closed)))
        };
        match cost {
            Cost::Read => wait(&self.readers).await,
            Cost::Replay => wait(&self.players).await,
            Cost::Watch => {
                let why = "too many pages follow the daemon; close one";
                let turn = Arc::clone(&self.watchers).try_acquire_owned();
                turn.map_err(|_| Unanswered::Refused(why.to_owned()))
            }
        }
    }

    /// Ends all that runs but recordings.
    pub async fn finish(&self) {
        self.processes.finish().await;
    }

    fn command(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn answer(status: ExitStatus, stdout: Vec<u8>, stderr: &[u8]) -> Result<Vec<u8>, Unanswered> {
    match stdout.is_empty() && !status.success() {
        true => Err(Unanswered::Refused(sentence(stderr, status))),
        false => Ok(stdout),
    }
}

/// Sends what Ctrl-C sends.
fn interrupt(child: &Child) -> io::Result<()> {
    Ok(pid_of(child).map_or(Ok(()), |pid| kill_process(pid, Signal::INT))?)
}

/// Passes a stream on in pieces, until its end.
async fn pass_on(from: &mut ChildStdout, to: &mpsc::Sender<Vec<u8>>) -> io::Result<()> {
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        if from.read_buf(&mut piece).await? == 0 {
            return Ok(());
        }
        to.send(piece).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
    }
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
        self.0.poll_recv(cx).map(|piece| piece.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn sentence_is_the_error_or_what_was_said_last() {
        let status = ExitStatus::from_raw(0x100);
        let json = br#"{"message":"one"}
{"error":{"message":"two"}}
"#;
        assert_eq!(sentence(json, status), "two");
        assert_eq!(sentence(b"one\n\ntwo\n\n", status), "two");
        assert_eq!(sentence(b"", status), "gapii-ctl ended with exit status: 1");
    }
}
