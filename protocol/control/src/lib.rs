//! What a client and the daemon say to each other: length-prefixed MessagePack.
//!
//! A frame is a `u32` length, little-endian, and that many bytes of MessagePack: one [`Request`]
//! from a client, one [`Event`] from the daemon. The first of each is the hello, which settles the
//! version. Within a version messages gain fields, never lose them: a reader ignores those it does
//! not know and takes the default for those that are missing. A new kind of message is a new
//! version. Errors are values; after one the connection goes on, unless the frame itself could not
//! be read.
//!
//! [`Request::Start`], like [`Request::TakeUp`], has one descriptor attached (`SCM_RIGHTS`, with the first
//! byte of its frame): the output, opened by the client. Opens nothing and connects to nothing itself.

#![forbid(unsafe_code)]

pub mod status;
pub mod trigger;

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::trigger::Trigger;
pub use gapii_abi::app::common_version;
use gapii_trace::filter::Filter;

/// Oldest version of this protocol that this build speaks.
pub const CTL_VERSION_MIN: u16 = 1;
/// Newest version of this protocol that this build speaks.
pub const CTL_VERSION_MAX: u16 = 7;
/// Version from which on a daemon keeps and saves.
pub const KEEPING_VERSION: u16 = 2;
/// Version from which on a daemon takes links.
pub const LINK_VERSION: u16 = 3;
/// Version from which on captures share a program, and have names, pauses and limits of bytes.
pub const SHARING_VERSION: u16 = 4;
/// Version from which on captures have filters.
pub const FILTER_VERSION: u16 = 5;
/// Version from which on captures wait for something.
pub const TRIGGER_VERSION: u16 = 6;
/// Longest name of a capture, in bytes.
pub const NAME_LEN_MAX: usize = 64;
/// Version from which on a daemon takes up captures that another has begun.
pub const TAKING_UP_VERSION: u16 = 7;
/// Longest message, in bytes, without its length word.
pub const MESSAGE_LEN_MAX: u32 = 1 << 20;
/// Length of the word before a message, in bytes.
pub const PREFIX_LEN: usize = 4;
/// File name of the clients' socket in the socket folder.
pub const SOCKET_NAME: &str = "ctl.sock";

/// Values of [`ControlError::code`].
pub mod code {
    /// No version in common.
    pub const VERSION: &str = "version";
    /// The message could not be understood.
    pub const BAD_REQUEST: &str = "bad-request";
    /// A request came before the hello, or a second hello.
    pub const OUT_OF_TURN: &str = "out-of-turn";
    /// No application fits the target.
    pub const NO_APP: &str = "no-app";
    /// Several applications fit, and one was asked for.
    pub const AMBIGUOUS: &str = "ambiguous";
    /// The application is in another capture already.
    pub const BUSY: &str = "busy";
    /// No capture fits the target.
    pub const NO_CAPTURE: &str = "no-capture";
    /// [`Request::Start`](super::Request::Start) came without an output to write to.
    pub const NO_OUTPUT: &str = "no-output";
    /// The client belongs to another user.
    pub const NOT_ALLOWED: &str = "not-allowed";
    /// The daemon has as many clients, captures or saves under way as it takes.
    pub const TOO_MANY: &str = "too-many";
    /// The daemon is going away.
    pub const SHUTDOWN: &str = "shutdown";
    /// Something failed inside the daemon.
    pub const INTERNAL: &str = "internal";
}

/// Values of [`AppInfo::mode`].
pub mod mode {
    pub const IDLE: &str = "idle";
    /// Idle, and nothing of the program's state is followed.
    pub const ASLEEP: &str = "asleep";
    pub const CAPTURING: &str = "capturing";
    pub const WAITING: &str = "waiting";
}

