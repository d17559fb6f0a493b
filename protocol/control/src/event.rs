//! Messages from the daemon to clients. An error is one of the codes in `protocol/control/src/code.rs` and a sentence
//! for people; the connection goes on after it, unless the message itself could not be read.

use gapii_trace::Untrusted;
use serde::{Deserialize, Serialize};

use crate::info::{AppInfo, StatusInfo};
use crate::progress::{Progress, Summary};

/// A message from the daemon to a client.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// Answer to [`Request::Hello`](super::Request::Hello).
    Hello(ServerHello),
    /// Answer to [`Request::Apps`](super::Request::Apps).
    Apps(Vec<AppInfo>),
    /// Answer to [`Request::Status`](super::Request::Status).
    Status(StatusInfo),
    /// The capture is set up, and its programs may run.
    Started(Started),
    /// Progress of a capture of this connection. Comes a few times a second.
    Progress(Progress),
    /// A capture of this connection has ended; its output is written and closed.
    Ended(Ended),
    /// Answer to [`Request::Save`](super::Request::Save).
    Saved(Saved),
    /// A thread of an application that this client asked to keep stood still for a keyframe.
    Held(Held),
    /// Answer to [`Request::Stop`](super::Request::Stop), [`Request::Pause`](super::Request::Pause) and
    /// [`Request::Resume`](super::Request::Resume).
    Stopped(Stopped),
    /// Answer to [`Request::Link`](super::Request::Link).
    Link,
    /// Answer to a request that could not be done.
    Error(ControlError),
}

/// The daemon's build, session and process, and the protocol version that both sides will speak.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ServerHello {
    /// The version that both sides speak from here on.
    pub version: u16,
    /// Version of the daemon's build.
    #[serde(default)]
    pub daemon_version: String,
    /// The daemon's session, in hexadecimal.
    #[serde(default)]
    pub session: String,
    /// The daemon's process id.
    #[serde(default)]
    pub pid: u32,
}

/// A capture is set up.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    /// Number of the capture in the session.
    pub capture: u64,
    /// The applications in the capture. More may follow for [`Target::Launch`](super::Target::Launch).
    pub apps: Vec<AppInfo>,
}

/// A capture has ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ended {
    /// Number of the capture in the session.
    pub capture: u64,
    /// Totals of the capture.
    pub summary: Summary,
}

/// Kept frames have been saved.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// Process id of the application.
    pub pid: u32,
    /// Name of the application.
    pub name: Untrusted,
    /// Number of the first frame in the trace, counted from when keeping began.
    pub first_frame: u64,
    /// Totals of the trace.
    pub summary: Summary,
}

/// A thread stood still while the shim wrote a snapshot.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    /// Process id of the application.
    pub pid: u32,
    /// Frames of the application since keeping began.
    pub frames: u64,
    /// How long the thread stood still, in microseconds.
    pub held_us: u64,
}

/// Captures that were told to stop, pause or resume, and applications that were let go.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stopped {
    /// The captures' numbers in the session.
    pub captures: Vec<u64>,
    /// Number of applications that waited for a capture and go on without one. Only `stop` lets any go.
    pub let_go: u64,
}

/// Why a request could not be done.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// One of [`code`](super::code).
    pub code: String,
    /// One sentence for people.
    #[serde(default)]
    pub message: Untrusted,
    /// What the client's user can type or do, as a clause with commands and options in backticks; empty from older daemons.
    #[serde(default)]
    pub suggestion: Untrusted,
}

/// Bytes of each text of an error: a name that it repeats can be as long as a request.
const TEXT_BYTES_MAX: usize = 1000;

impl ControlError {
    /// Makes an error of one of [`code`](super::code), with a sentence that says what is wrong and why, and a clause that
    /// says what to type. Each is cut to 1,000 bytes.
    pub fn new(
        code: &str,
        message: impl Into<Untrusted>,
        suggestion: impl Into<Untrusted>,
    ) -> Self {
        let [message, suggestion] =
            [message.into(), suggestion.into()].map(|text| text.cut(TEXT_BYTES_MAX));
        Self { code: code.to_owned(), message, suggestion }
    }
}
