//! `Jobs`: `gapii-ctl` processes that capture, save and stop in the background for a view. Each has a process group of its
//! own, so Ctrl-C at the terminal does not reach it, and gets SIGINT when this process is gone: its capture then ends
//! cleanly, too. What a process prints is kept, up to its last [`LINES_MAX`], 100, lines.
//!
//! It does not decide what is captured.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use crate::args::Connect;
use crate::output_file;
use crate::signals::Signals;

/// Largest number of lines that are kept of a process.
const LINES_MAX: usize = 100;
/// Largest length of a line that is kept, in bytes.
const LINE_LEN_MAX: usize = 4096;

/// What a process is started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Capture a program, for a number of frames or until it is asked to end.
    Capture { pid: u32, name: String, frames: Option<u64> },
    /// Save the frames of a program that are kept.
    Save { pid: u32, name: String },
    /// End a capture of another client.
    Stop { capture: u64 },
}

/// A capture that a process of these writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCapture {
    /// Process id of the client.
    pub client: u32,
    /// Process id of the program.
    pub pid: u32,
    /// Name of the trace in the current folder.
    pub file: String,
}

pub struct Jobs<'a> {
    jobs: Vec<Job>,
    tool: PathBuf,
    /// Options that name the daemon.
    connect: Vec<OsString>,
    signals: &'a Signals,
    /// What processes said that have ended.
    said: Vec<String>,
}

struct Job {
    child: Child,
    output: PipeReader,
    /// The beginning of a line.
    line: Vec<u8>,
    said: Vec<String>,
    capture: Option<OwnCapture>,
}

impl<'a> Jobs<'a> {
    pub fn new(connect: &Connect, signals: &'a Signals) -> io::Result<Jobs<'a>> {
        let (jobs, said) = (Vec::new(), Vec::new());
        let (tool, connect) = (std::env::current_exe()?, connect.words()?);
        Ok(Jobs { jobs, tool, connect, signals, said })
    }

    /// Starts a process. Returns the name of the file that it writes, if it writes one.
    pub fn start(&mut self, task: &Task) -> io::Result<Option<String>> {
        let mut command = Command::new(&self.tool);
        let file = add_words(&mut command, task);
        let (output, said) = io::pipe()?;
        command
            .args(&self.connect)
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said)
            .process_group(0);
        self.signals.leave_out(&mut command);
        // SAFETY: between fork and exec the closure makes one system call on no data.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::INT))?));
        }
        let child = command.spawn()?;
        let capture = match (task, &file) {
            (Task::Capture { pid, .. }, Some(file)) => {
                Some(OwnCapture { client: child.id(), pid: *pid, file: file.clone() })
            }
            _ => None,
        };
        self.jobs.push(Job { child, output, line: Vec::new(), said: Vec::new(), capture });
        Ok(file)
    }

    /// The captures that run.
    pub fn captures(&self) -> Vec<OwnCapture> {
        self.jobs.iter().filter_map(|job| job.capture.clone()).collect()
    }

    /// Asks the captures of a program to end.
    pub fn end(&self, pid: u32) {
        let of_it = |job: &&Job| job.capture.as_ref().is_some_and(|capture| capture.pid == pid);
        self.jobs.iter().filter(of_it).for_each(Job::interrupt);
    }

    /// Asks all processes to end.
    pub fn end_all(&self) {
        self.jobs.iter().for_each(Job::interrupt);
    }

    /// What becomes ready once processes have said something or have ended, in the order of [`Jobs::advance`].
    pub fn outputs(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.jobs.iter().map(|job| job.output.as_fd())
    }

    /// Reads from the processes whose outputs `are_ready`. Returns the lines that they said.
    pub fn advance(&mut self, are_ready: &[bool]) -> Vec<String> {
        let mut news = Vec::new();
        let mut are_ready = are_ready.iter().copied().chain(std::iter::repeat(false));
        let said = &mut self.said;
        self.jobs.retain_mut(|job| {
            if !are_ready.next().unwrap_or(false) || job.read(&mut news) {
                return true;
            }
            // It closes its output at its end.
            let _ = job.child.wait();
            said.append(&mut job.said);
            false
        });
        news
    }

    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Takes what the processes said that have ended.
    pub fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }
}

impl Job {
    fn interrupt(&self) {
        // Fails only if it has ended, which its output says.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    /// Reads once; false at the end of the output.
    fn read(&mut self, news: &mut Vec<String>) -> bool {
        let mut bytes = [0; 4096];
        let count = match self.output.read(&mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            Err(_) => 0,
        };
        for byte in &bytes[..count] {
            match byte {
                b'\n' => self.end_line(news),
                byte if self.line.len() < LINE_LEN_MAX => self.line.push(*byte),
                _ => {}
            }
        }
        if count == 0 {
            self.end_line(news);
        }
        count > 0
    }

    fn end_line(&mut self, news: &mut Vec<String>) {
        if self.line.is_empty() {
            return;
        }
        let line = String::from_utf8_lossy(&self.line);
        let line = line.strip_prefix("gapii-ctl: ").unwrap_or(&line).to_owned();
        self.line.clear();
        if self.said.len() == LINES_MAX {
            self.said.remove(0);
        }
        self.said.push(line.clone());
        news.push(line);
    }
}

/// Adds the command line of a task. Returns the file that it writes.
fn add_words(command: &mut Command, task: &Task) -> Option<String> {
    let (pid, name) = match task {
        Task::Capture { pid, name, frames } => {
            command.args(["start", "--app", &pid.to_string()]);
            if let Some(frames) = frames {
                command.args(["--frames", &frames.to_string()]);
            }
            (pid, name)
        }
        Task::Save { pid, name } => {
            command.args(["save", "--app", &pid.to_string()]);
            (pid, name)
        }
        Task::Stop { capture } => {
            command.args(["stop", &capture.to_string()]);
            return None;
        }
    };
    let name = if name.is_empty() { pid.to_string() } else { name.clone() };
    let file = output_file::free_name(&name);
    command.arg("-o").arg(&file);
    Some(file.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(task: &Task) -> (Vec<String>, Option<String>) {
        let mut command = Command::new("tool");
        let file = add_words(&mut command, task);
        (command.get_args().map(|word| word.to_string_lossy().into_owned()).collect(), file)
    }

    #[test]
    fn tasks_are_command_lines() {
        let name = "gears".to_owned();
        let (capture, file) =
            words(&Task::Capture { pid: 41, name: name.clone(), frames: Some(100) });
        let file = file.unwrap();
        assert!(file.starts_with("gears-") && file.ends_with(".gapii"), "{file}");
        assert_eq!(capture, ["start", "--app", "41", "--frames", "100", "-o", &file]);
        let (save, file) = words(&Task::Save { pid: 41, name });
        assert_eq!(save, ["save", "--app", "41", "-o", &file.unwrap()]);
        assert_eq!(words(&Task::Stop { capture: 3 }), (vec!["stop".into(), "3".into()], None));
    }
}