/// From client to daemon.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request {
    /// First message of a client.
    Hello(ClientHello),
    /// Who is connected? Answered with [`Event::Apps`].
    Apps,
    /// How is the daemon? Answered with [`Event::Status`].
    Status,
    /// Start a capture, into the attached descriptor. Answered with [`Event::Started`]; then come
    /// [`Event::Progress`] and one [`Event::Ended`]. Closing the connection stops the capture.
    Start(StartRequest),
    /// Go on with a capture that a daemon has begun which is gone, into the attached descriptor: a regular
    /// file that has what that one wrote. Answered, and followed, as a start.
    TakeUp(TakeUpRequest),
    /// Write what is kept of an application into the attached descriptor. Answered with [`Event::Saved`],
    /// which may take a while.
    Save(SaveRequest),
    /// Stop captures. Answered with [`Event::Stopped`].
    Stop(StopRequest),
    /// From here on the connection is one of a link, for a client of another machine: answered with
    /// [`Event::Link`], after which both sides speak as `gapii_remote` says.
    Link,
    /// Have captures leave out what comes. Answered with [`Event::Stopped`].
    Pause(StopRequest),
    /// Have them go on, from a keyframe. Answered with [`Event::Stopped`].
    Resume(StopRequest),
    /// The program launched for a capture is gone; only its parent knows how. Not answered.
    Exited(ExitedRequest),
}

/// From daemon to client.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// Answer to [`Request::Hello`].
    Hello(ServerHello),
    /// Answer to [`Request::Apps`].
    Apps(Vec<AppInfo>),
    /// Answer to [`Request::Status`].
    Status(StatusInfo),
    /// The capture is set up; its programs may run.
    Started(Started),
    /// A few times a second while a capture of this connection runs.
    Progress(Progress),
    /// A capture of this connection is complete: its output is written and closed.
    Ended(Ended),
    /// Answer to [`Request::Save`].
    Saved(Saved),
    /// A thread of an application that this client has kept was held for a keyframe.
    Held(Held),
    /// Answer to [`Request::Stop`], [`Request::Pause`] and [`Request::Resume`]: these were told.
    Stopped(Stopped),
    /// Answer to [`Request::Link`].
    Link,
    /// Answer to any request that could not be done.
    Error(ControlError),
}

/// Who the client is and what it speaks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ClientHello {
    pub version_min: u16,
    pub version_max: u16,
    /// Name and version of the client, for the log.
    #[serde(default)]
    pub client: String,
}

impl ClientHello {
    /// A hello of this build.
    pub fn new(client: impl Into<String>) -> Self {
        Self { version_min: CTL_VERSION_MIN, version_max: CTL_VERSION_MAX, client: client.into() }
    }
}

/// Who the daemon is and what both will speak.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ServerHello {
    pub version: u16,
    #[serde(default)]
    pub daemon_version: String,
    /// Hexadecimal.
    #[serde(default)]
    pub session: String,
    #[serde(default)]
    pub pid: u32,
}

/// Which applications, or which captures.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Target {
    /// The one there is; an error if there is none or several.
    #[default]
    Only,
    /// All that are connected or running now.
    All,
    /// By pid, by name, or by the last component of the executable's path.
    App(String),
    /// Processes that carry this token in their environment, now or later.
    Launch([u8; 16]),
}

/// What happens when a ring is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Overflow {
    /// The thread waits.
    #[default]
    Wait,
    /// The command is not recorded, and the gap is.
    Drop,
}

/// What happens where the output takes less than the programs produce.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum IfSlow {
    /// It is put aside in a file, up to the daemon's limit, and left out beyond.
    #[default]
    Spill,
    /// The programs wait.
    Wait,
    /// It is left out.
    Drop,
}

/// Whether a capture may be called so: nothing else that means one looks like it.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=NAME_LEN_MAX).contains(&name.len())
        && name.chars().all(is_plain)
        && name.parse::<u64>().is_err()
}

/// How long a thread waits for ring space before it leaves the capture, in milliseconds.
pub const STALL_MS_DEFAULT: u64 = 2_000;

/// What is kept of an application in memory, and how often a trace can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct KeepRequest {
    /// At least so many frames, if they fit.
    pub frames: u64,
    /// Bytes of memory, at most.
    pub bytes: u64,
    /// Frames from one keyframe to the next.
    pub keyframe_every: u32,
}

