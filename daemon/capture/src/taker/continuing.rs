//! Continues a stream that another daemon began: finds the place from which each ring is read for it, and the
//! records that are missing because the ring does not have them any more.
//!
//! A ring is read from the lowest place of all captures that continue with it. A capture with a higher place
//! passes over the records that it already has. Records that were in the temporary file of a slow client, or not
//! wanted, were lost with the daemon and are counted as lost. As behind any gap, the capture then continues at a
//! keyframe.

use gapii_abi::atom::{CaptureEnd, GapCause, ProcessEnd};
use gapii_ringbuf::{Joined, Slot, SlotCounts, Standing};
use gapii_trace::footer::GapEntry;
use gapii_trace::rings::RingState;
use gapii_trace::story::Begin;

use crate::lane::Lane;
use crate::ledger::{Account, Ledger};
use crate::member::Member;
use crate::process::Process;
use crate::stream::{ProcessKey, RingKey, name_text};
use crate::taker::Taker;
use crate::taker::membership::MembershipState;
use crate::taker::share::Share;

impl Taker {
    /// Returns whether processes other than those with the pids `here` may be about to hand their rings over.
    pub fn lacks_processes(&self, here: &[u32]) -> bool {
        self.takeover.as_ref().is_some_and(|takeover| takeover.lacks(here))
    }

    /// Writes the seam into the stream, once. The capture waits for no more processes.
    pub fn begin_again(&mut self) {
        let capture = self.id();
        if let Some(takeover) = &mut self.takeover
            && let Some(seam) = takeover.seam()
        {
            tracing::info!(capture, "capture {capture} {}", takeover.described());
            self.stream.begin_with(seam);
        }
    }

    /// Returns where the capture continues in a ring.
    pub fn standing(&self, process: &Process, lane: &Lane) -> Standing {
        match self.state_of(process.segment(), lane.slot) {
            Some(state) => Standing {
                index: state.index,
                records: state.known_records(),
                lacks_records: state.lacks_records || state.begun_is_low,
                stamp: state.stamp,
                // An owner of which the stream has nothing may have begun before the daemon's end, too.
                goes_on: state.thread.is_some()
                    || state.is_late
                    || state.known_records() > state.begun.produced,
            },
            // The file has nothing of the ring.
            None => {
                let Joined { index, produced } = lane.found.joined;
                Standing { index, records: produced, ..Standing::default() }
            }
        }
    }

    /// Closes the accounts of the threads whose processes have not come back, as the file states them: records that the
    /// stream lacks, because the capture was paused for example, are in no other account.
    pub(super) fn close_absent(&self, ledger: &mut Ledger) {
        for account in self.stream.absent().iter().filter_map(RingState::account) {
            let known = self.stream.thread(account.thread);
            let who = (known.process, known.tid, name_text(&known.name));
            ledger.close(Account::told_by(&account, who));
        }
    }

    fn state_of(&self, segment: u64, slot: u32) -> Option<&RingState> {
        self.takeover.as_ref()?.file.rings_of(segment).find(|state| state.slot == slot)
    }

    /// Continues with a process, whose rings are read from the places of their lanes on.
    pub fn take_up(&mut self, index: usize, member: &Member, lanes: &[Lane], now_ns: u64) {
        let process = &member.process;
        let Some(takeover) = &mut self.takeover else { return };
        takeover.came(process.pid, member.lost_ns);
        let (is_paused, states) = (takeover.file.rings.is_paused, takeover.states(process));
        if states.is_empty() && self.profile.plan.when.is_some() {
            // The trigger has not fired.
            self.add_late(index, member, now_ns);
            return process.record_for_several();
        }
        let known = states.first().and_then(|state| self.stream.process_at(state.process));
        let key = self.add_membership(index, member, known, MembershipState::Taking, now_ns);
        let at_keyframe = states.iter().any(|state| state.at_keyframe);
        let begin = if at_keyframe { Begin::Keyframe } else { Begin::Capture };
        self.stream.take_up(key, begin);
        let mut lacks = false;
        for &at in &member.lanes {
            lacks |= self.take_up_lane(at, &lanes[at], key, now_ns);
        }
        let is_missing = lacks || states.iter().any(|state| state.is_missing);
        let cause = match (self.is_paused || is_paused, is_missing) {
            (true, _) => Some(GapCause::Paused),
            (_, true) => Some(GapCause::Restarted),
            _ => None,
        };
        self.is_paused |= is_paused;
        if let Some(cause) = cause {
            self.miss_of(index, cause);
        }
        if cause.is_some() || process.has_no_frame_limit() {
            self.limit_frames();
        }
        if self.stream.is_at_limit(key) {
            let frames = self.stream.process(key).frames;
            let said = Some(CaptureEnd { reason: ProcessEnd::Frames, frames });
            self.cut(lanes, index, said, now_ns);
        }
    }

