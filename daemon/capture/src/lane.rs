//! A ring in a drain: its consumer, its place in the merge, and its counts. Records that the owner has written for an
//! earlier capture, because it had not noticed the end of that one, are passed over. A ring that was handed over is continued at
//! the lowest place that its captures know and the ring still has; else at the place where it was released, and the
//! records before that are missing. A ring that contradicts these places is refused. Ring space is released only up to
//! the last record that the merge gave out.
//!
//! Decides nothing. It reports the ring's contents, and how they were used.

use std::sync::atomic::{Ordering, fence};

use gapii_ringbuf::{
    Batch, Consumer, Emitted, Joined, LaneId, Merger, Reading, Refusal, SegmentRing, SlotCounts,
    SlotState, Standing,
};

use crate::fault::{self, Fault};
use crate::stream::{RingKey, RingPlace};

/// A ring in the drain.
pub struct Lane {
    /// `None` once the process' part is over.
    pub consumer: Option<Consumer<SegmentRing>>,
    /// Index of the ring's process among the drain's members.
    pub member: usize,
    pub slot: u32,
    /// The lane of the merge, once the ring has had a record.
    pub merged: Option<LaneId>,
    /// Heads of this round's two readings, as the application states them.
    pub heads: [u64; 2],
    /// Generation of the order to record that the owner has not been seen to follow yet. What it has written before is of
    /// an earlier capture, whose end it had not noticed, and is passed over.
    awaits: Option<u64>,
    /// The place at which the reading of the ring ends, if records behind it are not wanted.
    cut: Option<Cut>,
    /// Ring index behind the last record that the merge gave out.
    pub taken_index: u64,
    /// Number of records below `taken_index`, since the ring began.
    pub records: u64,
    /// Stamp of the last of these records.
    pub stamp: u64,
    /// Some records were lost unseen, so `records` undercounts.
    pub lacks_records: bool,
    /// The ring's own statements when its process handed it over from another daemon.
    pub found: Found,
    /// The slot's counts, and the consumer's, when the ring's present owner began.
    pub begun: SlotCounts,
    pub begun_consumed: u64,
    /// Records of the present owner that the merge gave out.
    pub given: u64,
    /// The present owner's account is closed in all captures. The slot is freed once the account is written.
    pub is_accounted: bool,
    /// Why the ring is read no further, if it is not.
    pub refused: Option<String>,
}

/// The place at which the reading of a ring ends although its owner may continue, for example with the command
/// that the owner was in.
#[derive(Clone, Copy, Debug)]
struct Cut {
    index: u64,
    /// Records that the owner had counted by then. It may not have published the last one.
    produced: u64,
}

/// The place at which another daemon has left a ring, as the ring itself states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub released: u64,
    /// The slot's counts when the ring's present owner began.
    pub begun: SlotCounts,
    /// Place of the ring when its process joined its first capture.
    pub joined: Joined,
}

/// Reads and discards records that a process published while no capture wanted them.
pub fn discard_leftovers(rings: &mut [Consumer<SegmentRing>]) {
    for ring in rings {
        // The capture finds a refusal again when it reads the ring.
        let _ = ring.drain_into(ring.head_untrusted(), Reading::First, &mut Batch::default());
        ring.release(ring.read_index());
        ring.free_retired();
    }
}

/// Writes into the slots their counts and the rings' places when the process joins a capture, for a daemon that may
/// replace this one.
pub fn note_joined(rings: &[Consumer<SegmentRing>], counts: &[SlotCounts]) {
    for (ring, counts) in rings.iter().zip(counts) {
        let joined = Joined { index: ring.read_index(), produced: counts.produced };
        // Does not write to the pages of slots that were not used.
        if ring.slot().begun_untrusted() != *counts || ring.slot().joined_untrusted() != joined {
            ring.slot().note_begun(*counts);
            ring.slot().note_joined(joined);
        }
    }
}

