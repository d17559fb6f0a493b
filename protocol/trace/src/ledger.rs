//! What a stream holds of each thread and what it lacks, in numbers.
//!
//! Checks no sums; `verify` does.

use gapii_abi::atom::{Gap, GapCause};
use serde::{Deserialize, Serialize};

use super::atom_serde;

/// What the stream does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    pub records: u64,
    pub calls: u64,
    pub bytes: u64,
}

impl Lost {
    /// Both. Programs count for themselves what they lose, and say what they like: a sum that would be too
    /// large stays at the end of its range.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            records: self.records.saturating_add(other.records),
            calls: self.calls.saturating_add(other.calls),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The account of a thread: `emitted + lost + left_out = produced`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadLedger {
    /// Index in the trace.
    pub thread: u32,
    pub process: u32,
    pub tid: u32,
    pub name: String,
    /// Records the application counted, dropped ones included.
    pub produced: u64,
    /// Records in the stream.
    pub emitted: u64,
    /// Records that are not; the gaps of the thread say when and why.
    pub lost: u64,
    /// Records that are not, because they do not belong to it: what describes again what it has, what was
    /// before it began, and what its filter does not want.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// How often, and for how many nanoseconds, the thread waited for room.
    pub waits: u64,
    pub wait_ns: u64,
}

/// Commands of a thread that were not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GapEntry {
    pub thread: u32,
    pub records: u64,
    pub calls: u64,
    pub bytes: u64,
    pub first_stamp: u64,
    pub last_stamp: u64,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub start_ns: u64,
    pub end_ns: u64,
    /// Why they are missing; in the file its number.
    #[serde(with = "atom_serde::gap_cause")]
    pub cause: GapCause,
}

impl GapEntry {
    /// What a thread's own record tells of.
    pub fn told_by(thread: u32, gap: &Gap) -> Self {
        Self {
            thread,
            records: gap.records,
            calls: gap.calls,
            bytes: gap.bytes,
            first_stamp: gap.first_stamp,
            last_stamp: gap.last_stamp,
            start_ns: gap.start_ns,
            end_ns: gap.end_ns,
            cause: gap.cause,
        }
    }

    /// What is missing there.
    pub fn lost(&self) -> Lost {
        Lost { records: self.records, calls: self.calls, bytes: self.bytes }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
