//! `Problem`, its sorts and severities, and the answer with all of them. Decides nothing.

use std::fmt;

use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::Serialize;

/// Problems of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Problems {
    /// Number of problems of the severity `error`.
    pub errors: u64,
    /// Number of problems of the severity `warning`.
    pub warnings: u64,
    /// Number of problems of the severity `note`.
    pub notes: u64,
    /// The problems: errors, then warnings, then notes; of one severity in the order of their first commands.
    pub problems: Vec<Problem>,
    /// Occurrences of further problems, beyond the 1,000 that are kept.
    pub left_out: u64,
}

/// Equal occurrences of one problem.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TraceProblem")]
pub struct Problem {
    /// Sort of the problem.
    pub kind: ProblemKind,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub sentence: Untrusted,
    /// More text: a message or a log of the driver, or the worst case; `None` if the trace has none.
    pub detail: Option<Untrusted>,
    /// Number of the first command with the problem; `None` for a problem of the trace, or if the command took no effect.
    pub seq: Option<u64>,
    /// Number of the first command after which the problem can have happened, if that is another command: the program
    /// learned of it only at `seq`.
    pub since: Option<u64>,
    /// Index of the process in the trace; `None` for a problem of the trace.
    pub process: Option<u32>,
    /// Number of the first frame with the problem; `None` for a problem of the trace.
    pub frame: Option<u64>,
    /// Number of the last frame with the problem.
    pub last_frame: Option<u64>,
    /// Index of the first command's thread in the trace; `None` for a problem without a command.
    pub thread: Option<u32>,
    /// Thread id of the operating system.
    pub tid: Option<u32>,
    /// Number of occurrences.
    pub count: u64,
    /// Number of frames with the problem.
    pub frames: u64,
    /// Bytes that were passed in vain, for `repeated_upload`; otherwise `None`.
    pub bytes: Option<u64>,
    /// Numbers of the first 16 commands with the problem.
    pub examples: Vec<u64>,
}

/// Sorts of problems.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TraceProblemKind")]
pub enum ProblemKind {
    /// An error flag that the program read (`glGetError`, `eglGetError`), or a reset of a context.
    ApiError,
    /// A message of the driver that the program read from the debug log.
    DebugMessage,
    /// A command of OpenGL, EGL, GLX or Level Zero whose result says that it failed.
    FailedResult,
    /// A framebuffer that is not complete.
    IncompleteFramebuffer,
    /// A shader that did not compile, or a program that did not link.
    FailedBuild,
    /// A compilation or a link after the first frames.
    LateBuild,
    /// A frame that took much longer than the median.
    SlowFrame,
    /// Bytes that an object already had.
    RepeatedUpload,
    /// A command that waits inside a frame until the device is done.
    Stall,
    /// Objects that are made in many frames and never deleted.
    Leak,
    /// Objects that no command uses.
    UnusedObject,
    /// Commands, memory or state that the trace lacks.
    Missing,
    /// A program that a signal ended.
    Crash,
}

/// How bad a problem is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something failed.
    Error,
    /// Something costs time or memory, or will fail elsewhere.
    Warning,
    /// Something to know.
    Note,
}

impl ProblemKind {
    /// Returns the word for the kind in answers: `api_error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiError => "api_error",
            Self::DebugMessage => "debug_message",
            Self::FailedResult => "failed_result",
            Self::IncompleteFramebuffer => "incomplete_framebuffer",
            Self::FailedBuild => "failed_build",
            Self::LateBuild => "late_build",
            Self::SlowFrame => "slow_frame",
            Self::RepeatedUpload => "repeated_upload",
            Self::Stall => "stall",
            Self::Leak => "leak",
            Self::UnusedObject => "unused_object",
            Self::Missing => "missing",
            Self::Crash => "crash",
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}
