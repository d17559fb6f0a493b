//! Progress of a running capture, and the totals of an ended one.

use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Progress of a capture.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Progress {
    /// Number of the capture in the session.
    pub capture: u64,
    /// Frames that have ended, over all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// True if no frame has ended yet and a thread is writing a snapshot, because the capture began in the
    /// middle.
    pub describing: bool,
    /// Bytes of stream before compression.
    pub raw_bytes: u64,
    /// Bytes of blobs among `raw_bytes`.
    pub blob_bytes: u64,
    /// Bytes written to the output.
    pub file_bytes: u64,
    /// Bytes that wait in a temporary file for the output.
    pub spilled_bytes: u64,
    /// True if records are being dropped: the capture is paused, or its output took too little.
    pub is_missing: bool,
    /// True if the capture is paused.
    pub is_paused: bool,
    /// True if nothing of some process is recorded yet, because its trigger has not happened.
    pub is_waiting: bool,
    /// Commands that were lost.
    pub lost_calls: u64,
    /// Times that a thread waited for ring space.
    pub waits: u64,
}

/// Totals of a capture: recorded and lost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// Why the capture ended: `frames`, `stop`, `exit`, `crash`, `lost` or `shutdown`
    /// ([`EndReason`](gapii_abi::atom::EndReason)).
    pub reason: String,
    /// Frames that ended, over all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Records from applications.
    pub records: u64,
    /// Threads with records.
    pub threads: u64,
    /// Processes with records.
    pub processes: u64,
    /// Bytes of stream before compression.
    pub raw_bytes: u64,
    /// Blobs in the trace.
    pub blobs: u64,
    /// Bytes of these blobs.
    pub blob_bytes: u64,
    /// Bytes that the trace saves by referring to blobs instead of repeating them.
    pub saved_bytes: u64,
    /// Bytes among `blob_bytes` that the daemon already had from earlier snapshots.
    pub stored_bytes: u64,
    /// Bytes of the first snapshot that were sent while a program was held, because there was no room for a copy of them.
    pub held_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Commands that were not recorded.
    pub lost: Lost,
    /// Part of `lost`: those that came while the capture was paused.
    pub paused: Lost,
    /// Recorded commands that lack memory which they read, because its extent was not known.
    pub incomplete: u64,
    /// Commands that were not recorded because they were called from inside other commands.
    pub reentrant: u64,
    /// Commands of OpenGL that were not recorded, because no recorded context was current.
    pub foreign: u64,
    /// Times that a thread waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
    /// True if the trace begins with a snapshot.
    pub snapshot: bool,
    /// The longest that a thread stood still for a snapshot, in microseconds.
    pub held_us: u64,
    /// State that the snapshots leave out, and imported memory that was not recorded, one sentence per item.
    pub missing: Vec<Untrusted>,
    /// Commands that have no times on the GPU although they were asked for, one sentence per item.
    pub without_gpu_times: Vec<Untrusted>,
    /// Commands that had not returned when the stream ended.
    pub in_flight: Vec<InFlight>,
    /// Times that another daemon continued the capture.
    pub seams: u64,
    /// Nanoseconds during which no daemon recorded, over all seams.
    pub away_ns: u64,
    /// True if the event happened that the capture waited for.
    pub when_happened: bool,
    /// The signal that ended the program, if its parent process reported it.
    pub signal: Option<i32>,
    /// The error that ended writing to the output, in one sentence. The bytes written before it are kept.
    pub error: Option<Untrusted>,
}

/// Commands that were not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "LostCommands")]
pub struct Lost {
    /// Commands.
    pub calls: u64,
    /// Bytes of their records.
    pub bytes: u64,
}

/// A command that had not returned when the stream ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InFlight {
    /// Process id.
    pub pid: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// Name of the function; empty if the daemon does not know it.
    pub name: Untrusted,
    /// Function id, by the trace's header.
    pub id: u16,
    /// Stamp of the enter record.
    pub stamp: u64,
}