impl Default for KeepRequest {
    fn default() -> Self {
        Self { frames: 300, bytes: 256 << 20, keyframe_every: 100 }
    }
}

/// What to capture, and how much of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct StartRequest {
    pub target: Target,
    /// Frames per process; until stopped if none.
    pub frames: Option<u64>,
    /// Frames that pass before the first recorded one.
    pub skip_frames: u64,
    /// Longest the capture runs.
    pub seconds: Option<f64>,
    pub overflow: Overflow,
    /// See [`STALL_MS_DEFAULT`].
    pub stall_ms: u64,
    /// Of every so many frames the first is read back before it is shown; none without.
    pub observe_frames: Option<u32>,
    /// Their pixels are kept, and not only the hash.
    pub frame_pixels: bool,
    /// How long the driver takes for each command is measured.
    pub timing: bool,
    /// Frames are what is given to a queue of a compute API's, also in a process that shows something.
    pub counts_submits: bool,
    /// Nothing is written: the last frames of each of the target's processes are kept, now or when it
    /// comes, until the daemon ends, whether or not this client stays. No descriptor is attached.
    pub keep: Option<KeepRequest>,
    /// What the capture is called; no other that runs may be called so.
    pub name: Option<String>,
    /// Bytes written after which it ends.
    pub bytes: Option<u64>,
    /// What happens where the output does not take what the programs produce.
    pub if_slow: IfSlow,
    /// What of the programs' commands is recorded.
    pub filter: Filter,
    /// What each process is waited for to do before it is recorded, from the next keyframe on.
    pub when: Option<Trigger>,
    /// The command line that led to the capture; for the trace's header.
    pub command: Vec<String>,
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
            counts_submits: false,
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

/// Which capture is to go on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TakeUpRequest {
    /// Of the daemon that began it, hexadecimal.
    pub session: String,
    /// Its number there.
    pub capture: u64,
    /// What was asked of that one.
    pub start: StartRequest,
}

/// Which captures to stop, to pause or to resume: those that the target's applications are in, or one of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRequest {
    pub target: Target,
    /// The capture of this number alone.
    pub capture: Option<u64>,
    /// The capture of this name alone.
    pub name: Option<String>,
}

/// Which application's frames to save. One that has ended may be meant, too.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SaveRequest {
    pub target: Target,
    /// At least so many of the last frames; all that are kept if none.
    pub last: Option<u64>,
}

/// What was saved.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    pub pid: u32,
    /// Name of the application.
    pub name: String,
    /// Number of the first frame in the trace, counted since the application was kept.
    pub first_frame: u64,
    pub summary: Summary,
}

/// A thread stood still while the shim described what there was.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    pub pid: u32,
    /// Frames since the application was kept.
    pub frames: u64,
    pub held_us: u64,
}

/// What is kept of an application.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptInfo {
    pub pid: u32,
    pub name: String,
    /// It still runs.
    pub is_running: bool,
    pub frames: u64,
    pub bytes: u64,
    /// Places where a trace may begin.
    pub keyframes: u64,
    /// How long a thread was held for the last one, in microseconds.
    pub held_us: u64,
    pub limits: KeepRequest,
}

/// How the launched program ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExitedRequest {
    pub capture: u64,
    /// The program's process, where it is kept and not in a capture of the client's.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The signal that ended it, if one did.
    #[serde(default)]
    pub signal: Option<i32>,
}

/// An application.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AppInfo {
    pub pid: u32,
    pub name: String,
    /// Path of the executable, perhaps cut.
    pub exe: String,
    /// `egl`, `gles`.
    pub apis: Vec<String>,
    /// Contexts that exist in it.
    pub contexts: u32,
    /// Frames since it connected.
    pub frames: u64,
    /// One of [`mode`].
    pub mode: String,
    /// Index in the session.
    pub process: u32,
    /// How long it has been connected.
    pub connected_ns: u64,
    /// None of a daemon that does not count.
    pub counts: Option<AppCounts>,
}

