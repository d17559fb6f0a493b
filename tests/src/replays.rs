//! Recordings played by `gapii-ctl replay`.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use serde_json::Value;

use crate::gapii::{Session, Trace};
use crate::loading::offscreen;
use crate::pictures::{Picture, read_back};
use crate::process::{Finished, run};
use crate::programs::app;

/// A program of `tests/apps/`, recorded.
pub struct Recorded {
    pub trace: Trace,
    /// Pictures that the program read back itself, one per frame.
    pub read_back: Vec<Picture>,
}

/// Records a program of `tests/apps/` with `options` of `gapii-ctl run`. The error is a sentence for a person.
pub fn record_app(session: &Session, name: &str, options: &[&str]) -> Result<Recorded, String> {
    let frames = session.path(&format!("{name}-frames"));
    std::fs::create_dir_all(&frames).expect("the session's folder is writable");
    let mut program = offscreen(&app(name), [""; 0]);
    let recording = session.record(options, program.env("GAPII_APP_FRAMES", &frames));
    match recording.run.status.success() {
        true => Ok(Recorded { trace: recording.trace, read_back: read_back(&frames) }),
        false => Err(recording.run.to_string()),
    }
}

/// `gapii-ctl replay FILE`, without a display.
pub fn replay(session: &Session, trace: &Path, options: &[&str]) -> Process {
    let mut replay = session.ctl(["replay"]);
    crate::display::surfaceless(&mut replay);
    replay.arg(trace).args(options);
    replay
}

/// Plays a trace and compares answers and frames. Returns the report, or a sentence about the differences.
pub fn verified(session: &Session, trace: &Trace, options: &[&str]) -> Result<Value, String> {
    let mut replay = replay(session, &trace.path, &["--verify", "--json"]);
    let finished = run(replay.args(options));
    let report = report(&finished);
    match (finished.status.success(), report) {
        (true, Some(report)) if report["verified"]["different"] == 0 => Ok(report),
        (_, report) => Err(complaints(&finished, report)),
    }
}

fn report(finished: &Finished) -> Option<Value> {
    serde_json::from_str(&finished.stdout).ok()
}

/// The first skipped commands and differences of a report, one per line.
fn complaints(finished: &Finished, report: Option<Value>) -> String {
    let report = report.unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let all = list(&report["skips"]).into_iter().chain(list(&report["verified"]["differences"]));
    let lines: Vec<_> = all.take(4).map(|line| line.to_string()).collect();
    format!("{}: {}\n  {}", finished.status, finished.stderr.trim(), lines.join("\n  "))
}

/// Plays a trace and returns its frames as PNG files, sorted by name.
pub fn images(session: &Session, trace: &Path, name: &str) -> Result<Vec<PathBuf>, String> {
    let folder = session.path(name);
    let finished = run(replay(session, trace, &[]).arg("--images").arg(&folder));
    if !finished.status.success() {
        return Err(finished.to_string());
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    Ok(paths)
}
