//! Reports of the daemon about its applications, its captures and itself.

use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::progress::{Lost, Progress};
use crate::request::KeepRequest;

/// A connected application.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AppInfo {
    /// Process id.
    pub pid: u32,
    /// The kernel's name for the process.
    pub name: Untrusted,
    /// Path of the executable; long paths are cut.
    pub exe: Untrusted,
    /// APIs that the process has called: `egl`, `gl`, `glx`, `level_zero`.
    pub apis: Vec<String>,
    /// Contexts that exist in the process.
    pub contexts: u32,
    /// Frames since the application connected.
    pub frames: u64,
    /// What the application is doing: `idle`, `asleep`, `capturing` or `waiting` ([`mode`](super::mode)).
    pub mode: String,
    /// Index of the process in the session.
    pub process: u32,
    /// Nanoseconds since the application connected.
    pub connected_ns: u64,
    /// Totals since the application connected; `None` from a daemon that does not count them.
    pub counts: Option<AppCounts>,
}

/// Totals of an application since it connected. The application's threads count all of them except `calls`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AppCounts {
    /// Commands that captures took from the application's rings, each counted once.
    pub calls: u64,
    /// Bytes that were written into the rings.
    pub ring_bytes: u64,
    /// Times that a thread waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
    /// Commands that found no room in a ring, or no ring.
    pub lost_calls: u64,
    /// Bytes of these commands.
    pub lost_bytes: u64,
}

/// The status of the daemon.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusInfo {
    /// Version of the daemon's build.
    pub daemon_version: String,
    /// The daemon's process id.
    pub pid: u32,
    /// The daemon's session, in hexadecimal.
    pub session: String,
    /// Nanoseconds since the daemon started.
    pub uptime_ns: u64,
    /// Connected applications.
    pub apps: Vec<AppInfo>,
    /// Running captures, including those that keep frames in memory.
    pub captures: Vec<CaptureInfo>,
    /// Applications whose last frames are kept.
    pub kept: Vec<KeptInfo>,
    /// Rings that each application gets.
    pub slot_count: u32,
    /// Size of a ring, in bytes.
    pub ring_bytes: u64,
    /// Totals over all captures since the daemon started.
    pub totals: Totals,
    /// Rejected input since the daemon started.
    pub rejected: Rejected,
    /// Entries that the lists lack, because a report has room for a limited number.
    pub left_out: LeftOut,
}

/// Numbers of entries that the lists of a [`StatusInfo`] lack. Their limits are in
/// [`status`](crate::status).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LeftOut {
    /// Connected applications.
    pub apps: u64,
    /// Running captures.
    pub captures: u64,
    /// Applications whose last frames are kept.
    pub kept: u64,
}

/// A running capture.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CaptureInfo {
    /// Number of the capture in the session.
    pub capture: u64,
    /// Name that the client gave it.
    pub name: Option<Untrusted>,
    /// Process id of the client that started it.
    pub client: u32,
    /// True if it writes no trace, and keeps the last frames of an application in the daemon's memory.
    pub keeps: bool,
    /// Process ids of the applications in it.
    pub pids: Vec<u32>,
    /// Applications in it that `pids` lacks, because a report has room for a limited number.
    pub pids_left_out: u64,
    /// Nanoseconds since it started.
    pub running_ns: u64,
    /// Progress of the capture.
    pub progress: Progress,
}

/// An application whose last frames are kept.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeptInfo {
    /// Process id.
    pub pid: u32,
    /// The kernel's name for the process.
    pub name: Untrusted,
    /// True if the application still runs.
    pub is_running: bool,
    /// Frames that are kept.
    pub frames: u64,
    /// Bytes of memory that they take.
    pub bytes: u64,
    /// Keyframes among them, at each of which a trace can begin.
    pub keyframes: u64,
    /// The longest that a thread stood still for the last keyframe, in microseconds.
    pub held_us: u64,
    /// The limits that the client asked for.
    pub limits: KeepRequest,
}

/// Sums over all captures since the daemon started.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Totals {
    /// Captures that were started.
    pub captures: u64,
    /// Frames that ended in captures, over all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Records from applications.
    pub records: u64,
    /// Bytes of stream before compression.
    pub raw_bytes: u64,
    /// Bytes of blobs among `raw_bytes`.
    pub blob_bytes: u64,
    /// Bytes among `blob_bytes` that the daemon already had from earlier snapshots.
    pub stored_bytes: u64,
    /// Bytes that came through the programs' rings.
    pub ring_bytes: u64,
    /// Bytes written to outputs.
    pub file_bytes: u64,
    /// Commands that were not recorded.
    pub lost: Lost,
    /// Times that a thread waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
}

/// Counts of the input that the daemon has rejected, by cause.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Rejected {
    /// Connections of applications that sent something other than a hello, or belong to another user.
    pub app_hellos: u64,
    /// Applications without a common version.
    pub app_versions: u64,
    /// Applications whose hello did not arrive completely and in time.
    pub app_timeouts: u64,
    /// Messages of clients that could not be read.
    pub ctl_messages: u64,
    /// Clients of another user, without a common version, or above the limit.
    pub ctl_peers: u64,
    /// Clients whose hello did not arrive in time.
    pub ctl_timeouts: u64,
    /// Rings with contents that break the rules.
    pub rings: u64,
}
