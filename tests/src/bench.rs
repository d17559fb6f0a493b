//! One program of cheap calls, run in five ways, and the cost of a call in each.
//!
//! *Burst* is thread CPU time in runs of half a ring, with pauses in which the ring drains: the cost of
//! recording alone. *Sustained* is wall time of many calls without a pause, nothing lost: the
//! whole path down to the file. Prints nothing.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::artifacts::artifact;
use crate::display::{Display, surfaceless};
use crate::gapii::{Session, Trace, append};
use crate::level_zero;
use crate::process::{Finished, Running, run};
use crate::programs::{self, Driver, fake_driver, program};
use crate::stream::decompress_file;

/// How long the recording of a large trace may take: 10 GB on a busy machine.
const RECORDING_LIMIT: Duration = Duration::from_secs(1800);

/// Driver that the program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// A driver whose functions do nothing, so that nanoseconds show
    Bare,
    /// Mesa's llvmpipe, including the cost of its own functions
    Mesa,
}

/// The way in which the program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Native,
    /// The shim is loaded and captures nothing.
    Idle,
    /// The shim is loaded, and its trackers are off.
    Asleep,
    Captured,
    /// Captured, and the driver's time measured.
    Timed,
    Apitrace,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Native, Way::Idle, Way::Captured, Way::Timed, Way::Apitrace];

    pub fn name(self) -> &'static str {
        match self {
            Way::Native => "native",
            Way::Idle => "idle",
            Way::Asleep => "asleep",
            Way::Captured => "captured",
            Way::Timed => "timed",
            Way::Apitrace => "apitrace",
        }
    }
}

/// Arguments of `programs/bench_calls.c`.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub threads: u64,
    /// Timed runs of each thread.
    pub runs: u64,
    pub calls_per_run: u64,
    pub pause_ms: u64,
    pub warm_up_runs: u64,
    /// The calls are those of immediate mode.
    pub is_immediate: bool,
}

impl Load {
    /// Runs that fill half a ring of the default size: 21.6 bytes a call, or 29.6 where several
    /// threads take stamps. The first laps, in which the ring's pages are faulted in, are not timed.
    pub fn burst(threads: u64, runs: u64) -> Self {
        let calls_per_run = if threads == 1 { 96_000 } else { 70_000 };
        Self { threads, runs, calls_per_run, pause_ms: 50, warm_up_runs: 4, is_immediate: false }
    }

    /// Half as many calls, for records that take twice the space.
    pub fn halved(self) -> Self {
        Self { calls_per_run: self.calls_per_run / 2, ..self }
    }

    /// `calls` in all, without a pause.
    pub fn sustained(threads: u64, calls: u64) -> Self {
        let calls_per_run = calls / threads;
        Self { threads, runs: 1, calls_per_run, pause_ms: 0, warm_up_runs: 0, is_immediate: false }
    }

    /// As many calls of immediate mode, whose records are as long.
    pub fn immediate(self) -> Self {
        Self { is_immediate: true, ..self }
    }
}

/// Figures of one run of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// CPU time of a thread for each of its timed calls.
    pub cpu_ns_per_call: f64,
    /// Calls of all threads by wall time.
    pub calls_per_second: f64,
    /// Waits for ring space in a captured run.
    pub waits: u64,
    pub wait_ns: u64,
    pub lost_calls: u64,
    /// Bytes on disk per call, without the header, whose size does not depend on the number of calls.
    pub bytes_per_call: f64,
    /// Bytes of the trace's blocks per call, before compression.
    pub uncompressed_per_call: f64,
}

/// Runs the program once.
pub fn sample(on: On, way: Way, load: Load) -> Sample {
    let session = Session::new();
    let trace = session.path("bench");
    let finished = run_as(way, &session, &trace, bench_calls(on, load)).ok();
    let sample = parse(&finished, load);
    match way {
        Way::Native | Way::Idle | Way::Asleep => sample,
        Way::Captured | Way::Timed => with_trace(sample, &Trace::new(trace)),
        Way::Apitrace => {
            let bytes = trace.metadata().expect("apitrace wrote its trace").len();
            Sample { bytes_per_call: bytes as f64 / total_calls(load), ..sample }
        }
    }
}

/// Records the program without pauses into `trace`, a new file or one to replace. Returns what the recording said.
pub fn record(on: On, trace: &Path, load: Load) -> String {
    run_as(Way::Captured, &Session::new(), trace, bench_calls(on, load)).ok().stderr
}

