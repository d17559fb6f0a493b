//! A child process that is spoken with in lines.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::process::{ended_within, send_signal};

/// A child that reads lines from its standard input and writes lines to its standard output. Ended when dropped.
pub struct Dialogue {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What it writes to its standard error.
    messages: File,
    /// Bytes of the output that no line was taken from, and where the next line begins.
    heard: Vec<u8>,
    begin: usize,
    /// Longest time without a word.
    limit: Duration,
}

/// The child ended or hung; how, and its last message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Died(pub String);

impl Dialogue {
    pub fn start(command: &mut Command, limit: Duration) -> Self {
        let messages = tempfile::tempfile().expect("a temporary file can be made");
        let stderr = messages.try_clone().expect("a descriptor is free");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = child.stdin.take().expect("stdin is a pipe");
        let output = child.stdout.take().expect("stdout is a pipe");
        Self { child, input, output, messages, heard: Vec::new(), begin: 0, limit }
    }

    pub fn say(&mut self, text: &str) -> Result<(), Died> {
        self.input.write_all(text.as_bytes()).map_err(|_| self.died())
    }

    /// The next line.
    pub fn hear(&mut self) -> Result<String, Died> {
        let deadline = Instant::now() + self.limit;
        let mut searched = self.begin;
        loop {
            if let Some(length) = self.heard[searched..].iter().position(|byte| *byte == b'\n') {
                let line = &self.heard[self.begin..searched + length];
                let line = String::from_utf8_lossy(line).into_owned();
                self.begin = searched + length + 1;
                return Ok(line);
            }
            self.heard.drain(..self.begin);
            (self.begin, searched) = (0, self.heard.len());
            self.read_more(deadline)?;
        }
    }

    fn read_more(&mut self, deadline: Instant) -> Result<(), Died> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(Died(format!("no word for {:?}", self.limit))),
            Err(rustix::io::Errno::INTR) => return Ok(()),
            _ => {}
        }
        let before = self.heard.len();
        self.heard.resize(before + PIECE, 0);
        let got = rustix::io::read(&self.output, &mut self.heard[before..]).unwrap_or(0);
        self.heard.truncate(before + got);
        if got == 0 { Err(self.died()) } else { Ok(()) }
    }

    /// How the child ended; it is ended if it has only closed its output.
    pub fn died(&mut self) -> Died {
        if !ended_within(self.child.id(), PATIENCE) {
            let _ = self.child.kill();
        }
        let how =
            self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        Died(match self.last_message() {
            Some(message) => format!("{how}: {message}"),
            None => how,
        })
    }

    fn last_message(&mut self) -> Option<String> {
        let mut said = Vec::new();
        self.messages.seek(SeekFrom::Start(0)).ok()?;
        self.messages.read_to_end(&mut said).ok()?;
        let said = String::from_utf8_lossy(&said);
        said.lines().rfind(|line| !line.is_empty()).map(str::to_owned)
    }

    /// Whether the child has ended, or does so within a moment.
    pub fn has_ended(&self) -> bool {
        ended_within(self.child.id(), PATIENCE)
    }
}

/// Time within which a child has to end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

impl Drop for Dialogue {
    fn drop(&mut self) {
        // A program that is killed below gapii-ctl would go on.
        send_signal(self.child.id(), Signal::TERM);
        if !ended_within(self.child.id(), PATIENCE) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
