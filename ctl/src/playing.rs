//! Replays a trace from the command line, with a progress line. Ctrl-C stops the replay, and a second one ends the
//! process at once; a [`ReplayGuard`] ends a replay that takes too much memory or time. A filtered or anonymised trace is refused; a
//! missing driver is status 3, a trace that cannot be played status 1.
//!
//! It does not report the result.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gapii_replay::{Events, FrameEnd, Options, ReplayError, Report, SystemLoader, replay};

use crate::args::Allowance;
use crate::ending;
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::replay_guard::{Guarded, ReplayGuard};
use crate::signals::Signals;
use crate::trace_file::{self, Reader, unreadable};

/// What stops a replay: Ctrl-C, and the end of what it may take.
#[derive(Clone)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// `None` for a command without the flags.
    allowance: Option<Allowance>,
}

impl Stop {
    /// Whether Ctrl-C was pressed.
    pub fn is_asked(&self) -> bool {
        // Relaxed: the flag publishes no other data.
        self.asked.load(Ordering::Relaxed)
    }

    /// Lets each replay take what the command line allows.
    pub fn within(self, allowance: &Allowance) -> Stop {
        Stop { allowance: Some(allowance.clone()), ..self }
    }
}

/// Makes Ctrl-C stop the replay, and a second Ctrl-C end this process. Must be called before another thread is
/// started.
pub fn hear_stops() -> Result<Stop, Failure> {
    let asked = Signals::block()
        .and_then(ending::flag)
        .map_err(|error| Failure::system(format!("can't wait for signals: {error}")))?;
    Ok(Stop { asked, allowance: None })
}

/// Replays a trace on the driver of this machine.
pub fn play(
    path: &Path,
    reader: &mut Reader,
    options: Options,
    stop: Stop,
) -> Result<Report, Failure> {
    trace_file::judge_filter(path, reader, "can't be played")?;
    trace_file::judge_contents(path, reader, "can't be played")?;
    let loader = SystemLoader::default();
    let commands = reader.footer().map_or(0, |footer| footer.totals.calls);
    let guard = ReplayGuard::start(path, stop.allowance.as_ref())?;
    let progress = ReadingProgress::start(commands);
    let mut watch = Watch { progress, stop, guarded: guard.guarded() };
    let report = replay(reader, &loader, options, &mut watch);
    watch.progress.clear();
    // A replay that is complete may have taken too much with its last commands.
    let is_complete = report.as_ref().is_ok_and(|report| !report.cancelled);
    if let Some(failure) = guard.end().filter(|_| !is_complete && !watch.stop.is_asked()) {
        return Err(failure);
    }
    report.map_err(|error| match error {
        ReplayError::Io(error) => unreadable(path, &error),
        ReplayError::Memory(_) => Failure::unreachable(format!(
            "{error}; `ulimit -v unlimited` lifts the limit of a shell"
        )),
        ReplayError::Library(_) | ReplayError::Images(_) => Failure::system(error.to_string()),
        error => Failure::answer(format!("{} can't be played: {error}", path.display())),
    })
}

/// Observer that shows the progress, and stops on Ctrl-C and at the end of what the replay may take.
struct Watch {
    progress: ReadingProgress,
    stop: Stop,
    guarded: Guarded,
}

impl Events for Watch {
    fn frame(&mut self, _: &FrameEnd) {
        self.guarded.note_frame();
    }

    fn surveyed(&mut self, done: u64, _: u64) {
        self.progress.set_surveyed(done);
    }

    fn progress(&mut self, done: u64, _: u64) {
        self.progress.set(done);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_asked() || self.guarded.is_exceeded()
    }
}
