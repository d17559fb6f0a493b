//! A ring in a drain: its consumer, its place in the merge, and how far it is.
//!
//! Decides nothing: it says what is there and what has been done with it.

use gapii_ringbuf::{Batch, Consumer, LaneId, Merger, Reading, SegmentRing, SlotCounts};

use crate::capture::assemble::RingKey;

/// A ring in the drain.
pub struct Lane {
    /// Gone once the process' part is over.
    pub consumer: Option<Consumer<SegmentRing>>,
    /// The process that it is of, among the drain's members.
    pub member: usize,
    pub slot: u32,
    /// Its place in the merge, once it had a record.
    pub merged: Option<LaneId>,
    /// Heads of this round's two readings, as the application says.
    pub heads: [u64; 2],
    /// Nothing from here on is wanted.
    pub cut: Option<u64>,
    /// Ring index behind the last record that the merge gave out.
    pub taken_index: u64,
    /// When its present owner began: the slot's counts, and the consumer's.
    pub begun: SlotCounts,
    pub begun_consumed: u64,
    /// Records of its present owner that the merge gave out.
    pub given: u64,
    /// Why nothing of it is taken any more.
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
    pub fn new(
        consumer: Consumer<SegmentRing>,
        member: usize,
        slot: u32,
        begun: SlotCounts,
    ) -> Self {
        let refused = consumer.refusal().map(|refusal| refusal.name().to_owned());
        Self {
            member,
            slot,
            merged: None,
            heads: [consumer.read_index(); 2],
            cut: None,
            taken_index: consumer.read_index(),
            begun,
            begun_consumed: consumer.consumed(),
            given: 0,
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

    /// True if it is news that nothing more of it is taken.
    pub fn refuse(&mut self, why: String) -> bool {
        let is_news = self.refused.is_none();
        self.refused.get_or_insert(why);
        is_news
    }

    /// Whether its records are thrown away: it broke a rule that its consumer does not know.
    pub fn discards(&self) -> bool {
        self.refused.is_some()
            && self.consumer.as_ref().is_some_and(|consumer| consumer.refusal().is_none())
    }

    /// What its slot says now.
    pub fn counts(&self) -> SlotCounts {
        self.consumer.as_ref().map_or(self.begun, |consumer| consumer.slot().counts_untrusted())
    }

    /// What its present owner had said by the last record that the merge gave out, as far as records tell.
    pub fn counts_given(&self) -> SlotCounts {
        SlotCounts { produced: self.begun.produced.wrapping_add(self.given), ..self.counts() }
    }

    /// Records of its present owner that were read.
    pub fn read(&self) -> u64 {
        let consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        consumed.saturating_sub(self.begun_consumed)
    }

    /// The next record is of another owner, who begins with these counts.
    pub fn begin_owner(&mut self, counts: SlotCounts) {
        self.begun_consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        (self.begun, self.given) = (counts, 0);
    }

    /// Whether all that was wanted is read and merged.
    pub fn is_read(&self, merger: &mut Merger<RingKey>) -> bool {
        let Some(consumer) = &self.consumer else { return true };
        let merged = self.merged.and_then(|id| merger.batch_mut(id)).is_none_or(|b| b.is_empty());
        merged && self.heads == [consumer.read_index(); 2]
    }

    /// Whether all that was merged is where it is wanted.
    pub fn is_written(&self) -> bool {
        self.consumer.as_ref().is_none_or(|consumer| consumer.released_index() >= self.taken_index)
    }

    /// Lets the producer reuse what was given out below `index`.
    pub fn release(&mut self, index: u64) {
        if let Some(consumer) = &mut self.consumer {
            consumer.release(index.min(self.taken_index));
        }
    }
}
