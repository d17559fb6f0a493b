//! `Capture`: one capture that this client requested, from its start to its summary. A daemon that is ending the
//! capture and says nothing for `SILENCE_LIMIT`, 20 s (plus a link's grace), is given up. A second stop, more than 1 s
//! after the first, gives up waiting. If the daemon dies, the capture is continued with another one
//! (`ctl/src/comeback.rs`), or ends with exit status 3; the file holds what was written. If the daemon refuses the
//! start, a new output file is removed.
//!
//! It does not know the captured program.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use gapii_control::{Event, ExitedRequest, Request, StartRequest, StopRequest, Summary, code};

use crate::capture_answer::CaptureAnswer;
use crate::comeback::{Comeback, Revive};
use crate::connection::Connection;
use crate::crash_report;
use crate::emptiness;
use crate::emptiness::onlooker::Onlooker;
use crate::emptiness::reason::Reason;
use crate::failure::Failure;
use crate::frame_watch::FrameWatch;
use crate::json;
use crate::output_file::{OutputFile, Place};
use crate::progress::ProgressLine;
use crate::summary_line;
use crate::text;

/// Longest time without an event from a daemon that is ending a capture. A working daemon reports several times per
/// second.
const SILENCE_LIMIT: Duration = Duration::from_secs(20);
/// Longest time that `--seconds` and `--quit` wait for the program's first command; a capture of more seconds waits that long.
const FIRST_COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// A short capture waits for so many times its seconds.
const FIRST_COMMAND_FACTOR: f64 = 10.0;
/// Stop requests within this time count as one, because some senders signal a process and its process group.
const REPETITION: Duration = Duration::from_secs(1);

pub struct Capture<'a> {
    connection: Connection,
    comeback: Comeback<'a>,
    id: u64,
    /// The request that began the capture.
    request: StartRequest,
    place: Place,
    progress: ProgressLine,
    frame_watch: FrameWatch,
    asked_to_stop: Option<Instant>,
    /// The capture was ended because no command came.
    is_given_up: bool,
    deadline: Option<Instant>,
    /// How the launched program ended, once reported: its process id, and the signal that killed it, if any.
    exited: Option<(u32, Option<i32>)>,
    /// A command has been recorded.
    has_commands: bool,
}

/// How a capture ended.
#[derive(Debug)]
pub enum Outcome {
    /// The daemon completed the capture.
    Ended(Box<Summary>),
    /// The daemon died, and no other daemon continues, for this reason. The file holds what was written.
    DaemonGone(String),
    /// The daemon was asked to end the capture and does not answer.
    DaemonSilent,
}

/// The remarks about a capture that has ended.
pub struct Report {
    /// Why the result is a failure.
    pub failure: Option<Failure>,
    /// Why the trace has no command or no frame.
    pub empty: Option<Reason>,
}

