//! Processes in a drain, and the phase of each: recording, stopping, emptying, over. A process that is told to stop has
//! `GOODBYE_NS`, 500 ms, to put its hooks back; then its rings are read up to the records that exist by then, whatever
//! it writes later; the next capture passes over that. A process that owes blobs of its snapshot has longer: until it has
//! sent none for `OWED_NS`, 10 s. The rings of a process that is gone are read to their end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gapii_ringbuf::{ModeSettings, SlotCounts};

use crate::end::Departure;
use crate::lane;
use crate::plan::Plan;
use crate::process::{Process, Rings};

/// Time that a process has to put its hooks back: 500 ms.
const GOODBYE_NS: u64 = 500_000_000;

/// How long the drain waits for a process that has left the capture to send another blob that it owes: 10 s.
const OWED_NS: u64 = 10_000_000_000;

/// A process that was told to record and is about to join a drain.
#[derive(Debug)]
pub struct Joining {
    pub process: Arc<Process>,
    pub rings: Rings,
    /// The counts of these rings' slots before the process was told to record. Empty for rings that were handed over,
    /// whose slots have them.
    pub counts: Vec<SlotCounts>,
    pub unslotted_calls: u64,
    /// The commands that the process had passed on before it was told to record, or when it was taken over.
    pub passed_on: PassedOn,
    /// Generation of the mode page's order to record.
    pub generation: u64,
    /// For a process that was handed over and records already: the monotonic time at which it first missed its
    /// daemon.
    pub lost_ns: Option<u64>,
}

/// A process in the drain.
pub struct Member {
    pub process: Arc<Process>,
    pub generation: u64,
    /// [`unslotted_calls`] when the process joined.
    pub unslotted_calls: u64,
    /// The commands that the process had passed on when it joined.
    pub passed_on: PassedOn,
    /// The process' rings by slot, as indices of the drain's lanes: those of the slots that threads have used.
    pub lanes: Vec<usize>,
    pub phase: Phase,
    /// For a process that was handed over: the monotonic time at which it first missed its daemon.
    pub lost_ns: Option<u64>,
    /// The captures that continue with a process that was handed over, until its rings' places are decided.
    pub claims: Option<Vec<u64>>,
    /// The number of captures that could continue with the process in another daemon, as last written to its mode
    /// page.
    pub takers: u32,
    pub left: Option<Departure>,
    /// The process has put its hooks back, whether or not its ring had room to say why.
    pub put_back: bool,
    /// The rings are read up to their cuts only. Slots that are used from then on have nothing that is wanted.
    pub is_cut: bool,
    /// The blobs that the process owed when that was last asked, and since when it has owed as many. `None`: it has not been
    /// asked.
    pub owed: Option<(u64, u64)>,
}

/// Phase of a process in the drain. Only the drain's thread changes it, and only forward, so no ordering is
/// involved. The last column names what the drain reads of the process.
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
    /// Told to stop. The drain waits until the deadline at most.
    Stopping {
        deadline_ns: u64,
    },
    /// The process writes no more, or nothing that is still wanted. Its rings are emptied up to their cuts.
    Emptying,
    Over,
}

impl Joining {
    /// Tells a process to record, for this drain and a capture of this plan. `goes_on` says whether another daemon
    /// could continue that capture. Returns `None` if another drain has the process' rings.
    pub fn begin(process: &Arc<Process>, drain: u64, plan: &Plan, goes_on: bool) -> Option<Self> {
        let mut rings = process.lend_rings(drain)?;
        lane::discard_leftovers(&mut rings);
        let counts: Vec<_> = rings.iter().map(|ring| ring.slot().counts_untrusted()).collect();
        let (unslotted_calls, passed_on) = (unslotted_calls(process), PassedOn::of(process));
        lane::note_joined(&rings, &counts);
        // Relaxed: a note for a later daemon.
        process.claims().begun_unslotted_calls.store(unslotted_calls, Ordering::Relaxed);
        let generation = process.begin_capture(plan.mode(), &plan.frame_rule, plan.origin, goes_on);
        let (process, lost_ns) = (Arc::clone(process), None);
        Some(Self { process, rings, counts, unslotted_calls, passed_on, generation, lost_ns })
    }

    /// Takes over a process that another daemon told to record. Returns `None` if it is in a drain already.
    pub fn take_over(process: &Arc<Process>, drain: u64, lost_ns: u64) -> Option<Self> {
        let rings = process.lend_rings(drain)?;
        // Relaxed: a note of a daemon that has ended.
        let unslotted_calls = process.claims().begun_unslotted_calls.load(Ordering::Relaxed);
        let passed_on = PassedOn::of(process);
        let (generation, lost_ns) = (process.generation(), Some(lost_ns));
        let (process, counts) = (Arc::clone(process), Vec::new());
        Some(Self { process, rings, counts, unslotted_calls, passed_on, generation, lost_ns })
    }

