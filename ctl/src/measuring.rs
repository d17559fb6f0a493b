//! `Measuring`: `run --measure`. Counts the program's frames unrecorded, then begins the capture and counts on. Asks the
//! daemon for its status every 100 ms (`PERIOD`), and in the first second of a capture, which may be short, every 25 ms
//! (`SHORT_PERIOD`); the reports of the status page are 250 ms apart. A program that ends no frame is recorded from 30 s
//! (`PATIENCE`) after the measured time on, without a result; so is one whose daemon does not answer.
//!
//! Counts the program and its descendants alone.

use std::time::{Duration, Instant};

use gapii_control::{AppInfo, CaptureInfo, Event, Request, StatusInfo};

use crate::capture::Capture;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::family;
use crate::frame_times::{FrameTimes, Slowdown};
use crate::planned::Planned;

/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(100);
/// Time between two looks at a capture that has just begun.
const SHORT_PERIOD: Duration = Duration::from_millis(25);
/// Number of these looks.
const SHORT_PERIODS: u32 = 40;
/// Time that a program has, beyond the time to measure, to begin with its frames.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Measuring<'a> {
    /// The capture, until it begins.
    planned: Option<Planned<'a>>,
    connection: Connection,
    /// Process id of the program.
    program: u32,
    /// Time to measure before the capture begins.
    time: Duration,
    /// When the capture begins at the latest.
    latest: Instant,
    next: Instant,
    /// Looks since the capture began.
    looks: u32,
    /// Frames of a process after which the capture ends.
    frames: Option<u64>,
    times: FrameTimes,
    /// Why the daemon can't be looked at any more.
    lost: Option<String>,
}

impl<'a> Measuring<'a> {
    /// Measures `program` for `time`, and then lets the capture begin.
    pub fn new(
        planned: Planned<'a>,
        connection: Connection,
        program: u32,
        time: Duration,
    ) -> Measuring<'a> {
        let (now, frames) = (Instant::now(), planned.request.frames);
        Measuring {
            planned: Some(planned),
            connection,
            program,
            time,
            latest: now + time + PATIENCE,
            next: now,
            looks: 0,
            frames,
            times: FrameTimes::default(),
            lost: None,
        }
    }

    /// Time of the next look.
    pub fn next(&self) -> Option<Instant> {
        (self.planned.is_some() || self.lost.is_none()).then_some(self.next)
    }

    /// Looks at the daemon, if it is time for that. Returns the capture, or why it can't begin, once enough is known
    /// about the program without it. `capture` is the number of the capture that runs.
    pub fn advance(&mut self, capture: Option<u64>) -> Option<Result<Capture<'a>, Failure>> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.looks += u32::from(capture.is_some());
        let is_short = capture.is_some() && self.looks <= SHORT_PERIODS;
        self.next = now + if is_short { SHORT_PERIOD } else { PERIOD };
        if self.lost.is_none() {
            match self.ask() {
                Ok(status) => self.count(&status, capture),
                Err(failure) => self.lost = Some(failure.sentence),
            }
        }
        let is_over = self.times.are_known(self.time) || self.lost.is_some() || now >= self.latest;
        let planned = self.planned.take_if(|_| is_over)?;
        Some(planned.begin())
    }

    fn ask(&mut self) -> Result<StatusInfo, Failure> {
        match self.connection.ask(&Request::Status)? {
            Event::Status(status) => Ok(status),
            other => Err(self.connection.out_of_turn(&other)),
        }
    }

    fn count(&mut self, status: &StatusInfo, capture: Option<u64>) {
        let program = self.program;
        let apps = status.apps.iter().filter(|app: &&AppInfo| family::is_of(app.pid, program));
        if self.planned.is_some() {
            return self.times.look_before(apps);
        }
        let running = status.captures.iter().find(|running| Some(running.capture) == capture);
        if running.is_some_and(|running| records(running, self.frames)) {
            self.times.look_during(apps);
        }
    }

    /// Gives the capture up that has not begun; returns false if there is none.
    pub fn give_up(&mut self) -> bool {
        self.planned.take().map(Planned::give_up).is_some()
    }

    /// Returns what was measured.
    pub fn result(self) -> Slowdown {
        let slowdown = self.times.compare();
        match (self.lost, slowdown.factor) {
            (Some(why), None) => slowdown.unknown(why),
            _ => slowdown,
        }
    }
}

/// Whether a capture records all that a program does: not before its first frame, which comes behind the snapshot, not
/// while it is paused, and not behind its last frame, of those that were asked for.
fn records(CaptureInfo { progress, .. }: &CaptureInfo, frames: Option<u64>) -> bool {
    let has_begun = progress.frames > 0 && !progress.is_waiting && !progress.is_paused;
    has_begun && frames.is_none_or(|frames| progress.frames < frames)
}

#[cfg(test)]
mod tests {
    use gapii_control::Progress;

    use super::*;

    #[test]
    fn frames_count_from_the_first_recorded_one_to_the_last() {
        let check = |progress: Progress, expected| {
            let running = CaptureInfo { progress, ..CaptureInfo::default() };
            assert_eq!(records(&running, Some(100)), expected, "{running:?}");
        };
        let of = |frames| Progress { frames, ..Progress::default() };
        check(of(0), false);
        check(of(1), true);
        check(of(99), true);
        check(of(100), false);
        check(Progress { is_paused: true, ..of(5) }, false);
        check(Progress { is_waiting: true, ..of(5) }, false);
    }
}
