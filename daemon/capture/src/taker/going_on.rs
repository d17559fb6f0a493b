//! Going on with a stream that another daemon has begun: from where on each ring is read for it, and what is
//! missing where the ring has that no more.
//!
//! A ring is read on from the lowest place of all captures that go on with it; who was further passes over what
//! he has. What was put aside for a slow client, or not wanted, was lost with the daemon, and so it is
//! counted; then, as behind any gap, all goes on at a keyframe.

use gapii_abi::atom::{CaptureEnd, GapCause, ProcessEnd};
use gapii_ringbuf::{Joined, Slot, SlotCounts, Standing};
use gapii_trace::footer::GapEntry;
use gapii_trace::rings::RingState;
use gapii_trace::story::Begin;

use crate::lane::Lane;
use crate::member::Member;
use crate::process::Process;
use crate::stream::{ProcessKey, RingKey};
use crate::taker::Taker;
use crate::taker::portion::{PortionState, Share};

impl Taker {
    /// Whether it waits for processes that may be about to hand their rings over, of those that are not here.
    pub fn lacks_processes(&self, here: &[u32]) -> bool {
        self.takeover.as_ref().is_some_and(|takeover| takeover.lacks(here))
    }

    /// Nobody is waited for any more: says so in the stream.
    pub fn begin_again(&mut self) {
        let capture = self.id();
        if let Some(takeover) = &mut self.takeover
            && let Some(seam) = takeover.seam()
        {
            tracing::info!(capture, "capture {capture} {}", takeover.described());
            self.stream.begin_with(seam);
        }
    }

    /// Where it goes on in a ring.
    pub fn standing(&self, process: &Process, lane: &Lane) -> Standing {
        match self.state_of(process.segment(), lane.slot) {
            Some(state) => Standing {
                index: state.index,
                records: state.known_records(),
                lacks_records: state.lacks_records,
                stamp: state.stamp,
                // An owner of whom the stream has nothing may have begun before, too.
                goes_on: state.thread.is_some()
                    || state.is_late
                    || state.known_records() > state.begun.produced,
            },
            // None of it is in the file.
            None => {
                let Joined { index, produced } = lane.found.joined;
                Standing { index, records: produced, ..Standing::default() }
            }
        }
    }

    fn state_of(&self, segment: u64, slot: u32) -> Option<&RingState> {
        self.takeover.as_ref()?.file.rings_of(segment).find(|state| state.slot == slot)
    }

    /// Goes on with a process, whose rings are read from where their lanes say.
    pub fn take_up(&mut self, index: usize, member: &Member, lanes: &[Lane], now_ns: u64) {
        let process = &member.process;
        let Some(takeover) = &mut self.takeover else { return };
        takeover.came(process.pid, member.lost_ns);
        let (is_paused, states) = (takeover.file.rings.is_paused, takeover.states(process));
        if states.is_empty() && self.profile.plan.when.is_some() {
            // What it waits for has not come.
            self.add_late(index, member, now_ns);
            return process.share();
        }
        let known = states.first().and_then(|state| self.stream.member_at(state.process));
        let key = self.add_portion(index, member, known, PortionState::Taking, now_ns);
        let at_keyframe = states.iter().any(|state| state.at_keyframe);
        let begin = if at_keyframe { Begin::Keyframe } else { Begin::Capture };
        self.stream.take_up(key, begin);
        let mut lacks = false;
        for at in member.lanes.clone() {
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
            let frames = self.stream.member(key).frames;
            let said = Some(CaptureEnd { reason: ProcessEnd::Frames, frames });
            self.cut(lanes, index, said, now_ns);
        }
    }

    /// True if the lane is past what the stream has of it.
    fn take_up_lane(&mut self, at: usize, lane: &Lane, key: ProcessKey, now_ns: u64) -> bool {
        let (ring, found) = (RingKey(at as u32), lane.found);
        let (segment, capacity_bytes) = self.segment_of(lane.member);
        let state = self.state_of(segment, lane.slot).copied();
        let mut share = match &state {
            Some(state) => Share::of(state),
            None => Share { from_index: found.joined.index, ..Share::default() },
        };
        let is_past = share.from_index < lane.taken_index;
        share.lacks_records |= lane.lacks_records;
        self.set_share(at, lane, key, (segment, capacity_bytes), share);
        let mut records = found.joined.produced;
        if let Some(state) = &state {
            self.stream.take_up_ring(ring, state);
            records = state.known_records();
        }
        if state.is_none() {
            share.begun = match !is_past && lane.is_left() {
                true => lane.counts(),
                false => SlotCounts { produced: found.joined.produced, ..found.begun },
            };
        }
        let thread = self.stream.thread_of(ring);
        let is_gone = |thread| !is_owner(lane, self.stream.thread(thread).tid);
        if share.begun.produced < found.begun.produced || thread.is_some_and(is_gone) {
            // What it came to was lost, and so were those who came after it, but for the present one.
            if thread.is_none() {
                // A thread too many is refused again where it has records.
                let _ = self.stream.begin_thread(ring, 0, [0; 16]);
            }
            self.put_share(at, Share { lacks_records: true, ..share });
            let read = records.saturating_sub(share.begun.produced);
            self.close_account(at, lane, found.begun, read);
            let closed = self.shares[at].unwrap_or_default();
            share = Share { from_index: share.from_index, ..closed };
        }
        share.begun_given = share.begun.produced.saturating_sub(lane.begun.produced);
        let had = records.max(share.begun.produced);
        if is_past && lane.records > had {
            let begun =
                GapEntry { cause: GapCause::Restarted, start_ns: now_ns, ..GapEntry::default() };
            let missed = share.missed.get_or_insert(begun);
            missed.records = missed.records.saturating_add(lane.records - had);
            let bytes = lane.taken_index - share.from_index;
            missed.bytes = missed.bytes.saturating_add(bytes);
            missed.end_ns = now_ns;
        }
        self.put_share(at, share);
        if is_past {
            self.stream.pass_to(ring, lane.place());
        }
        is_past
    }
}

/// Whether the ring is this thread's, as it says itself. One that had not introduced itself may be any.
fn is_owner(lane: &Lane, tid: u32) -> bool {
    let is_it = |slot: &Slot| tid == 0 || slot.tid_untrusted() == tid;
    lane.consumer.as_ref().is_some_and(|consumer| is_it(consumer.slot()))
}
