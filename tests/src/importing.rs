//! Recordings of apitrace, imported.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::gapii::{Session, Trace};
use crate::loading::offscreen;
use crate::once::once;
use crate::pictures::Picture;
use crate::process::run;
use crate::programs::app;
use crate::{apitrace, replays};

/// Imports a recording into a new trace of the session, which `gapii-ctl verify` finds whole. Returns it, and what `import
/// --json` says.
#[track_caller]
pub fn import(session: &Session, recording: &Path, name: &str) -> (Trace, Value) {
    let trace = Trace::new(session.path(&format!("{name}.gapii")));
    let mut import = session.ctl(["import", "--json", "-o"]);
    let finished = run(import.arg(&trace.path).arg(recording)).ok();
    trace.verify();
    let said = serde_json::from_str(&finished.stdout).expect("import --json prints JSON");
    (trace, said)
}

/// Plays a trace, and returns a picture of each frame. No command may be skipped, and every answer must be the recorded one.
#[track_caller]
pub fn frames(session: &Session, trace: &Trace, name: &str) -> Vec<Picture> {
    replays::verified(session, trace, &["--strict"]).unwrap_or_else(|why| panic!("{name}: {why}"));
    let images = replays::images(session, &trace.path, &format!("{name}-frames"));
    let images = images.unwrap_or_else(|why| panic!("{why}"));
    images.iter().map(|path| Picture::of_png(path)).collect()
}

/// Records a program of `tests/apps/` with apitrace, once for all tests.
#[track_caller]
pub fn app_by_apitrace(session: &Session, name: &str) -> PathBuf {
    let folder = once(session, &format!("{name}-apitrace"), |folder| {
        let program = offscreen(&app(name), [""; 0]);
        let finished = apitrace::record(&program, &folder.join("app.trace"));
        if finished.status.success() { Ok(()) } else { Err(finished.to_string()) }
    });
    folder.unwrap_or_else(|why| panic!("{why}")).join("app.trace")
}
