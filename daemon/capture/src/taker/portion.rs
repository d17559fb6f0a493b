//! What a capture has of a process, and of each of its rings.

use std::sync::Arc;

use gapii_abi::atom::GapCause;
use gapii_ringbuf::SlotCounts;
use gapii_trace::footer::{GapEntry, Lost};
use gapii_trace::rings::RingState;

use crate::armed::Armed;
use crate::ledger::{counts_of, slot_counts_of};
use crate::member::unslotted_calls;
use crate::process::Process;
use crate::stream::{ProcessKey, RingNote};

/// A process in the capture.
pub(super) struct Portion {
    pub(super) process: Arc<Process>,
    pub(super) key: ProcessKey,
    pub(super) state: PortionState,
    /// What is waited for before it begins.
    pub(super) armed: Option<Armed>,
    pub(super) unslotted_calls: u64,
}

/// How far a capture is with a process. Only the drain's thread changes it, so no ordering is involved.
///
/// | state | meaning | entered from | when |
/// |---|---|---|---|
/// | `Waiting` | the stream has nothing of the process, and begins at its next keyframe | (added) | others have the process already, or a trigger is waited for: `Taker::add_late` |
/// | `Taking` | the stream takes the process' records | (added), `Waiting`, `Missing` | the capture has it from the beginning or takes it over; the keyframe that was waited for comes |
/// | `Missing` | the process' records are counted as lost, and hold no ring space | `Taking` | the capture pauses, its output is too slow, or records went with another daemon: `Taker::miss_of` |
/// | `Over` | the process' books are closed | any other | the process ended, its frame limit is reached, or the capture needs it no more: `Taker::end_portion` |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PortionState {
    /// Its stream begins at the next keyframe.
    Waiting {
        /// Frames of the process when that is to be asked for.
        from_frame: u64,
        has_asked: bool,
    },
    Taking,
    /// What it does is missing in the stream, for this cause; it goes on at the next keyframe once that was
    /// asked for.
    Missing {
        cause: GapCause,
        has_asked: bool,
    },
    Over,
}

/// A ring in the capture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// What is below it in the ring is in the stream already: another daemon has put it there.
    pub(super) from_index: u64,
    /// What its slot said when the present owner began, or the stream.
    pub(super) begun: SlotCounts,
    /// Records of the present owner that were given out before the stream began.
    pub(super) begun_given: u64,
    pub(super) is_late: bool,
    /// Records are not known of, which the daemon had that died.
    pub(super) lacks_records: bool,
    pub(super) discarded: u64,
    /// What of the present owner is missing in the stream.
    pub(super) missed: Option<GapEntry>,
    /// Blocks under way that have something of it.
    pub(super) blocks: u32,
    /// While there are such, or one is open: what is below is written.
    pub(super) written_index: u64,
    /// The block that says what the last owner came to.
    pub(super) accounted_in: u64,
}

impl Share {
    /// What is said of it in the stream.
    pub(super) fn note(&self) -> RingNote {
        let missed = self.missed.unwrap_or_default();
        RingNote {
            begun: counts_of(&self.begun),
            is_late: self.is_late,
            lacks_records: self.lacks_records,
            is_over: false,
            refused_records: self.discarded,
            missed: missed.lost(),
            missed_cause: missed.cause,
        }
    }

    /// What a stream says of it, for one that goes on.
    pub(super) fn of(state: &RingState) -> Self {
        let Lost { records, calls, bytes } = state.missed;
        let missed =
            GapEntry { records, calls, bytes, cause: state.missed_cause, ..GapEntry::default() };
        Self {
            from_index: state.index,
            begun: slot_counts_of(&state.begun),
            is_late: state.is_late,
            lacks_records: state.lacks_records,
            discarded: state.refused_records,
            missed: (state.missed_cause != GapCause::default()).then_some(missed),
            ..Self::default()
        }
    }
}

impl Portion {
    /// Whether the stream has something of it, and its books are open.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, PortionState::Taking | PortionState::Missing { .. })
    }

    /// Whether it waits for something that has not come.
    pub(super) fn is_armed(&self) -> bool {
        matches!(self.state, PortionState::Waiting { .. })
            && self.armed.as_ref().is_some_and(|armed| !armed.has_come())
    }

    /// Calls since it joined that were not recorded because no slot was free.
    pub(super) fn unslotted(&self) -> u64 {
        unslotted_calls(&self.process).saturating_sub(self.unslotted_calls)
    }
}
