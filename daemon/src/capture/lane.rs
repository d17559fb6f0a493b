//! A ring in a capture: its consumer, its place in the merge, and how far it is.
//!
//! Decides nothing: it says what is there and what has been done with it.

use std::sync::atomic::Ordering;

use gapii_ringbuf::{Batch, Consumer, LaneId, Merger, Reading, SegmentRing, SlotCounts};

use crate::capture::assemble::RingKey;
use crate::capture::progress::Progress;

/// A ring in the capture.
pub struct Lane {
    /// Gone once the process' part is over.
    pub consumer: Option<Consumer<SegmentRing>>,
    pub slot: u32,
    /// Its place in the merge, once it had a record.
    pub merged: Option<LaneId>,
    /// Heads of this round's two readings, as the application says.
    pub heads: [u64; 2],
    /// Nothing from here on is wanted.
    pub cut: Option<u64>,
    /// Ring index behind the last record that was appended or discarded.
    pub taken_index: u64,
    /// When its present owner began: the slot's counts, and the consumer's.
    pub begun: SlotCounts,
    pub begun_consumed: u64,
    pub discarded: u64,
    /// Why nothing of it is appended any more.
    pub refused: Option<String>,
}

/// Reads what a process published when no capture wanted it.
pub fn discard_leftovers(rings: &mut [Consumer<SegmentRing>]) {
    for ring in rings {
        // A refusal shows again when the capture reads the ring.
        let _ = ring.drain_into(ring.head_untrusted(), Reading::First, &mut Batch::default());
        ring.release(ring.read_index());
        ring.free_retired();
    }
}

impl Lane {
    pub fn new(consumer: Consumer<SegmentRing>, slot: u32, begun: SlotCounts) -> Self {
        let refused = consumer.refusal().map(|refusal| refusal.name().to_owned());
        Self {
            slot,
            merged: None,
            heads: [consumer.read_index(); 2],
            cut: None,
            taken_index: consumer.read_index(),
            begun,
            begun_consumed: consumer.consumed(),
            discarded: 0,
            refused,
            consumer: Some(consumer),
        }
    }

    /// How far this round may read.
    pub fn head(&mut self, dead: bool) -> u64 {
        let Some(consumer) = &mut self.consumer else { return 0 };
        if consumer.refusal().is_some() {
            return consumer.read_index();
        }
        let head = if dead { consumer.head_of_dead_untrusted() } else { consumer.head_untrusted() };
        self.cut.map_or(head, |cut| head.min(cut))
    }

    pub fn refuse(&mut self, why: String, progress: &Progress) {
        if self.refused.is_none() {
            self.refused = Some(why);
            // Relaxed: a number for people.
            progress.refused_rings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether its records are thrown away: it broke a rule that its consumer does not know.
    pub fn discards(&self) -> bool {
        self.refused.is_some()
            && self.consumer.as_ref().is_some_and(|consumer| consumer.refusal().is_none())
    }

    /// Whether all that was wanted is read and merged.
    pub fn is_read(&self, merger: &mut Merger<RingKey>) -> bool {
        let Some(consumer) = &self.consumer else { return true };
        let merged = self.merged.and_then(|id| merger.batch_mut(id)).is_none_or(|b| b.is_empty());
        merged && self.heads == [consumer.read_index(); 2]
    }

    /// Whether all that was merged is written.
    pub fn is_written(&self) -> bool {
        self.consumer.as_ref().is_none_or(|consumer| consumer.released_index() >= self.taken_index)
    }

    pub fn release(&mut self, index: u64) {
        if let Some(consumer) = &mut self.consumer {
            consumer.release(index);
        }
    }
}
