//! A capture's accounts: the records that each thread has produced for it, and the ends of its processes. A thread's
//! ACCOUNT record is written before its slot is freed; a block is sent at `ACCOUNTS_PER_BLOCK`, 256 of them. Records that were counted and could not be read are lost
//! (`refused`); those that an earlier daemon may have had are lost as `restarted`. Commands in flight are found only in
//! a process that died: their last record is no leave record, and the slot does not say that they returned.

use std::sync::Arc;

use gapii_abi::atom::{CaptureEnd, GapCause, InFlight, ProcessEnd};
use gapii_ringbuf::SlotCounts;
use gapii_trace::footer::GapEntry;
use gapii_trace::rings;

use crate::armed::Armed;
use crate::end::{Departure, MemberEnd};
use crate::lane::Lane;
use crate::ledger::Account;
use crate::member::{Member, PassedOn};
use crate::stream::{RingKey, name_text};
use crate::taker::Taker;
use crate::taker::membership::{Membership, MembershipState};
use crate::taker::share::Share;

/// Number of accounts with which a block is sent although it is not full: the slots of these threads are free only once
/// the block is written.
const ACCOUNTS_PER_BLOCK: u32 = 256;

/// Totals of a ring's last owner that its account needs.
struct Closing {
    /// The share of the owner, whose account is not closed yet.
    share: Share,
    /// The slot's counts when the owner's part ended.
    after: SlotCounts,
    /// Records of the owner that were read since the capture began with it.
    read: u64,
    /// Records of the owner that do not belong to the stream.
    left_out: u64,
}

impl Taker {
    /// Closes the account of a ring's present owner, and writes it into the stream for a daemon that may continue the
    /// capture. The next owner's slot begins with `after`.
    pub fn end_owner(&mut self, at: usize, lane: &Lane, after: SlotCounts, now_ns: u64) {
        if self.memberships.get(lane.member).is_some_and(Membership::has_begun) {
            let read = lane.read();
            let account = self.close_account(at, lane, after, read);
            self.write_account(at, account, now_ns);
        }
    }

    /// Returns whether the ACCOUNT record of a ring's last owner is written, or not needed any more.
    pub fn has_account(&self, at: usize) -> bool {
        let accounted_in = self.shares.get(at).map(|share| share.accounted_in);
        accounted_in.is_none_or(|block| self.outlet.is_done(block)) || self.is_finished()
    }

    /// Writes an account into the stream. Sends the block once it has so many accounts that the slots of their threads
    /// are needed.
    fn write_account(&mut self, at: usize, account: Option<rings::Account>, now_ns: u64) {
        let Some(account) = account else { return };
        let block = self.stream.append_account(&account, now_ns);
        if let Some(share) = self.shares.get_mut(at) {
            share.accounted_in = block;
        }
        let count = match self.accounts {
            (known, count) if known == block => count + 1,
            _ => 1,
        };
        self.accounts = (block, count);
        // Block 0: the stream has no accounts, and slots do not wait for them.
        if block > 0 && count >= ACCOUNTS_PER_BLOCK {
            self.flush();
        }
    }

    /// Closes the account of a ring's present owner. Returns its record for the stream, unless the owner has nothing to
    /// account for.
    ///
    /// `after` has the slot's counts at the owner's end, and `read` the records of the owner that were read.
    pub(super) fn close_account(
        &mut self,
        at: usize,
        lane: &Lane,
        after: SlotCounts,
        read: u64,
    ) -> Option<rings::Account> {
        let ring = RingKey(at as u32);
        let share = *self.shares.get(at)?;
        self.put_share(at, share.of_next_owner(after));
        let consumer = lane.consumer.as_ref()?;
        let (tid, name) = (consumer.slot().tid_untrusted(), consumer.slot().name_untrusted());
        let owner = match self.stream.thread_of(ring) {
            Some(owner) => Some(owner),
            None if share.begun == after && lane.refused.is_none() => None,
            None => self.stream.begin_thread(ring, tid, name).ok(),
        };
        let left_out = self.stream.end_thread(ring);
        self.stream.count_on(ring, after.produced);
        let read = read.saturating_sub(share.begun_given);
        let account = self.account_of(owner?, lane, Closing { share, after, read, left_out });
        let capture = self.id();
        tracing::debug!(capture, tid = account.tid, "account of a thread: {account:?}");
        let record = account.record();
        self.tally.ledger.close(account);
        Some(record)
    }

    /// Makes the account of a thread of the trace that owned the lane's ring.
    fn account_of(&self, thread: u32, lane: &Lane, closing: Closing) -> Account {
        let Closing { share, mut after, read, left_out } = closing;
        let Share { begun: mut before, is_late, discarded, mut missed, .. } = share;
        let known = self.stream.thread(thread);
        let produced = after.produced.wrapping_sub(before.produced);
        let mut unread = produced.saturating_sub(read);
        let in_accounts = known.records.saturating_add(left_out).saturating_add(discarded);
        if share.lacks_records && lane.refused.is_none() {
            let all = count_unknown(produced, in_accounts, &mut missed);
            after.produced = before.produced.wrapping_add(all);
            unread = 0;
        } else if share.begun_is_low && lane.refused.is_none() {
            let in_accounts = in_accounts.saturating_add(missed.map_or(0, |it| it.records));
            before.produced = after.produced.wrapping_sub(in_accounts);
            unread = 0;
        }
        Account {
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
            refused: lane.refused.clone(),
            told: known.told,
        }
    }

