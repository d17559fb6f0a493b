//! A process in a drain, and how far it is.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gapii_ringbuf::{ModeSettings, SlotCounts};

use crate::capture::{Departure, lane};
use crate::process::{Process, Rings};

/// How long a process has to put its hooks back.
const GOODBYE_NS: u64 = 500_000_000;

/// A process on its way into a drain, already told to record.
#[derive(Debug)]
pub struct Joining {
    pub process: Arc<Process>,
    pub rings: Rings,
    /// What the slots said before.
    pub counts: Vec<SlotCounts>,
    pub unslotted_calls: u64,
    /// Of the order to record.
    pub generation: u64,
}

/// A process in the drain.
pub struct Member {
    pub process: Arc<Process>,
    pub generation: u64,
    /// What it said when it joined.
    pub unslotted_calls: u64,
    /// Its rings, among the drain's lanes.
    pub lanes: Range<usize>,
    pub phase: Phase,
    pub left: Option<Departure>,
    /// It has put its hooks back, whether or not there was room to say why.
    pub put_back: bool,
}

/// How far a process is; only forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Recording,
    /// Told to stop; not waited for beyond the deadline.
    Stopping {
        deadline_ns: u64,
    },
    /// Writes no more, or nothing that is still wanted: its rings are emptied up to their cuts.
    Emptying,
    Over,
}

impl Joining {
    /// Tells a process to record, for the drain of that number. `None`: another has its rings.
    pub fn begin(process: &Arc<Process>, drain: u64, settings: ModeSettings) -> Option<Self> {
        let mut rings = process.lend_rings(drain)?;
        lane::discard_leftovers(&mut rings);
        let counts = rings.iter().map(|ring| ring.slot().counts_untrusted()).collect();
        let unslotted_calls = unslotted_calls(process);
        let generation = process.begin_capture(settings);
        Some(Self { process: Arc::clone(process), rings, counts, unslotted_calls, generation })
    }

    /// Undoes it.
    pub fn take_back(self) {
        self.process.return_rings(self.rings);
    }
}

impl Member {
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether it is of this process, and has not left.
    pub fn is(&self, process: u32) -> bool {
        self.process.index == process && !self.is_over()
    }

    pub fn stop(&mut self, now_ns: u64) {
        if self.phase == Phase::Recording && self.left.is_none() {
            self.process.set_mode(ModeSettings::default());
            self.phase = Phase::Stopping { deadline_ns: now_ns + GOODBYE_NS };
        }
    }

    /// Looks whether it writes no more. True: its rings are to be emptied; false with a cut: only what is
    /// there by now.
    pub fn look(&mut self, now_ns: u64) -> Look {
        let late = matches!(self.phase, Phase::Stopping { deadline_ns } if now_ns >= deadline_ns);
        // Acquire: pairs with the release of whoever put the hooks back, so that the heads read
        // below are the last ones.
        let ended = self.process.claims().ended_generation.load(Ordering::Acquire);
        self.put_back = ended >= self.generation;
        if self.left.is_some() {
            self.phase = Phase::Emptying;
            Look::Ended { is_cut: false }
        } else if late || self.put_back {
            self.phase = Phase::Emptying;
            Look::Ended { is_cut: true }
        } else {
            Look::GoesOn
        }
    }
}

/// What [`Member::look`] finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    GoesOn,
    /// Its rings are to be emptied; where they are cut, of what is there by now alone.
    Ended {
        is_cut: bool,
    },
}

/// Calls that were not recorded because no slot was free, since the process began.
pub fn unslotted_calls(process: &Process) -> u64 {
    // Relaxed: a claim of the application's.
    process.claims().unslotted_calls.load(Ordering::Relaxed)
}
