//! How far a capture is: counters that its threads set and anybody reads.
//!
//! For people: each number is right on its own, at some recent moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One capture's counters.
#[derive(Debug, Default)]
pub struct Progress {
    pub frames: AtomicU64,
    /// No frame has ended, and a thread describes what it found.
    pub describing: AtomicBool,
    pub calls: AtomicU64,
    pub records: AtomicU64,
    pub raw_bytes: AtomicU64,
    pub blob_bytes: AtomicU64,
    pub stored_bytes: AtomicU64,
    pub ring_bytes: AtomicU64,
    pub file_bytes: AtomicU64,
    /// What of the stream waits in memory until it is written.
    pub waiting_bytes: AtomicU64,
    /// What of the stream waits in a file until the output takes it.
    pub spilled_bytes: AtomicU64,
    /// What comes is missing in it.
    pub is_missing: AtomicBool,
    pub is_paused: AtomicBool,
    /// What is waited for has not come.
    pub is_waiting: AtomicBool,
    pub lost_calls: AtomicU64,
    pub lost_bytes: AtomicU64,
    pub waits: AtomicU64,
    pub wait_ns: AtomicU64,
    /// Rings whose contents could not be believed.
    pub refused_rings: AtomicU64,
    /// The output takes no more.
    pub output_failed: AtomicBool,
}

impl Progress {
    /// The counters as clients see them.
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

    /// The counters as sums over captures add them up.
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
