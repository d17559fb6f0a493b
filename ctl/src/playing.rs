//! Replays a trace from the command line, with a progress line. Ctrl-C stops the replay, and a second one ends the
//! process at once. A filtered trace is refused; a missing driver is status 3, a trace that cannot be played status 1.
//!
//! It does not report the result.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gapii_replay::{Events, FrameEnd, Options, ReplayError, Report, SystemLoader, replay};

use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::signals::{self, Signals};
use crate::trace_file::{self, Reader, unreadable};

/// Whether Ctrl-C was pressed.
#[derive(Clone)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn is_asked(&self) -> bool {
        // Relaxed: the flag publishes no other data.
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes Ctrl-C stop the replay, and a second Ctrl-C end this process. Must be called before another thread is
/// started.
pub fn hear_stops() -> Result<Stop, Failure> {
    let signals = Signals::block()
        .map_err(|error| Failure::unreachable(format!("can't wait for signals: {error}")))?;
    Ok(Stop(signals::flag(signals)))
}

/// Replays a trace on the driver of this machine.
pub fn play(
    path: &Path,
    reader: &mut Reader,
    options: Options,
    stop: Stop,
) -> Result<Report, Failure> {
    trace_file::judge_filter(path, reader, "can't be played")?;
    let loader = SystemLoader::default();
    let commands = reader.footer().map_or(0, |footer| footer.totals.calls);
    let mut watch = Watch { progress: ReadingProgress::start(commands), stop };
    let report = replay(reader, &loader, options, &mut watch);
    watch.progress.clear();
    report.map_err(|error| match error {
        ReplayError::Io(error) => unreadable(path, &error),
        ReplayError::Library(_) | ReplayError::Memory(_) | ReplayError::Images(_) => {
            Failure::unreachable(error.to_string())
        }
        error => Failure::no(format!("{} can't be played: {error}", path.display())),
    })
}

/// Observer that shows the progress and stops on Ctrl-C.
struct Watch {
    progress: ReadingProgress,
    stop: Stop,
}

impl Events for Watch {
    fn frame(&mut self, _: &FrameEnd) {}

    fn surveyed(&mut self, done: u64, _: u64) {
        self.progress.set_surveyed(done);
    }

    fn progress(&mut self, done: u64, _: u64) {
        self.progress.set(done);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_asked()
    }
}
