//! `Keeping`: the last frames of a launched program, kept in a daemon's memory until they are saved. Prints how long the
//! first keyframe held the program, and each that held it at least twice as long as all that were printed. If the daemon
//! dies, the frames are lost, which is printed; the program goes on. A failed save removes a newly created file. That
//! the program died is no failure here.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use gapii_control::{
    Event, ExitedRequest, Held, Request, SaveRequest, Saved, StartRequest, Target,
};

use crate::capture_answer::SavedAnswer;
use crate::connection::Connection;
use crate::crash_report;
use crate::emptiness::onlooker::Onlooker;
use crate::failure::Failure;
use crate::json;
use crate::output_file::{OutputFile, Place};
use crate::summary_line;
use crate::text::{self, counted};

/// Said when the daemon has died.
pub const LOST: &str = "the daemon has died, and the kept frames are lost";

pub struct Keeping {
    connection: Connection,
    target: Target,
    longest: Longest,
}

/// The longest hold that was printed, in microseconds.
#[derive(Default)]
struct Longest(u64);

impl Keeping {
    /// Requests that the daemon keeps the target's last frames.
    pub fn start(mut connection: Connection, request: StartRequest) -> Result<Keeping, Failure> {
        connection.must_keep()?;
        let target = request.target.clone();
        match connection.ask(&Request::Start(request))? {
            Event::Started(_) => Ok(Keeping { connection, target, longest: Longest::default() }),
            other => Err(connection.out_of_turn(&other)),
        }
    }

    /// Prints long holds of the program for keyframes since the last call. Returns false if the daemon, and with
    /// it the kept frames, is gone.
    pub fn advance(&mut self) -> bool {
        let Ok(Some(events)) = self.connection.arrived() else {
            text::say(&LOST);
            return false;
        };
        for event in events {
            if let Event::Held(held) = event {
                self.longest.say(&held);
            }
        }
        true
    }

    /// Reports how the program ended, which only its parent knows.
    pub fn program_ended(&mut self, pid: u32, status: ExitStatus) -> Result<(), Failure> {
        let exited = ExitedRequest { capture: 0, pid: Some(pid), signal: status.signal() };
        self.connection.tell_exit(exited, |held| self.longest.say(held))
    }

    /// Requests that all kept frames are written.
    pub fn save(mut self, output: OutputFile) -> Result<SavedAnswer, Failure> {
        let request = SaveRequest { target: self.target.clone(), last: None };
        save(&mut self.connection, request, output)
    }
}

impl AsFd for Keeping {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.as_fd()
    }
}

impl Longest {
    /// Whether a hold is at least twice as long as all before that were news.
    fn is_news(&mut self, held_us: u64) -> bool {
        let is_news = held_us >= self.0.saturating_mul(2);
        if is_news {
            self.0 = held_us;
        }
        is_news
    }

    /// Prints a hold that is at least twice as long as all that were printed.
    fn say(&mut self, held: &Held) {
        if !self.is_news(held.held_us) {
            return;
        }
        text::say(&format_args!(
            "keyframe after {} of process {}: held {:.1?}",
            counted(held.frames, "frame"),
            held.pid,
            Duration::from_micros(held.held_us)
        ));
    }
}

/// Saves kept frames and prints a summary to standard error; with `--json` the answer has it. A newly created file that
/// stays empty is removed.
pub fn save(
    connection: &mut Connection,
    request: SaveRequest,
    mut output: OutputFile,
) -> Result<SavedAnswer, Failure> {
    let (wanted_frames, mut longest) = (request.last, Longest::default());
    let saved = connection
        .save(request, output.as_fd(), |held| longest.say(held))
        .inspect_err(|_| output.place.discard())?;
    output.place.settle()?;
    if !json::is_asked() {
        text::say(&describe(&saved, &output.place));
    }
    if let Some(wanted) = wanted_frames.filter(|wanted| *wanted > saved.summary.frames) {
        let kept = counted(saved.summary.frames, "frame");
        text::say(&format_args!("`--last {wanted}` found no more than {kept}"));
    }
    crash_report::write_if_it_died(&saved.summary, &output.place);
    // That the program died without ending its capture is no failure here: keeping frames is meant for that case.
    let (request, onlooker) = (StartRequest::default(), Onlooker::of_process(saved.pid));
    let failure = summary_line::failure(&saved.summary, &output.place, &request, &onlooker);
    if let Some(failure) = failure.filter(|_| saved.summary.error.is_some()) {
        return Err(failure);
    }
    let Saved { pid, name, first_frame, summary } = saved;
    let output = output.place.path().map(Path::to_owned);
    Ok(SavedAnswer {
        pid,
        name: name.raw().to_owned(),
        first_frame,
        wanted_frames,
        output,
        summary,
    })
}

fn describe(saved: &Saved, place: &Place) -> String {
    let summary = summary_line::text(&saved.summary, place);
    let Saved { pid, name, first_frame, .. } = saved;
    format!("{name} (process {pid}) from frame {first_frame} on: {summary}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_hold_and_those_twice_as_long_are_said_and_not_every_keyframe() {
        let mut longest = Longest::default();
        let held = [900, 1000, 1799, 1800, 3599, 100, 3600, u64::MAX, 5];
        let said: Vec<_> = held.into_iter().filter(|us| longest.is_news(*us)).collect();
        assert_eq!(said, [900, 1800, 3600, u64::MAX]);
    }
}