    /// Ends the part of a member that other captures continue with. `said` is the end that the trace states for
    /// the process.
    pub fn cut(&mut self, lanes: &[Lane], member: usize, said: Option<CaptureEnd>, now_ns: u64) {
        if self.memberships.get(member).is_some_and(Membership::has_begun) {
            let own = lanes.iter().enumerate().filter(|(_, lane)| lane.member == member);
            for (number, (at, lane)) in own.enumerate() {
                // Records that the lane does not count yet, or reads once more for other captures.
                let place = self.stream.place_of(RingKey(at as u32));
                let more = place.records.saturating_sub(lane.records);
                let mut after = lane.counts_given();
                after.produced = after.produced.wrapping_add(more);
                let account = self.close_account(at, lane, after, lane.given + more);
                self.write_last_account(member, at, account, now_ns);
                // The first ring states the end for all rings.
                self.stream.end_ring(RingKey(at as u32), number == 0);
            }
        }
        self.end_membership(member, MemberEnd { said, ..MemberEnd::default() });
    }

    /// Ends the part of a member that writes no more. Returns whether the capture had not begun with it, and still
    /// wants it.
    pub fn end_member(
        &mut self,
        index: usize,
        member: &Member,
        lanes: &[Lane],
        now_ns: u64,
    ) -> bool {
        let Some(membership) = self.memberships.get(index) else { return false };
        let (key, process) = (membership.key, Arc::clone(&membership.process));
        if !membership.has_begun() {
            let waits = membership.is_waiting();
            let said = membership.armed.as_ref().and_then(Armed::ended);
            let ended = MemberEnd { said, left: member.left, ..MemberEnd::default() };
            self.end_membership(index, ended);
            let goes_on = said.is_none_or(|said| said.reason != ProcessEnd::Exit);
            return waits && goes_on && !self.is_stopping();
        }
        let in_flight = self.commands_in_flight(member, lanes);
        for &at in &member.lanes {
            let lane = &lanes[at];
            let account = self.close_account(at, lane, lane.counts_at_end(), lane.read());
            self.write_last_account(index, at, account, now_ns);
            self.stream.end_ring(RingKey(at as u32), false);
        }
        let known = self.stream.process(key);
        // A process that leaves because its ring stays full has no room to say so.
        let lost = CaptureEnd { reason: ProcessEnd::Lost, frames: known.frames };
        let said = known.ended.or_else(|| member.put_back.then_some(lost));
        let (capture, pid, name, left) = (self.id(), process.pid, &process.name, member.left);
        let whom = process.described();
        tracing::info!(capture, pid, %name, ?said, ?left, "capture {capture} has all of {whom}");
        self.end_membership(index, MemberEnd { said, left, in_flight, ..MemberEnd::default() });
        false
    }

    /// Writes an account into the stream, unless the capture ends with this member: the footer then has all accounts.
    fn write_last_account(
        &mut self,
        member: usize,
        at: usize,
        account: Option<rings::Account>,
        now_ns: u64,
    ) {
        let others = self.memberships.iter().filter(|(index, _)| *index != member);
        let has_others = others.into_iter().any(|(_, other)| !other.is_over());
        if self.lifetime.awaits_more || has_others {
            self.write_account(at, account, now_ns);
        }
    }

    /// Ends a member's part, unless it is over already.
    pub(super) fn end_membership(&mut self, member: usize, mut ended: MemberEnd) {
        let Some(membership) = self.memberships.get_mut(member) else { return };
        if membership.is_over() {
            return;
        }
        ended.pid = Some(membership.process.pid);
        let unslotted = match membership.has_begun() {
            true => membership.unslotted_calls(),
            false => 0,
        };
        let begun = membership.has_begun();
        let copies = membership.copies();
        membership.passed_on_ended = Some(match begun {
            true => PassedOn::of(&membership.process),
            false => membership.passed_on_begun,
        });
        membership.state = MembershipState::Over;
        if copies.unsent > 0 {
            self.stream.lacks(&format!(
                "the contents of {} levels or buffers: they were not sent before the capture ended",
                copies.unsent
            ));
        }
        self.tally.held_bytes = self.tally.held_bytes.saturating_add(copies.without_room_bytes);
        self.outlet.give_up_space();
        self.tally.unslotted_calls = self.tally.unslotted_calls.saturating_add(unslotted);
        self.lifetime.ends.push(ended);
        self.profile.leave(membership.process.index);
    }

    /// Returns the commands in flight in the threads of a dead process.
    fn commands_in_flight(&self, member: &Member, lanes: &[Lane]) -> Vec<InFlight> {
        if !member.left.is_some_and(Departure::is_death) {
            return Vec::new();
        }
        let in_flight = |lane: usize| {
            let thread = self.stream.thread_of(RingKey(lane as u32))?;
            let last = self.stream.thread(thread).last_command?;
            let finished = lanes[lane].consumer.as_ref()?.finished_untrusted();
            let open = last.is_open() && finished < last.end_index;
            open.then_some(InFlight { thread, id: last.id, stamp: last.stamp })
        };
        member.lanes.iter().copied().filter_map(in_flight).collect()
    }
}

/// Counts records as missed that a thread produced, that no account of an earlier daemon has, and that the lane has not
/// counted. Returns how many records the thread produced in all: if the ring was cut, the accounts may have more than
/// `produced`.
fn count_unknown(produced: u64, in_accounts: u64, missed: &mut Option<GapEntry>) -> u64 {
    let in_accounts = in_accounts.saturating_add(missed.map_or(0, |it| it.records));
    let unknown = produced.saturating_sub(in_accounts);
    if unknown > 0 {
        let cause = GapCause::Restarted;
        let lost = missed.get_or_insert(GapEntry { cause, ..GapEntry::default() });
        lost.records = lost.records.saturating_add(unknown);
    }
    produced.max(in_accounts)
}
