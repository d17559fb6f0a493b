//! Records of one ring that were copied out and checked, oldest first, cut into runs of one stamp.
//!
//! Holds only what [`Consumer::drain_into`](crate::Consumer::drain_into) has checked, or what a
//! test pushes. Padding never gets here.

/// Which of the two readings of a round saw a record first. See docs/memory-model.md.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Its head was read before any head of the second reading.
    First,
    /// Its head was read after all heads of the first reading.
    Second,
}

/// Records of one ring that wait to be merged.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) runs: Vec<Run>,
    /// Runs of the first reading; those after them are only in the second.
    pub(crate) first_runs: usize,
}

/// Consecutive records with the same stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) stamp: u64,
    /// Where the run ends in the batch's bytes; it starts where the one before it ends.
    pub(crate) end: usize,
    pub(crate) records: u64,
    /// Ring index just past the run.
    pub(crate) end_index: u64,
}

impl Batch {
    /// Adds one record of `stamp` whose bytes, padded to 8, are `record`; in its ring it ends at
    /// `end_index`. Stamps of one batch do not fall, and nothing of the first reading comes after
    /// something of the second.
    pub fn push(&mut self, reading: Reading, stamp: u64, record: &[u8], end_index: u64) {
        self.bytes.extend_from_slice(record);
        self.extend_run(reading, Run { stamp, end: self.bytes.len(), records: 1, end_index });
    }

    /// Bytes held.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Records held.
    pub fn len_records(&self) -> u64 {
        self.runs.iter().map(|run| run.records).sum()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run whose bytes are already there.
    pub(crate) fn extend_run(&mut self, reading: Reading, run: Run) {
        let of_this_reading = match reading {
            Reading::First => {
                debug_assert_eq!(self.first_runs, self.runs.len(), "first reading after second");
                0
            }
            Reading::Second => self.first_runs,
        };
        match self.runs.get_mut(of_this_reading..).and_then(|runs| runs.last_mut()) {
            Some(last) if last.stamp == run.stamp => {
                last.end = run.end;
                last.records += run.records;
                last.end_index = run.end_index;
            }
            _ => self.runs.push(run),
        }
        if reading == Reading::First {
            self.first_runs = self.runs.len();
        }
    }

    /// Lowest stamp that only the second reading holds.
    pub(crate) fn second_stamp(&self) -> Option<u64> {
        self.runs.get(self.first_runs).map(|run| run.stamp)
    }

    /// Forgets the oldest `runs` runs; what is left belongs to the next round's first reading.
    pub(crate) fn carry_over(&mut self, runs: usize) {
        if let Some(last) = runs.checked_sub(1) {
            let bytes = self.runs[last].end;
            self.bytes.drain(..bytes);
            self.runs.drain(..runs);
            for run in &mut self.runs {
                run.end -= bytes;
            }
        }
        self.first_runs = self.runs.len();
    }
}
