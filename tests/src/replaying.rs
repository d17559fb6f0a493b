//! Scenes of glmark2-es2 run natively and captured, and the recording replayed by gapii and, exported,
//! by eglretrace: frames per second of each.
//!
//! A round runs all of them one after the other, and ratios are taken within a round. Prints nothing.

use crate::bench::{Way, run_as};
use crate::display::Display;
use crate::gapii::{Session, Trace};
use crate::glmark2;
use crate::process::run;

/// Values of the option `-b`, without the duration.
pub const SCENES: &[&str] = &[
    "build:use-vbo=false",
    "build:use-vbo=true",
    "texture",
    "buffer:update-method=subdata",
    "buffer:update-method=map",
    "desktop",
];

/// Frames per second in one round.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    pub native: f64,
    pub captured: f64,
    pub replay: f64,
    /// NaN if eglretrace was not run.
    pub eglretrace: f64,
}

/// Runs a scene once in every way.
pub fn round(display: &Display, scene: &str, seconds: f64, with_eglretrace: bool) -> Rates {
    let session = Session::new();
    let trace = session.path("glmark2");
    let scene_of = |way: Way| {
        let process = glmark2::command(display, scene, seconds);
        glmark2::rate_of(&run_as(way, &session, &trace, process).ok())
    };
    let (native, captured) = (scene_of(Way::Native), scene_of(Way::Captured));
    let played = Trace::new(trace.clone()).ask("replay", &["--json"]).ok();
    let report: serde_json::Value =
        serde_json::from_str(&played.stdout).expect("replay --json prints JSON");
    let number = |name: &str| report[name].as_f64().expect("a number of the report");
    let replay = number("frames") / number("seconds");
    let mut eglretrace = f64::NAN;
    if with_eglretrace {
        let exported = session.path("exported.trace");
        let to = exported.to_str().expect("a path of ours is text");
        Trace::new(trace).ask("export", &["--format", "apitrace", "--force", "-o", to]).ok();
        // Rendered 123 frames in 1.5 secs, average of 80.1 fps
        let said = run(&mut display.command(&["eglretrace", "-b", to]));
        let rate = said.stdout.split("average of ").nth(1).and_then(|rest| rest.split(' ').next());
        let rate = rate.and_then(|rate| rate.parse().ok());
        eglretrace = rate.unwrap_or_else(|| panic!("eglretrace says its rate: {said}"));
    }
    Rates { native, captured, replay, eglretrace }
}
