//! Captures that are running: at most one per daemon.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gapii_control::{Event, Request, StartRequest, StopRequest, Target, code};

use crate::client::Client;

/// Longest time until a capture has its first command.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// Time between two questions.
const INTERVAL: Duration = Duration::from_millis(2);
/// A capture that has got nothing for so long gets nothing more of a program that rests: three times the longest sleep
/// of the daemon's drain while a process records.
const QUIET: Duration = Duration::from_millis(60);

/// The connections to daemons, and the number of each one's capture.
#[derive(Default)]
pub struct Captures(HashMap<PathBuf, Running>);

struct Running {
    client: Client,
    capture: Option<u64>,
}

impl Captures {
    /// Begins a capture, and waits until it has a command.
    pub fn start(&mut self, socket: &str, file: &Path) -> Result<(), String> {
        let output = File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let running = match self.0.entry(socket.into()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let client = Client::connect(Path::new(socket))?;
                new.insert(Running { client, capture: None })
            }
        };
        let began = Instant::now();
        let capture = loop {
            let request = StartRequest { target: Target::Only, ..StartRequest::default() };
            running.client.say_with(&Request::Start(request), output.as_fd())?;
            match running.client.hear()? {
                Event::Started(started) => break started.capture,
                // A program that was started just now may not have connected yet.
                Event::Error(error)
                    if error.code == code::NO_APP && began.elapsed() < BEGIN_LIMIT =>
                {
                    std::thread::park_timeout(INTERVAL);
                }
                other => return Err(format!("not started: {other:?}")),
            }
        };
        running.capture = Some(capture);
        while running.commands()? == 0 {
            if began.elapsed() >= BEGIN_LIMIT {
                return Err(format!("the capture has no command after {BEGIN_LIMIT:?}"));
            }
            std::thread::park_timeout(INTERVAL);
        }
        Ok(())
    }

    /// Waits until the capture gets no more commands.
    pub fn settle(&mut self, socket: &str) -> Result<(), String> {
        let running = self.running(socket)?;
        let (mut before, mut since) = (running.commands()?, Instant::now());
        while since.elapsed() < QUIET {
            std::thread::park_timeout(INTERVAL);
            let now = running.commands()?;
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    /// Ends the capture, and waits until its file is complete.
    pub fn stop(&mut self, socket: &str) -> Result<(), String> {
        let running = self.running(socket)?;
        let capture = running.capture.take().ok_or("nothing is captured")?;
        let stop = StopRequest { target: Target::All, capture: Some(capture), name: None };
        running.client.say(&Request::Stop(stop))?;
        let (mut is_answered, mut has_ended) = (false, false);
        while !(is_answered && has_ended) {
            match running.client.hear()? {
                Event::Stopped(_) => is_answered = true,
                Event::Ended(ended) if ended.capture == capture => has_ended = true,
                // It has ended by itself.
                Event::Error(error) if error.code == code::NO_CAPTURE => is_answered = true,
                Event::Progress(_) => {}
                other => return Err(format!("not stopped: {other:?}")),
            }
        }
        Ok(())
    }

    fn running(&mut self, socket: &str) -> Result<&mut Running, String> {
        self.0.get_mut(Path::new(socket)).ok_or_else(|| format!("nothing was started at {socket}"))
    }
}

impl Running {
    /// Commands that the capture has.
    fn commands(&mut self) -> Result<u64, String> {
        let status = self.client.status()?;
        let mine = status.captures.iter().find(|known| Some(known.capture) == self.capture);
        Ok(mine.ok_or("the capture has ended by itself")?.progress.calls)
    }
}
