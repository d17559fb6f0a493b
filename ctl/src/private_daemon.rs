//! `PrivateDaemon`: a gapiid for one run, ended and cleaned up with it. It listens in a folder with mode 0700 and logs
//! into `gapiid.log` there. It must listen within 20 s (`START_DEADLINE`); at the end it has 5 s (`END_DEADLINE`), then it is
//! killed. It ends when this process is gone, too, and is started anew if it dies during a capture. A process group of its own keeps
//! Ctrl-C from ending it before its trace is finished.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use gapii_abi::app;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::failure::Failure;
use crate::installation;
use crate::signals::Signals;
use crate::wait;

/// Time limit for the daemon's start: a slow board that is busy, or an emulator, takes more than 5 s.
const START_DEADLINE: Duration = Duration::from_secs(20);
/// Time limit for the daemon's end.
const END_DEADLINE: Duration = Duration::from_secs(5);

pub struct PrivateDaemon {
    child: Child,
    /// A pipe to the daemon's standard input. The daemon ends when it closes, so also when this process is killed.
    lifeline: Option<ChildStdin>,
    folder: PathBuf,
}

impl PrivateDaemon {
    /// Starts a daemon with its sockets in `folder`; returns when it listens.
    pub fn start(folder: &Path, signals: &Signals) -> Result<PrivateDaemon, Failure> {
        let executable = installation::find_daemon()?;
        let mut child = spawn(&executable, folder, signals).map_err(|error| {
            Failure::system(format!("can't start {}: {error}", executable.display()))
        })?;
        let (lifeline, ready) = (child.stdin.take(), child.stdout.take());
        let daemon = PrivateDaemon { child, lifeline, folder: folder.to_owned() };
        if ready.is_some_and(says_ready) {
            return Ok(daemon);
        }
        let log = std::fs::read_to_string(log_path(folder)).unwrap_or_default();
        Err(Failure::unreachable(format!(
            "{0} does not begin{1}; `{0}` alone says more",
            executable.display(),
            what_it_says(&log)
        )))
    }

    /// Starts another daemon if this one has ended.
    pub fn restart(&mut self, signals: &Signals) -> Result<(), Failure> {
        let has_ended = self.child.try_wait().is_ok_and(|status| status.is_some());
        if has_ended {
            let folder = self.folder.clone();
            *self = PrivateDaemon::start(&folder, signals)?;
        }
        Ok(())
    }

    pub fn client_socket(&self) -> PathBuf {
        self.folder.join(gapii_control::SOCKET_NAME)
    }

    pub fn app_socket(&self) -> PathBuf {
        self.folder.join(app::SOCKET_NAME)
    }
}

impl Drop for PrivateDaemon {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let pid = Pid::from_child(&self.child);
        if let Ok(exit) = rustix::process::pidfd_open(pid, PidfdFlags::empty())
            && !is_ready_within(END_DEADLINE, &exit)
        {
            // Fails only if the daemon has ended already.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        // Its traces are complete: every capture was reported or given up.
        let _ = self.child.wait();
    }
}

/// Formats the log of a daemon that failed to start, to end a message: inline, or on separate lines if it shows
/// configuration errors.
fn what_it_says(log: &str) -> String {
    let log = log.trim_end();
    match log.lines().count() {
        0 => ", and says nothing".to_owned(),
        1 => format!(": {}", log.trim_start_matches("gapiid: ")),
        _ => format!(":\n{log}"),
    }
}

fn log_path(folder: &Path) -> PathBuf {
    folder.join("gapiid.log")
}

fn spawn(executable: &Path, folder: &Path, signals: &Signals) -> io::Result<Child> {
    let mut command = Command::new(executable);
    command
        .arg("--private")
        .arg("--socket-dir")
        .arg(folder)
        .args(["--ready-fd", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(log_path(folder))?)
        .process_group(0);
    signals.leave_out(&mut command);
    command.spawn()
}

/// Waits for the byte that announces that the sockets listen; false if the daemon ends first or the time limit
/// passes.
fn says_ready(mut pipe: ChildStdout) -> bool {
    let mut byte = [0];
    is_ready_within(START_DEADLINE, &pipe) && pipe.read_exact(&mut byte).is_ok()
}

fn is_ready_within(limit: Duration, descriptor: &impl AsFd) -> bool {
    let mut watched = [PollFd::new(descriptor, PollFlags::IN)];
    wait::until_ready(&mut watched, Some(Instant::now() + limit)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_says_is_in_the_sentence_or_below_it() {
        let check = |log: &str, expected: &str| assert_eq!(what_it_says(log), expected);
        check("", ", and says nothing");
        check("gapiid: cannot bind /x\n", ": cannot bind /x");
        check("  × a\n  help: b\n", ":\n  × a\n  help: b");
    }
}