    /// Gives the rings back to the process, which stops recording.
    pub fn take_back(self) {
        self.process.return_rings(self.rings);
    }
}

impl Member {
    /// Returns whether nothing more of the process comes.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Returns whether this is the process with this index in the session, and its part is not over.
    pub fn is(&self, process: u32) -> bool {
        self.process.index == process && !self.is_over()
    }

    /// Returns whether the drain reads the process' rings: their places are decided, and the process' part is not
    /// over.
    pub fn is_read(&self) -> bool {
        self.claims.is_none() && !self.is_over()
    }

    /// Tells the process how many captures could continue with it in another daemon.
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

    /// Returns whether the process writes no more, or nothing that is wanted, and changes the phase if so.
    pub fn look(&mut self, now_ns: u64) -> Look {
        let late = matches!(self.phase, Phase::Stopping { deadline_ns } if now_ns >= deadline_ns);
        // ENDED: pairs with the release in capture::put_hooks_back, so that the heads which are read next are the
        // last ones.
        let ended = self.process.claims().ended_generation.load(Ordering::Acquire);
        self.put_back = ended >= self.generation;
        if self.left.is_some() {
            self.phase = Phase::Emptying;
            Look::Ended { is_cut: false }
        } else if (late || self.put_back) && !self.owes(now_ns) {
            (self.phase, self.is_cut) = (Phase::Emptying, true);
            Look::Ended { is_cut: true }
        } else {
            Look::GoesOn
        }
    }

    /// Returns whether the process still sends blobs that records refer to.
    pub fn owes(&mut self, now_ns: u64) -> bool {
        // ENDED: pairs with the release in the shim's snapshot::owed, so that the blobs which are not owed any more are
        // below the heads that are read next.
        let owed = self.process.claims().owed_blobs.load(Ordering::Acquire);
        let since = match self.owed {
            Some((before, since)) if before == owed => since,
            _ => now_ns,
        };
        self.owed = Some((owed, since));
        owed > 0 && now_ns.saturating_sub(since) < OWED_NS
    }
}

/// Result of [`Member::look`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    GoesOn,
    /// The rings are to be emptied: completely, or if `is_cut`, up to the records that exist by now.
    Ended {
        is_cut: bool,
    },
}

/// Commands that a process has passed on to the driver without recording them, since it connected, as it claims.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassedOn {
    /// Commands that were called from inside other commands.
    pub reentrant_calls: u64,
    /// Commands of OpenGL without a recorded context.
    pub foreign_calls: u64,
}

impl PassedOn {
    /// Returns the numbers of a process so far.
    pub fn of(process: &Process) -> Self {
        let claims = process.claims();
        // Relaxed, both: claims of the application's.
        Self {
            reentrant_calls: claims.reentrant_calls.load(Ordering::Relaxed),
            foreign_calls: claims.foreign_calls.load(Ordering::Relaxed),
        }
    }

    /// Returns the commands since `begun`.
    pub fn since(self, begun: Self) -> Self {
        Self {
            reentrant_calls: self.reentrant_calls.saturating_sub(begun.reentrant_calls),
            foreign_calls: self.foreign_calls.saturating_sub(begun.foreign_calls),
        }
    }
}

/// What has become of the contents that the snapshots of a process were to copy, since it connected, as it claims.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copies {
    /// Blobs that records refer to and that were given up or not sent so far.
    pub unsent: u64,
    /// Bytes for which there was no room.
    pub without_room_bytes: u64,
}

impl Copies {
    /// Returns the numbers of a process so far.
    pub fn of(process: &Process) -> Self {
        let claims = process.claims();
        let [owed, unsent, without_room_bytes] =
            [&claims.owed_blobs, &claims.unsent_blobs, &claims.held_bytes]
                // Relaxed, all: claims of the application's.
                .map(|word| word.load(Ordering::Relaxed));
        Self { unsent: owed.saturating_add(unsent), without_room_bytes }
    }

    /// Returns the numbers since `begun`.
    pub fn since(self, begun: Self) -> Self {
        Self {
            unsent: self.unsent.saturating_sub(begun.unsent),
            without_room_bytes: self.without_room_bytes.saturating_sub(begun.without_room_bytes),
        }
    }
}

/// Returns how many calls were not recorded because no slot was free, since the process began.
pub fn unslotted_calls(process: &Process) -> u64 {
    // Relaxed: a claim of the application's.
    process.claims().unslotted_calls.load(Ordering::Relaxed)
}
