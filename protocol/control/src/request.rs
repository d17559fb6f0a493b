//! Messages from clients to the daemon, with the defaults of their fields: a thread waits up to 2 s for ring space
//! (`STALL_MS_DEFAULT`), a slow output spills, kept frames are 300 in at most 256 MiB with a keyframe every 100. A
//! capture's name has 1 to 64 letters, digits, `.`, `-` and `_`, and is not a number.

use gapii_trace::Untrusted;
use gapii_trace::filter::Filter;
use gapii_trace::frame_rule::FrameRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trigger::Trigger;
use crate::{CTL_VERSION_MAX, CTL_VERSION_MIN};

/// Longest name of a capture, in bytes.
pub const NAME_LEN_MAX: usize = 64;
/// Default of [`StartRequest::attach_memory`], in bytes: 512 MiB.
pub const ATTACH_MEMORY_DEFAULT: u64 = 512 << 20;
/// Default of [`StartRequest::stall_ms`], in milliseconds.
pub const STALL_MS_DEFAULT: u64 = 2_000;

/// A message from a client to the daemon. The links lead to the answers, which are in [`Event`](super::Event).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request {
    /// First message of a client. Answered with [`Event::Hello`](super::Event::Hello).
    Hello(ClientHello),
    /// Asks which applications are connected. Answered with [`Event::Apps`](super::Event::Apps).
    Apps,
    /// Asks for the daemon's status. Answered with [`Event::Status`](super::Event::Status).
    Status,
    /// Starts a capture into the attached descriptor. Answered with [`Event::Started`](super::Event::Started),
    /// then [`Event::Progress`](super::Event::Progress) several times, then one
    /// [`Event::Ended`](super::Event::Ended). The capture stops when the connection closes.
    Start(StartRequest),
    /// Continues a capture of a daemon that is gone. The attached descriptor is the regular file that the daemon
    /// wrote. Answered like [`Self::Start`].
    TakeUp(TakeUpRequest),
    /// Writes the kept frames of an application into the attached descriptor. Answered with
    /// [`Event::Saved`](super::Event::Saved) when the file is complete.
    Save(SaveRequest),
    /// Stops captures, and lets an application go that waits for one, if the target is that application or its
    /// launch. Answered with [`Event::Stopped`](super::Event::Stopped).
    Stop(StopRequest),
    /// Makes this connection part of a link, for a client on another machine. Answered with
    /// [`Event::Link`](super::Event::Link); then both sides speak the protocol of the crate `gapii_remote`.
    Link,
    /// Pauses captures: they leave out what the programs do until [`Self::Resume`]. Answered with
    /// [`Event::Stopped`](super::Event::Stopped).
    Pause(StopRequest),
    /// Resumes paused captures, each at a keyframe. Answered with [`Event::Stopped`](super::Event::Stopped).
    Resume(StopRequest),
    /// Reports how the program that was launched for a capture ended, which only its parent process knows.
    /// Not answered.
    Exited(ExitedRequest),
}

/// A client's name, and the protocol versions that it speaks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ClientHello {
    /// Oldest version that the client speaks.
    pub version_min: u16,
    /// Newest version that the client speaks.
    pub version_max: u16,
    /// Name and version of the client, for the daemon's log.
    #[serde(default)]
    pub client: Untrusted,
}

impl ClientHello {
    /// Returns a hello with the versions of this build.
    pub fn new(client: impl Into<Untrusted>) -> Self {
        Self { version_min: CTL_VERSION_MIN, version_max: CTL_VERSION_MAX, client: client.into() }
    }
}

/// Selects applications, or the captures that these applications are in.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Target {
    /// The only application or capture. It is an error if the daemon has none, or several.
    #[default]
    Only,
    /// All applications that are connected now, or all captures that run now.
    All,
    /// The applications with this pid, this name, or this last component of the executable's path.
    App(String),
    /// Processes that carry this token in their environment, whether they are connected yet or not.
    Launch([u8; 16]),
}

/// Behaviour of a thread whose ring is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Overflow {
    /// The thread waits for room, up to [`StartRequest::stall_ms`].
    #[default]
    Wait,
    /// The thread drops the command's record, and a gap says so.
    Drop,
}

/// Behaviour of a capture whose output takes less than the programs produce.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum IfSlow {
    /// The daemon spills the blocks to a temporary file, up to its limit, and drops records beyond it.
    #[default]
    Spill,
    /// The programs wait.
    Wait,
    /// The daemon drops records.
    Drop,
}

/// Returns true if `name` is valid as the name of a capture: 1 to [`NAME_LEN_MAX`] ASCII letters, digits, `.`,
/// `-` and `_`, and not a number, because numbers select captures too.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=NAME_LEN_MAX).contains(&name.len())
        && name.chars().all(is_plain)
        && name.parse::<u64>().is_err()
}