/// A program that draws display lists until it is ended.
pub struct ListProgram {
    pub name: &'static str,
    pub path: &'static str,
    /// The API with which apitrace finds its contexts.
    api: &'static str,
}

impl ListProgram {
    /// Few lists in many frames, and many lists in few frames.
    pub const ALL: [Self; 2] = [
        Self { name: "glxgears", path: "glxgears", api: "gl" },
        Self { name: "pipes", path: "/usr/libexec/xscreensaver/pipes", api: "egl" },
    ];
}

/// Frames and bytes of a recording of such a program.
pub struct Lists {
    pub frames: u64,
    pub bytes: u64,
}

impl Lists {
    pub fn bytes_per_frame(&self) -> f64 {
        self.bytes as f64 / self.frames as f64
    }
}

/// Records a program for some seconds, in the way `Captured` or `Apitrace`.
pub fn lists(way: Way, program: &ListProgram, display: &Display, seconds: u64) -> Lists {
    let session = Session::new();
    let (path, length) = (session.path("lists"), seconds.to_string());
    let mut process = match way {
        Way::Apitrace => {
            let trace = ["apitrace", "trace", "--api", program.api, "-o"].map(OsStr::new);
            let program = ["timeout", &length, program.path].map(OsStr::new);
            display.command(&[&trace[..], &[path.as_os_str()], &program].concat())
        }
        _ => {
            let program = display.command(&[program.path]);
            session.run_command(&["--seconds", &length, "--quit"], &path, &program)
        }
    };
    display.use_in(&mut process);
    // `timeout` and the end of a capture decide the exit status.
    Running::start(&mut process).finish(Duration::from_secs(seconds + 120));
    let bytes = path.metadata().expect("the trace is there").len();
    let frames = match way {
        Way::Apitrace => crate::apitrace::frames(&path),
        _ => Trace::new(path).info()["frames"].as_u64().expect("a number in info --json"),
    };
    Lists { frames, bytes }
}

