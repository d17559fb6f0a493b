//! `Watch`: waits for a program and its capture until both have ended. A stop request ends the capture first; then the
//! program gets the signal, unless the terminal has sent it already. A second request more than 1 s later gives the
//! capture up. Neither ends the other, except with `--quit`: a capture that is complete, or that cannot go on, sends
//! SIGTERM to the program and its descendants, and SIGKILL after `QUIT_DEADLINE`, 5 s. Without `--quit` a capture that
//! breaks is dropped, and the program continues.
//!
//! The capture is completed after its program.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::capture::{Capture, Outcome, Report};
use crate::capture_answer::{CaptureAnswer, StatusOf};
use crate::emptiness::onlooker::Onlooker;
use crate::failure::{Failure, RUN};
use crate::family::Family;
use crate::frame_times::Slowdown;
use crate::held::Held;
use crate::json;
use crate::keeping::Keeping;
use crate::measuring::Measuring;
use crate::program::{self, Program};
use crate::signals::{self, Signals};
use crate::summary_line;
use crate::text;
use crate::wait;

/// Time that a program has to end after SIGTERM.
const QUIT_DEADLINE: Duration = Duration::from_secs(5);

pub struct Watch<'a> {
    program: Program,
    /// `None` once the capture has ended.
    capture: Option<Capture<'a>>,
    /// The keeping of the program's last frames, if requested; the caller ends it.
    keeping: Option<Keeping>,
    /// The measurement that begins the capture, if requested.
    measuring: Option<Measuring<'a>>,
    /// The program's processes that wait for another client's capture, until they are let go.
    held: Option<Held>,
    signals: &'a Signals,
    began: Instant,
    quit: bool,
    quitting: Quitting,
    /// Descendants of the program that end with it.
    family: Family,
    /// Exit status if `--quit` ends the program: 0 after a complete capture.
    quit_status: u8,
    /// The capture's answer, once it has ended.
    answer: Option<CaptureAnswer>,
    /// The slowdown that `--measure` found, once the capture has ended.
    slowdown: Option<Slowdown>,
    /// Looks at the program while no command of it is recorded.
    onlooker: Onlooker,
    /// Signals to pass to the program once its capture has ended.
    pass_on: Vec<Signal>,
    /// The command whose failures these are.
    command: &'static str,
}

/// How a program and its capture ended.
pub struct Ended {
    pub pid: u32,
    pub exit: ExitStatus,
    /// Exit status of this command ([`Watch::until_the_end`]).
    pub status: u8,
    pub status_of: StatusOf,
    /// The capture; `None` if there was none.
    pub capture: Option<CaptureAnswer>,
    /// `None` unless it was measured.
    pub slowdown: Option<Slowdown>,
}

/// Progress of `--quit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quitting {
    No,
    /// The program got SIGTERM and has until this time.
    Asked(Instant),
    Killed,
}

