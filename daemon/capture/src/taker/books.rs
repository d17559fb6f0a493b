//! A capture's books: what each thread has produced for it, and how its processes ended.

use std::sync::Arc;

use gapii_abi::atom::{CaptureEnd, GapCause, InFlight, ProcessEnd};
use gapii_ringbuf::SlotCounts;
use gapii_trace::footer::GapEntry;
use gapii_trace::rings;

use crate::armed::Armed;
use crate::end::{Departure, PortionEnd};
use crate::lane::Lane;
use crate::ledger::Account;
use crate::member::Member;
use crate::stream::{RingKey, name_text};
use crate::taker::Taker;
use crate::taker::portion::{Portion, PortionState, Share};

impl Taker {
    /// Closes the books of a ring's present owner; the next one begins with `after`. Says so in the stream, for
    /// a daemon that comes later.
    pub fn end_owner(&mut self, at: usize, lane: &Lane, after: SlotCounts, now_ns: u64) {
        if self.portion(lane.member).is_some_and(Portion::has_begun) {
            let read = lane.read();
            let account = self.close_account(at, lane, after, read);
            self.tell_account(at, account, now_ns);
        }
    }

    /// Whether the account of a ring's last owner is where it is wanted.
    pub fn has_account(&self, at: usize) -> bool {
        let accounted_in = self.shares.get(at).and_then(Option::as_ref).map(|it| it.accounted_in);
        accounted_in.is_none_or(|block| block <= self.blocks_done) || self.is_finished
    }

    fn tell_account(&mut self, at: usize, account: Option<rings::Account>, now_ns: u64) {
        let Some(account) = account else { return };
        let block = self.stream.append_account(&account, now_ns);
        if let Some(Some(share)) = self.shares.get_mut(at) {
            share.accounted_in = block;
        }
    }

