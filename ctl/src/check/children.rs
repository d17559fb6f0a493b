//! `Children`: the `gapii-ctl replay` processes of a check. Each is in a process group of its own, so that Ctrl-C reaches
//! the check alone, which asks them to stop; a child that was asked to stop ends after its present command.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;

/// Runs replays, and stops all of them.
pub struct Children {
    tool: PathBuf,
    /// Options that every replay gets.
    options: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_stopped: bool,
    /// Running processes by a number of their own.
    running: BTreeMap<u64, OwnedFd>,
    count: u64,
}

/// Why a replay has no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The check was asked to stop.
    Stopped,
    /// The replay failed, in its own words.
    Failed(String),
}

impl Children {
    /// Replays by this program, each with `options`.
    pub fn new(options: Vec<String>) -> io::Result<Children> {
        Ok(Children { tool: std::env::current_exe()?, options, state: Mutex::default() })
    }

    /// Asks all replays to stop, and lets none begin.
    pub fn stop(&self) {
        let mut state = self.state();
        state.is_stopped = true;
        for child in state.running.values() {
            // A child that has ended needs no signal.
            let _ = pidfd_send_signal(child, Signal::INT);
        }
    }

    /// Replays a trace with these options and `--json`, and returns its answer on standard output.
    pub fn replay(&self, trace: &Path, words: &[&OsStr]) -> Result<Vec<u8>, Trouble> {
        let failed = |error: io::Error| Trouble::Failed(format!("can't be played: {error}"));
        let mut command = Command::new(&self.tool);
        command.arg("replay").args(["--json"]).args(&self.options).args(words);
        command.arg("--").arg(trace);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let (number, child) = {
            let mut state = self.state();
            if state.is_stopped {
                return Err(Trouble::Stopped);
            }
            let mut child = command.spawn().map_err(failed)?;
            let handle = i32::try_from(child.id())
                .ok()
                .and_then(Pid::from_raw)
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
                .and_then(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?));
            match handle {
                Ok(handle) => {
                    state.count += 1;
                    let number = state.count;
                    state.running.insert(number, handle);
                    (number, child)
                }
                Err(error) => {
                    // It could not be stopped.
                    let _ = child.kill().and_then(|()| child.wait());
                    return Err(failed(error));
                }
            }
        };
        let output = child.wait_with_output();
        let is_stopped = {
            let mut state = self.state();
            state.running.remove(&number);
            state.is_stopped
        };
        judge(output.map_err(failed)?, is_stopped)
    }

    /// Whole at every moment, also if a thread panicked while it had the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the answer of a replay that did what was asked for.
fn judge(output: Output, is_stopped: bool) -> Result<Vec<u8>, Trouble> {
    match output.status.success() {
        true => Ok(output.stdout),
        false if is_stopped => Err(Trouble::Stopped),
        false => {
            let said = message(&output.stderr);
            Err(Trouble::Failed(
                said.unwrap_or_else(|| format!("its replay ended: {}", output.status)),
            ))
        }
    }
}

/// A line on standard error of a command with `--json`.
#[derive(Deserialize)]
struct Line {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
}

/// The message of the failure on standard error.
fn message(stderr: &[u8]) -> Option<String> {
    let mut lines = stderr.split(|byte| *byte == b'\n');
    lines.find_map(|line| serde_json::from_slice::<Line>(line).ok()).map(|line| line.error.message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn output(status: i32, stderr: &str) -> Output {
        let (status, stderr) = (ExitStatus::from_raw(status), stderr.as_bytes().to_vec());
        Output { status, stdout: b"{}".to_vec(), stderr }
    }

    #[test]
    fn failure_is_told_in_the_words_of_the_replay_or_by_its_signal() {
        assert_eq!(judge(output(0, ""), false), Ok(b"{}".to_vec()));
        let said = "Mesa warns\n{\"json_version\":2,\"error\":{\"message\":\"2 commands\"}}\n";
        let failed = |text: &str| Err(Trouble::Failed(text.to_owned()));
        assert_eq!(judge(output(1 << 8, said), false), failed("2 commands"));
        assert_eq!(judge(output(1 << 8, said), true), Err(Trouble::Stopped));
        let crashed = judge(output(11, "Mesa warns\n"), false);
        assert_eq!(crashed, failed("its replay ended: signal: 11 (SIGSEGV)"));
    }

    #[test]
    fn nothing_begins_after_a_stop() {
        let children = Children::new(Vec::new()).unwrap();
        children.stop();
        assert_eq!(children.replay(Path::new("a"), &[]), Err(Trouble::Stopped));
    }
}
