//! Options of the command line, for all measurements.

use std::path::PathBuf;

use clap::Parser;
use gapii_tests::bench::On;

/// Measure the cost of recording
#[derive(Clone, Parser)]
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

    /// Print the table of bars, which a run without another measurement does too; with --glmark2, also its scenes
    #[arg(long)]
    pub bars: bool,

    /// Measure instead the program of cheap calls in every way
    #[arg(long)]
    pub calls: bool,

    /// Measure instead scenes of glmark2-es2: frames a second, and bytes of the trace for each
    #[arg(long)]
    pub glmark2: bool,

    /// With --glmark2: all scenes of its default list, with the program on one core and on all cores
    #[arg(long, requires = "glmark2")]
    pub all_scenes: bool,

    /// Measure instead replays of scenes of glmark2-es2: frames a second
    #[arg(long)]
    pub replay: bool,

    /// Measure instead the cost of commands that are tracked while nothing is recorded
    #[arg(long)]
    pub tracked: bool,

    /// Measure instead the cost of uploads, beside a copy of the same bytes
    #[arg(long)]
    pub uploads: bool,

    /// Measure instead immediate mode and programs that draw display lists: time and bytes, beside apitrace's
    #[arg(long)]
    pub immediate: bool,

    /// Seconds for which each program that draws display lists is recorded
    #[arg(long, default_value_t = 10)]
    pub list_seconds: u64,

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

    /// With the table of bars: commands of the trace that is read
    #[arg(long, default_value_t = 10_000_000)]
    pub trace_calls: u64,

    /// Record this many frames with --make-trace, each with --objects and --upload, instead of a sustained run
    #[arg(long, requires = "make_trace", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Objects that each of the --frames draws, with ten commands each
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    pub objects: u64,

    /// Bytes that each of the --frames uploads. They are new and cannot be compressed, so the trace has about as many
    /// bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub upload: u64,

    /// Seconds that a scene of glmark2-es2 lasts
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,

    /// Print the figures as JSON too, on the last line
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Whether the table of bars is chosen: by its name, or by no other measurement.
    pub fn prints_bars(&self) -> bool {
        let another = self.calls
            || self.glmark2
            || self.replay
            || self.tracked
            || self.uploads
            || self.attach
            || self.tracers
            || self.immediate
            || self.make_trace.is_some();
        self.bars || !another
    }

    /// Whether the chosen measurement cannot do without apitrace. The table of bars names it as missing.
    pub fn requires_apitrace(&self) -> bool {
        !(self.without_apitrace
            || self.prints_bars()
            || self.immediate
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