/// What came of an application since it connected; all but `calls` is what its threads say themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AppCounts {
    /// Commands that captures took from its rings, each counted once.
    pub calls: u64,
    /// Bytes that were written into its rings.
    pub ring_bytes: u64,
    /// Times that a thread waited for ring space, and for how long.
    pub waits: u64,
    pub wait_ns: u64,
    /// Commands that found no room in a ring, or no ring.
    pub lost_calls: u64,
    pub lost_bytes: u64,
}

/// How the daemon is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusInfo {
    pub daemon_version: String,
    pub pid: u32,
    /// Hexadecimal.
    pub session: String,
    pub uptime_ns: u64,
    pub apps: Vec<AppInfo>,
    pub captures: Vec<CaptureInfo>,
    /// Applications whose last frames are kept.
    pub kept: Vec<KeptInfo>,
    pub slot_count: u32,
    pub ring_bytes: u64,
    /// Since the daemon started, over all captures.
    pub totals: Totals,
    /// What was turned away, since the daemon started.
    pub rejected: Rejected,
}

/// A running capture.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureInfo {
    pub capture: u64,
    pub name: Option<String>,
    /// Process of the client that started it.
    pub client: u32,
    /// Processes in it.
    pub pids: Vec<u32>,
    pub running_ns: u64,
    pub progress: Progress,
}

/// Sums over captures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    pub captures: u64,
    pub frames: u64,
    pub calls: u64,
    pub records: u64,
    pub raw_bytes: u64,
    /// Bytes of blobs among them.
    pub blob_bytes: u64,
    /// Of these, bytes that the daemon had of earlier snapshots.
    pub stored_bytes: u64,
    /// Bytes that came through the programs' rings.
    pub ring_bytes: u64,
    pub file_bytes: u64,
    pub lost: Lost,
    pub waits: u64,
    pub wait_ns: u64,
}

/// Input that was turned away.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rejected {
    /// Hellos that were not one, or came from another user.
    pub app_hellos: u64,
    /// Applications of another version.
    pub app_versions: u64,
    /// Hellos that did not come in time or not whole.
    pub app_timeouts: u64,
    /// Client messages that could not be read.
    pub ctl_messages: u64,
    /// Clients of another user or version, or more than are taken.
    pub ctl_peers: u64,
    /// Clients whose hello did not come in time.
    pub ctl_timeouts: u64,
    /// Rings whose contents could not be believed.
    pub rings: u64,
}

/// A capture is set up.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    pub capture: u64,
    /// The applications in it so far; none yet for [`Target::Launch`].
    pub apps: Vec<AppInfo>,
}

/// How far a capture is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    pub capture: u64,
    /// Frames ended, over all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// No frame has ended, and a thread tells what it found: the capture began in the middle.
    pub describing: bool,
    /// Bytes of stream before compression.
    pub raw_bytes: u64,
    /// Bytes of blobs among them.
    pub blob_bytes: u64,
    /// Bytes written to the output.
    pub file_bytes: u64,
    /// Bytes that wait in a file until the output takes them.
    pub spilled_bytes: u64,
    /// Nothing of what comes is recorded: it is paused, or its output took too little.
    pub is_missing: bool,
    /// It is paused.
    pub is_paused: bool,
    /// Nothing is recorded yet of a process: what it is waited for to do has not come.
    pub is_waiting: bool,
    pub lost_calls: u64,
    /// Times that a thread waited for ring space.
    pub waits: u64,
}

/// A capture is complete.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ended {
    pub capture: u64,
    pub summary: Summary,
}

