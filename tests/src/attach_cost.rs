//! Cost of attaching to a running program: how long its threads are held, and how long it takes until a frame is
//! recorded. Prints nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::attaching::{frame_rate, run_idle};
use crate::display::Display;
use crate::gapii::{Session, Trace};
use crate::glmark2;
use crate::loading::offscreen;
use crate::process::{LIMIT, run};
use crate::programs::program;
use crate::wait;

/// Room for copies of all that a program holds here.
const COPIES: &str = "3G";

/// Figures of one attach that records one frame.
#[derive(Clone, Debug)]
pub struct Attach {
    /// Longest time that a thread of the program was held.
    pub held: Duration,
    /// Run time of `gapii-ctl start --frames 1`. It includes the start and end of the process, and the trace's last blocks
    /// and tables.
    pub recorded: Duration,
    /// Contents that the trace lacks, as `info` lists them.
    pub missing: Vec<String>,
}

/// Formats of images that `programs/holds_images.c` can hold.
pub fn formats() -> Vec<String> {
    let listed = run(&mut offscreen(&program("holds_images"), [""; 0])).ok();
    listed.stdout.lines().map(str::to_owned).collect()
}

/// Attaches twice to a program that holds `mib` MiB of images of `format`.
pub fn to_images(format: &str, mib: u64) -> [Attach; 2] {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let process = offscreen(&program("holds_images"), [format, &mib.to_string()]);
    let _running = run_idle(&session, &process);
    twice(&session)
}

/// Attaches twice to a scene of glmark2-es2; also returns the time of a frame before the first attach.
pub fn to_scene(display: &Display, scene: &str) -> (Duration, [Attach; 2]) {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _running = run_idle(&session, &glmark2::command(display, scene, 60));
    draws(&session);
    let frame = Duration::from_secs_f64(1.0 / frame_rate(&session));
    (frame, twice(&session))
}

fn twice(session: &Session) -> [Attach; 2] {
    draws(session);
    let trace = session.path("attached.gapii");
    [(); 2].map(|()| {
        let attach = attach(session, &trace);
        session.app_in_mode("idle");
        attach
    })
}

/// Waits until the program draws frames, which means that it has created its objects.
fn draws(session: &Session) {
    let frames = || session.app_in_mode("idle")["frames"].as_u64();
    wait::until("frames of the program", LIMIT, || frames().filter(|frames| *frames > 10));
}

fn attach(session: &Session, trace: &Path) -> Attach {
    let options = ["start", "--frames", "1", "--force", "--attach-memory", COPIES, "-o"];
    let mut start = session.ctl(options);
    let began = Instant::now();
    let finished = run(start.arg(trace));
    let recorded = began.elapsed();
    finished.ok();
    let info = Trace::new(trace.to_owned()).info();
    let held = info["held_us"].as_u64().expect("a number in info --json");
    let missing = info["missing"].as_array().expect("a list in info --json").iter();
    Attach {
        held: Duration::from_micros(held),
        recorded,
        missing: missing.filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}
