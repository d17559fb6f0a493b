//! A capture as its drain sees it: the selection of the drain's records for its stream, and its accounts. An open block
//! is sent after `BLOCK_AGE_NS`, 200 ms. Ends at `--seconds`, at `--bytes` written, or when the output fails. When the
//! temporary file is full, or the capture is paused, records count as missed, and hold no ring space; the stream
//! continues at a keyframe. With `--if-slow wait` 16 blocks that wait for the output hold the drain up, and so all
//! captures of its programs.
//!
//! Has no thread and no clock: the drain gives it the records that the merge gives out, and the time. Its blocks hold
//! ring space until they are written. Apart from them it holds no ring space, so that a capture whose output accepts
//! nothing cannot block a program.

mod accounts;
mod continuing;
mod lifetime;
mod membership;
mod outlet;
mod part;
mod report;
mod share;
mod sparse;
mod taking;
mod tally;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use gapii_abi::atom::GapCause;
use gapii_control::trigger::Trigger;
use gapii_trace::Description;
use gapii_trace::block::BLOCK_TARGET_BYTES;
use gapii_trace::story::Begin;

use crate::armed::Armed;
use crate::backlog::{Done, Feed};
use crate::end::{Cause, Departure, Exited, MemberEnd};
use crate::fault::{self, Fault};
use crate::filtering::Filtering;
use crate::lane::Lane;
use crate::member::{Copies, Member};
use crate::plan::Plan;
use crate::process::Process;
use crate::profile::Profile;
use crate::recover::Recovered;
use crate::stream::{ProcessKey, RingKey, RingSite, StreamBuilder};
use crate::takeover::Takeover;
use crate::taker::lifetime::Lifetime;
use crate::taker::membership::{Asked, Membership, MembershipState};
use crate::taker::outlet::{Outlet, WriterState};
use crate::taker::share::Share;
use crate::taker::sparse::Sparse;
use crate::taker::tally::Tally;

/// The open block is sent when it is this old: 200 ms.
const BLOCK_AGE_NS: u64 = 200_000_000;

/// A capture as its drain sees it.
pub struct Taker {
    pub profile: Arc<Profile>,
    /// Processes that the capture is to have, once their part in the former captures is over.
    pub wants: Vec<Arc<Process>>,
    stream: StreamBuilder,
    /// By the drain's members.
    memberships: Sparse<Membership>,
    /// By the drain's lanes.
    shares: Sparse<Share>,
    outlet: Outlet,
    lifetime: Lifetime,
    tally: Tally,
    /// Number of the block with the last account, and the number of accounts there.
    accounts: (u64, u32),
    /// The capture of another daemon that this one continues.
    takeover: Option<Takeover>,
    /// The client has paused the capture: records from now on are left out.
    is_paused: bool,
}

impl Taker {
    /// Makes the drain's half of a capture. `feed` and `done` connect it to its writer. `recovered` is the part
    /// of the capture that another daemon wrote, if one began it.
    pub fn new(
        profile: Arc<Profile>,
        feed: Feed,
        done: Receiver<Done>,
        recovered: Option<Recovered>,
    ) -> Self {
        // A block must be written long before the ring that it came from is full.
        let block_bytes = BLOCK_TARGET_BYTES.min(profile.plan.ring_bytes as usize / 4);
        let mut stream = StreamBuilder::new(block_bytes, profile.plan.timing);
        let Plan { filter, frame_rule, .. } = &profile.plan;
        if let Some(filter) = Filtering::of(filter, frame_rule, Description::built_in()) {
            stream.set_filter(filter);
        }
        if profile.can_continue {
            stream.state_rings();
        }
        if let Some(recovered) = &recovered {
            stream.go_on(recovered);
        }
        let blocks_done = recovered.as_ref().map_or(0, |recovered| recovered.blocks);
        let takeover = recovered.map(|file| Takeover::new(file, profile.clock.monotonic_ns()));
        Self {
            profile,
            wants: Vec::new(),
            stream,
            memberships: Sparse::default(),
            shares: Sparse::default(),
            outlet: Outlet::new(feed, done, blocks_done),
            lifetime: Lifetime::new(),
            tally: Tally::default(),
            accounts: (0, 0),
            takeover,
            is_paused: false,
        }
    }

    /// Returns the capture's number.
    pub fn id(&self) -> u64 {
        self.profile.plan.id
    }