/// What a capture came to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The word of an [`EndReason`](gapii_abi::atom::EndReason).
    pub reason: String,
    pub frames: u64,
    pub calls: u64,
    pub records: u64,
    pub threads: u64,
    pub processes: u64,
    pub raw_bytes: u64,
    /// Blobs in the trace, their bytes, and bytes that references to them have saved.
    pub blobs: u64,
    pub blob_bytes: u64,
    pub saved_bytes: u64,
    /// Bytes of blobs that the daemon had of earlier snapshots.
    pub stored_bytes: u64,
    pub file_bytes: u64,
    pub lost: Lost,
    pub waits: u64,
    pub wait_ns: u64,
    /// The trace begins with what the program had when the capture began.
    pub snapshot: bool,
    /// For how long a thread was held for that, at most, in microseconds.
    pub held_us: u64,
    /// What that leaves out, a sentence each.
    pub missing: Vec<String>,
    /// Commands whose driver call had not returned.
    pub in_flight: Vec<InFlight>,
    /// How often another daemon took the capture up, and for how long nobody recorded, in all.
    pub seams: u64,
    pub away_ns: u64,
    /// The signal that ended the program, where its parent knows it.
    pub signal: Option<i32>,
    /// What went wrong with the output, in a sentence; what was recorded before is kept.
    pub error: Option<String>,
}

/// What was not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    pub calls: u64,
    pub bytes: u64,
}

/// A command that had not returned when the stream ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InFlight {
    pub pid: u32,
    pub tid: u32,
    /// Function id, by the trace's header.
    pub id: u16,
    pub stamp: u64,
}

/// Captures that were told to stop, to pause or to go on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stopped {
    pub captures: Vec<u64>,
}

/// Why a request could not be done.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// One of [`code`].
    pub code: String,
    /// One sentence, for people.
    #[serde(default)]
    pub message: String,
}

impl ControlError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// Why a frame could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("message of {0} bytes exceeds the limit of {MESSAGE_LEN_MAX}")]
    TooLong(usize),
    #[error("message cannot be written: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
    #[error("message cannot be understood: {0}")]
    Decode(#[from] rmp_serde::decode::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A message as it goes over the socket, length first.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; PREFIX_LEN];
    rmp_serde::encode::write_named(&mut frame, message)?;
    let len = frame.len() - PREFIX_LEN;
    let prefix = message_len(len).ok_or(FrameError::TooLong(len))?;
    frame[..PREFIX_LEN].copy_from_slice(&prefix.to_le_bytes());
    Ok(frame)
}

/// Reads a message from a frame's body.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, FrameError> {
    Ok(rmp_serde::from_slice(body)?)
}

/// Writes a message to a blocking stream.
pub fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), FrameError> {
    Ok(to.write_all(&encode(message)?)?)
}

