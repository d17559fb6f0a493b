//! What recording costs: the program of cheap calls natively, with the shim loaded, captured, timed,
//! and under apitrace, interleaved; medians, added nanoseconds and ratios, and which bars are reached.
//!
//! With `--glmark2`, scenes of glmark2-es2 in the same way: frames a second, bytes a frame. With
//! `--replay`, scenes and replays of their recordings. With `--tracked`, what commands cost that are
//! followed at all times. With `--attach`, what it costs a running program to be attached to. With
//! `--tracers`, what tracers cost: of Level Zero, and of OpenGL ES.
//!
//! Nothing else should run on the machine meanwhile.

mod attaches;
mod bars;
mod calls;
mod replays;
mod scenes;
mod tracers;
mod tracked;

use std::process::ExitCode;

use clap::Parser;
use gapii_tests::bench::On;
use gapii_tests::process::missing;

/// Measure what recording costs
#[derive(Parser)]
#[command(name = "bench")]
struct Options {
    /// Rounds; each runs everything once, and medians are taken over them
    #[arg(long, default_value_t = 5)]
    rounds: u64,

    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<u64>,

    /// The driver below
    #[arg(long, value_enum, default_value = "bare")]
    driver: On,

    /// Timed runs of half a ring in a burst
    #[arg(long, default_value_t = 20)]
    burst_runs: u64,

    /// Calls of a sustained run
    #[arg(long, default_value_t = 100_000_000)]
    sustained_calls: u64,

    /// Calls of a sustained run under apitrace, which takes twenty times as long for each
    #[arg(long, default_value_t = 10_000_000)]
    apitrace_calls: u64,

    /// Leave apitrace out
    #[arg(long)]
    without_apitrace: bool,

    /// Measure scenes of glmark2-es2 instead: frames a second, and bytes of the trace for each
    #[arg(long)]
    glmark2: bool,

    /// Measure replays of scenes of glmark2-es2 instead: frames a second
    #[arg(long)]
    replay: bool,

    /// Measure instead what commands cost that are followed while nothing is recorded
    #[arg(long)]
    tracked: bool,

    /// Measure instead what it costs a running program to be attached to: how long it is held, and how
    /// long it takes until a frame is recorded
    #[arg(long)]
    attach: bool,

    /// Measure instead what a call of Level Zero costs with the tracing layer, and with a tracer; ours
    /// beside Debian's; and one of OpenGL ES with and without a tracer
    #[arg(long)]
    tracers: bool,

    /// Seconds that a scene of glmark2-es2 lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,

    /// Print the figures as JSON too, on the last line
    #[arg(long)]
    json: bool,
}

impl Options {
    fn runs_apitrace(&self) -> bool {
        !(self.without_apitrace || self.tracked || self.tracers || self.attach)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.runs_apitrace()
        && let Some(what_to_do) = missing("apitrace")
    {
        eprintln!("bench: {what_to_do}, or leave it out with --without-apitrace");
        return ExitCode::FAILURE;
    }
    let measure = match &options {
        Options { replay: true, .. } => replays::measure,
        Options { glmark2: true, .. } => scenes::measure,
        Options { tracked: true, .. } => tracked::measure,
        Options { attach: true, .. } => attaches::measure,
        Options { tracers: true, .. } => tracers::measure,
        _ => calls::measure,
    };
    measure(&options);
    ExitCode::SUCCESS
}

fn describe(driver: On) -> &'static str {
    match driver {
        On::Bare => "a fake one whose functions only return (tests/fake-driver, uncounted)",
        On::Mesa => "Mesa's, offscreen, rasterizer discarded",
    }
}