/// Runs `gapii-ctl` with `words`, whose standard output goes nowhere, and returns the seconds that it took.
///
/// # Panics
/// If it fails.
pub fn seconds_of_ctl(words: &[&OsStr]) -> f64 {
    let mut command = Command::new(artifact("gapii-ctl"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("gapii-ctl starts");
    let took = began.elapsed();
    assert!(status.success(), "{words:?}: {status}");
    took.as_secs_f64()
}

/// Records `frames` frames into `trace`, a new file or one to replace. Each frame draws `objects` objects and uploads
/// `upload_bytes` new bytes. Returns what the recording said.
pub fn record_frames(on: On, trace: &Path, frames: u64, objects: u64, upload_bytes: u64) -> String {
    let numbers = [frames, objects, upload_bytes].map(|number| number.to_string());
    let mut process = Command::new(program("bench_frames"));
    process.args(numbers);
    let session = Session::new();
    let mut recording = session.run_command(&[], trace, &on_driver(on, process));
    Running::start(&mut recording).finish(RECORDING_LIMIT).ok().stderr
}

/// Returns the program with the arguments for `load`.
fn bench_calls(on: On, load: Load) -> Command {
    let mut process = Command::new(program("bench_calls"));
    process.args(
        [load.threads, load.runs, load.calls_per_run, load.pause_ms, load.warm_up_runs]
            .map(|n| n.to_string()),
    );
    process.args(load.is_immediate.then_some("immediate"));
    on_driver(on, process)
}

/// Returns the program with the environment in which it finds the driver.
fn on_driver(on: On, mut process: Command) -> Command {
    match on {
        On::Bare => drop(process.env("LD_LIBRARY_PATH", fake_driver(Driver::Bare))),
        On::Mesa => surfaceless(&mut process),
    }
    process
}

/// Measures calls of Level Zero in the same way, on the null driver, in one thread.
pub fn level_zero_sample(command: &str, way: Way, load: Load) -> Sample {
    let session = Session::new();
    let trace = session.path("bench");
    let mut process = level_zero::on_null_driver(&programs::level_zero("bench_calls"));
    let numbers = [load.runs, load.calls_per_run, load.pause_ms, load.warm_up_runs];
    process.arg(command).args(numbers.map(|n| n.to_string()));
    let sample = parse(&run_as(way, &session, &trace, process).ok(), load);
    if way == Way::Captured { with_trace(sample, &Trace::new(trace)) } else { sample }
}

/// Returns the time that each command of `programs/bench_tracked.c` takes, in nanoseconds, in the order of the
/// program's output. The first command is not tracked.
pub fn tracked(way: Way, calls: u64) -> Vec<(String, f64)> {
    let session = Session::new();
    let mut process = Command::new(program("bench_tracked"));
    process.arg(calls.to_string()).env("LD_LIBRARY_PATH", fake_driver(Driver::Bare));
    commands(&run_as(way, &session, &session.path("bench"), process).ok())
}

/// Returns the times that `programs/bench_uploads.c` takes for uploads of `size` bytes, in nanoseconds, in the order of the
/// program's output.
pub fn uploads(way: Way, size: u64, runs: u64) -> Vec<(String, f64)> {
    /// Long enough for a ring to be drained.
    const PAUSE_MS: u64 = 20;
    let session = Session::new();
    let mut process = Command::new(program("bench_uploads"));
    process.args([size, runs, PAUSE_MS].map(|number| number.to_string()));
    process.env("LD_LIBRARY_PATH", fake_driver(Driver::Bare));
    commands(&run_as(way, &session, &session.path("bench"), process).ok())
}

/// Returns the time that each command of `level-zero/bench_kept.c` takes, in nanoseconds, in the order of the program's
/// output: the fastest of `runs` runs. The first command is not kept.
pub fn kept(way: Way, runs: u64) -> Vec<(String, f64)> {
    let session = Session::new();
    let mut process = level_zero::on_null_driver(&programs::level_zero("bench_kept"));
    process.arg(runs.to_string());
    commands(&run_as(way, &session, &session.path("bench"), process).ok())
}

/// Parses an output with one command and its nanoseconds a line.
#[track_caller]
fn commands(finished: &Finished) -> Vec<(String, f64)> {
    let figure = |line: &str| {
        let (name, ns) = line.split_once(' ')?;
        Some((name.to_owned(), ns.parse().ok()?))
    };
    let figures: Option<Vec<_>> = finished.stdout.lines().map(figure).collect();
    figures.unwrap_or_else(|| panic!("it says a command and a number: {finished}"))
}

/// Runs `process` to its end; a captured one leaves its trace in `trace`.
pub fn run_as(way: Way, session: &Session, trace: &Path, mut process: Command) -> Finished {
    match way {
        Way::Native => run(&mut process),
        Way::Idle | Way::Asleep => {
            // It has a daemon of its own, and is connected to it.
            let mut command = session.ctl(["run", "--idle"]);
            if way == Way::Asleep {
                command.arg("--no-monitor");
            }
            append(&mut command, &process);
            run(&mut command)
        }
        Way::Captured => run(&mut session.run_command(&[], trace, &process)),
        Way::Timed => run(&mut session.run_command(&["--timing"], trace, &process)),
        Way::Apitrace => crate::apitrace::record(&process, trace),
    }
}

fn total_calls(load: Load) -> f64 {
    (load.threads * load.calls_per_run * (load.runs + load.warm_up_runs)) as f64
}

fn parse(finished: &Finished, load: Load) -> Sample {
    let (mut calls, mut cpu_ns, mut wall_ns) = (0.0, 0.0, f64::NAN);
    for line in finished.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<f64>().expect("bench_calls prints numbers");
        match words[..] {
            ["thread", _, "calls", c, "cpu_ns", t] => {
                calls += number(c);
                cpu_ns += number(t);
            }
            ["wall_ns", t] => wall_ns = number(t),
            _ => panic!("bench_calls says {line}: {finished}"),
        }
    }
    Sample {
        cpu_ns_per_call: cpu_ns / calls,
        calls_per_second: total_calls(load) / (wall_ns / 1e9),
        ..Sample::default()
    }
}

fn with_trace(sample: Sample, trace: &Trace) -> Sample {
    trace.verify();
    let info = trace.info();
    let number = |value: &serde_json::Value| value.as_u64().expect("a number in info --json");
    let header = number(&info["header_bytes"]);
    Sample {
        waits: number(&info["waits"]),
        wait_ns: number(&info["wait_ns"]),
        lost_calls: number(&info["lost"]["commands"]),
        bytes_per_call: (number(&info["file_bytes"]) - header) as f64
            / number(&info["commands"]) as f64,
        uncompressed_per_call: decompress_file(&trace.path).len() as f64
            / number(&info["commands"]) as f64,
        ..sample
    }
}

/// Median.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