    /// Returns the number of commands that the capture was given, including those that its stream does not have.
    pub fn seen_calls(&self) -> u64 {
        self.stream.calls() + self.stream.left_out_calls() + self.tally.missed_calls
    }

    /// Returns whether another daemon could continue the capture.
    pub fn can_continue(&self) -> bool {
        self.profile.can_continue
    }

    /// Adds a process that joins the drain for this capture. The capture takes all of it, or, if the capture waits for
    /// a trigger, all from a keyframe behind the trigger on.
    pub fn add(&mut self, index: usize, member: &Member, lanes: &[Lane], now_ns: u64) {
        if self.profile.plan.when.is_some() {
            self.add_late(index, member, now_ns);
            return member.process.record_for_several();
        }
        let key = self.add_membership(index, member, None, MembershipState::Taking, now_ns);
        if self.profile.plan.keep.is_none() {
            self.stream.select(key, Begin::Capture);
        }
        let segment = self.segment_of(index);
        for &at in &member.lanes {
            let share = Share { begun: lanes[at].begun, ..Share::default() };
            self.set_share(at, &lanes[at], key, segment, share);
        }
    }

    /// Adds a lane whose slot a thread has used for the first time, if the capture has begun with the lane's process.
    pub fn add_lane(&mut self, at: usize, lane: &Lane) {
        let Some(membership) = self.memberships.get(lane.member) else { return };
        if membership.has_begun() {
            let (key, segment) = (membership.key, self.segment_of(lane.member));
            self.set_share(at, lane, key, segment, Share::default());
        }
    }

    /// Notes that a lane has passed over records of an earlier capture, and stands behind them.
    pub fn pass_over(&mut self, at: usize, lane: &Lane, records: u64) {
        let has_begun = self.memberships.get(lane.member).is_some_and(Membership::has_begun);
        if let Some(mut share) = self.shares.get(at).copied().filter(|_| has_begun) {
            share.begun.produced = share.begun.produced.wrapping_add(records);
            self.put_share(at, share);
            self.stream.pass_to(RingKey(at as u32), lane.place());
        }
    }

    /// Adds a process that is in the drain already. The capture takes it from its next keyframe on.
    pub fn add_late(&mut self, index: usize, member: &Member, now_ns: u64) {
        let from_frame = match (&self.profile.plan.when, self.profile.plan.skip_frames) {
            (Some(Trigger::Frame(frame)), _) => *frame,
            (_, 0) => 0,
            (_, skipped) => member.process.frames().saturating_add(skipped),
        };
        let state = MembershipState::Waiting { from_frame, asked: Asked::Nothing };
        let key = self.add_membership(index, member, None, state, now_ns);
        if let (Some(when), Some(membership)) =
            (&self.profile.plan.when, self.memberships.get_mut(index))
        {
            let frames = member.process.frames();
            membership.armed = Some(Armed::with(when, frames, Description::built_in()));
        }
        self.stream.select(key, Begin::Keyframe);
        self.limit_frames();
    }

    /// Ends each process' part at the capture's limit of frames, though the process itself records beyond it.
    pub fn limit_frames(&mut self) {
        let Some(frames) = self.profile.plan.frames else { return };
        for membership in self.memberships.values() {
            self.stream.limit_frames(membership.key, frames);
        }
    }

    /// Notes that the drain cannot have a process which the capture was to have.
    pub fn lacks(&mut self, process: &Process) {
        let left = Some(Departure::Died);
        self.lifetime.ends.push(MemberEnd { left, ..MemberEnd::default() });
        self.profile.leave(process.index);
    }

    fn add_membership(
        &mut self,
        index: usize,
        Member { process, unslotted_calls, passed_on, .. }: &Member,
        known: Option<ProcessKey>,
        state: MembershipState,
        now_ns: u64,
    ) -> ProcessKey {
        let key = known.unwrap_or_else(|| {
            self.stream.add_process(process.pid, now_ns, process.name.raw().as_bytes())
        });
        if let Some(store) = process.store() {
            self.stream.set_store(key, store);
        }
        let (capture, pid, name) = (self.id(), process.pid, &process.name);
        let waits = matches!(state, MembershipState::Waiting { .. });
        let is_armed = waits && self.profile.plan.when.is_some();
        let does = if is_armed { "waits in" } else { "records" };
        tracing::info!(capture, pid, %name, "capture {capture} {does} {}", process.described());
        let (process, unslotted_calls_begun) = (Arc::clone(process), *unslotted_calls);
        let copies_begun = (!waits).then(|| Copies::of(&process));
        let membership = Membership {
            passed_on_begun: *passed_on,
            passed_on_ended: None,
            process,
            key,
            state,
            armed: None,
            unslotted_calls_begun,
            copies_begun,
        };
        self.memberships.put(index, membership);
        if !is_armed {
            self.begin_time(now_ns);
        }
        key
    }