/// Reads a message from a blocking stream; none at its end between two frames.
pub fn read_message<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, FrameError> {
    let mut prefix = [0; PREFIX_LEN];
    let mut filled = 0;
    while filled < PREFIX_LEN {
        match from.read(&mut prefix[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let len = checked_len(prefix)?;
    let mut body = vec![0; len];
    from.read_exact(&mut body)?;
    decode(&body).map(Some)
}

/// Cuts a stream of bytes, as they arrive, into frames.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
}

impl FrameBuffer {
    /// Appends bytes that arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The body of the next whole frame; none while it is not whole. A frame that is too long is
    /// an error for good: what follows it can't be found.
    pub fn next_body(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX_LEN>() else { return Ok(None) };
        let end = PREFIX_LEN + checked_len(*prefix)?;
        if self.bytes.len() < end {
            return Ok(None);
        }
        let body = self.bytes[PREFIX_LEN..end].to_vec();
        self.bytes.drain(..end);
        Ok(Some(body))
    }

    /// Whether nothing of a next frame has arrived.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

fn message_len(len: usize) -> Option<u32> {
    u32::try_from(len).ok().filter(|&len| len <= MESSAGE_LEN_MAX)
}

fn checked_len(prefix: [u8; PREFIX_LEN]) -> Result<usize, FrameError> {
    let len_untrusted = u32::from_le_bytes(prefix) as usize;
    match message_len(len_untrusted) {
        Some(_) => Ok(len_untrusted),
        None => Err(FrameError::TooLong(len_untrusted)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Request {
        Request::Start(StartRequest {
            target: Target::Launch([9; 16]),
            frames: Some(100),
            seconds: Some(1.5),
            overflow: Overflow::Drop,
            keep: Some(KeepRequest::default()),
            command: vec!["prog".into(), "--flag".into()],
            ..StartRequest::default()
        })
    }

    #[test]
    fn messages_written_and_read_are_the_same() {
        let mut stream = Vec::new();
        let requests = [
            Request::Hello(ClientHello::new("test")),
            Request::Apps,
            start(),
            Request::TakeUp(TakeUpRequest { capture: 7, ..TakeUpRequest::default() }),
            Request::Stop(StopRequest { capture: Some(3), ..StopRequest::default() }),
            Request::Save(SaveRequest { target: Target::App("cat".into()), last: Some(100) }),
            Request::Exited(ExitedRequest { capture: 1, pid: Some(7), signal: Some(11) }),
            Request::Link,
        ];
        for request in &requests {
            write_message(&mut stream, request).unwrap();
        }
        let mut from = stream.as_slice();
        for request in requests {
            assert_eq!(read_message::<Request>(&mut from).unwrap(), Some(request));
        }
        assert_eq!(read_message::<Request>(&mut from).unwrap(), None);
    }

    #[test]
    fn frames_arriving_byte_by_byte_are_cut_right() {
        let event = Event::Error(ControlError::new(code::NO_APP, "no application is connected"));
        let stream = [encode(&event).unwrap(), encode(&Event::Apps(Vec::new())).unwrap()].concat();
        let mut buffer = FrameBuffer::default();
        let mut events = Vec::new();
        for byte in stream {
            buffer.extend(&[byte]);
            while let Some(body) = buffer.next_body().unwrap() {
                events.push(decode::<Event>(&body).unwrap());
            }
        }
        assert!(buffer.is_empty());
        assert_eq!(events, [event, Event::Apps(Vec::new())]);
    }

    #[test]
    fn length_past_the_limit_is_rejected_before_it_is_allocated() {
        let frame = (MESSAGE_LEN_MAX + 1).to_le_bytes();
        let mut buffer = FrameBuffer::default();
        buffer.extend(&frame);
        assert!(matches!(buffer.next_body(), Err(FrameError::TooLong(_))));
        let read = read_message::<Request>(&mut frame.as_slice());
        assert!(matches!(read, Err(FrameError::TooLong(_))));
        let target = Target::App("x".repeat(1 << 20));
        let long = Request::Stop(StopRequest { target, ..StopRequest::default() });
        assert!(matches!(encode(&long), Err(FrameError::TooLong(_))));
    }

    #[test]
    fn stream_cut_inside_a_frame_is_an_error() {
        let frame = encode(&Request::Apps).unwrap();
        for end in 1..frame.len() {
            let read = read_message::<Request>(&mut &frame[..end]);
            assert!(matches!(read, Err(FrameError::Io(_))), "cut at {end}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_default() {
        #[derive(Serialize)]
        enum Later {
            Start { frames: u64, colour: &'static str, nested: Vec<[u8; 2]> },
        }
        let later = Later::Start { frames: 3, colour: "red", nested: vec![[1, 2]] };
        let body = rmp_serde::to_vec_named(&later).unwrap();
        let expected = StartRequest { frames: Some(3), ..StartRequest::default() };
        assert_eq!(decode::<Request>(&body).unwrap(), Request::Start(expected));
    }

    #[test]
    fn foreign_bytes_are_rejected() {
        for body in [&b""[..], b"GET / HTTP/1.1", &[0xdc, 0xff, 0xff], &[0x91; 64]] {
            assert!(matches!(decode::<Request>(body), Err(FrameError::Decode(_))), "{body:?}");
        }
        let unknown = rmp_serde::to_vec_named("Dance").unwrap();
        assert!(matches!(decode::<Request>(&unknown), Err(FrameError::Decode(_))));
    }
}
