//! The footer of a trace file: how the capture went, and the ledger of every thread. At most 64 MiB. A field that a
//! file lacks reads as its default, an unknown one is ignored. `produced` is the application's own count, unaltered.
//!
//! No reader derives anything here from the stream.

use gapii_abi::atom::{EndReason, InFlight, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::atom_serde;
use super::frame::{FrameKind, NO_INDEX, Trailer, encode_frame};
use super::index::{TableError, decode_table};
pub use super::ledger::{GapEntry, Lost, ThreadLedger};
use super::memory_totals::MemoryTotals;
use super::moment::Moment;
use crate::filter::Filter;
use crate::frame_rule::FrameRule;
use crate::untrusted::Untrusted;

/// Longest footer frame that a reader accepts, in bytes.
pub const FOOTER_FRAME_BYTES_MAX: usize = 64 << 20;

/// The body of the footer, the last frame of a finished trace file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Footer {
    /// Why the stream ended, as in its END record.
    #[serde(with = "atom_serde::end_reason")]
    pub reason: EndReason,
    /// The signal that ended the program, if its parent process saw it.
    pub signal: Option<i32>,
    /// When the capture began, in nanoseconds of Unix time.
    pub started_unix_ns: u64,
    /// When the capture ended, in nanoseconds of Unix time.
    pub ended_unix_ns: u64,
    /// The same moment in nanoseconds of `CLOCK_MONOTONIC`; 0 if unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub ended_ns: u64,
    /// The same moment in nanoseconds of `CLOCK_BOOTTIME`; 0 if unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub ended_boot_ns: u64,
    /// How far the system's calendar clock was set back during the capture, in nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub set_back_ns: u64,
    /// Totals of the stream.
    pub totals: Totals,
    /// Levels at which the blocks were compressed, ascending; those since the last seam. Empty if they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelUse>,
    /// Totals of what the stream lacks.
    pub lost: Lost,
    /// The processes of the capture.
    pub processes: Vec<ProcessEntry>,
    /// The ledger of each thread.
    pub threads: Vec<ThreadLedger>,
    /// Each stretch of commands that was not recorded.
    pub gaps: Vec<GapEntry>,
    /// Rings that the daemon stopped reading because their contents break the rules.
    pub refused: Vec<RefusedRing>,
    /// The commands in flight, as in the END record.
    #[serde(with = "atom_serde::in_flight")]
    pub in_flight: Vec<InFlight>,
    /// Options that the client asked for.
    pub options: CaptureOptions,
    /// True if the event of `options.when` happened in a process, whether or not the capture could begin there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub when_happened: bool,
    /// True if the stream has a snapshot.
    pub snapshot: bool,
    /// The longest that a thread stood still for a snapshot, in microseconds.
    pub held_us: u64,
    /// State that the snapshots leave out, and imported memory that was not recorded, one sentence per item.
    pub missing: Vec<Untrusted>,
    /// Commands that have no times on the GPU although they were asked for, one sentence per item. Left out of the file if there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_gpu_times: Vec<Untrusted>,
    /// Where other daemons continued the capture.
    #[serde(with = "atom_serde::seams", skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<Seam>,
}

/// Totals of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Frames that ended, over all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Records from applications.
    pub records: u64,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of all blocks before compression.
    pub raw_bytes: u64,
    /// Bytes of all blocks after compression.
    pub compressed_bytes: u64,
    /// Blobs and observations.
    pub memory: MemoryTotals,
}

/// How much of a trace was compressed at one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LevelUse {
    /// The zstd level.
    pub level: i32,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of these blocks before compression.
    pub raw_bytes: u64,
}

