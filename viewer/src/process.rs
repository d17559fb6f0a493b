//! `Process`: a running `gapii-ctl` that answers a question. It is asked to end when nobody waits for its answer any more, so that it
//! can remove what it has written, and is killed 2 s later (`GRACE`).

use std::collections::HashSet;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

/// Time in which a process ends that is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// Time between two looks at the processes that are waited for.
const LOOK: Duration = Duration::from_millis(5);

/// The processes that run.
#[derive(Clone, Debug, Default)]
pub struct Processes(Arc<Mutex<HashSet<Pid>>>);

/// A process that runs.
#[derive(Debug)]
pub struct Process {
    /// `None` once it has ended.
    running: Option<(Child, Option<Pid>)>,
    /// Its turn, until it has ended.
    turn: Option<OwnedSemaphorePermit>,
    all: Processes,
}

impl Processes {
    /// Starts a process whose output is read, and which has its turn.
    ///
    /// # Errors
    /// That of the start.
    pub fn start(
        &self,
        command: &mut Command,
        turn: Option<OwnedSemaphorePermit>,
    ) -> io::Result<Process> {
        let child = command.kill_on_drop(true).spawn()?;
        let pid = pid_of(&child);
        self.lock().extend(pid);
        Ok(Process { running: Some((child, pid)), turn, all: self.clone() })
    }

    /// Asks all processes to end, and waits for their ends.
    pub async fn finish(&self) {
        self.lock().iter().for_each(|pid| ask_to_end(*pid));
        let all_ended = async {
            while !self.lock().is_empty() {
                sleep(LOOK).await;
            }
        };
        _ = timeout(GRACE, all_ended).await;
    }

    /// From now on the id may be that of another process.
    fn forget(&self, pid: Option<Pid>) {
        pid.into_iter().for_each(|pid| _ = self.lock().remove(&pid));
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Returns the streams for output and messages.
    ///
    /// # Errors
    /// They were taken before.
    pub fn streams(&mut self) -> io::Result<(ChildStdout, ChildStderr)> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.running.as_mut().map_or_else(|| Err(gone()), |(child, _)| streams_of(child))
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Those of waiting.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        let Some((child, pid)) = &mut self.running else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let status = child.wait().await?;
        self.all.forget(*pid);
        self.running = None;
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some((mut child, pid)) = self.running.take() else { return };
        pid.into_iter().for_each(ask_to_end);
        // Without the runtime the process is killed with `child`.
        let Ok(runtime) = Handle::try_current() else { return };
        let (all, turn) = (self.all.clone(), self.turn.take());
        runtime.spawn(async move {
            let _turn = turn;
            if timeout(GRACE, child.wait()).await.is_err() {
                _ = child.kill().await;
            }
            all.forget(pid);
        });
    }
}

/// Returns the id of a process that is not reaped yet.
pub fn pid_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Returns the streams for output and messages.
///
/// # Errors
/// They were taken before.
pub fn streams_of(child: &mut Child) -> io::Result<(ChildStdout, ChildStderr)> {
    let streams = child.stdout.take().zip(child.stderr.take());
    streams.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// Sends what ends a process after it has cleaned up. It is not reaped yet, so the id is its own.
fn ask_to_end(pid: Pid) {
    _ = kill_process(pid, Signal::TERM);
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Instant;

    use super::*;

    /// A shell that writes a file when it is asked to end.
    fn shell(all: &Processes, folder: &std::path::Path) -> Process {
        let script = "trap 'echo x > ended; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        all.start(command.stdout(Stdio::piped()).stderr(Stdio::piped()), None).unwrap()
    }

    async fn is_ready(process: &mut Process) -> ChildStdout {
        use tokio::io::AsyncReadExt;
        let (mut out, _) = process.streams().unwrap();
        out.read_exact(&mut [0; 6]).await.unwrap();
        out
    }

    #[tokio::test]
    async fn process_that_is_dropped_cleans_up() {
        let (all, folder) = (Processes::default(), tempfile::tempdir().unwrap());
        let mut process = shell(&all, folder.path());
        let _out = is_ready(&mut process).await;
        drop(process);
        all.finish().await;
        assert!(folder.path().join("ended").exists() && all.lock().is_empty());
    }

    #[tokio::test]
    async fn process_that_does_not_end_is_killed() {
        let all = Processes::default();
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done"]);
        let mut process =
            all.start(command.stdout(Stdio::piped()).stderr(Stdio::piped()), None).unwrap();
        let _out = is_ready(&mut process).await;
        let begun = Instant::now();
        drop(process);
        while !all.lock().is_empty() {
            assert!(begun.elapsed() < 10 * GRACE);
            sleep(LOOK).await;
        }
    }

    #[tokio::test]
    async fn process_that_has_ended_is_forgotten() {
        let all = Processes::default();
        let mut command = Command::new("true");
        let mut process =
            all.start(command.stdout(Stdio::piped()).stderr(Stdio::piped()), None).unwrap();
        assert!(process.ended().await.unwrap().success() && all.lock().is_empty());
    }
}