    /// Continues with a lane. Returns whether the lane is past the stream's place in the ring, so that records are
    /// missing.
    fn take_up_lane(&mut self, at: usize, lane: &Lane, key: ProcessKey, now_ns: u64) -> bool {
        let (ring, found) = (RingKey(at as u32), lane.found);
        let (segment, capacity_bytes) = self.segment_of(lane.member);
        let state = self.state_of(segment, lane.slot).copied();
        let mut share = match &state {
            Some(state) => Share::of(state),
            None => Share { from_index: found.joined.index, ..Share::default() },
        };
        let is_past = share.from_index < lane.taken_index;
        // What the ring lacks below the place at which the stream began is not missing in the stream.
        share.lacks_records |= lane.lacks_records && (is_past || !share.begun_is_low);
        self.set_share(at, lane, key, (segment, capacity_bytes), share);
        let mut records = found.joined.produced;
        match &state {
            Some(state) => {
                self.stream.take_up_ring(ring, state);
                records = state.known_records();
            }
            None => {
                share.begun = match !is_past && lane.is_left() {
                    true => lane.counts(),
                    false => SlotCounts { produced: found.joined.produced, ..found.begun },
                };
            }
        }
        let share = self.with_lost_owners_closed(at, lane, share, records);
        let share = with_missed(share, lane, records, now_ns);
        self.put_share(at, share);
        if is_past {
            self.stream.pass_to(ring, lane.place());
        }
        is_past
    }

    /// Closes the account of the owner that the stream knows, if another thread owns the ring by now. The
    /// records of the former owner and of the owners in between were lost, so only the present owner's share is
    /// returned. `records` is the number of the ring's records that the stream knows.
    fn with_lost_owners_closed(
        &mut self,
        at: usize,
        lane: &Lane,
        mut share: Share,
        records: u64,
    ) -> Share {
        let (ring, found) = (RingKey(at as u32), lane.found);
        let thread = self.stream.thread_of(ring);
        let is_gone = |thread| !is_owner(lane, self.stream.thread(thread).tid);
        if share.begun.produced < found.begun.produced || thread.is_some_and(is_gone) {
            if thread.is_none() {
                // A thread above the limit is refused again when it has records.
                let _ = self.stream.begin_thread(ring, 0, [0; 16]);
            }
            self.put_share(at, Share { lacks_records: true, ..share });
            let read = records.saturating_sub(share.begun.produced);
            self.close_account(at, lane, found.begun, read);
            let closed = self.shares.get(at).copied().unwrap_or_default();
            share = Share { from_index: share.from_index, ..closed };
        }
        share.begun_given = share.begun.produced.saturating_sub(lane.begun.produced);
        share
    }
}

/// Counts the records between the stream's place in the ring and the lane's as missed. `records` is the number of the
/// ring's records that the stream knows.
fn with_missed(mut share: Share, lane: &Lane, records: u64, now_ns: u64) -> Share {
    let had = records.max(share.begun.produced);
    if share.from_index < lane.taken_index && lane.records > had {
        let begun =
            GapEntry { cause: GapCause::Restarted, start_ns: now_ns, ..GapEntry::default() };
        let missed = share.missed.get_or_insert(begun);
        missed.records = missed.records.saturating_add(lane.records - had);
        let bytes = lane.taken_index - share.from_index;
        missed.bytes = missed.bytes.saturating_add(bytes);
        missed.end_ns = now_ns;
    }
    share
}

/// Returns whether the ring belongs to the thread `tid`, by its slot. A thread that has not introduced itself
/// (tid 0) may be any thread.
fn is_owner(lane: &Lane, tid: u32) -> bool {
    let is_it = |slot: &Slot| tid == 0 || slot.tid_untrusted() == tid;
    lane.consumer.as_ref().is_some_and(|consumer| is_it(consumer.slot()))
}
