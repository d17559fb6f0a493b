//! A capture's sums, beside those of its stream.

use std::sync::atomic::{AtomicU64, Ordering};

use gapii_trace::footer::Lost;

use crate::lane::Lane;
use crate::ledger::Ledger;
use crate::taker::share::Share;

/// A capture's sums, beside those of its stream.
#[derive(Default)]
pub(super) struct Tally {
    /// The closed accounts of threads.
    pub(super) ledger: Ledger,
    /// Calls that were not recorded because no slot was free, of memberships that are over.
    pub(super) unslotted_calls: u64,
    /// Bytes of snapshots that had no room for a copy, of memberships that are over.
    pub(super) held_bytes: u64,
    /// Commands that are missing in the stream.
    pub(super) missed_calls: u64,
    /// Bytes that came through rings.
    pub(super) ring_bytes: u64,
    /// Monotonic time of the last report.
    pub(super) reported_ns: u64,
}

/// Losses, and the number and duration of waits for ring space.
#[derive(Clone, Copy)]
pub(super) struct LossesAndWaits {
    pub(super) lost: Lost,
    pub(super) waits: u64,
    pub(super) wait_ns: u64,
}

impl Tally {
    /// Returns the sums over the closed accounts.
    pub(super) fn closed(&self) -> LossesAndWaits {
        let Ledger { lost, waits, wait_ns, .. } = self.ledger;
        LossesAndWaits { lost, waits, wait_ns }
    }
}

impl LossesAndWaits {
    /// Adds the open account of a ring's present owner.
    pub(super) fn add(&mut self, lane: &Lane, share: &Share) {
        let (counts, begun) = (lane.counts(), share.begun);
        let missed = share.missed.unwrap_or_default();
        let dropped = Lost {
            records: counts.dropped_records.saturating_sub(begun.dropped_records),
            calls: counts.dropped_calls.saturating_sub(begun.dropped_calls),
            bytes: counts.dropped_bytes.saturating_sub(begun.dropped_bytes),
        };
        self.lost = self.lost.plus(missed.lost()).plus(dropped);
        self.waits = self.waits.saturating_add(counts.waits.saturating_sub(begun.waits));
        self.wait_ns = self.wait_ns.saturating_add(counts.wait_ns.saturating_sub(begun.wait_ns));
    }

    /// Adds calls about which only their number is known.
    pub(super) fn add_calls(&mut self, calls: u64) {
        self.lost = self.lost.plus(Lost { calls, ..Lost::default() });
    }
}

/// Sets a counter that only people read.
pub(super) fn show(counter: &AtomicU64, value: u64) {
    // Relaxed: an independent number for people.
    counter.store(value, Ordering::Relaxed);
}
