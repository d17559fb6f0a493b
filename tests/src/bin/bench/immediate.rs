//! Immediate mode, and programs that draw display lists: time and bytes, with apitrace beside them in the same run.

use gapii_tests::bench::{self, ListProgram, Lists, Load, Sample, Way, median};
use gapii_tests::display::Display;
use gapii_tests::process::missing;

use crate::bars::{Limit, Row};
use crate::options::Options;

/// Nanoseconds that a captured glVertex3f or glColor3f may add.
const ADDED_MAX_NS: f64 = 12.0;
/// Bytes of a command before compression: its arguments, which have 10 on average, and four more.
const UNCOMPRESSED_MAX: f64 = 14.0;
/// Percent of apitrace's bytes that a frame of display lists may take.
const LISTS_MAX_PERCENT: f64 = 10.0;

/// Returns the lines of immediate mode. On the fake driver: the driver's own time would hide nanoseconds.
pub fn rows(options: &Options) -> Vec<Row> {
    const APITRACE_ADDED: &str = "peer: apitrace, immediate mode, burst: ns added";
    const APITRACE_BYTES: &str = "peer: apitrace, immediate mode, sustained: bytes a command";
    let burst = |way| samples(options, way, Load::burst(1, options.burst_runs));
    let sustained = |way, calls| samples(options, way, Load::sustained(1, calls));
    let cpu_ns = |samples: &[Sample]| middle(samples, |sample| sample.cpu_ns_per_call);
    let native = cpu_ns(&burst(Way::Native));
    let added = |way| cpu_ns(&burst(way)) - native;
    let captured = sustained(Way::Captured, options.sustained_calls / 10);
    let of_captured = |figure: fn(&Sample) -> f64| middle(&captured, figure);
    let mut rows = vec![
        Row::measured("immediate mode, idle: ns added", added(Way::Idle), Limit::AtMost(1.0)),
        Row::measured(
            "immediate mode, captured, burst: ns added",
            added(Way::Captured),
            Limit::AtMost(ADDED_MAX_NS),
        ),
        Row::measured(
            "immediate mode, captured, sustained: M commands/s",
            of_captured(|sample| sample.calls_per_second / 1e6),
            Limit::Any,
        ),
        Row::measured(
            "immediate mode, before compression: bytes a command",
            of_captured(|sample| sample.uncompressed_per_call),
            Limit::AtMost(UNCOMPRESSED_MAX),
        ),
        Row::measured(
            "immediate mode, captured, sustained: bytes a command",
            of_captured(|sample| sample.bytes_per_call),
            Limit::Any,
        ),
    ];
    if options.without_apitrace {
        let missing = |what| Row::missing(what, "without apitrace", Limit::Any);
        rows.extend([APITRACE_ADDED, APITRACE_BYTES].map(missing));
    } else {
        let apitrace = sustained(Way::Apitrace, options.apitrace_calls / 10);
        let bytes = middle(&apitrace, |sample| sample.bytes_per_call);
        rows.push(Row::measured(APITRACE_ADDED, added(Way::Apitrace), Limit::Any));
        rows.push(Row::measured(APITRACE_BYTES, bytes, Limit::Any));
    }
    rows
}

/// Returns the lines of programs that draw display lists.
pub fn list_rows(options: &Options) -> Vec<Row> {
    let display = Display::start();
    let of = |program: &ListProgram| rows_of(options, program, &display);
    ListProgram::ALL.iter().flat_map(of).collect()
}

fn rows_of(options: &Options, program: &ListProgram, display: &Display) -> Vec<Row> {
    let seconds = options.list_seconds;
    let what = |figure| format!("display lists, {seconds} s of {}: {figure}", program.name);
    let (bytes, share) = (what("bytes a frame"), what("bytes a frame, % of apitrace's"));
    let limit = Limit::AtMost(LISTS_MAX_PERCENT);
    if let Some(what_to_do) = missing(program.path) {
        let line = |what, limit| Row::missing(what, what_to_do.clone(), limit);
        return vec![line(bytes, Limit::Any), line(share, limit)];
    }
    let captured = bench::lists(Way::Captured, program, display, seconds);
    let share = if options.without_apitrace {
        Row::missing(share, "without apitrace", limit)
    } else {
        let apitrace = bench::lists(Way::Apitrace, program, display, seconds);
        let percent = 100.0 * captured.bytes_per_frame() / apitrace.bytes_per_frame();
        let of = |lists: &Lists| format!("{} bytes of {} frames", lists.bytes, lists.frames);
        Row::measured(share, percent, limit).with_detail(format!(
            "{}, apitrace {}",
            of(&captured),
            of(&apitrace)
        ))
    };
    vec![Row::measured(bytes, captured.bytes_per_frame(), Limit::Any), share]
}

fn samples(options: &Options, way: Way, load: Load) -> Vec<Sample> {
    let sample = |round| {
        eprintln!("round {round} of {}: immediate mode, {}", options.rounds, way.name());
        bench::sample(options.driver, way, load.immediate())
    };
    (1..=options.rounds).map(sample).collect()
}

fn middle(samples: &[Sample], figure: impl Fn(&Sample) -> f64) -> f64 {
    median(samples.iter().map(figure))
}
