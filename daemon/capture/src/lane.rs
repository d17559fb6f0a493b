//! A ring in a drain: its consumer, its place in the merge, and how far it is.
//!
//! Decides nothing: it says what is there and what has been done with it.

use std::sync::atomic::{Ordering, fence};

use gapii_ringbuf::{
    Batch, Consumer, Emitted, Joined, LaneId, Merger, Reading, SegmentRing, SlotCounts, SlotState,
    Standing,
};

use crate::stream::{RingKey, RingPlace};

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
    cut: Option<Cut>,
    /// Ring index behind the last record that the merge gave out.
    pub taken_index: u64,
    /// Records below that, ever.
    pub records: u64,
    /// Stamp of the last of them.
    pub stamp: u64,
    /// Some were never known of: what counts them is too low.
    pub lacks_records: bool,
    /// What it said when another daemon's process handed it over.
    pub found: Found,
    /// When its present owner began: the slot's counts, and the consumer's.
    pub begun: SlotCounts,
    pub begun_consumed: u64,
    /// Records of its present owner that the merge gave out.
    pub given: u64,
    /// What its present owner came to is in all books; the slot is freed once that is written.
    pub is_accounted: bool,
    /// Why nothing of it is taken any more.
    pub refused: Option<String>,
}

/// Where a ring is read no further though its owner may go on: with what it was in, for example.
#[derive(Clone, Copy, Debug)]
struct Cut {
    index: u64,
    /// What the owner had counted by then; it may not have published the last of that.
    produced: u64,
}

/// Where another daemon has left a ring, as the ring itself says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub released: u64,
    /// The counts when its present owner began.
    pub begun: SlotCounts,
    /// Where it was when its process joined the capture that it was in first.
    pub joined: Joined,
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

/// Notes in the slots what they said when the rings came into a capture, and where these were, for a daemon that
/// takes the place of this one.
pub fn note_joined(rings: &[Consumer<SegmentRing>], counts: &[SlotCounts]) {
    for (ring, counts) in rings.iter().zip(counts) {
        let joined = Joined { index: ring.read_index(), produced: counts.produced };
        // Pages of slots that nobody has used stay untouched.
        if ring.slot().begun_untrusted() != *counts || ring.slot().joined_untrusted() != joined {
            ring.slot().note_begun(*counts);
            ring.slot().note_joined(joined);
        }
    }
}

impl Lane {
    /// A ring that another daemon has read. To be told where it goes on before it is read.
    pub fn handed_over(consumer: Consumer<SegmentRing>, member: usize, slot: u32) -> Self {
        let begun = consumer.slot().begun_untrusted();
        let released = consumer.slot().released_untrusted();
        let joined = consumer.slot().joined_untrusted();
        let found = Found { released, begun, joined };
        Self { found, ..Self::new(consumer, member, slot, begun) }
    }

    /// Goes on where the captures that go on with it were, at the lowest of these places that the ring still
    /// has. A ring that contradicts them is refused, and its records are lost.
    pub fn go_on(&mut self, standings: &[Standing]) {
        let Found { released, begun, .. } = self.found;
        let there = standings.iter().filter(|standing| standing.index >= released);
        let standing = match there.min_by_key(|standing| standing.index) {
            // The present owner began below it.
            Some(lowest) => Standing { records: lowest.records.max(begun.produced), ..*lowest },
            // Nobody has what is below, which was put aside, or was wanted by nobody.
            None => {
                let highest = standings.iter().max_by_key(|standing| standing.index);
                let known = highest.copied().unwrap_or_default();
                Standing {
                    index: released,
                    records: known.records.max(begun.produced),
                    lacks_records: true,
                    goes_on: true,
                    ..known
                }
            }
        };
        let Some(consumer) = &mut self.consumer else { return };
        if !consumer.go_on(standing) {
            self.refused = consumer.refusal().map(|refusal| refusal.name().to_owned());
        }
        self.heads = [consumer.read_index(); 2];
        self.taken_index = consumer.read_index();
        (self.records, self.stamp) = (standing.records, standing.stamp);
        self.lacks_records = standing.lacks_records;
        self.begun_consumed = begun.produced;
        self.given = standing.records.saturating_sub(begun.produced);
    }

    /// Whether its last owner is gone, and all of it was given out.
    pub fn is_left(&self) -> bool {
        let is_left = |consumer: &Consumer<SegmentRing>| {
            consumer.slot().state() != Some(SlotState::Active)
                // The head is read after the state: it is the owner's last.
                && consumer.head_untrusted() == self.taken_index
        };
        self.consumer.as_ref().is_none_or(is_left)
    }

    /// Where the merge is with it.
    pub fn place(&self) -> RingPlace {
        RingPlace { index: self.taken_index, records: self.records, stamp: self.stamp }
    }

    /// The merge has given records out.
    pub fn give(&mut self, run: &Emitted<'_, RingKey>) {
        self.given += run.records;
        (self.taken_index, self.stamp) = (run.end_index, run.last_stamp);
        self.records = self.records.wrapping_add(run.records);
    }

    /// Makes a lane that begins where its consumer is; `begun` is what the slot said then.
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
            // Not what the consumer has read: it may have gone on for another daemon, past some.
            records: begun.produced,
            stamp: 0,
            lacks_records: false,
            found: Found::default(),
            begun,
            begun_consumed: consumer.consumed(),
            given: 0,
            is_accounted: false,
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
        self.cut.map_or(head, |cut| head.min(cut.index))
    }

    /// Nothing from here on is wanted.
    pub fn cut(&mut self) {
        // The head is read after the count: all that was counted is below it, but for one.
        let produced = self.counts().produced;
        // Acquire: keeps the count's load before the head's.
        fence(Ordering::Acquire);
        self.cut = Some(Cut { index: self.head(false), produced });
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

    /// What its present owner had said when nothing more of it was wanted. Is not made of what was read alone: what
    /// is missing of what was counted by then shows.
    pub fn counts_at_end(&self) -> SlotCounts {
        match self.cut {
            Some(cut) if self.refused.is_none() => {
                let given = self.counts_given();
                SlotCounts { produced: given.produced.max(cut.produced.saturating_sub(1)), ..given }
            }
            _ => self.counts(),
        }
    }

    /// Records of its present owner that were read.
    pub fn read(&self) -> u64 {
        let consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        consumed.saturating_sub(self.begun_consumed)
    }

    /// All books are closed of its owner: the next record is of another, who begins with these counts.
    pub fn begin_owner(&mut self, counts: SlotCounts) {
        self.begun_consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        (self.begun, self.given, self.is_accounted) = (counts, 0, true);
        // What was not known of is known now.
        (self.records, self.lacks_records) = (counts.produced, false);
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
