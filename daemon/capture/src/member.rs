//! A process in a drain, and how far it is.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gapii_ringbuf::{ModeSettings, SlotCounts};

use crate::end::Departure;
use crate::lane;
use crate::plan::Plan;
use crate::process::{Process, Rings};

/// How long a process has to put its hooks back.
const GOODBYE_NS: u64 = 500_000_000;

/// A process on its way into a drain, already told to record.
#[derive(Debug)]
pub struct Joining {
    pub process: Arc<Process>,
    pub rings: Rings,
    /// What the slots said before; of rings that are handed over they say it themselves.
    pub counts: Vec<SlotCounts>,
    pub unslotted_calls: u64,
    /// Of the order to record.
    pub generation: u64,
    /// It was handed over, and records already: when it missed its daemon first.
    pub lost_ns: Option<u64>,
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
    /// It was handed over: when it missed its daemon first.
    pub lost_ns: Option<u64>,
    /// Captures that go on with it, while it is not known where its rings do.
    pub claims: Option<Vec<u64>>,
    /// How many captures could go on with it and another daemon, as it was told last.
    pub takers: u32,
    pub left: Option<Departure>,
    /// It has put its hooks back, whether or not there was room to say why.
    pub put_back: bool,
}

/// How far the drain is with a process. Only the drain's thread changes it, and only forward, so no ordering is
/// involved; what it reads of the process is named in the last column.
///
/// | phase | meaning | entered from | when |
/// |---|---|---|---|
/// | `Recording` | the process records, and its rings are read | (joined) | `Joining` was made: the mode page says so |
/// | `Stopping` | the process was told to stop, and has until the deadline | `Recording` | no capture needs it: [`Member::stop`] |
/// | `Emptying` | the process writes no more that is wanted; its rings are read up to their cuts | `Recording`, `Stopping` | [`Member::look`]: it left; its hooks are back (acquire load of `ended_generation`); or the deadline passed |
/// | `Over` | all books are closed, and the rings are given back | `Emptying` | all was read, merged and written |
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
    /// Tells a process to record, for the drain of that number and a capture of this plan, which another
    /// daemon could go on with or not. `None`: another drain has its rings.
    pub fn begin(process: &Arc<Process>, drain: u64, plan: &Plan, goes_on: bool) -> Option<Self> {
        let mut rings = process.lend_rings(drain)?;
        lane::discard_leftovers(&mut rings);
        let counts: Vec<_> = rings.iter().map(|ring| ring.slot().counts_untrusted()).collect();
        let unslotted_calls = unslotted_calls(process);
        lane::note_joined(&rings, &counts);
        // Relaxed: a note for a daemon that comes later.
        process.claims().begun_unslotted_calls.store(unslotted_calls, Ordering::Relaxed);
        let generation = process.begin_capture(plan.mode(), plan.origin, goes_on);
        let (process, lost_ns) = (Arc::clone(process), None);
        Some(Self { process, rings, counts, unslotted_calls, generation, lost_ns })
    }

    /// Takes a process over that another daemon told to record. `None`: it is in a drain already.
    pub fn take_over(process: &Arc<Process>, drain: u64, lost_ns: u64) -> Option<Self> {
        let rings = process.lend_rings(drain)?;
        // Relaxed: a note of a daemon that is gone.
        let unslotted_calls = process.claims().begun_unslotted_calls.load(Ordering::Relaxed);
        let (generation, lost_ns) = (process.generation(), Some(lost_ns));
        let (process, counts) = (Arc::clone(process), Vec::new());
        Some(Self { process, rings, counts, unslotted_calls, generation, lost_ns })
    }

    /// Undoes it.
    pub fn take_back(self) {
        self.process.return_rings(self.rings);
    }
}

impl Member {
    /// Returns whether nothing more of the process comes.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether it is of this process, and has not left.
    pub fn is(&self, process: u32) -> bool {
        self.process.index == process && !self.is_over()
    }

    /// Whether it is known where its rings go on.
    pub fn is_read(&self) -> bool {
        self.claims.is_none() && !self.is_over()
    }

    /// Tells it how many captures could go on with it.
    pub fn set_takers(&mut self, takers: u32) {
        if self.takers != takers {
            self.takers = takers;
            self.process.set_takers(takers);
        }
    }

    /// Tells the process to stop recording, if it records. It has 500 ms to put its hooks back.
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
        // ENDED: pairs with the release in capture::put_hooks_back, so that the heads which are read next are the
        // last ones.
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