impl Lane {
    /// Makes the lane of a ring that another daemon has read. [`Self::go_on`] must set its place before it is read.
    pub fn handed_over(
        consumer: Consumer<SegmentRing>,
        member: usize,
        slot: u32,
        generation: u64,
    ) -> Self {
        let begun = consumer.slot().begun_untrusted();
        let released = consumer.slot().released_untrusted();
        let joined = consumer.slot().joined_untrusted();
        let found = Found { released, begun, joined };
        Self { found, ..Self::new(consumer, member, (slot, generation), begun) }
    }

    /// Continues the ring at the lowest of the captures' places that the ring still has. A ring that contradicts the
    /// places is refused, and its records are lost.
    pub fn go_on(&mut self, standings: &[Standing]) {
        let Found { released, begun, .. } = self.found;
        let there = standings.iter().filter(|standing| standing.index >= released);
        let standing = match there.min_by_key(|standing| standing.index) {
            // The present owner may have begun behind that place.
            Some(lowest) => Standing { records: lowest.records.max(begun.produced), ..*lowest },
            // No capture has the records below the released index: they were in a temporary file, or no capture
            // wanted them.
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

    /// Returns whether the last owner is gone, and all its records were given out.
    pub fn is_left(&self) -> bool {
        let is_left = |consumer: &Consumer<SegmentRing>| {
            consumer.slot().state() != Some(SlotState::Active)
                // The head is read after the state, so it is the owner's last.
                && consumer.head_untrusted() == self.taken_index
        };
        self.consumer.as_ref().is_none_or(is_left)
    }

    /// Returns the ring's place behind the last record that the merge gave out.
    pub fn place(&self) -> RingPlace {
        RingPlace { index: self.taken_index, records: self.records, stamp: self.stamp }
    }

    /// Counts a run that the merge has given out.
    pub fn give(&mut self, run: &Emitted<'_, RingKey>) {
        self.given += run.records;
        (self.taken_index, self.stamp) = (run.end_index, run.last_stamp);
        self.records = self.records.wrapping_add(run.records);
    }

    /// Makes a lane that begins at its consumer's place, or behind it, where the owner follows the order to record with
    /// this generation. `begun` has the slot's counts of that moment.
    pub fn new(
        consumer: Consumer<SegmentRing>,
        member: usize,
        (slot, generation): (u32, u64),
        begun: SlotCounts,
    ) -> Self {
        let refused = consumer.refusal().map(|refusal| refusal.name().to_owned());
        Self {
            member,
            slot,
            merged: None,
            heads: [consumer.read_index(); 2],
            awaits: (!fault::is_put_in(Fault::EarlierTaken)).then_some(generation),
            cut: None,
            taken_index: consumer.read_index(),
            // Not the number that the consumer has read: after a handover it may have passed over some.
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

    /// Loads the head for the first or the second reading: the ring index up to which this round may read. Returns how
    /// many records it has passed over, because they are of an earlier capture.
    pub fn read_head(&mut self, reading: usize, dead: bool) -> u64 {
        let Some(generation) = self.awaits else {
            self.heads[reading] = self.head(dead);
            return 0;
        };
        // Before the order that the owner follows is read, so that the order of all records below the head is known.
        let head = self.head(false);
        let (passed, has_begun) = self.pass_to_part(generation, head);
        self.heads[reading] = match has_begun {
            Ok(false) => self.taken_index,
            Ok(true) => self.head(dead),
            // The reading of the records finds the refusal again.
            Err(_) => head,
        };
        passed
    }

    fn head(&mut self, dead: bool) -> u64 {
        let Some(consumer) = &mut self.consumer else { return 0 };
        if consumer.refusal().is_some() {
            return consumer.read_index();
        }
        let head = if dead { consumer.head_of_dead_untrusted() } else { consumer.head_untrusted() };
        self.cut.map_or(head, |cut| head.min(cut.index))
    }

    /// Passes over records below `head` that do not follow the order with this generation, and returns their number.
    fn pass_to_part(&mut self, generation: u64, head: u64) -> (u64, Result<bool, Refusal>) {
        let Some(consumer) = &mut self.consumer else { return (0, Ok(false)) };
        let before = consumer.consumed();
        let has_begun = consumer.pass_to_part(generation, head);
        if has_begun != Ok(false) {
            self.awaits = None;
        }
        let passed = consumer.consumed() - before;
        if passed > 0 {
            self.begun_consumed += passed;
            self.begun.produced = self.begun.produced.wrapping_add(passed);
            self.records = self.records.wrapping_add(passed);
            self.taken_index = consumer.read_index();
            self.heads = [consumer.read_index(); 2];
            // Before the space is released: the next daemon then finds all that it needs in the ring.
            let joined = Joined { index: self.taken_index, produced: self.begun.produced };
            consumer.slot().note_joined(joined);
            consumer.slot().note_begun(self.begun);
            consumer.release(self.taken_index);
        }
        (passed, has_begun)
    }

    /// Ends the reading of the ring behind the records that exist by now.
    pub fn cut(&mut self) {
        // The head is read after the count: all records that were counted are below the head, except for one.
        let produced = self.counts().produced;
        // Acquire: keeps the count's load before the head's.
        fence(Ordering::Acquire);
        self.cut = Some(Cut { index: self.head(false), produced });
    }

    /// Reads the ring no further, for this reason. Returns false if the ring was refused before.
    pub fn refuse(&mut self, why: String) -> bool {
        let is_news = self.refused.is_none();
        self.refused.get_or_insert(why);
        is_news
    }

    /// Returns whether the ring's records are discarded because it broke a rule that its consumer does not know.
    pub fn discards(&self) -> bool {
        self.refused.is_some()
            && self.consumer.as_ref().is_some_and(|consumer| consumer.refusal().is_none())
    }

    /// Returns the slot's present counts.
    pub fn counts(&self) -> SlotCounts {
        self.consumer.as_ref().map_or(self.begun, |consumer| consumer.slot().counts_untrusted())
    }

    /// Returns the present owner's counts at the last record that the merge gave out, as far as records tell.
    pub fn counts_given(&self) -> SlotCounts {
        SlotCounts { produced: self.begun.produced.wrapping_add(self.given), ..self.counts() }
    }

    /// Returns the present owner's counts at the moment from which on no records were wanted. They do not depend only
    /// on the records that were read, so a counted record that was not read shows as missing.
    pub fn counts_at_end(&self) -> SlotCounts {
        match self.cut {
            Some(cut) if self.refused.is_none() => {
                let given = self.counts_given();
                SlotCounts { produced: given.produced.max(cut.produced.saturating_sub(1)), ..given }
            }
            _ => self.counts(),
        }
    }

    /// Returns how many records of the present owner were read.
    pub fn read(&self) -> u64 {
        let consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        consumed.saturating_sub(self.begun_consumed)
    }

    /// Begins the ring's next owner, whose slot has these counts. The former owner's accounts are closed.
    pub fn begin_owner(&mut self, counts: SlotCounts) {
        self.begun_consumed = self.consumer.as_ref().map_or(0, Consumer::consumed);
        (self.begun, self.given, self.is_accounted) = (counts, 0, true);
        // The owner's count includes the records that were lost unseen.
        (self.records, self.lacks_records) = (counts.produced, false);
    }

    /// Returns whether all wanted records are read and merged.
    pub fn is_read(&self, merger: &mut Merger<RingKey>) -> bool {
        let Some(consumer) = &self.consumer else { return true };
        let merged = self.merged.and_then(|id| merger.batch_mut(id)).is_none_or(|b| b.is_empty());
        merged && self.heads == [consumer.read_index(); 2]
    }

    /// Returns whether all merged records are written, or not wanted.
    pub fn is_written(&self) -> bool {
        self.consumer.as_ref().is_none_or(|consumer| consumer.released_index() >= self.taken_index)
    }

    /// Lets the producer reuse the ring space of records below `index` that the merge gave out.
    pub fn release(&mut self, index: u64) {
        if let Some(consumer) = &mut self.consumer {
            consumer.release(index.min(self.taken_index));
        }
    }
}
