//! Records of one ring, copied out and checked, oldest first, in runs of equal stamp. Holds only records that the
//! consumer has checked, never PAD, and keeps apart the records of a round's two readings of the head.
//!
//! Holds only records that [`Consumer::drain_into`](crate::Consumer::drain_into) has checked, or that a test
//! pushes, and never PAD.

/// The reading of a round in which a record was first seen. See docs/memory-model.md.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Its ring's head was loaded before any head of the second reading.
    First,
    /// Its ring's head was loaded after all heads of the first reading.
    Second,
}

/// Records of one ring that are waiting to be merged.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) runs: Vec<Run>,
    /// Number of runs of the first reading; the runs after them are only in the second.
    pub(crate) first_runs: usize,
}

/// Consecutive records with the same stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) stamp: u64,
    /// Offset of the run's end in the batch's bytes; it starts at the end of the run before it.
    pub(crate) end: usize,
    pub(crate) records: u64,
    /// Ring index just past the run.
    pub(crate) end_index: u64,
}

impl Batch {
    /// Adds one record with stamp `stamp`, whose bytes, padded to a multiple of 8, are `record` and which
    /// ends at ring index `end_index`. Stamps of one batch must not fall, and no record of the first reading
    /// may follow one of the second.
    pub fn push(&mut self, reading: Reading, stamp: u64, record: &[u8], end_index: u64) {
        self.bytes.extend_from_slice(record);
        self.extend_run(reading, Run { stamp, end: self.bytes.len(), records: 1, end_index });
    }

    /// Number of bytes held.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Number of records held.
    pub fn len_records(&self) -> u64 {
        self.runs.iter().map(|run| run.records).sum()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run whose bytes are already in `bytes`.
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

    /// Removes the oldest `runs` runs. The rest belongs to the next round's first reading.
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
