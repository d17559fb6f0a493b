//! A ring as one capture sees it: its place, the counts when its owner began, and the owner's records that were
//! discarded or missed.

use gapii_abi::atom::GapCause;
use gapii_ringbuf::SlotCounts;
use gapii_trace::footer::{GapEntry, Lost};
use gapii_trace::rings::RingState;

use crate::ledger::{counts_of, slot_counts_of};
use crate::stream::RingNote;

/// A ring as one capture sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// The stream already has the records below this ring index, because another daemon wrote them.
    pub(super) from_index: u64,
    /// The slot's counts when the present owner began, or when the stream did.
    pub(super) begun: SlotCounts,
    /// Records of the present owner that the merge gave out before the stream began.
    pub(super) begun_given: u64,
    /// The stream began while the present owner was recording.
    pub(super) is_late: bool,
    /// The daemon that died had read records that no file and no ring accounts for.
    pub(super) lacks_records: bool,
    /// The stream began while the present owner was recording, behind records that no daemon has counted, so that
    /// `begun.produced` is too low. The owner's account counts the stream's own records, up to `produced` at its end.
    pub(super) begun_is_low: bool,
    /// Records of the present owner that were read and not appended to the stream.
    pub(super) discarded: u64,
    /// Records of the present owner that are missing in the stream.
    pub(super) missed: Option<GapEntry>,
    /// Blocks with records of this ring that are on their way to the output.
    pub(super) blocks: u32,
    /// The ring index below which all is written. Meaningful while a block with records of this ring is open or on
    /// its way.
    pub(super) written_index: u64,
    /// Number of the block with the last owner's ACCOUNT record.
    pub(super) accounted_in: u64,
}

impl Share {
    /// Returns the share as the stream states it.
    pub(super) fn note(&self) -> RingNote {
        let missed = self.missed.unwrap_or_default();
        RingNote {
            begun: counts_of(&self.begun),
            is_late: self.is_late,
            lacks_records: self.lacks_records,
            begun_is_low: self.begun_is_low,
            is_over: false,
            refused_records: self.discarded,
            missed: missed.lost(),
            missed_cause: missed.cause,
        }
    }

    /// Makes the share that another daemon's stream states, to continue it.
    pub(super) fn of(state: &RingState) -> Self {
        let Lost { records, calls, bytes } = state.missed;
        let missed =
            GapEntry { records, calls, bytes, cause: state.missed_cause, ..GapEntry::default() };
        Self {
            from_index: state.index,
            begun: slot_counts_of(&state.begun),
            is_late: state.is_late,
            lacks_records: state.lacks_records,
            begun_is_low: state.begun_is_low,
            discarded: state.refused_records,
            missed: (state.missed_cause != GapCause::default()).then_some(missed),
            ..Self::default()
        }
    }

    /// Makes the share of the ring's next owner, whose slot begins with these counts.
    pub(super) fn of_next_owner(&self, begun: SlotCounts) -> Self {
        let Self { blocks, written_index, from_index, .. } = *self;
        Self { begun, blocks, written_index, from_index, ..Self::default() }
    }
}