/// Limits for keeping an application's last frames in the daemon's memory, and the distance between keyframes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeepRequest {
    /// Frames that are kept at least, if they fit into `bytes`. Default: 300.
    pub frames: u64,
    /// Limit of memory, in bytes. Default: 256 MiB.
    pub bytes: u64,
    /// Frames from one keyframe to the next. Default: 100.
    pub keyframe_every: u32,
}

impl Default for KeepRequest {
    fn default() -> Self {
        Self { frames: 300, bytes: 256 << 20, keyframe_every: 100 }
    }
}

/// Applications to capture, and the capture's limits and options.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct StartRequest {
    /// The applications to capture.
    pub target: Target,
    /// Frames to record of each process; `None` records until the capture is stopped.
    pub frames: Option<u64>,
    /// Frames of each process that pass before the first recorded one.
    pub skip_frames: u64,
    /// Seconds after which the capture ends.
    pub seconds: Option<f64>,
    /// Behaviour of a thread whose ring is full.
    pub overflow: Overflow,
    /// Milliseconds that a thread waits for ring space before it leaves the capture.
    pub stall_ms: u64,
    /// Reads back the first of every n frames before it is shown; `None` reads back none.
    pub observe_frames: Option<u32>,
    /// Records the pixels of these frames, not only their hash.
    pub frame_pixels: bool,
    /// Measures how long the driver takes for each command.
    pub timing: bool,
    /// Measures how long the GPU takes for each command that gives it work, and how long the driver takes for each command.
    pub gpu_timing: bool,
    /// Counts submissions to a queue of a compute API as frames, also in processes that swap.
    pub counts_submits: bool,
    /// Begins at a process' next command, also if the process ends frames.
    pub at_any_command: bool,
    /// The commands that end a frame; swaps do if it is empty.
    pub frame_rule: FrameRule,
    /// Bytes of contents that a snapshot may copy in the process, to send them while the program runs on.
    pub attach_memory: u64,
    /// Writes nothing, and keeps the last frames of each process of the target in memory, also of processes
    /// that connect later. Keeping lasts until the daemon ends, also after this client is gone. Such a request
    /// has no descriptor.
    pub keep: Option<KeepRequest>,
    /// Name of the capture, unique among running captures. See [`is_name`].
    pub name: Option<String>,
    /// Written bytes after which the capture ends.
    pub bytes: Option<u64>,
    /// Behaviour when the output takes less than the programs produce.
    pub if_slow: IfSlow,
    /// Selects the commands that are recorded.
    pub filter: Filter,
    /// Event to wait for: recording of a process begins at its next keyframe after the event has happened in it.
    pub when: Option<Trigger>,
    /// The command line that led to the capture, for the trace's footer.
    pub command: Vec<Untrusted>,
}

impl Default for StartRequest {
    fn default() -> Self {
        Self {
            target: Target::Only,
            frames: None,
            skip_frames: 0,
            seconds: None,
            overflow: Overflow::Wait,
            stall_ms: STALL_MS_DEFAULT,
            observe_frames: None,
            frame_pixels: false,
            timing: false,
            gpu_timing: false,
            counts_submits: false,
            at_any_command: false,
            frame_rule: FrameRule::default(),
            attach_memory: ATTACH_MEMORY_DEFAULT,
            keep: None,
            name: None,
            bytes: None,
            if_slow: IfSlow::Spill,
            filter: Filter::default(),
            when: None,
            command: Vec::new(),
        }
    }
}

/// Names the capture to continue, and the daemon that began it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TakeUpRequest {
    /// Session of the daemon that began the capture, in hexadecimal.
    pub session: String,
    /// Number of the capture in that session.
    pub capture: u64,
    /// The request that started the capture.
    pub start: StartRequest,
}

/// Selects the captures to stop, pause or resume: all captures that the target's applications are in, or one of
/// these captures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRequest {
    /// The applications.
    pub target: Target,
    /// Only the capture with this number.
    pub capture: Option<u64>,
    /// Only the capture with this name.
    pub name: Option<String>,
}

/// Selects the application whose kept frames are saved. The application may have ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SaveRequest {
    /// The application.
    pub target: Target,
    /// Saves at least this many of the last frames; `None` saves all that are kept.
    pub last: Option<u64>,
}

/// How a launched program ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExitedRequest {
    /// Number of the capture that the program was launched for.
    pub capture: u64,
    /// The program's process id; older clients say it only of a program that is kept.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The signal that ended the program; `None` if it exited.
    #[serde(default)]
    pub signal: Option<i32>,
}
