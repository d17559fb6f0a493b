//! The rest of a run of records, behind those that a capture passed over.

use gapii_ringbuf::Emitted;

use crate::selection::{spans, stretch};
use crate::stream::{RingKey, RingPlace, index_at};

/// The rest of a run of records.
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    /// Records of the run before this part.
    pub(super) passed: u64,
    /// Records in the whole run.
    all: u64,
    /// Place of the ring before this part.
    pub(super) start: RingPlace,
    pub(super) end_index: u64,
    /// Size of the ring.
    capacity_bytes: u64,
}

impl<'a> Part<'a> {
    /// Returns the whole of a run; `start` is the place of its ring before the run.
    pub(super) fn of(run: &Emitted<'a, RingKey>, start: RingPlace, capacity_bytes: u64) -> Self {
        let (bytes, all, end_index) = (run.bytes, run.records, run.end_index);
        Self { bytes, passed: 0, all, start, end_index, capacity_bytes }
    }

    /// Returns the number of records in this part.
    pub(super) fn records(&self) -> u64 {
        self.all - self.passed
    }

    /// Passes over `len` bytes, which are `records` records.
    pub(super) fn pass(&mut self, len: usize, records: u64) {
        let (head, rest) = self.bytes.split_at(len);
        let ends = (self.start.index, self.end_index);
        self.start = RingPlace {
            index: index_at(ends, (len, self.bytes.len()), self.capacity_bytes),
            records: self.start.records.wrapping_add(records),
            stamp: stretch(head).last_stamp.unwrap_or(self.start.stamp),
        };
        self.passed += records;
        self.bytes = rest;
    }

    /// Passes over all records.
    pub(super) fn pass_all(&mut self) {
        self.pass(self.bytes.len(), self.records());
    }

    /// Passes over the first records.
    pub(super) fn pass_records(&mut self, records: u64) {
        let len = spans(self.bytes).take(records as usize).sum();
        self.pass(len, records);
    }

    /// Passes over the records below a ring index.
    pub(super) fn pass_to(&mut self, index: u64) {
        if self.start.index >= index {
            return;
        }
        let ends = (self.start.index, self.end_index);
        let all = self.bytes.len();
        let (mut at, mut records) = (0, 0);
        for span in spans(self.bytes) {
            if index_at(ends, (at, all), self.capacity_bytes) >= index {
                break;
            }
            (at, records) = (at + span, records + 1);
        }
        self.pass(at, records);
    }
}
