//! Problems of a trace: what a graphics engineer should look at. A [`Finder`] looks at all commands once, in the order in
//! which they took effect; equal problems are one [`Problem`] with a count. Keeps at most 1,000 problems, 16 example
//! numbers of each, 65,536 live objects, 16,384 uploads and the times of 1,048,576 frames, whatever the trace has.
//!
//! Which command does what is in `role` items of the descriptions (`analysis/src/role.rs`). Commands of snapshots change
//! state and are no problem. A problem that the program did not ask about, such as an error flag that it never read, is not
//! found: the trace has no answer that tells it. Callbacks of KHR_debug are not in a trace, and so give no problem.

mod errors;
mod framebuffers;
mod groups;
mod losses;
mod messages;
mod objects;
mod results;
mod shaders;
mod slow_frames;
mod stalls;
mod uploads;

use std::collections::BTreeMap;
use std::fmt;
use std::ops;

use gapii_commands::CommandId;
use gapii_follow::Thread;
use gapii_follow::follow::Follower;
use gapii_trace::description::Observed;
use gapii_trace::value::{Arg, Range, Value};
use gapii_trace::{Bytes, Command, Info, Untrusted};
use schemars::JsonSchema;
use serde::Serialize;

use groups::Groups;

/// Frames of a process that do not count as mid-run, because programs load in them.
const LOADING_FRAMES: u64 = 10;
/// Longest name of a function in a sentence, in bytes.
const NAME_BYTES_MAX: usize = 100;

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
    /// A command of EGL, OpenGL ES or Level Zero whose result says that it failed.
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

/// Finds the problems of one trace.
///
/// ```
/// use gapii_analysis::problems::Finder;
///
/// let mut finder = Finder::default();
/// for frame in 0..20 {
///     let time_ns = if frame == 12 { 90_000_000 } else { 16_000_000 };
///     finder.time_frame(0, frame, None, time_ns);
/// }
/// let found = finder.finish();
/// assert_eq!((found.warnings, found.problems[0].frame), (1, Some(12)));
/// ```
pub struct Finder {
    groups: Groups,
    /// The frames of interest.
    frames: ops::Range<u64>,
    is_filtered: bool,
    follower: Follower,
    processes: BTreeMap<u32, Begun>,
    errors: errors::Errors,
    shaders: shaders::Shaders,
    uploads: uploads::Uploads,
    objects: objects::ObjectTable,
    slow_frames: slow_frames::FrameTimes,
}

/// What a finder knows of a process.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// The first frame in the trace.
    first_frame: u64,
    /// The frame of the last command.
    last_frame: u64,
    /// True if the process ran before the trace began.
    is_attached: bool,
}

/// A command that a finder looks at.
struct Seen<'a> {
    command: &'a Command<'a>,
    /// The command of this build.
    known: Option<CommandId>,
    /// The state of its thread, behind the command.
    thread: Option<&'a Thread>,
    /// Whether the command is in a frame of interest.
    is_wanted: bool,
    /// Whether a frame ended before the command, and so the program draws frames.
    is_in_frames: bool,
    /// Whether the program has drawn its first frames.
    is_in_mid_run: bool,
}

/// Where an occurrence is.
#[derive(Clone, Copy, Debug)]
struct Place {
    seq: Option<u64>,
    process: u32,
    frame: u64,
    /// Index and id of the thread.
    thread: Option<(u32, u32)>,
}

impl Default for Finder {
    fn default() -> Self {
        Self::within(0..u64::MAX)
    }
}

impl Finder {
    /// Returns a finder of problems in these frames of each process. It has to see all commands nevertheless.
    pub fn within(frames: ops::Range<u64>) -> Self {
        Self {
            groups: Groups::default(),
            frames,
            is_filtered: false,
            follower: Follower::default(),
            processes: BTreeMap::new(),
            errors: errors::Errors::default(),
            shaders: shaders::Shaders::default(),
            uploads: uploads::Uploads::default(),
            objects: objects::ObjectTable::default(),
            slow_frames: slow_frames::FrameTimes::default(),
        }
    }

