//! The merge of many rings into one order that keeps every happens-before. Orders by stamp; records with equal stamps
//! by ring. A record that only the second reading of the heads has seen, and everything above its stamp, waits for the
//! next round. Refuses nothing: a wrong stamp puts records in a wrong place and can hold back other rings, and has no
//! other effect.
//!
//! A round reads all heads, then reads them all again. Let `m` be the lowest stamp that only the second
//! reading holds, and `R` its ring. The round emits, in stamp order, the records of the first reading with a
//! stamp below `m`, and those of `R` with stamp `m`; it carries over the rest. Stamps may fall from one round
//! to the next: the order of the stream is the order of emission. docs/memory-model.md has the proof.
//!
//! Pure: reads no shared memory and does not know where its batches come from.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::batch::Batch;

/// Merges the batches of many rings. `K` is the caller's name for a ring.
#[derive(Debug)]
pub struct Merger<K> {
    lanes: Vec<Option<Lane<K>>>,
    /// Scratch of [`Self::merge`]: the next stamp of each lane, lowest first, then by lane.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

/// Names a lane of a [`Merger`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneId(usize);

/// Consecutive records of one ring, in their place in the merged order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emitted<'a, K> {
    /// The ring that they come from.
    pub ring: K,
    /// Whole records, each padded to a multiple of 8 bytes.
    pub bytes: &'a [u8],
    /// Stamp of the first record, which need not carry it itself.
    pub stamp: u64,
    /// Stamp of the last record.
    pub last_stamp: u64,
    /// Number of records.
    pub records: u64,
    /// Ring index just past the records: release up to here once they are safe.
    pub end_index: u64,
}

/// Result of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// Records emitted.
    pub emitted: u64,
    /// Whether records of the first reading had to wait for the next round.
    pub held_back: bool,
}

#[derive(Debug)]
struct Lane<K> {
    ring: K,
    batch: Batch,
    /// Runs emitted so far in this round.
    taken: usize,
    /// Runs that this round may emit.
    ready: usize,
}

impl<K: Copy> Merger<K> {
    /// A merger without lanes.
    pub fn new() -> Self {
        Self { lanes: Vec::new(), next: BinaryHeap::new() }
    }

    /// Adds a ring.
    pub fn add(&mut self, ring: K) -> LaneId {
        let lane = Lane { ring, batch: Batch::default(), taken: 0, ready: 0 };
        let id = match self.lanes.iter().position(Option::is_none) {
            Some(vacant) => vacant,
            None => {
                self.lanes.push(None);
                self.lanes.len() - 1
            }
        };
        self.lanes[id] = Some(lane);
        LaneId(id)
    }

    /// Removes a ring and returns the records that it still held.
    pub fn remove(&mut self, lane: LaneId) -> Option<Batch> {
        self.lanes.get_mut(lane.0)?.take().map(|lane| lane.batch)
    }

    /// The batch for the lane's next records; `None` if the lane was removed.
    pub fn batch_mut(&mut self, lane: LaneId) -> Option<&mut Batch> {
        Some(&mut self.lanes.get_mut(lane.0)?.as_mut()?.batch)
    }

    /// Whether no records are carried over.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().flatten().all(|lane| lane.batch.is_empty())
    }

    /// Ends a round: emits all records that the rule allows, and carries over the rest.
    pub fn merge(&mut self, mut emit: impl FnMut(Emitted<'_, K>)) -> Merged {
        let mut merged = Merged { held_back: self.find_ready(), ..Merged::default() };
        while let Some(Reverse((_, index))) = self.next.pop() {
            let bound = self.next.peek().map(|&Reverse(other)| other);
            let Some(lane) = &mut self.lanes[index] else { continue };
            let emitted = lane.take_before(index, bound);
            merged.emitted += emitted.records;
            emit(emitted);
            if let Some(stamp) = lane.next_stamp() {
                self.next.push(Reverse((stamp, index)));
            }
        }
        for lane in self.lanes.iter_mut().flatten() {
            lane.batch.carry_over(lane.taken);
        }
        merged
    }

    /// Applies the rule: sets how many runs of each lane may be emitted. Returns whether any has to wait.
    fn find_ready(&mut self) -> bool {
        let lanes = || self.lanes.iter().enumerate();
        let barrier = lanes()
            .filter_map(|(index, lane)| Some((lane.as_ref()?.batch.second_stamp()?, index)))
            .min();
        let mut held_back = false;
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            let Some(lane) = lane else { continue };
            let first = &lane.batch.runs[..lane.batch.first_runs];
            lane.taken = 0;
            lane.ready = match barrier {
                None => first.len(),
                Some((lowest, its_ring)) => first.partition_point(|run| {
                    run.stamp < lowest || run.stamp == lowest && index == its_ring
                }),
            };
            held_back |= lane.ready < first.len();
            if let Some(stamp) = lane.next_stamp() {
                self.next.push(Reverse((stamp, index)));
            }
        }
        held_back
    }
}

impl<K: Copy> Default for Merger<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy> Lane<K> {
    /// Stamp of the next run that may be emitted.
    fn next_stamp(&self) -> Option<u64> {
        self.batch.runs[self.taken..self.ready].first().map(|run| run.stamp)
    }

    /// Takes the next run, which must exist, and all following runs that sort before `bound`.
    fn take_before(&mut self, index: usize, bound: Option<(u64, usize)>) -> Emitted<'_, K> {
        let ready = &self.batch.runs[self.taken..self.ready];
        let more = ready[1..]
            .iter()
            .take_while(|run| bound.is_none_or(|bound| (run.stamp, index) < bound))
            .count();
        let (first, last) = (ready[0], ready[more]);
        let start = match self.taken.checked_sub(1) {
            Some(before) => self.batch.runs[before].end,
            None => 0,
        };
        let records = ready[..=more].iter().map(|run| run.records).sum();
        self.taken += more + 1;
        Emitted {
            ring: self.ring,
            bytes: &self.batch.bytes[start..last.end],
            stamp: first.stamp,
            last_stamp: last.stamp,
            records,
            end_index: last.end_index,
        }
    }
}
