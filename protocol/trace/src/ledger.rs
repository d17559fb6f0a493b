//! Counts of the records that a stream holds and lacks, per thread: produced = emitted + lost + left out. Sums
//! saturate, because programs may claim any number. Checks no sums; `verify` does.

use std::collections::BTreeMap;

use gapii_abi::atom::{Gap, GapCause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::atom_serde;
use super::untrusted::Untrusted;

/// Totals of what a stream lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Lost {
    /// Records.
    pub records: u64,
    /// Commands.
    pub calls: u64,
    /// Bytes of the records.
    pub bytes: u64,
}

impl Lost {
    /// Returns the sum. It saturates, because programs count their losses themselves and may claim any
    /// number.
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
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Index of its process.
    pub process: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// The kernel's name for the thread.
    pub name: Untrusted,
    /// Records that the application counted, including those it dropped.
    pub produced: u64,
    /// Records that the stream has.
    pub emitted: u64,
    /// Records that the stream should have and lacks. The thread's gaps say when and why.
    pub lost: u64,
    /// Records that do not belong to the stream: repeated descriptions, records from before its beginning,
    /// and commands that the filter excludes.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Times that the thread waited for ring space.
    pub waits: u64,
    /// Nanoseconds of these waits.
    pub wait_ns: u64,
}

/// A stretch of commands of a thread that was not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GapEntry {
    /// Index of the thread in the trace; [`GapEntry::NO_THREAD`] for all threads that got no ring.
    pub thread: u32,
    /// Missing records.
    pub records: u64,
    /// Missing commands.
    pub calls: u64,
    /// Bytes of the missing records.
    pub bytes: u64,
    /// Newest stamp of the capture when the first record was lost.
    pub first_stamp: u64,
    /// Newest stamp of the capture when the gap ended.
    pub last_stamp: u64,
    /// When the first record was lost, in nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// When the gap ended, in nanoseconds of `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// Why they are missing. The file has the cause's number.
    #[serde(with = "atom_serde::gap_cause")]
    pub cause: GapCause,
}

impl GapEntry {
    /// Stands for the threads that got no ring, which have no index.
    pub const NO_THREAD: u32 = u32::MAX;

    /// Returns the entry for a GAP record of a thread.
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

    /// Returns the missing records, commands and bytes.
    pub fn lost(&self) -> Lost {
        Lost { records: self.records, calls: self.calls, bytes: self.bytes }
    }
}

/// Sums up gaps by the names of their causes.
pub(crate) fn by_cause(gaps: impl IntoIterator<Item = (GapCause, Lost)>) -> BTreeMap<String, Lost> {
    let mut sums: BTreeMap<String, Lost> = BTreeMap::new();
    for (cause, lost) in gaps {
        let sum = sums.entry(cause.name().to_owned()).or_default();
        *sum = sum.plus(lost);
    }
    sums
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
