//! Progress of a capture: counters that its threads set and every thread may read.
//!
//! For people: each number is right on its own, at some recent moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One capture's counters.
#[derive(Debug, Default)]
pub struct Progress {
    pub frames: AtomicU64,
    /// No frame has ended yet, and a thread writes a snapshot.
    pub describing: AtomicBool,
    pub calls: AtomicU64,
    pub records: AtomicU64,
    pub raw_bytes: AtomicU64,
    pub blob_bytes: AtomicU64,
    pub stored_bytes: AtomicU64,
    pub ring_bytes: AtomicU64,
    pub file_bytes: AtomicU64,
    /// Bytes of the stream that wait in memory to be written.
    pub waiting_bytes: AtomicU64,
    /// Bytes of the stream that wait in the temporary file for the output.
    pub spilled_bytes: AtomicU64,
    /// Records are missing in the capture at the moment.
    pub is_missing: AtomicBool,
    pub is_paused: AtomicBool,
    /// The capture waits for a trigger.
    pub is_waiting: AtomicBool,
    pub lost_calls: AtomicU64,
    pub lost_bytes: AtomicU64,
    pub waits: AtomicU64,
    pub wait_ns: AtomicU64,
    /// Rings that were refused.
    pub refused_rings: AtomicU64,
    /// The output failed.
    pub output_failed: AtomicBool,
}

impl Progress {
    /// Returns the counters as clients see them.
    pub fn message(&self, capture: u64) -> gapii_control::Progress {
        let totals = self.totals();
        gapii_control::Progress {
            capture,
            frames: totals.frames,
            calls: totals.calls,
            // Relaxed: as below.
            describing: self.describing.load(Ordering::Relaxed),
            raw_bytes: totals.raw_bytes,
            blob_bytes: totals.blob_bytes,
            file_bytes: totals.file_bytes,
            // Relaxed: as below.
            spilled_bytes: self.spilled_bytes.load(Ordering::Relaxed),
            is_missing: self.is_missing.load(Ordering::Relaxed),
            is_paused: self.is_paused.load(Ordering::Relaxed),
            is_waiting: self.is_waiting.load(Ordering::Relaxed),
            lost_calls: totals.lost.calls,
            waits: totals.waits,
        }
    }

    /// Returns the counters in the form that adds up over captures.
    pub fn totals(&self) -> gapii_control::Totals {
        // Relaxed: independent numbers for people.
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        gapii_control::Totals {
            captures: 1,
            frames: read(&self.frames),
            calls: read(&self.calls),
            records: read(&self.records),
            raw_bytes: read(&self.raw_bytes),
            blob_bytes: read(&self.blob_bytes),
            stored_bytes: read(&self.stored_bytes),
            ring_bytes: read(&self.ring_bytes),
            file_bytes: read(&self.file_bytes),
            lost: gapii_control::Lost {
                calls: read(&self.lost_calls),
                bytes: read(&self.lost_bytes),
            },
            waits: read(&self.waits),
            wait_ns: read(&self.wait_ns),
        }
    }
}
