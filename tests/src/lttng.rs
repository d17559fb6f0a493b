//! Measures a tracepoint of LTTng-UST, a peer of recorded calls. Starts a session daemon for it and ends it again.
//!
//! Says what is missing instead of panicking, because a benchmark goes on without a peer.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bench::Load;
use crate::gapii::Session;
use crate::process::{Finished, LIMIT, Running, missing, run};
use crate::programs::program;

/// Time in which a session daemon must listen.
const START: Duration = Duration::from_secs(10);
/// Bytes of one event in the buffers: its header, a time stamp and a number.
const EVENT_BYTES: u64 = 16;
const SUB_BUFFERS: u64 = 4;

/// Returns the nanoseconds of the calling thread for one tracepoint with one number, in bursts that fill half of the
/// buffers like those of `runs` of [`Load::burst`].
///
/// # Errors
/// A sentence that says what is missing or fails.
pub fn tracepoint_ns(runs: u64) -> Result<f64, String> {
    for tool in ["lttng", "lttng-sessiond", "pkg-config"] {
        if let Some(what_to_do) = missing(tool) {
            return Err(what_to_do);
        }
    }
    let known = run(Command::new("pkg-config").args(["--exists", "lttng-ust"]));
    if !known.status.success() {
        return Err("LTTng-UST is missing; install it: apt-get install liblttng-ust-dev".to_owned());
    }
    let session = Session::new();
    let home = session.path("");
    let daemon = Running::start(at_home("lttng-sessiond", &home).args(["--no-kernel", "--quiet"]));
    let measured = daemon_listens(&daemon, &home).and_then(|()| measure(&home, runs));
    measured.map_err(|why| format!("{why} {}", daemon.stderr_so_far()).trim().to_owned())
}

fn at_home(program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LTTNG_HOME", home).env("HOME", home);
    command
}

fn lttng(home: &Path, words: &[&str]) -> Finished {
    run(at_home("lttng", home).args(["--no-sessiond", "--quiet"]).args(words))
}

/// Waits until the session daemon answers, for up to [`START`].
fn daemon_listens(daemon: &Running, home: &Path) -> Result<(), String> {
    let deadline = Instant::now() + START;
    let listens = || {
        if daemon.ended_within(Duration::ZERO) {
            return Some(Err("lttng-sessiond has ended:".to_owned()));
        }
        if Instant::now() > deadline {
            return Some(Err(format!("lttng-sessiond does not listen within {START:?}:")));
        }
        lttng(home, &["list"]).status.success().then_some(Ok(()))
    };
    crate::wait::until("lttng-sessiond to listen", LIMIT, listens)
}

fn measure(home: &Path, runs: u64) -> Result<f64, String> {
    let load = Load::burst(1, runs);
    // Half of all sub-buffers holds what a burst writes.
    let bytes = (2 * load.calls_per_run * EVENT_BYTES / SUB_BUFFERS).next_power_of_two();
    let output = format!("--output={}", home.join("lttng").display());
    let (size, count) = (format!("--subbuf-size={bytes}"), format!("--num-subbuf={SUB_BUFFERS}"));
    let steps: [&[&str]; 4] = [
        &["create", "bench", &output],
        &["enable-channel", "--userspace", "bench", &size, &count],
        &["enable-event", "--userspace", "gapii_bench:bare", "--channel=bench"],
        &["start"],
    ];
    for step in steps {
        let finished = lttng(home, step);
        if !finished.status.success() {
            return Err(format!("{finished}"));
        }
    }
    let numbers = [load.runs, load.calls_per_run, load.pause_ms, load.warm_up_runs];
    let mut process = at_home(program("bench_tracepoint"), home);
    // The program waits for the session daemon before it begins, for as long as this says.
    process.env("LTTNG_UST_REGISTER_TIMEOUT", LIMIT.as_millis().to_string());
    let finished = run(process.args(numbers.map(|number| number.to_string())));
    lttng(home, &["destroy", "bench"]);
    let figure = finished.stdout.trim().strip_prefix("tracepoint ").and_then(|ns| ns.parse().ok());
    figure.ok_or_else(|| format!("{finished}"))
}
