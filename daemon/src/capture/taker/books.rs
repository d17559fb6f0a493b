//! A capture's books: what each thread has produced for it, and how its processes ended.

use std::sync::Arc;

use gapii_protocol::atom::process_end;
use gapii_protocol::trace::meta::{CaptureEnd, InFlight};
use gapii_ringbuf::SlotCounts;

use crate::capture::Departure;
use crate::capture::armed::Armed;
use crate::capture::assemble::{RingKey, name_text};
use crate::capture::end::MemberEnd;
use crate::capture::lane::Lane;
use crate::capture::ledger::Account;
use crate::capture::member::Member;
use crate::capture::taker::Taker;
use crate::capture::taker::portion::{Portion, PortionState, Share};

impl Taker {
    /// Closes the books of a ring's present owner; the next one begins with `after`.
    pub fn end_owner(&mut self, at: usize, lane: &Lane, after: SlotCounts) {
        if self.portion(lane.member).is_some_and(Portion::has_begun) {
            let read = lane.read();
            self.close_account(at, lane, after, read);
        }
    }

    fn close_account(&mut self, at: usize, lane: &Lane, after: SlotCounts, read: u64) {
        let ring = RingKey(at as u32);
        let Some(Some(share)) = self.shares.get_mut(at) else { return };
        let Share { begun: before, begun_given, is_late, discarded, missed, .. } = *share;
        let (blocks, written_index) = (share.blocks, share.written_index);
        *share = Share { begun: after, blocks, written_index, ..Share::default() };
        let read = read.saturating_sub(begun_given);
        let Some(consumer) = &lane.consumer else { return };
        let (tid, name) = (consumer.slot().tid_untrusted(), consumer.slot().name_untrusted());
        let refused = lane.refused.clone();
        let owner = match self.assembler.thread_of(ring) {
            Some(owner) => Some(owner),
            // Nothing to account for.
            None if before == after && refused.is_none() => None,
            None => self.assembler.begin_thread(ring, tid, name).ok(),
        };
        let left_out = self.assembler.end_thread(ring);
        let Some(thread) = owner else { return };
        let known = self.assembler.thread(thread);
        let account = Account {
            thread,
            process: known.process,
            slot: lane.slot,
            tid: known.tid,
            name: name_text(&known.name),
            before,
            after,
            appended: known.records,
            left_out,
            discarded,
            missed,
            unread: after.produced.wrapping_sub(before.produced).saturating_sub(read),
            is_late,
            refused,
        };
        let capture = self.id();
        tracing::debug!(capture, tid = account.tid, "a thread's account: {account:?}");
        let told = self.assembler.gaps().iter().filter(|gap| gap.thread == thread);
        self.ledger.close(account, told);
    }

    /// Ends its part of a process that goes on for others, behind so many records of a lane which the lanes
    /// do not count yet.
    pub fn cut(
        &mut self,
        lanes: &[Lane],
        member: usize,
        current: Option<(usize, u64)>,
        said: Option<CaptureEnd>,
    ) {
        if self.portion(member).is_some_and(Portion::has_begun) {
            for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.member == member) {
                let more = current.filter(|(index, _)| *index == at).map_or(0, |(_, more)| more);
                let mut after = lane.counts_given();
                after.produced = after.produced.wrapping_add(more);
                self.close_account(at, lane, after, lane.given + more);
            }
        }
        self.end_portion(member, MemberEnd { said, ..MemberEnd::default() });
    }

    /// Ends its part of a process that writes no more; true: it had not begun, and is still to.
    pub fn end_member(&mut self, index: usize, member: &Member, lanes: &[Lane]) -> bool {
        let Some(portion) = self.portion(index) else { return false };
        let (state, key, process) = (portion.state, portion.key, Arc::clone(&portion.process));
        if !portion.has_begun() {
            let said = portion.armed.as_ref().and_then(Armed::ended);
            let ended = MemberEnd { said, left: member.left, ..MemberEnd::default() };
            self.end_portion(index, ended);
            let goes_on = said.is_none_or(|said| said.reason != process_end::EXIT);
            let waits = matches!(state, PortionState::Waiting { .. });
            return waits && goes_on && !self.is_stopping();
        }
        let in_flight = self.commands_in_flight(member, lanes);
        for at in member.lanes.clone() {
            let (after, read) = (lanes[at].counts(), lanes[at].read());
            self.close_account(at, &lanes[at], after, read);
        }
        let known = self.assembler.member(key);
        // One that leaves because its ring stays full has no room to say so.
        let lost = CaptureEnd { reason: process_end::LOST, frames: known.frames };
        let said = known.ended.or_else(|| member.put_back.then_some(lost));
        let (capture, pid, name, left) = (self.id(), process.pid, &process.name, member.left);
        let whom = process.described();
        tracing::info!(capture, pid, name, ?said, ?left, "capture {capture} has all of {whom}");
        self.end_portion(index, MemberEnd { said, left, in_flight });
        false
    }

    pub(super) fn end_portion(&mut self, member: usize, ended: MemberEnd) {
        let Some(portion) = self.portions.get_mut(member).and_then(Option::as_mut) else { return };
        if portion.state == PortionState::Over {
            return;
        }
        let begun = portion.has_begun();
        portion.state = PortionState::Over;
        self.has_let_go = true;
        let unslotted = if begun { portion.unslotted() } else { 0 };
        self.unslotted_calls = self.unslotted_calls.saturating_add(unslotted);
        let process = portion.process.index;
        self.ends.push(ended);
        self.capture.leave(process);
    }

    /// The commands that the threads of a dead process were in.
    fn commands_in_flight(&self, member: &Member, lanes: &[Lane]) -> Vec<InFlight> {
        if member.left != Some(Departure::Died) {
            return Vec::new();
        }
        let in_flight = |lane: usize| {
            let thread = self.assembler.thread_of(RingKey(lane as u32))?;
            let last = self.assembler.thread(thread).last_command?;
            let finished = lanes[lane].consumer.as_ref()?.finished_untrusted();
            let open = last.is_open() && finished < last.end_index;
            open.then_some(InFlight { thread, id: last.id, stamp: last.stamp })
        };
        member.lanes.clone().filter_map(in_flight).collect()
    }
}
