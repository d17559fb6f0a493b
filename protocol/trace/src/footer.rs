//! The footer of a trace file: how the capture went, and the ledger of every thread.
//!
//! `produced` is what the application counted, handed on unaltered; nothing here is derived from
//! the stream by a reader.

use gapii_abi::atom::{EndReason, InFlight, Seam};
use serde::{Deserialize, Serialize};

use super::atom_serde;
use super::frame::{FrameKind, NO_INDEX, Trailer, encode_frame};
use super::index::{TableError, decode_table};
pub use super::ledger::{GapEntry, Lost, ThreadLedger};
use super::memory_totals::MemoryTotals;
use crate::filter::Filter;

/// Longest footer frame a reader takes, in bytes.
pub const FOOTER_FRAME_BYTES_MAX: usize = 64 << 20;

/// Last frame of a finished trace file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Footer {
    /// Why the stream ended; the same as in its END record.
    #[serde(with = "atom_serde::end_reason")]
    pub reason: EndReason,
    /// The signal that ended the program, where its parent saw it.
    pub signal: Option<i32>,
    /// Nanoseconds of Unix time.
    pub started_unix_ns: u64,
    pub ended_unix_ns: u64,
    /// By how much the calendar was set back in between, in nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub set_back_ns: u64,
    pub totals: Totals,
    pub lost: Lost,
    pub processes: Vec<ProcessEntry>,
    pub threads: Vec<ThreadLedger>,
    /// Every stretch of commands that were not recorded.
    pub gaps: Vec<GapEntry>,
    /// Rings that were no longer read because of what was in them.
    pub refused: Vec<RefusedRing>,
    /// The commands of the END record.
    #[serde(with = "atom_serde::in_flight")]
    pub in_flight: Vec<InFlight>,
    pub options: CaptureOptions,
    /// The stream begins with what there was when the capture began.
    pub snapshot: bool,
    /// For how long a thread was held for that, at most, in microseconds.
    pub held_us: u64,
    /// What that leaves out, a sentence each.
    pub missing: Vec<String>,
    /// Where another daemon took the capture up.
    #[serde(with = "atom_serde::seams", skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<Seam>,
}

/// What the stream holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Ended frames of all processes.
    pub frames: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Records that came from applications.
    pub records: u64,
    pub blocks: u64,
    /// Bytes of all blocks before and after compression.
    pub raw_bytes: u64,
    pub compressed_bytes: u64,
    pub memory: MemoryTotals,
}

/// A process of the capture.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessEntry {
    /// Index in the trace.
    pub process: u32,
    pub pid: u32,
    pub name: String,
    pub exe: String,
    /// `egl`, `gles`, …: what it issued commands of.
    pub apis: Vec<String>,
    /// Ended frames.
    pub frames: u64,
}

/// A ring that was no longer read because of what was in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedRing {
    pub process: u32,
    pub slot: u32,
    pub tid: u32,
    pub why: String,
}

/// What was asked of the capture.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureOptions {
    pub frames: Option<u64>,
    pub skip_frames: u64,
    pub seconds: Option<f64>,
    /// `wait` or `drop`.
    pub overflow: String,
    pub stall_ms: u64,
    pub observe_frames: Option<u32>,
    pub frame_pixels: bool,
    /// The driver's time was measured. Left out where it was not, as it was before there were times.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timing: bool,
    /// Frames are what was given to a queue of a compute API's, also of a process that showed something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counts_submits: bool,
    /// What was kept was to have so many frames, with so many from one keyframe to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_frames: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyframe_every: Option<u32>,
    /// What of the programs' commands was to be recorded; left out where that was all.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    /// What was waited for before it began, as a person says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    pub command: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Footer {
    /// The whole frame, of a trace of this format version, to be written at byte `footer_offset` of the
    /// file; `index_offset` is that of the index frame, if one was written.
    pub fn encode(&self, version: u32, index_offset: Option<u64>, footer_offset: u64) -> Vec<u8> {
        let body = rmp_serde::to_vec_named(self).expect("a footer has no unserializable value");
        let trailer = Trailer { index_offset: index_offset.unwrap_or(NO_INDEX), footer_offset };
        encode_frame(FrameKind::Footer, version, &body, Some(trailer))
    }

    /// The footer whose frame fills `frame`.
    pub fn decode(frame: &[u8]) -> Result<Self, TableError> {
        decode_table(FrameKind::Footer, frame)
    }
}