    /// Lets the capture's time run, unless it does already.
    fn begin_time(&mut self, now_ns: u64) {
        let before = self.takeover.as_ref().and_then(|takeover| takeover.file.first_ns);
        self.lifetime.run_from(before.unwrap_or(now_ns), self.profile.plan.seconds);
    }

    /// Begins with a lane, whose ring is in this segment and has this capacity in bytes.
    fn set_share(
        &mut self,
        at: usize,
        lane: &Lane,
        key: ProcessKey,
        (segment, capacity_bytes): (u64, u64),
        share: Share,
    ) {
        let site = RingSite { slot: lane.slot, segment, capacity_bytes };
        self.stream.set_ring(RingKey(at as u32), key, site, lane.place());
        self.put_share(at, share);
    }

    /// Replaces a share, and what the stream states of its ring.
    fn put_share(&mut self, at: usize, share: Share) {
        self.stream.note(RingKey(at as u32), share.note());
        self.shares.put(at, share);
    }

    /// Returns the segment of a member, and the capacity of its rings in bytes.
    fn segment_of(&self, member: usize) -> (u64, u64) {
        let of = |it: &Membership| (it.process.segment(), it.process.ring_bytes());
        self.memberships.get(member).map_or((0, 1), of)
    }

    /// Returns whether the capture wants records that the member writes from now on.
    pub fn needs(&self, member: usize) -> bool {
        !self.is_stopping() && self.has(member)
    }

    /// Returns whether the capture is to end with the records that exist by now.
    pub fn is_stopping(&self) -> bool {
        self.lifetime.is_stopping()
    }

    /// Returns whether the capture has not begun yet with one of its processes.
    #[cfg(test)]
    pub fn is_waiting(&self) -> bool {
        !self.is_stopping() && self.memberships.values().any(Membership::is_waiting)
    }

    /// Notes that no more processes join.
    pub fn all_joined(&mut self) {
        self.lifetime.awaits_more = false;
    }

    /// Tells the capture to end. If all its processes are over already, their ends stay the reason for its end.
    pub fn stop(&mut self, cause: Cause) {
        let mut memberships = self.memberships.values().peekable();
        let is_empty = memberships.peek().is_none();
        let all_over = memberships.all(Membership::is_over);
        if cause == Cause::Shutdown || is_empty || !all_over {
            self.lifetime.cause.get_or_insert(cause);
        }
        self.lifetime.awaits_more = false;
        self.wants.clear();
    }

    /// Notes that the launched program has ended.
    pub fn exited(&mut self, pid: Option<u32>, signal: Option<i32>) {
        self.lifetime.exited = Some(Exited { signal });
        self.lifetime.launched = pid;
        self.lifetime.awaits_more = false;
        self.wants.clear();
    }

    /// Stops the capture if its time is up, its output has failed, or the file has the requested size.
    pub fn look_at_limits(&mut self, now_ns: u64) {
        // Relaxed: a flag on its own.
        let has_failed = self.profile.progress.output_failed.load(Ordering::Relaxed);
        if has_failed && self.lifetime.cause.is_none() {
            self.stop(Cause::Output);
        }
        // Relaxed: a number on its own.
        let written = self.profile.progress.file_bytes.load(Ordering::Relaxed);
        let is_full = self.profile.plan.bytes.is_some_and(|limit| written >= limit);
        let seconds = self.profile.plan.seconds;
        if seconds.is_some() && !self.stream.has_snapshot() && self.stream.is_describing() {
            self.lifetime.wait_for_snapshot(now_ns, seconds);
        }
        if (is_full || self.lifetime.is_late(now_ns)) && !self.is_stopping() {
            self.stop(Cause::Stop);
        }
    }

