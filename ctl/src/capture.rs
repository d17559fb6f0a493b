//! `Capture`: one capture that this client asked for, from its start to its summary.
//!
//! Follows what the daemon says. Knows nothing of the program that is captured.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use gapii_protocol::control::{
    Event, ExitedRequest, Request, StartRequest, StopRequest, Summary, Target, code,
};
use gapii_protocol::trigger::Trigger;

use crate::connection::Connection;
use crate::crash_report;
use crate::failure::Failure;
use crate::output_file::{OutputFile, Place};
use crate::progress::ProgressLine;
use crate::summary_line;
use crate::text;

/// How long a daemon that ends a capture may say nothing; while it works it reports several times
/// a second.
const SILENCE_LIMIT: Duration = Duration::from_secs(20);
/// Requests to stop that follow each other faster are one: some send a signal to a process and to
/// its group.
const REPETITION: Duration = Duration::from_secs(1);

pub struct Capture {
    connection: Connection,
    id: u64,
    target: Target,
    place: Place,
    /// What it waits for before it records.
    when: Option<Trigger>,
    progress: ProgressLine,
    asked_to_stop: Option<Instant>,
    deadline: Option<Instant>,
}

/// How a capture ended.
#[derive(Debug)]
pub enum Outcome {
    /// The daemon wrote it to its end.
    Ended(Box<Summary>),
    /// The daemon is gone; the file holds what it had written.
    DaemonGone,
    /// The daemon should have ended it, and says nothing.
    DaemonSilent,
}

impl Capture {
    /// Starts a capture into `output`; when the daemon refuses, a new output file is taken back.
    pub fn start(
        mut connection: Connection,
        request: StartRequest,
        output: OutputFile,
    ) -> Result<Capture, Failure> {
        let (target, when) = (request.target.clone(), request.when.clone());
        match connection.start(request, output.as_fd()) {
            Ok(started) => Ok(Capture {
                connection,
                id: started.capture,
                target,
                place: output.place,
                when,
                progress: ProgressLine::start(),
                asked_to_stop: None,
                deadline: None,
            }),
            Err(failure) => {
                output.place.discard();
                Err(failure)
            }
        }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Takes in what the daemon has said since; the outcome, once there is one.
    pub fn advance(&mut self) -> Result<Option<Outcome>, Failure> {
        let Some(events) = self.connection.arrived()? else {
            return Ok(Some(Outcome::DaemonGone));
        };
        let given_up = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if given_up && events.is_empty() {
            return Ok(Some(Outcome::DaemonSilent));
        }
        for event in events {
            self.heard();
            match event {
                Event::Progress(progress) if progress.capture == self.id => {
                    self.progress.show(&progress);
                }
                Event::Ended(ended) if ended.capture == self.id => {
                    return Ok(Some(Outcome::Ended(Box::new(ended.summary))));
                }
                // The capture ended by itself while our request to stop it was under way.
                Event::Error(error) if error.code == code::NO_CAPTURE => {}
                Event::Error(_) => return Err(self.connection.out_of_turn(&event)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Asks for the capture to be ended; the outcome follows. Who asks again, and does not just
    /// repeat it, does not want to wait for that.
    pub fn stop(&mut self) -> Result<(), Failure> {
        match self.asked_to_stop {
            None => {
                self.asked_to_stop = Some(Instant::now());
                self.expect_end();
                // Others may capture the same program.
                self.connection.send(&Request::Stop(StopRequest {
                    target: self.target.clone(),
                    capture: Some(self.id),
                    name: None,
                }))
            }
            Some(asked) if asked.elapsed() < REPETITION => Ok(()),
            Some(_) => Err(Failure::no(format!(
                "the capture was left before it was complete; {} may be cut",
                self.place
            ))),
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.asked_to_stop.is_some()
    }

    /// Tells how the launched program ended, which only its parent knows; the outcome follows.
    pub fn program_exited(&mut self, signal: Option<i32>) -> Result<(), Failure> {
        self.expect_end();
        self.connection.send(&Request::Exited(ExitedRequest {
            capture: self.id,
            pid: None,
            signal,
        }))
    }

    /// When a daemon that has to end the capture, and says nothing, is to be given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn expect_end(&mut self) {
        self.deadline = Some(Instant::now() + SILENCE_LIMIT + self.connection.grace());
    }

    fn heard(&mut self) {
        if self.deadline.is_some() {
            self.expect_end();
        }
    }

    /// Says what the capture came to, on standard error; the failure, if it is one.
    pub fn report(&self, outcome: &Outcome) -> Option<Failure> {
        self.progress.clear();
        match outcome {
            Outcome::Ended(summary) => {
                text::say(&summary_line::text(summary, &self.place));
                summary_line::missing(summary).for_each(|line| text::say(&line));
                if let (Some(when), 0) = (&self.when, summary.calls) {
                    text::say(&format_args!(
                        "nothing was recorded: {when} has not come, or no frame behind it"
                    ));
                }
                crash_report::write_if_it_died(summary, &self.place);
                summary_line::failure(summary, &self.place)
            }
            Outcome::DaemonGone => Some(Failure::unreachable(format!(
                "the daemon is gone; {} holds what it had written",
                self.place
            ))),
            Outcome::DaemonSilent => Some(Failure::unreachable(format!(
                "the daemon has said nothing for {} s; {} holds what it had written",
                SILENCE_LIMIT.as_secs(),
                self.place
            ))),
        }
    }
}

impl AsFd for Capture {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.as_fd()
    }
}
