//! The programs of `tests/apps/`, recorded and exported for apitrace's tools.

use std::path::PathBuf;

use crate::gapii::Session;
use crate::pictures::{Picture, played};
use crate::process::run;
use crate::replays::record_app;

/// A program, recorded and exported.
pub struct Exported {
    /// Trace for apitrace's tools; `None` if nothing was recorded.
    pub trace: Option<PathBuf>,
    /// Pictures that the program read back itself, one for each recorded frame.
    pub read_back: Vec<Picture>,
}

/// Records a program to its end and exports the recording. `options` are those of `gapii-ctl run`. The error is a
/// sentence for a person.
pub fn export_app(session: &Session, name: &str, options: &[&str]) -> Result<Exported, String> {
    let mut recorded = record_app(session, name, options)?;
    let info = recorded.trace.info();
    let frames = info["frames"].as_u64().expect("a number") as usize;
    let before = recorded.read_back.len().saturating_sub(frames);
    let read_back = recorded.read_back.split_off(before);
    if info["calls"] == 0 {
        return Ok(Exported { trace: None, read_back });
    }
    let trace = session.path(&format!("{name}.trace"));
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    let finished = run(export.arg(&trace).arg(&recorded.trace.path));
    match finished.status.success() {
        true => Ok(Exported { trace: Some(trace), read_back }),
        false => Err(finished.to_string()),
    }
}

/// Checks that `eglretrace` shows the recorded frames of a program as the program read them back itself. The error says
/// which frames differ.
pub fn shown_as_read_back(session: &Session, name: &str, options: &[&str]) -> Result<(), String> {
    let Exported { trace: Some(trace), read_back: expected } = export_app(session, name, options)?
    else {
        return Ok(());
    };
    let (shown, finished) = played(&trace);
    if shown.len() != expected.len() {
        let said: Vec<_> = finished.stderr.lines().take(3).collect();
        let status = finished.status;
        return Err(format!("{} frames, not {}: {status}, {said:?}", shown.len(), expected.len()));
    }
    let differing = expected.iter().zip(&shown).map(|(one, two)| one.differing(two));
    let wrong: Vec<_> = differing.enumerate().filter(|(_, pixels)| *pixels > 0).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("pixels that differ: {wrong:?}")) }
}
