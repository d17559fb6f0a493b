//! Recordings played by `gapii-ctl replay`.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use serde_json::Value;

use crate::gapii::{Recording, Session, Trace};
use crate::loading::offscreen;
use crate::once::once;
use crate::pictures::{Picture, read_back};
use crate::process::{Finished, run};
use crate::programs::app;
use crate::sharing::number;

/// A program of `tests/apps/`, recorded.
pub struct Recorded {
    pub trace: Trace,
    /// Folder of the pictures that the program read back itself, one per frame.
    pub frames: PathBuf,
}

impl Recorded {
    /// Pictures that the program read back itself, one per frame.
    pub fn read_back(&self) -> Vec<Picture> {
        read_back(&self.frames)
    }
}

/// Records a program of `tests/apps/` with `options` of `gapii-ctl run`. The error is a sentence for a person.
pub fn record_app(session: &Session, name: &str, options: &[&str]) -> Result<Recorded, String> {
    let folder = session.path(&format!("{name}-recorded"));
    // A program may be recorded again.
    std::fs::create_dir_all(&folder).expect("the session's folder is writable");
    record_app_in(session, &folder, name, options)?;
    Ok(recorded_in(&folder))
}

/// [`record_app`] once for all tests that ask for the same options.
pub fn record_app_once(
    session: &Session,
    name: &str,
    options: &[&str],
) -> Result<Recorded, String> {
    let what = format!("{name}-recorded{}", options.join(""));
    let folder = once(session, &what, |folder| record_app_in(session, folder, name, options))?;
    Ok(recorded_in(&folder))
}

fn recorded_in(folder: &Path) -> Recorded {
    Recorded { trace: Trace::new(folder.join("app.gapii")), frames: folder.join("frames") }
}

fn record_app_in(
    session: &Session,
    folder: &Path,
    name: &str,
    options: &[&str],
) -> Result<(), String> {
    let Recorded { trace, frames } = recorded_in(folder);
    std::fs::create_dir_all(&frames).expect("the folder is writable");
    let mut program = offscreen(&app(name), [""; 0]);
    program.env("GAPII_APP_FRAMES", &frames);
    let finished = run(&mut session.run_command(options, &trace.path, &program));
    if finished.status.success() { Ok(()) } else { Err(finished.to_string()) }
}

/// Native output of a program of `tests/apps/`, which succeeds. The error is a sentence for a person.
fn printed_by(session: &Session, name: &str) -> Result<String, String> {
    let folder = once(session, &format!("{name}-native"), |folder| {
        let native = run(&mut offscreen(&app(name), [""; 0]));
        if !native.status.success() {
            return Err(format!("natively {native}"));
        }
        std::fs::write(folder.join("stdout"), native.stdout).map_err(|error| error.to_string())
    })?;
    std::fs::read_to_string(folder.join("stdout")).map_err(|error| error.to_string())
}

/// `gapii-ctl replay FILE`, without a display.
pub fn replay(session: &Session, trace: &Path, options: &[&str]) -> Process {
    let mut replay = session.ctl(["replay"]);
    crate::display::surfaceless(&mut replay);
    replay.arg(trace).args(options);
    replay
}

/// Plays a trace and compares answers and frames. Returns the report, or a sentence about the differences. A replay that
/// found nothing equal is an error.
pub fn verified(session: &Session, trace: &Trace, options: &[&str]) -> Result<Value, String> {
    let mut replay = replay(session, &trace.path, &["--verify", "--json"]);
    let finished = run(replay.args(options));
    let report = report(&finished);
    match (finished.status.success(), report) {
        (true, Some(report)) if report["verified"]["different"] == 0 => {
            match report["verified"]["equal"].as_u64() {
                Some(1..) => Ok(report),
                _ => Err(format!("nothing was compared: {report}")),
            }
        }
        (_, report) => Err(complaints(&finished, report)),
    }
}

/// Plays a trace with observed frames; returns the number of frames that the replay drew as they were recorded.
///
/// # Panics
/// If an answer or a frame differs, or if there is nothing to compare.
#[track_caller]
pub fn verified_frames(session: &Session, trace: &Trace) -> u64 {
    let report = verified(session, trace, &[]).unwrap_or_else(|why| panic!("{why}"));
    number(&report["verified"]["frames"])
}

/// A program of `tests/apps/` whose recording was played exactly.
pub struct PlayedApp {
    /// Frames that the program draws.
    pub drawn: u64,
    /// Frames of the recording, each of which the replay drew as it was recorded.
    pub verified: u64,
    /// The recording's `info --json`.
    pub info: Value,
}

impl PlayedApp {
    /// Requires that the replay drew `expected` frames, and at least one.
    pub fn has_verified(&self, expected: u64) -> Result<(), String> {
        let Self { drawn, verified, .. } = self;
        match *verified {
            0 => Err(format!("no frame of {drawn} was verified")),
            frames if frames == expected => Ok(()),
            frames => Err(format!("{frames} frames of {drawn} were verified, not {expected}")),
        }
    }
}

/// Records a program of `tests/apps/` with observed frames and with `options` of `gapii-ctl run`, and plays the recording. The
/// program must print the same as natively, and the replay must be exact. The error is a sentence for a person.
pub fn play_app(session: &Session, name: &str, options: &[&str]) -> Result<PlayedApp, String> {
    let native = printed_by(session, name)?;
    let options = [&["--observe-frames", "1"], options].concat();
    let recording = session.record(&options, &offscreen(&app(name), [""; 0]));
    played(session, &recording, &native)
}

/// Plays a recording with observed frames of a program that printed `native` natively. The recorded program must have
/// printed the same, and the replay must be exact. The error is a sentence for a person.
pub fn played(session: &Session, recording: &Recording, native: &str) -> Result<PlayedApp, String> {
    let Recording { trace, run } = recording;
    if !run.status.success() {
        return Err(format!("recorded, {}: {}", run.status, run.stderr.trim()));
    }
    if run.stdout != native {
        let difference = first_difference(native, &run.stdout);
        return Err(format!("the program draws another picture recorded: {difference}"));
    }
    trace.verify();
    let info = trace.info();
    let report = verified(session, trace, &[])?;
    let drawn = native.lines().filter(|line| line.starts_with("frame ")).count() as u64;
    Ok(PlayedApp { drawn, verified: number(&report["verified"]["frames"]), info })
}

/// Returns the first lines that differ.
pub fn first_difference(one: &str, two: &str) -> String {
    let lines = one.lines().chain([""]).zip(two.lines().chain([""]));
    let mut different = lines.filter(|(one, two)| one != two);
    different.next().map_or(String::new(), |(one, two)| format!("{one:?}, then {two:?}"))
}

/// Calls `check` with each name; every name must pass.
#[track_caller]
pub fn all_pass(names: &[String], check: impl Fn(&str) -> Result<(), String>) {
    let failed = |name: &String| check(name).err().map(|what| format!("{name}: {what}"));
    let wrong: Vec<String> = names.iter().filter_map(failed).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), names.len(), wrong.join("\n"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_the_first_unequal_line() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), "\"b\", then \"c\"");
        assert_eq!(first_difference("a\n", "a\nc\n"), "\"\", then \"c\"");
        assert_eq!(first_difference("a\n", "a\n"), "");
    }
}