impl<'a> Capture<'a> {
    /// Starts a capture into `output`. If the daemon refuses, a newly created output file is removed.
    pub fn start(
        mut connection: Connection,
        request: StartRequest,
        output: OutputFile,
    ) -> Result<Capture<'a>, Failure> {
        match connection.start(request.clone(), output.as_fd()) {
            Ok(started) => {
                // On a terminal, the line that shows the progress says it.
                if let Some(when) = request.when.as_ref().filter(|_| !io::stderr().is_terminal()) {
                    text::say(&format_args!("recording begins after {when}"));
                }
                Ok(Capture {
                    comeback: Comeback::new(
                        &connection,
                        started.capture,
                        request.clone(),
                        output.to_go_on(),
                    ),
                    connection,
                    id: started.capture,
                    request,
                    place: output.place,
                    progress: ProgressLine::start(),
                    frame_watch: FrameWatch::default(),
                    asked_to_stop: None,
                    is_given_up: false,
                    deadline: None,
                    exited: None,
                    has_commands: false,
                })
            }
            Err(failure) => {
                output.place.discard();
                Err(failure)
            }
        }
    }

    /// Number of the capture in the daemon's session.
    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Replaces the file that `--force` overwrites, if there is one: the capture has a program. If that fails, it says
    /// where the trace is.
    pub fn settle(&mut self) {
        if let Err(failure) = self.place.settle() {
            text::say(&failure);
        }
    }

    /// Declares that no other process restarts a daemon that dies.
    pub fn revive_with(&mut self, revive: Revive<'a>) {
        self.comeback.revive_with(revive);
    }

    /// Processes the daemon's events since the last call; returns the outcome once the capture has ended.
    pub fn advance(&mut self) -> Result<Option<Outcome>, Failure> {
        if self.comeback.is_away() {
            return self.look_for_daemon();
        }
        let Some(events) = self.connection.arrived()? else {
            self.comeback.begin().map_err(|error| {
                Failure::system(format!("can't wait for another daemon: {error}"))
            })?;
            return self.look_for_daemon();
        };
        let given_up = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if given_up && events.is_empty() {
            return Ok(Some(Outcome::DaemonSilent));
        }
        for event in events {
            self.heard();
            match event {
                Event::Progress(progress) if progress.capture == self.id => {
                    self.has_commands |= progress.calls > 0;
                    self.progress.show(&progress);
                    let now = Instant::now();
                    if let Some(said) = self.frame_watch.look(&progress, &self.request, now) {
                        self.progress.suspend(|| text::say(&said));
                    }
                }
                Event::Ended(ended) if ended.capture == self.id => {
                    return Ok(Some(Outcome::Ended(Box::new(ended.summary))));
                }
                // The capture had ended by itself before the daemon received the stop request.
                Event::Error(error) if error.code == code::NO_CAPTURE => {}
                Event::Error(_) => return Err(self.connection.out_of_turn(&event)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Handles a lost daemon: looks for a successor that continues the capture, and repeats pending requests to it.
    fn look_for_daemon(&mut self) -> Result<Option<Outcome>, Failure> {
        let back = match self.comeback.look() {
            None => return Ok(None),
            Some(Ok(back)) => back,
            Some(Err(why)) => return Ok(Some(Outcome::DaemonGone(why))),
        };
        let (place, after) = (&self.place, back.after);
        // The line that shows the progress is not complete.
        self.progress.suspend(|| {
            text::say(&format_args!(
                "the daemon is back after {after:.1?}; the capture continues in {place}"
            ));
        });
        (self.connection, self.id) = (back.connection, back.capture);
        if self.asked_to_stop.is_some() {
            self.expect_end();
            self.tell_to_stop();
        }
        if let Some((pid, signal)) = self.exited {
            self.program_exited(pid, signal);
        }
        Ok(None)
    }

    /// Requests the end of the capture; the outcome follows. A second request, later than the repetition limit, gives
    /// up waiting.
    pub fn stop(&mut self) -> Result<(), Failure> {
        match self.asked_to_stop {
            None => {
                self.asked_to_stop = Some(Instant::now());
                self.expect_end();
                self.tell_to_stop();
                Ok(())
            }
            Some(asked) if asked.elapsed() < REPETITION => Ok(()),
            Some(_) => Err(Failure::answer(format!(
                "gave up waiting for the end of the capture; {} may be incomplete",
                self.place
            ))),
        }
    }

    /// Ends the capture if no command has come `waited` after the program's start, and none is to be expected: its seconds
    /// run from the first process on, so that it would not end.
    pub fn give_up_if_late(&mut self, waited: Duration) {
        let is_late = time_to_first_command(&self.request).is_some_and(|limit| waited >= limit);
        if is_late && !self.has_commands && !self.is_given_up && !self.is_stopping() {
            self.is_given_up = true;
            self.expect_end();
            self.tell_to_stop();
        }
    }

    /// Whether the daemon has told of a recorded command.
    pub fn has_commands(&self) -> bool {
        self.has_commands
    }

    pub fn is_stopping(&self) -> bool {
        self.asked_to_stop.is_some()
    }

    /// Reports how the launched program ended, which only its parent knows; the outcome follows.
    pub fn program_exited(&mut self, pid: u32, signal: Option<i32>) {
        self.expect_end();
        self.exited = Some((pid, signal));
        self.comeback.hurry();
        self.tell(&Request::Exited(ExitedRequest { capture: self.id, pid: Some(pid), signal }));
    }

    /// Deadline at which a silent daemon is given up, or the next search for a successor.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.into_iter().chain(self.comeback.next()).min()
    }

    fn tell_to_stop(&mut self) {
        // Another client may have captured the same program.
        self.tell(&Request::Stop(StopRequest {
            target: self.request.target.clone(),
            capture: Some(self.id),
            name: None,
        }));
    }

    /// A send error is ignored: the lost daemon is noticed when its events are read, and its successor gets the
    /// request.
    fn tell(&mut self, request: &Request) {
        if !self.comeback.is_away() {
            let _ = self.connection.send(request);
        }
    }

    fn expect_end(&mut self) {
        self.deadline = Some(Instant::now() + SILENCE_LIMIT + self.connection.grace());
    }

    fn heard(&mut self) {
        if self.deadline.is_some() {
            self.expect_end();
        }
    }

    /// Prints the result of the capture and the missing state to standard error; with `--json` the answer has both.
    /// `onlooker` has looked at the program; if nothing was recorded, it looks once more.
    pub fn report(&self, outcome: &Outcome, onlooker: &mut Onlooker) -> Report {
        self.progress.clear();
        let mut empty = None;
        let failure = self.report_outcome(outcome, onlooker, &mut empty);
        let empty = empty.or(failure.as_ref().and_then(|failure| failure.reason));
        Report { failure, empty }
    }

    fn report_outcome(
        &self,
        outcome: &Outcome,
        onlooker: &mut Onlooker,
        empty: &mut Option<Reason>,
    ) -> Option<Failure> {
        match outcome {
            Outcome::Ended(summary) => {
                if !json::is_asked() {
                    text::say(&summary_line::text(summary, &self.place));
                    summary_line::missing(summary).for_each(|line| text::say(&line));
                }
                if summary.calls == 0 {
                    onlooker.look();
                }
                let no_frame = emptiness::why_no_frame(summary, &self.request, &self.place);
                *empty = no_frame.as_ref().map(|why| why.reason);
                let lacks = match summary.frames {
                    0 => "frame",
                    _ => "command that draws",
                };
                let no_frame =
                    no_frame.map(|why| format!("the trace has no {lacks}; {}", why.sentence));
                let only_frames = emptiness::why_only_frames(summary, &self.request);
                no_frame.into_iter().chain(only_frames).for_each(|why| text::say(&why));
                crash_report::write_if_it_died(summary, &self.place);
                summary_line::failure(summary, &self.place, &self.request, onlooker)
            }
            Outcome::DaemonGone(why) => Some(Failure::system(format!(
                "the daemon has died, and the capture ended with it, because {why}; {} holds what the daemon had written",
                self.place
            ))),
            Outcome::DaemonSilent => Some(Failure::system(format!(
                "the daemon has said nothing for {} s; {} holds what the daemon had written",
                SILENCE_LIMIT.as_secs(),
                self.place
            ))),
        }
    }
}

/// Returns how long after the program's start its first command may come; `None` if there is no limit, because nothing bounds
/// the capture's time, or because recording begins later.
fn time_to_first_command(request: &StartRequest) -> Option<Duration> {
    let seconds = request.seconds.filter(|_| request.when.is_none() && request.skip_frames == 0)?;
    let own = Duration::try_from_secs_f64(seconds).ok()?;
    let factor = Duration::try_from_secs_f64(seconds * FIRST_COMMAND_FACTOR).ok()?;
    Some(factor.min(FIRST_COMMAND_LIMIT).max(own))
}

impl Capture<'_> {
    /// Returns the failure of a capture whose program ended before the limits that were asked for.
    pub fn shortfall(&self, outcome: &Outcome) -> Option<Failure> {
        match outcome {
            Outcome::Ended(summary) if !self.is_stopping() => {
                summary_line::shortfall(summary, &self.place, &self.request)
            }
            _ => None,
        }
    }

    /// The answer of `command` about this capture in JSON.
    pub fn answer(
        &self,
        command: &str,
        outcome: Option<&Outcome>,
        empty: Option<Reason>,
        failure: Option<&Failure>,
    ) -> CaptureAnswer {
        let summary = match outcome {
            Some(Outcome::Ended(summary)) => Some(Summary::clone(summary)),
            _ => None,
        };
        let output = self.place.path().map(Path::to_owned);
        CaptureAnswer { empty, ..CaptureAnswer::new(command, output, summary, failure) }
    }
}

impl AsFd for Capture<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.comeback.quiet().unwrap_or_else(|| self.connection.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_command_may_come_late_but_not_for_ever() {
        let request = |seconds| StartRequest { seconds, ..StartRequest::default() };
        let check = |seconds: f64, expected: u64| {
            let limit = time_to_first_command(&request(Some(seconds)));
            assert_eq!(limit, Some(Duration::from_secs(expected)), "{seconds}");
        };
        check(0.5, 5);
        check(20.0, 30);
        check(100.0, 100);
        assert_eq!(time_to_first_command(&request(None)), None);
        let later = StartRequest { skip_frames: 9, ..request(Some(1.0)) };
        assert_eq!(time_to_first_command(&later), None);
    }
}