impl<'a> Watch<'a> {
    /// With `quit`, the program is ended once its capture is complete.
    pub fn new(
        program: Program,
        capture: Option<Capture<'a>>,
        signals: &'a Signals,
        quit: bool,
    ) -> Watch<'a> {
        let onlooker = Onlooker::of_program(program.pid(), program.name());
        Watch {
            onlooker,
            program,
            capture,
            keeping: None,
            measuring: None,
            held: None,
            signals,
            began: Instant::now(),
            quit,
            quitting: Quitting::No,
            family: Family::default(),
            quit_status: 0,
            answer: None,
            slowdown: None,
            pass_on: Vec::new(),
            command: RUN,
        }
    }

    /// Waits on behalf of `command`, which has a program play a part of its own.
    pub fn of_command(self, command: &'static str) -> Watch<'a> {
        Watch { command, ..self }
    }

    /// Waits for a program whose last frames are kept, without a capture.
    pub fn keeping(program: Program, keeping: Keeping, signals: &'a Signals) -> Watch<'a> {
        Watch { keeping: Some(keeping), ..Watch::new(program, None, signals, false) }
    }

    /// Waits for a program whose capture begins once it is measured. With `quit`, the program is ended once its capture is
    /// complete.
    pub fn measuring(
        program: Program,
        measuring: Measuring<'a>,
        signals: &'a Signals,
        quit: bool,
    ) -> Watch<'a> {
        Watch { measuring: Some(measuring), ..Watch::new(program, None, signals, quit) }
    }

    /// Waits for a program that another client may capture from its first command.
    pub fn holding(program: Program, held: Held, signals: &'a Signals) -> Watch<'a> {
        Watch { held: Some(held), ..Watch::new(program, None, signals, false) }
    }

    /// Returns how the program and its capture ended. The exit status is the program's, unless `--quit` ended it. A
    /// program that succeeded does not make a capture a success that is not what was asked for.
    pub fn until_the_end(mut self) -> Result<Ended, Failure> {
        let exit = self.follow()?;
        let failed = self.answer.as_ref().and_then(|answer| answer.error.as_ref());
        let (status, status_of) = match self.quitting {
            Quitting::No => program::status_beside(exit, failed.map(|problem| problem.status)),
            Quitting::Asked(_) | Quitting::Killed => (self.quit_status, StatusOf::Capture),
        };
        let (pid, capture, slowdown) = (self.program.pid(), self.answer, self.slowdown);
        Ok(Ended { pid, exit, status, status_of, capture, slowdown })
    }

    /// Returns how the program ended, and the connection that keeps its last frames, unless the daemon is gone.
    pub fn until_the_program_ends(mut self) -> Result<(ExitStatus, Option<Keeping>), Failure> {
        Ok((self.follow()?, self.keeping))
    }

    fn follow(&mut self) -> Result<ExitStatus, Failure> {
        let mut exited: Option<ExitStatus> = None;
        loop {
            // Events that arrived together with an answer are buffered already, so the socket does not become
            // readable for them.
            if let Some(capture) = self.capture.as_mut().filter(|_| self.quit) {
                capture.give_up_if_late(self.began.elapsed());
            }
            self.advance_capture(exited.is_some());
            self.advance_measuring(exited.is_some());
            self.advance_quitting();
            if self.looks_on() {
                self.onlooker.look_if_due();
            }
            if let (Some(status), None) = (exited, &self.capture)
                && self.family.has_ended()
            {
                return Ok(status);
            }
            self.wait(exited.is_some())?;
            if self.keeping.as_mut().is_some_and(|keeping| !keeping.advance()) {
                self.keeping = None;
            }
            while let Some(request) = self.signals.next() {
                self.asked_to_stop(request);
            }
            if exited.is_none() {
                exited = self.program.ended()?;
                if let Some(status) = exited {
                    self.tell_exit(status);
                }
            }
        }
    }

    /// Waits until something happens.
    fn wait(&self, program_ended: bool) -> Result<(), Failure> {
        let mut watched = vec![PollFd::new(self.signals, PollFlags::IN)];
        if !program_ended {
            watched.push(PollFd::new(&self.program, PollFlags::IN));
        }
        if let Some(capture) = &self.capture {
            watched.push(PollFd::new(capture, PollFlags::IN));
        }
        if let Some(keeping) = &self.keeping {
            watched.push(PollFd::new(keeping, PollFlags::IN));
        }
        watched.extend(self.family.watched());
        let quitting = match self.quitting {
            Quitting::Asked(deadline) => Some(deadline),
            Quitting::No | Quitting::Killed => None,
        };
        let ending = self.capture.as_ref().and_then(Capture::deadline);
        let measuring = self.measuring.as_ref().and_then(Measuring::next);
        let looking = (!program_ended && self.looks_on()).then(|| self.onlooker.next());
        let deadline = quitting.into_iter().chain(ending).chain(measuring).chain(looking).min();
        wait::until_ready(&mut watched, deadline)
            .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        Ok(())
    }

    /// Whether a capture runs in which no command has come.
    fn looks_on(&self) -> bool {
        self.capture.as_ref().is_some_and(|capture| !capture.has_commands())
    }

    /// Handles a stop request: the capture ends first. Then the program gets the signal, unless the terminal has sent
    /// it to the program already. A program that is held could not act on the signal, so it is let go.
    fn asked_to_stop(&mut self, request: signals::Request) {
        if request.by_kill {
            self.pass_on.push(request.signal);
        }
        self.give_up_planned("it was stopped before recording began");
        match self.capture.as_mut().map(Capture::stop) {
            Some(Ok(())) => {}
            Some(Err(failure)) => self.capture_broke(&failure),
            None => self.pass_signals_on(),
        }
        // Behind the signal, which would otherwise find a program that has made commands, or has ended.
        if let Some(held) = self.held.take() {
            held.let_go();
        }
    }

    fn tell_exit(&mut self, status: ExitStatus) {
        self.onlooker.ended(status);
        if let Some(capture) = &mut self.capture {
            capture.program_exited(self.program.pid(), status.signal());
        }
    }

    fn advance_capture(&mut self, program_ended: bool) {
        let outcome = match self.capture.as_mut().map(Capture::advance) {
            None | Some(Ok(None)) => return,
            Some(Ok(Some(outcome))) => outcome,
            Some(Err(failure)) => return self.capture_broke(&failure),
        };
        let Some(capture) = self.capture.take() else { return };
        let short = || self.quit.then(|| capture.shortfall(&outcome)).flatten();
        let Report { failure, empty } = capture.report(&outcome, &mut self.onlooker);
        let failure = failure.or_else(short);
        if let Some(failure) = &failure {
            text::say_failure(self.command, failure);
        }
        self.answer = Some(capture.answer(self.command, Some(&outcome), empty, failure.as_ref()));
        self.tell_slowdown();
        if let Outcome::Ended(summary) = &outcome
            && !capture.is_stopping()
            && !program_ended
            && (summary_line::is_complete(summary) || summary.error.is_some())
        {
            self.end_program(failure.as_ref());
        }
        self.pass_signals_on();
    }

    /// Drops a capture that failed; the program continues, unless it was to end with the capture.
    fn capture_broke(&mut self, failure: &Failure) {
        text::say_failure(self.command, failure);
        let broken = self.capture.take();
        let answer = |capture: &Capture| capture.answer(self.command, None, None, Some(failure));
        self.answer = broken.as_ref().map(answer);
        self.tell_slowdown();
        if broken.is_some_and(|capture| !capture.is_stopping()) {
            self.end_program(Some(failure));
        }
        self.pass_signals_on();
    }

    /// Begins the capture once enough is known about the program without it.
    fn advance_measuring(&mut self, program_ended: bool) {
        if program_ended {
            self.give_up_planned(
                "the program ended before recording began; measure it for a shorter time with --measure=S, or leave out \
                 --measure",
            );
        }
        let running = self.capture.as_ref().map(Capture::id);
        match self.measuring.as_mut().and_then(|measuring| measuring.advance(running)) {
            None => {}
            Some(Ok(mut capture)) => {
                capture.settle();
                self.capture = Some(capture);
            }
            Some(Err(failure)) => {
                self.never_began(&failure);
                self.end_program(Some(&failure));
            }
        }
    }

    /// Gives the capture up that has not begun, if there is one.
    fn give_up_planned(&mut self, why: &str) {
        if self.measuring.as_mut().is_some_and(Measuring::give_up) {
            self.never_began(&Failure::answer(format!("nothing was recorded: {why}")));
        }
    }

    /// Reports that the capture did not begin.
    fn never_began(&mut self, failure: &Failure) {
        text::say_failure(self.command, failure);
        self.answer = Some(CaptureAnswer::new(self.command, None, None, Some(failure)));
        let measured = self.measuring.take().map(Measuring::result);
        self.slowdown = measured.map(|it| it.unknown("recording did not begin".to_owned()));
    }

    /// Says what was measured; with `--json` the answer has it.
    fn tell_slowdown(&mut self) {
        self.slowdown = self.measuring.take().map(Measuring::result);
        if let Some(slowdown) = self.slowdown.as_ref().filter(|_| !json::is_asked()) {
            text::say(slowdown);
        }
    }

    /// Asks the program and its descendants to end, if `--quit` was given. `failure` is that of the capture.
    fn end_program(&mut self, failure: Option<&Failure>) {
        if self.quit && self.quitting == Quitting::No {
            self.family = Family::of(self.program.pid());
            self.family.signal(Signal::TERM);
            self.program.signal(Signal::TERM);
            self.quitting = Quitting::Asked(Instant::now() + QUIT_DEADLINE);
            self.quit_status = failure.map_or(0, |failure| failure.status_of(self.command));
        }
    }

    fn pass_signals_on(&mut self) {
        for signal in self.pass_on.drain(..) {
            self.program.signal(signal);
        }
    }

    fn advance_quitting(&mut self) {
        if let Quitting::Asked(deadline) = self.quitting
            && Instant::now() >= deadline
        {
            self.family.signal(Signal::KILL);
            self.program.signal(Signal::KILL);
            self.quitting = Quitting::Killed;
        }
    }
}