    /// Leaves out all records until [`Self::resume`].
    pub fn pause(&mut self, now_ns: u64) {
        self.is_paused = true;
        // A keyframe that comes meanwhile begins nothing.
        for membership in self.memberships.values_mut() {
            if let MembershipState::Waiting { asked, .. } = &mut membership.state {
                *asked = Asked::Nothing;
            }
        }
        self.stream.state_pause(true, now_ns);
        self.miss(GapCause::Paused);
        self.flush();
    }

    /// Continues a paused capture at the next keyframe of each process.
    pub fn resume(&mut self, now_ns: u64) {
        self.is_paused = false;
        self.stream.state_pause(false, now_ns);
    }

    /// Returns the drain's members that the capture has, or has had.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.memberships.iter().map(|(index, _)| index)
    }

    /// Returns whether no more records come for the capture.
    pub fn is_over(&self) -> bool {
        let is_over = self.memberships.values().all(Membership::is_over) && self.wants.is_empty();
        is_over && !self.lifetime.may_continue()
    }

    /// Returns whether the end of the stream was handed to the writer.
    pub fn is_finished(&self) -> bool {
        self.lifetime.is_finished
    }

    /// Returns whether the drain has nothing more to do for the capture.
    pub fn is_done(&self) -> bool {
        self.is_finished() && self.outlet.is_empty()
    }

    /// Returns whether the member's part in the capture is not over.
    pub fn has(&self, member: usize) -> bool {
        self.memberships.get(member).is_some_and(|membership| !membership.is_over())
    }

    /// Returns whether another block may come from the merge.
    fn has_room(&self) -> bool {
        self.is_finished()
            || self.outlet.has_room()
            || self.memberships.values().all(Membership::holds_no_space)
    }

    /// Returns whether the drain is to wait until the writer takes another block.
    ///
    /// If the temporary file has no room left either, the drain need not wait: the capture misses the records that
    /// come.
    pub fn holds_up(&mut self) -> bool {
        if self.outlet.is_exhausted() && self.profile.kept.is_none() {
            self.miss(GapCause::Slow);
        }
        !self.has_room()
    }

    /// Returns the ring index below which the capture needs no space of the lane.
    ///
    /// Blocks that wait in memory for a stalled output do not hold up a program whose records are missing in the
    /// capture, or do not come.
    pub fn free_index(&self, at: usize, member: usize) -> u64 {
        let holds_none = self.memberships.get(member).is_some_and(Membership::holds_no_space);
        if holds_none || fault::is_put_in(Fault::SpaceGivenEarly) {
            return u64::MAX;
        }
        self.held_index(at).unwrap_or(u64::MAX)
    }

    /// Returns the ring index from which on records of the lane are in the open block or on their way to the output.
    fn held_index(&self, at: usize) -> Option<u64> {
        let share = self.shares.get(at)?;
        let is_held = share.blocks > 0 || self.stream.has_open(RingKey(at as u32));
        is_held.then_some(share.written_index)
    }

    /// Returns whether records of this lane are still on their way to the output. Its process may be over.
    pub fn holds(&self, at: usize) -> bool {
        self.held_index(at).is_some()
    }

    /// Takes the writer's reports, and calls `written` with each lane that had records in a reported block.
    pub fn take_done(&mut self, written: impl FnMut(usize)) {
        let state = self.outlet.receive(&mut self.shares, written);
        let is_news = self.lifetime.cause.is_none() && !self.is_finished();
        if state == WriterState::Gone && is_news {
            self.stop(Cause::Output);
        }
    }

    /// Drops `reached` when all records that are published by now are written.
    pub fn flush_for(&mut self, reached: Sender<()>) {
        self.outlet.flush_for(reached);
    }

    /// Sends the open block if a caller waits for it. Returns whether another round of the drain is needed.
    pub fn flush_for_others(&mut self) -> bool {
        if !self.outlet.has_flushes() {
            return false;
        }
        self.flush();
        self.outlet.count_flush_round()
    }

    /// Sends the open block if it is 200 ms old.
    pub fn close_old_block(&mut self, now_ns: u64) {
        if self.stream.opened_ns().is_some_and(|opened| now_ns >= opened + BLOCK_AGE_NS) {
            self.flush();
        }
    }

    /// Lets the blocks on their way leave memory, because a caller waits for the ring space that they hold.
    pub fn await_all(&self) {
        self.outlet.await_all();
    }

    /// Sends the open block.
    pub fn flush(&mut self) {
        let Self { stream, outlet, shares, .. } = self;
        stream.flush(&mut |block| outlet.send(block, shares));
    }
}
