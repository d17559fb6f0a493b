//! The programs of `tests/apps/`, recorded and exported for apitrace's tools.

use std::path::PathBuf;

use crate::gapii::Session;
use crate::once::once;
use crate::pictures::{Picture, played};
use crate::process::run;
use crate::replays::record_app_once;

/// A program, recorded and exported.
pub struct Exported {
    /// Trace for apitrace's tools.
    pub trace: PathBuf,
    /// Pictures that the program read back itself, one for each recorded frame; at least one.
    pub read_back: Vec<Picture>,
}

/// Records a program to its end and exports the recording, once for all tests. The recording must have a frame. `options`
/// are those of `gapii-ctl run`. The error is a sentence for a person.
pub fn export_app(session: &Session, name: &str, options: &[&str]) -> Result<Exported, String> {
    let recorded = record_app_once(session, name, options)?;
    let info = recorded.trace.info();
    let frames = info["frames"].as_u64().expect("a number") as usize;
    let mut read_back = recorded.read_back();
    let drawn = read_back.len();
    if !(1..=drawn).contains(&frames) {
        return Err(format!("{frames} frames of {drawn} were recorded"));
    }
    let what = format!("{name}-exported{}", options.join(""));
    let exported = once(session, &what, |folder| {
        let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
        let finished = run(export.arg(folder.join("app.trace")).arg(&recorded.trace.path));
        if finished.status.success() { Ok(()) } else { Err(finished.to_string()) }
    })?;
    let read_back = read_back.split_off(drawn - frames);
    Ok(Exported { trace: exported.join("app.trace"), read_back })
}

/// Checks that `eglretrace` shows the recorded frames of a program as the program read them back itself. Returns their
/// number; the error says which frames differ.
pub fn shown_as_read_back(session: &Session, name: &str, options: &[&str]) -> Result<u64, String> {
    let Exported { trace, read_back: expected } = export_app(session, name, options)?;
    let (shown, finished) = played(&trace);
    if shown.len() != expected.len() {
        let said: Vec<_> = finished.stderr.lines().take(3).collect();
        let status = finished.status;
        return Err(format!("{} frames, not {}: {status}, {said:?}", shown.len(), expected.len()));
    }
    let differing = expected.iter().zip(&shown).map(|(one, two)| one.differing(two));
    let wrong: Vec<_> = differing.enumerate().filter(|(_, pixels)| *pixels > 0).collect();
    match wrong.is_empty() {
        true => Ok(shown.len() as u64),
        false => Err(format!("pixels that differ: {wrong:?}")),
    }
}
