//! A ring in the stream: its identity, its place, and its owner. Places are ring indices that never wrap; padding at
//! the end of a lap is passed over.

use gapii_abi::atom::GapCause;
use gapii_trace::footer::Lost;
use gapii_trace::rings::Counts;

use super::process::ProcessKey;
use crate::selection::Owner;

/// A ring, by the order in which it was added to the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingKey(pub u32);

/// Records of one ring that follow each other in the stream.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub ring: RingKey,
    pub records: &'a [u8],
    /// Place of the ring before the run: behind the record before the first one.
    pub start: RingPlace,
    /// Ring index behind the last record.
    pub end_index: u64,
}

/// Permanent identity of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingSite {
    /// The ring's slot in the segment.
    pub slot: u32,
    /// Inode of the segment's memory file.
    pub segment: u64,
    /// Size of the ring in bytes: a power of two.
    pub capacity_bytes: u64,
}

/// A place in a ring: the next record starts at an index, or behind padding there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingPlace {
    pub index: u64,
    /// Number of records below `index`, since the ring began.
    pub records: u64,
    /// Stamp of the last of these records, or of the next one.
    pub stamp: u64,
}

/// Statements of a stream about a ring's owner beside the owner's records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingNote {
    pub begun: Counts,
    pub is_late: bool,
    pub lacks_records: bool,
    pub begun_is_low: bool,
    /// The process' part is over, though the process is not.
    pub is_over: bool,
    pub refused_records: u64,
    pub missed: Lost,
    pub missed_cause: GapCause,
}

impl Default for RingSite {
    /// Returns the site of a ring that never wraps around.
    fn default() -> Self {
        Self { slot: 0, segment: 0, capacity_bytes: 1 << 63 }
    }
}

impl Run<'_> {
    /// Ring index behind the first `at` bytes of the run. Padding is not in the bytes; it ends with a lap, and
    /// no run is longer than one.
    pub fn index_at(&self, at: usize, capacity_bytes: u64) -> u64 {
        index_at((self.start.index, self.end_index), (at, self.records.len()), capacity_bytes)
    }
}

/// Returns the ring index behind the first `at` of `len` bytes, which are from `start` to `end` in the ring.
pub fn index_at((start, end): (u64, u64), (at, len): (usize, usize), capacity_bytes: u64) -> u64 {
    let padding = end.saturating_sub(start).saturating_sub(len as u64);
    let lap_end = (start | (capacity_bytes - 1)).saturating_add(1);
    let unpadded = start.saturating_add(at as u64);
    let padded = unpadded.saturating_add(padding);
    if padded <= lap_end { unpadded } else { padded }
}

/// The stream's data about a ring.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    pub(super) process: ProcessKey,
    /// Index in the trace of the thread that owns the ring now.
    pub(super) thread: Option<u32>,
    pub(super) owner: Owner,
    /// Number of the owner's records that do not belong to the stream.
    pub(super) left_out: u64,
    /// Stamp of a record that was left out, from which the next command continues without a stamp of its own.
    pub(super) owed_stamp: Option<u64>,
    pub(super) released_in: u64,
    pub(super) site: RingSite,
    /// Ring index when the stream began with the ring.
    pub(super) begun_index: u64,
    /// Place behind the last record that was taken, or that does not belong to the stream.
    pub(super) place: RingPlace,
    pub(super) note: RingNote,
}
