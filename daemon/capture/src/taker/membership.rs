//! A member's part in one capture.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gapii_abi::atom::GapCause;

use crate::armed::Armed;
use crate::member::{Copies, PassedOn, unslotted_calls};
use crate::process::Process;
use crate::stream::ProcessKey;

/// A member's part in one capture.
pub(super) struct Membership {
    pub(super) process: Arc<Process>,
    /// The process in the capture's stream.
    pub(super) key: ProcessKey,
    pub(super) state: MembershipState,
    /// The trigger that the capture waits for before it begins with the process (`--when`).
    pub(super) armed: Option<Armed>,
    /// [`unslotted_calls`] when the capture began with the process.
    pub(super) unslotted_calls_begun: u64,
    /// What the process claims of its snapshots when the capture began with it. `None` if it begins at a keyframe, for which
    /// nothing is copied.
    pub(super) copies_begun: Option<Copies>,
    /// The commands that the process had passed on when this daemon's part of the capture began with it, and when it
    /// ended.
    pub(super) passed_on_begun: PassedOn,
    pub(super) passed_on_ended: Option<PassedOn>,
}

/// State of a capture with a process. Only the drain's thread changes it, so no ordering is involved.
///
/// | state | meaning | entered from | when |
/// |---|---|---|---|
/// | `Waiting` | the stream has nothing of the process, and begins at a keyframe | (added) | other captures have the process already, or the capture waits for a trigger: `Taker::add_late` |
/// | `Taking` | the stream takes the process' records | (added), `Waiting`, `Missing` | the capture has the process from the beginning or takes it over; the awaited keyframe comes |
/// | `Missing` | the process' records are counted as lost, and hold no ring space | `Taking` | the capture pauses, its output is too slow, or records went with another daemon: `Taker::miss_of` |
/// | `Over` | the process' accounts are closed | any other | the process ended, its frame limit is reached, or the capture does not need it any more: `Taker::end_membership` |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MembershipState {
    /// The stream begins with the process at a keyframe that has not come yet.
    Waiting {
        /// The keyframe is the first one behind this many frames that the process has ended.
        from_frame: u64,
        asked: Asked,
    },
    Taking,
    /// The process' records are missing in the stream, for this cause. The stream continues at the first keyframe
    /// after it has asked for one.
    Missing {
        cause: GapCause,
        has_asked: bool,
    },
    Over,
}

/// Which keyframe the drain has asked a process for, so that a capture which waits begins there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    Nothing,
    /// The one at the frame from which on the capture is to have the process.
    Ahead,
    /// The next one.
    Now,
}

impl Membership {
    /// Returns whether the stream has something of the process, and its accounts are open.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, MembershipState::Taking | MembershipState::Missing { .. })
    }

    /// Returns whether the capture holds no ring space for the process: its records are missing, or none come.
    pub(super) fn holds_no_space(&self) -> bool {
        matches!(self.state, MembershipState::Missing { .. } | MembershipState::Over)
    }

    /// Returns whether the capture waits for a keyframe of the process.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, MembershipState::Waiting { .. })
    }

    /// Returns whether the capture does not take the process' records any more.
    pub(super) fn is_over(&self) -> bool {
        self.state == MembershipState::Over
    }

    /// Returns whether the capture waits for a trigger that has not fired yet.
    pub(super) fn is_armed(&self) -> bool {
        self.is_waiting() && self.armed.as_ref().is_some_and(|armed| !armed.has_come())
    }

    /// Returns the number of frames of the process behind which a capture that waits begins at the first keyframe. `None` if
    /// its trigger has not fired.
    pub(super) fn begins_behind(&self) -> Option<u64> {
        match self.state {
            MembershipState::Waiting { from_frame, .. } if !self.is_armed() => Some(from_frame),
            _ => None,
        }
    }

    /// Returns the commands that the process has passed on to the driver during the capture.
    pub(super) fn passed_on(&self) -> PassedOn {
        let ended = self.passed_on_ended.unwrap_or_else(|| PassedOn::of(&self.process));
        ended.since(self.passed_on_begun)
    }

    /// Returns whether the process still sends contents of the snapshot with which the capture began.
    pub(super) fn owes_blobs(&self) -> bool {
        // Relaxed: a claim of the application's.
        let owed = self.process.claims().owed_blobs.load(Ordering::Relaxed);
        self.has_begun() && self.copies_begun.is_some() && owed > 0
    }

    /// Returns what has become of the copies of the snapshot with which the capture began.
    pub(super) fn copies(&self) -> Copies {
        self.copies_begun.map(|begun| Copies::of(&self.process).since(begun)).unwrap_or_default()
    }

    /// Returns the number of calls since the capture began with the process that were not recorded because no slot
    /// was free.
    pub(super) fn unslotted_calls(&self) -> u64 {
        unslotted_calls(&self.process).saturating_sub(self.unslotted_calls_begun)
    }
}
