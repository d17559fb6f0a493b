//! Options of the command line, for all measurements.

use std::path::PathBuf;

use clap::Parser;
use gapii_tests::bench::On;

/// Measure the cost of recording
#[derive(Parser)]
#[command(name = "bench")]
pub struct Options {
    /// Rounds; each runs everything once, and medians are taken over them
    #[arg(long, default_value_t = 5)]
    pub rounds: u64,

    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    pub threads: Vec<u64>,

    /// Driver that the programs run on
    #[arg(long, value_enum, default_value = "bare")]
    pub driver: On,

    /// Timed runs of half a ring in a burst
    #[arg(long, default_value_t = 20)]
    pub burst_runs: u64,

    /// Calls of a sustained run
    #[arg(long, default_value_t = 100_000_000)]
    pub sustained_calls: u64,

    /// Calls of a sustained run under apitrace, which takes twenty times as long for each
    #[arg(long, default_value_t = 10_000_000)]
    pub apitrace_calls: u64,

    /// Leave apitrace out
    #[arg(long)]
    pub without_apitrace: bool,

    /// Measure scenes of glmark2-es2 instead: frames a second, and bytes of the trace for each
    #[arg(long)]
    pub glmark2: bool,

    /// Measure replays of scenes of glmark2-es2 instead: frames a second
    #[arg(long)]
    pub replay: bool,

    /// Measure instead the cost of commands that are tracked while nothing is recorded
    #[arg(long)]
    pub tracked: bool,

    /// Measure instead the cost of uploads, beside a copy of the same bytes
    #[arg(long)]
    pub uploads: bool,

    /// Measure instead the cost of attaching to a running program: the time that it is held, and the time
    /// until a frame is recorded
    #[arg(long)]
    pub attach: bool,

    /// Measure instead the cost of a Level Zero call with the tracing layer and with a tracer, ours beside
    /// Debian's; and of an OpenGL ES call with and without a tracer
    #[arg(long)]
    pub tracers: bool,

    /// Measure nothing, and record the calls of a sustained run into this file: a trace of any size, to measure what reads
    /// traces
    #[arg(long, value_name = "FILE")]
    pub make_trace: Option<PathBuf>,

    /// Seconds that a scene of glmark2-es2 lasts
    #[arg(long, default_value_t = 3)]
    pub seconds: u64,

    /// Print the figures as JSON too, on the last line
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Whether the chosen measurement runs apitrace.
    pub fn runs_apitrace(&self) -> bool {
        !(self.without_apitrace
            || self.tracked
            || self.tracers
            || self.attach
            || self.make_trace.is_some())
    }
}

/// Describes a driver in the heading of a table.
pub fn describe(driver: On) -> &'static str {
    match driver {
        On::Bare => "a fake one whose functions only return (tests/fake-driver, uncounted)",
        On::Mesa => "Mesa's, offscreen, rasterizer discarded",
    }
}