    pub(super) fn close_account(
        &mut self,
        at: usize,
        lane: &Lane,
        mut after: SlotCounts,
        read: u64,
    ) -> Option<rings::Account> {
        let ring = RingKey(at as u32);
        let share = (*self.shares.get(at)?)?;
        let Share { begun: before, begun_given, is_late, discarded, mut missed, .. } = share;
        let Share { blocks, written_index, lacks_records, from_index, .. } = share;
        let next = Share { begun: after, blocks, written_index, from_index, ..Share::default() };
        self.put_share(at, next);
        let read = read.saturating_sub(begun_given);
        let mut unread = after.produced.wrapping_sub(before.produced).saturating_sub(read);
        let consumer = lane.consumer.as_ref()?;
        let (tid, name) = (consumer.slot().tid_untrusted(), consumer.slot().name_untrusted());
        let refused = lane.refused.clone();
        let owner = match self.stream.thread_of(ring) {
            Some(owner) => Some(owner),
            // Nothing to account for.
            None if before == after && refused.is_none() => None,
            None => self.stream.begin_thread(ring, tid, name).ok(),
        };
        let left_out = self.stream.end_thread(ring);
        self.stream.count_on(ring, after.produced);
        let thread = owner?;
        let known = self.stream.thread(thread);
        if lacks_records && lane.refused.is_none() {
            let produced = after.produced.wrapping_sub(before.produced);
            let in_books = known.records.saturating_add(left_out).saturating_add(discarded);
            let all = count_unknown(produced, in_books, &mut missed);
            after.produced = before.produced.wrapping_add(all);
            unread = 0;
        }
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
            unread,
            is_late,
            refused,
            told: known.told,
        };
        let capture = self.id();
        tracing::debug!(capture, tid = account.tid, "a thread's account: {account:?}");
        let record = account.record();
        self.ledger.close(account);
        Some(record)
    }

    /// Ends its part of a process that goes on for others.
    pub fn cut(&mut self, lanes: &[Lane], member: usize, said: Option<CaptureEnd>, now_ns: u64) {
        if self.portion(member).is_some_and(Portion::has_begun) {
            let own = lanes.iter().enumerate().filter(|(_, lane)| lane.member == member);
            for (number, (at, lane)) in own.enumerate() {
                // What the lane does not count yet, or reads once more for others.
                let place = self.stream.place_of(RingKey(at as u32));
                let more = place.records.saturating_sub(lane.records);
                let mut after = lane.counts_given();
                after.produced = after.produced.wrapping_add(more);
                let account = self.close_account(at, lane, after, lane.given + more);
                self.tell_last_account(member, at, account, now_ns);
                // One says it for all.
                self.stream.end_ring(RingKey(at as u32), number == 0);
            }
        }
        self.end_portion(member, PortionEnd { said, ..PortionEnd::default() });
    }

    /// Ends its part of a process that writes no more; true: it had not begun, and is still to.
    pub fn end_member(
        &mut self,
        index: usize,
        member: &Member,
        lanes: &[Lane],
        now_ns: u64,
    ) -> bool {
        let Some(portion) = self.portion(index) else { return false };
        let (state, key, process) = (portion.state, portion.key, Arc::clone(&portion.process));
        if !portion.has_begun() {
            let said = portion.armed.as_ref().and_then(Armed::ended);
            let ended = PortionEnd { said, left: member.left, ..PortionEnd::default() };
            self.end_portion(index, ended);
            let goes_on = said.is_none_or(|said| said.reason != ProcessEnd::Exit);
            let waits = matches!(state, PortionState::Waiting { .. });
            return waits && goes_on && !self.is_stopping();
        }
        let in_flight = self.commands_in_flight(member, lanes);
        for at in member.lanes.clone() {
            let lane = &lanes[at];
            let account = self.close_account(at, lane, lane.counts_at_end(), lane.read());
            self.tell_last_account(index, at, account, now_ns);
            self.stream.end_ring(RingKey(at as u32), false);
        }
        let known = self.stream.member(key);
        // One that leaves because its ring stays full has no room to say so.
        let lost = CaptureEnd { reason: ProcessEnd::Lost, frames: known.frames };
        let said = known.ended.or_else(|| member.put_back.then_some(lost));
        let (capture, pid, name, left) = (self.id(), process.pid, &process.name, member.left);
        let whom = process.described();
        tracing::info!(capture, pid, name, ?said, ?left, "capture {capture} has all of {whom}");
        self.end_portion(index, PortionEnd { said, left, in_flight });
        false
    }

    /// At the capture's end the footer has all accounts.
    fn tell_last_account(
        &mut self,
        member: usize,
        at: usize,
        account: Option<rings::Account>,
        now_ns: u64,
    ) {
        let goes_on = |(index, portion): (usize, &Option<Portion>)| {
            index != member && portion.as_ref().is_some_and(|it| it.state != PortionState::Over)
        };
        if self.awaits_more || self.portions.iter().enumerate().any(goes_on) {
            self.tell_account(at, account, now_ns);
        }
    }

    pub(super) fn end_portion(&mut self, member: usize, ended: PortionEnd) {
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
        self.profile.leave(process);
    }

    /// The commands that the threads of a dead process were in.
    fn commands_in_flight(&self, member: &Member, lanes: &[Lane]) -> Vec<InFlight> {
        if member.left != Some(Departure::Died) {
            return Vec::new();
        }
        let in_flight = |lane: usize| {
            let thread = self.stream.thread_of(RingKey(lane as u32))?;
            let last = self.stream.thread(thread).last_command?;
            let finished = lanes[lane].consumer.as_ref()?.finished_untrusted();
            let open = last.is_open() && finished < last.end_index;
            open.then_some(InFlight { thread, id: last.id, stamp: last.stamp })
        };
        member.lanes.clone().filter_map(in_flight).collect()
    }
}

/// Adds what a thread produced and no book of an earlier daemon had, which the lane has not counted, to what
/// is missed; how much it produced in all. Where it was cut, that count may be lower than the books'.
fn count_unknown(produced: u64, in_books: u64, missed: &mut Option<GapEntry>) -> u64 {
    let in_books = in_books.saturating_add(missed.map_or(0, |it| it.records));
    let unknown = produced.saturating_sub(in_books);
    if unknown > 0 {
        let cause = GapCause::Restarted;
        let lost = missed.get_or_insert(GapEntry { cause, ..GapEntry::default() });
        lost.records = lost.records.saturating_add(unknown);
    }
    produced.max(in_books)
}
