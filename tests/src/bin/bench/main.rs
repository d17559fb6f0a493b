//! Measures the cost of recording, and prints a table of bars with verdicts.
//!
//! With `--calls`, measures only the program of cheap calls natively, with the shim loaded, captured, timed, and under
//! apitrace, interleaved; medians, added nanoseconds and ratios, and which bars are reached. With `--glmark2`, scenes of glmark2-es2 in the same way: frames a second, bytes a frame. With
//! `--replay`, scenes and replays of their recordings. With `--tracked`, the cost of commands that the shim
//! tracks at all times. With `--uploads`, uploads of memory, beside a copy of it. With `--attach`, the cost of
//! attaching to a running program. With `--immediate`, immediate mode and display lists. With `--tracers`, the cost of tracers of Level Zero and of OpenGL ES.
//!
//! `--make-trace` records a trace of any size and measures nothing; with `--frames` the trace has frames, objects and
//! uploads.
//!
//! Nothing else should run on the machine meanwhile.

mod attaches;
mod bars;
mod calls;
mod immediate;
mod options;
mod readers;
mod replays;
mod scenes;
mod table;
mod tracers;
mod tracked;
mod uploads;

use std::process::ExitCode;

use clap::Parser as _;
use gapii_tests::bench::{self, Load};
use gapii_tests::process::missing;

use crate::options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    if options.requires_apitrace()
        && let Some(what_to_do) = missing("apitrace")
    {
        eprintln!("bench: {what_to_do}, or leave it out with --without-apitrace");
        return ExitCode::FAILURE;
    }
    if let Some(trace) = &options.make_trace {
        let said = match options.frames {
            Some(frames) => {
                bench::record_frames(options.driver, trace, frames, options.objects, options.upload)
            }
            None => {
                let threads = options.threads.first().copied().unwrap_or(1);
                let load = Load::sustained(threads, options.sustained_calls);
                bench::record(options.driver, trace, load)
            }
        };
        print!("{said}");
        return ExitCode::SUCCESS;
    }
    let measure = match &options {
        options if options.prints_bars() => table::measure,
        Options { replay: true, .. } => replays::measure,
        Options { glmark2: true, .. } => scenes::measure,
        Options { tracked: true, .. } => tracked::measure,
        Options { attach: true, .. } => attaches::measure,
        Options { tracers: true, .. } => tracers::measure,
        Options { uploads: true, .. } => uploads::measure,
        Options { immediate: true, .. } => table::measure_immediate,
        _ => calls::measure,
    };
    measure(&options);
    ExitCode::SUCCESS
}