    /// Declares that the trace was recorded with a filter. It lacks commands that use and delete objects, so that objects
    /// are no problem in it.
    #[must_use]
    pub fn of_filtered_trace(mut self, is_filtered: bool) -> Self {
        self.is_filtered = is_filtered;
        self
    }

    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        self.follower.follow(command);
        let begun = self.processes.entry(command.process).or_insert(Begun {
            first_frame: command.frame,
            last_frame: command.frame,
            is_attached: command.is_setup,
        });
        begun.last_frame = command.frame;
        if command.is_setup {
            return;
        }
        let mid_run = match begun.is_attached {
            true => begun.first_frame,
            false => begun.first_frame.saturating_add(LOADING_FRAMES),
        };
        let seen = Seen {
            command,
            known: command.known(),
            thread: self.follower.thread(command.thread),
            is_wanted: self.frames.contains(&command.frame),
            is_in_frames: command.frame > begun.first_frame,
            is_in_mid_run: command.frame >= mid_run,
        };
        let groups = &mut self.groups;
        self.errors.look(&seen, groups);
        self.objects.look(&seen);
        if seen.is_wanted {
            messages::look(&seen, groups);
            results::look(&seen, groups);
            framebuffers::look(&seen, groups);
            stalls::look(&seen, groups);
            self.shaders.look(&seen, groups);
            self.uploads.look(&seen, groups);
        }
    }

    /// Notes how long a frame took, in nanoseconds, with the number of the command that ended it. In any order; a frame
    /// without a known time is not noted.
    pub fn time_frame(&mut self, process: u32, frame: u64, seq: Option<u64>, time_ns: u64) {
        if self.frames.contains(&frame) {
            self.slow_frames.add(process, frame, seq, time_ns);
        }
    }

    /// Notes what the trace lacks, and how it ended.
    pub fn note_losses(&mut self, info: &Info) {
        losses::look(info, &mut self.groups);
    }

    /// Returns the problems.
    pub fn finish(mut self) -> Problems {
        self.uploads.finish(&mut self.groups);
        self.slow_frames.finish(&mut self.groups);
        if !self.is_filtered {
            self.objects.finish(&self.processes, &mut self.groups);
        }
        self.groups.finish()
    }
}

impl<'a> Seen<'a> {
    fn place(&self) -> Place {
        let Command { seq, process, frame, thread, tid, .. } = *self.command;
        Place { seq, process, frame, thread: Some((thread, tid)) }
    }

    /// Name of the function, for a sentence.
    fn name(&self) -> String {
        name_of(self.command.name())
    }

    /// Bits of the argument with this name; `None` if the command lacks it.
    fn number(&self, param: &str) -> Option<u64> {
        self.command.args().find(|arg| arg.param.name == param).map(|arg| arg.value.bits())
    }

    /// The memory that the driver wrote at the parameter with this name.
    fn output(&self, param: &str) -> Option<Bytes<'a>> {
        let is_it = |arg: &Arg<'_>| arg.param.name == param && arg.param.observed == Observed::Out;
        let is_range = |range: &Range<'_>| self.command.param_of(range) == Some(param);
        let seen = match self.command.args().find(is_it) {
            Some(arg) => arg.observation,
            None => self.command.ranges_written().find(is_range)?.observation,
        };
        self.command.bytes_of(seen)
    }

    /// The result: its bits, and its name or number.
    fn result(&self) -> Option<(u64, String)> {
        let (value, _) = self.command.result()?;
        let bits = value.bits();
        let name = match value {
            Value::Enum { group, bits } => self.command.description().enum_name(group, bits),
            _ => None,
        };
        Some((bits, name.map_or_else(|| format!("{bits:#x}"), name_of)))
    }
}

/// Returns a name of a trace as it stands in a sentence.
fn name_of(name: &str) -> String {
    match name {
        "" => "a command that the trace does not describe".to_owned(),
        name => Untrusted::from(name).cut(NAME_BYTES_MAX).raw().to_owned(),
    }
}

/// The first 32-bit word of a memory.
fn first_word(bytes: Option<&[u8]>) -> Option<u32> {
    bytes?.first_chunk().copied().map(u32::from_le_bytes)
}
