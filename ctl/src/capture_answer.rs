//! What `run`, `start` and `save` answer with `--json`.

use std::path::PathBuf;

use gapii_control::Summary;
use schemars::JsonSchema;
use serde::Serialize;

use crate::crash_report;
use crate::emptiness::reason::Reason;
use crate::failure::Failure;
use crate::frame_times::Slowdown;
use crate::json::Problem;

/// A capture that has ended.
#[derive(Serialize, JsonSchema)]
pub struct CaptureAnswer {
    /// File of the trace.
    pub output: Option<PathBuf>,
    /// Totals of the capture; null if the daemon did not live to tell them.
    pub summary: Option<Summary>,
    /// File with the last commands of the program's threads; null if the program did not die.
    pub crash_report: Option<PathBuf>,
    /// Why the trace has no command or no frame: a name in docs/troubleshooting.md; null if it has frames.
    #[schemars(with = "Option<String>")]
    pub empty: Option<Reason>,
    /// Why the trace is not what was asked for; null if it is.
    pub error: Option<Problem>,
}

/// Kept frames that were saved.
#[derive(Serialize, JsonSchema)]
pub struct SavedAnswer {
    /// Process id of the program.
    pub pid: u32,
    /// Name of the program.
    pub name: String,
    /// Number of the first frame in the trace, counted from when keeping began.
    pub first_frame: u64,
    /// Frames that were asked for with `--last`; null if all were.
    pub wanted_frames: Option<u64>,
    /// File of the trace.
    pub output: Option<PathBuf>,
    /// Totals of the trace.
    pub summary: Summary,
}

/// A run that has ended.
#[derive(Serialize, JsonSchema)]
pub struct RunAnswer {
    /// Exit status of `gapii-ctl run`.
    pub status: u8,
    /// What the exit status stands for.
    pub status_of: StatusOf,
    /// The program.
    pub program: ProgramAnswer,
    /// The capture; null with `--idle`, `--wait` and `--keep-frames`, and if the capture broke off.
    pub capture: Option<CaptureAnswer>,
    /// How much slower the program was while it was recorded; null without `--measure`.
    pub slowdown: Option<Slowdown>,
    /// The kept frames; null if none were saved.
    pub saved: Option<SavedAnswer>,
    /// Why the kept frames could not be saved.
    pub error: Option<Problem>,
}

/// The source of the exit status of `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusOf {
    /// The program's own, or 128 plus the number of the signal that ended it.
    Program,
    /// The capture's: 0 if `--quit` ended the program after a complete capture; 125 if the capture, or the saved frames,
    /// are not what was asked for, and the program did not fail either.
    Capture,
}

/// How a program ended.
#[derive(Serialize, JsonSchema)]
pub struct ProgramAnswer {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Process id.
    pub pid: u32,
    /// Exit status of the program; null if a signal ended it.
    pub exit_status: Option<i32>,
    /// Number of the signal that ended the program; null if the program exited.
    pub signal: Option<i32>,
}

impl CaptureAnswer {
    /// The answer of a capture that `command` made.
    pub fn new(
        command: &str,
        output: Option<PathBuf>,
        summary: Option<Summary>,
        failure: Option<&Failure>,
    ) -> CaptureAnswer {
        let error = failure.map(|failure| Problem::of(command, failure));
        let crash_report = output.as_deref().zip(summary.as_ref());
        let crash_report = crash_report.and_then(|(trace, it)| crash_report::beside(trace, it));
        CaptureAnswer { output, summary, crash_report, empty: None, error }
    }
}