/// A process of the capture.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessEntry {
    /// Index in the trace.
    pub process: u32,
    /// Process id of the operating system.
    pub pid: u32,
    /// The kernel's name for the process.
    pub name: Untrusted,
    /// Path of the executable.
    pub exe: Untrusted,
    /// APIs of which the process issued commands: `egl`, `gl`, `glx`, `level_zero`.
    pub apis: Vec<Untrusted>,
    /// Frames that ended.
    pub frames: u64,
    /// Commands that are not in the stream because they were called from inside other commands of their thread: by
    /// the driver, a callback or a signal handler. After a seam, only those since the seam.
    #[serde(skip_serializing_if = "is_zero")]
    pub reentrant_calls: u64,
    /// Commands of OpenGL that are not in the stream, because no recorded context was current. After a seam, only those
    /// since the seam.
    #[serde(skip_serializing_if = "is_zero")]
    pub foreign_calls: u64,
}

/// A ring that the daemon stopped reading because its contents break the rules.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedRing {
    /// Index of the process in the trace.
    pub process: u32,
    /// Slot of the ring in the process' segment.
    pub slot: u32,
    /// Thread id of the ring's owner.
    pub tid: u32,
    /// The broken rule, in one sentence.
    pub why: Untrusted,
}

/// Options that the client of a capture asked for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureOptions {
    /// Frames to record of each process; `None` for no limit.
    pub frames: Option<u64>,
    /// Frames that pass before the first recorded one.
    pub skip_frames: u64,
    /// Seconds after which the capture ends.
    pub seconds: Option<f64>,
    /// Behaviour of a thread whose ring is full: `wait` or `drop`.
    pub overflow: String,
    /// Milliseconds that a thread waits for ring space before it leaves the capture.
    pub stall_ms: u64,
    /// The first frame of every n is read back; `None` if none is.
    pub observe_frames: Option<u32>,
    /// True if the pixels of these frames are recorded, not only their hash.
    pub frame_pixels: bool,
    /// True if the driver's time was measured. Left out of the file if false, as in files of writers that could
    /// not measure it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timing: bool,
    /// True if times on the GPU were asked for; then `timing` is true. Left out of the file if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gpu_timing: bool,
    /// True if submissions to a queue of a compute API count as frames, also in processes that swap.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counts_submits: bool,
    /// Which commands ended frames, if the client said so. Left out of the file if swaps did.
    #[serde(skip_serializing_if = "FrameRule::is_empty")]
    pub frame_rule: FrameRule,
    /// For a saved trace: number of frames that the client asked to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_frames: Option<u64>,
    /// For a saved trace: frames from one keyframe to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyframe_every: Option<u32>,
    /// Filter that selected the recorded commands. Left out of the file if it selects every command.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    /// The trigger that the capture waited for, as the user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Untrusted>,
    /// The command line that led to the capture.
    pub command: Vec<Untrusted>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Footer {
    /// Returns when the capture ended, or when a saved trace was saved.
    pub fn ended(&self) -> Moment {
        Moment {
            monotonic_ns: self.ended_ns,
            unix_ns: self.ended_unix_ns,
            boot_ns: self.ended_boot_ns,
        }
    }

    /// Returns how many commands are not in the stream because they were called from inside other commands.
    /// Programs count them, and may claim any number.
    pub fn reentrant_calls(&self) -> u64 {
        self.processes.iter().fold(0, |sum, process| sum.saturating_add(process.reentrant_calls))
    }

    /// Returns how many commands of OpenGL are not in the stream, because no recorded context was current. Programs count
    /// them, and may claim any number.
    pub fn foreign_calls(&self) -> u64 {
        self.processes.iter().fold(0, |sum, process| sum.saturating_add(process.foreign_calls))
    }

    /// Returns the whole frame, for a trace of format version `version`. The frame will be at offset
    /// `footer_offset` of the file, and the index frame, if there is one, at `index_offset`; both in bytes.
    pub fn encode(&self, version: u32, index_offset: Option<u64>, footer_offset: u64) -> Vec<u8> {
        let body = rmp_serde::to_vec_named(self).expect("a footer has no unserializable value");
        let trailer = Trailer { index_offset: index_offset.unwrap_or(NO_INDEX), footer_offset };
        encode_frame(FrameKind::Footer, version, &body, Some(trailer))
    }

    /// Returns the footer whose frame fills `frame`.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn decode(frame: &[u8]) -> Result<Self, TableError> {
        decode_table(FrameKind::Footer, frame)
    }
}
