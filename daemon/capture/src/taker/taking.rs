//! What of the drain's records a capture takes, from when on, and what it misses.

use std::ops::Range;
use std::sync::mpsc::{Sender, TryRecvError};

use gapii_abi::atom::{CaptureEnd, GapCause, ProcessEnd};
use gapii_ringbuf::Emitted;
use gapii_trace::footer::GapEntry;

use crate::armed::Armed;
use crate::backlog::Feed;
use crate::end::Cause;
use crate::fault::{self, Fault};
use crate::lane::Lane;
use crate::member::unslotted_calls;
use crate::selection::{keyframe_in, spans, stretch};
use crate::stream::{Block, Refusal, RingKey, RingPlace, Run, index_at};
use crate::taker::Taker;
use crate::taker::portion::{Portion, PortionState, Share};

/// A block is closed when it is this old.
const BLOCK_AGE_NS: u64 = 200_000_000;
/// Rounds after which all is merged that was published before the first: what the last one read may wait
/// for the next.
const FLUSH_ROUNDS: u32 = 2;
/// Blocks on their way to the output: more would only wait there.
const BLOCKS_UNDER_WAY: usize = 16;

impl Taker {
    /// Asks for the keyframes that it waits for, and that what it keeps needs.
    pub fn ask_keyframes(&mut self) {
        let keeps = self.profile.kept.as_ref().is_some_and(|kept| kept.wants_keyframe());
        let spills = self.feed.spilled_bytes() > 0;
        let may_go_on = !self.is_paused && !spills && self.blocks_under_way == 0;
        for portion in self.portions.iter_mut().flatten().filter(|portion| !portion.is_armed()) {
            match &mut portion.state {
                PortionState::Waiting { from_frame, has_asked } => {
                    if !*has_asked && !self.is_paused && portion.process.frames() >= *from_frame {
                        *has_asked = true;
                        if !fault::is_put_in(Fault::NotAsked) {
                            portion.process.ask_keyframe();
                        }
                    }
                }
                PortionState::Missing { has_asked, .. } => {
                    if may_go_on && !*has_asked {
                        *has_asked = true;
                        portion.process.ask_keyframe();
                    }
                }
                PortionState::Taking if keeps => portion.process.ask_keyframe(),
                PortionState::Taking | PortionState::Over => {}
            }
        }
    }

    /// Whether it waits for something in what that member does.
    pub fn is_armed(&self, member: usize) -> bool {
        self.portion(member).is_some_and(Portion::is_armed)
    }

    /// Hears how long a member's frames are that it waits for.
    pub fn hear_of_frames(&mut self, member: usize, longest_ns: u64) {
        self.armed_sees(member, |armed, frames| armed.hear_of_frames(frames, longest_ns));
    }

    /// Shows what it waits with something of the member, and how many frames that has ended.
    fn armed_sees(&mut self, member: usize, sees: impl FnOnce(&mut Armed, u64)) {
        let capture = self.id();
        let portion = self.portions.get_mut(member).and_then(Option::as_mut);
        let Some(Portion { armed: Some(armed), process, .. }) = portion else { return };
        let had_come = armed.has_come();
        sees(armed, process.frames());
        if let (Some(when), true) = (&self.profile.plan.when, armed.has_come() && !had_come) {
            let (pid, whom) = (process.pid, process.described());
            tracing::info!(capture, pid, "capture {capture} begins with {whom}: {when} has come");
        }
    }

    /// Whether another block may come.
    pub fn has_room(&self) -> bool {
        let misses = |portion: &Portion| {
            matches!(portion.state, PortionState::Missing { .. } | PortionState::Over)
        };
        self.is_finished
            || self.blocks_under_way < BLOCKS_UNDER_WAY
            || self.portions.iter().flatten().all(misses)
    }

    /// Whether the drain is to wait until another block may come. Where it need not, because there is no
    /// room for what the output does not take, what comes is missing.
    pub fn holds_up(&mut self) -> bool {
        if self.feed.is_exhausted() && self.profile.kept.is_none() {
            self.miss(GapCause::Slow);
        }
        !self.has_room()
    }

    pub(super) fn miss(&mut self, cause: GapCause) {
        let misses = (0..self.portions.len()).fold(false, |any, at| any | self.miss_of(at, cause));
        if misses {
            self.flush();
            self.has_let_go = true;
            self.limit_frames();
        }
    }

    /// The same of one process, if it takes that.
    pub(super) fn miss_of(&mut self, member: usize, cause: GapCause) -> bool {
        let capture = self.id();
        let Some(Some(portion)) = self.portions.get_mut(member) else { return false };
        if portion.state != PortionState::Taking {
            return false;
        }
        portion.state = PortionState::Missing { cause, has_asked: false };
        self.stream.set_missing(portion.key);
        // Its limit is of frames that it has.
        portion.process.share();
        let (pid, whom) = (portion.process.pid, portion.process.described());
        match cause {
            GapCause::Paused => {
                tracing::info!(capture, pid, "capture {capture} pauses with {whom}");
            }
            GapCause::Restarted => tracing::warn!(
                capture,
                pid,
                "capture {capture} misses some of what {whom} did: the daemon had it that is gone"
            ),
            _ => tracing::warn!(
                capture,
                pid,
                "capture {capture} misses what {whom} does: its output takes too little"
            ),
        }
        true
    }

    /// Takes what the merge gives out next; `lanes` do not count it yet. On a refusal nothing more of that
    /// ring is to come.
    pub fn take(
        &mut self,
        lanes: &[Lane],
        run: &Emitted<'_, RingKey>,
        now_ns: u64,
    ) -> Result<(), Refusal> {
        let at = run.ring.0 as usize;
        let member = lanes[at].member;
        let Some(portion) = self.portion(member) else { return Ok(()) };
        let (key, state, capacity) = (portion.key, portion.state, portion.process.ring_bytes());
        let mut part = Part::of(run, lanes[at].place());
        let has_begun = portion.has_begun();
        if has_begun && let Some(Some(Share { from_index, .. })) = self.shares.get(at) {
            part.pass_to(*from_index, capacity);
            if part.records() == 0 {
                return Ok(());
            }
        }
        match state {
            PortionState::Over => return Ok(()),
            PortionState::Taking => {}
            PortionState::Waiting { .. } => {
                let is_armed = self.is_armed(member);
                self.armed_sees(member, |armed, frames| armed.look_at(run.bytes, frames));
                let found = keyframe_in(part.bytes).filter(|_| !is_armed);
                let Some((start, records)) = found else { return Ok(()) };
                part.pass(start, records, capacity);
                self.begin_time(now_ns);
                self.begin(lanes, member, (at, part.passed));
            }
            PortionState::Missing { cause, has_asked } => {
                let found = keyframe_in(part.bytes).filter(|_| has_asked);
                let (end, records) = found.unwrap_or((part.bytes.len(), part.records()));
                let missing = (&part.bytes[..end], part.start.stamp);
                self.count_missing(at, cause, missing, now_ns);
                part.pass(end, records, capacity);
                self.stream.pass_to(run.ring, part.start);
                if found.is_none() {
                    return Ok(());
                }
                self.go_on(member);
            }
        }
        self.ring_bytes += part.bytes.len() as u64;
        let records = part.records();
        let Some(share) = self.shares.get_mut(at).and_then(Option::as_mut) else { return Ok(()) };
        if self.cause == Some(Cause::Output) || lanes[at].discards() {
            self.discard(run.ring, part, capacity);
            return Ok(());
        }
        if share.blocks == 0 && !self.stream.has_open(run.ring) {
            share.written_index = lanes[at].taken_index;
        }
        let Self { stream, feed, shares, blocks_under_way, .. } = self;
        let before = stream.records() + stream.left_out(run.ring);
        let (start, end_index) = (part.start, part.end_index);
        let run = Run { ring: run.ring, records: part.bytes, start, end_index };
        let result = stream.append(run, now_ns, &mut |block| {
            send(feed, block, shares, blocks_under_way);
        });
        let taken = stream.records() + stream.left_out(run.ring) - before;
        if stream.is_at_limit(key) {
            let frames = stream.member(key).frames;
            let said = Some(CaptureEnd { reason: ProcessEnd::Frames, frames });
            self.cut(lanes, member, said, now_ns);
        } else if taken < records {
            part.pass_records(taken, capacity);
            self.discard(run.ring, part, capacity);
        }
        result
    }

    /// Takes nothing of what is left of a run.
    fn discard(&mut self, ring: RingKey, mut part: Part<'_>, capacity_bytes: u64) {
        let at = ring.0 as usize;
        if let Some(Some(mut share)) = self.shares.get(at).copied() {
            share.discarded += part.records();
            self.put_share(at, share);
            part.pass(part.bytes.len(), part.records(), capacity_bytes);
            self.stream.pass_to(ring, part.start);
        }
    }

    /// Begins with a process, behind so many records of that lane which the lanes do not count yet.
    fn begin(&mut self, lanes: &[Lane], member: usize, (current, passed): (usize, u64)) {
        let Some(portion) = self.portions.get_mut(member).and_then(Option::as_mut) else { return };
        portion.state = PortionState::Taking;
        portion.unslotted_calls = unslotted_calls(&portion.process);
        let (key, segment) = (portion.key, self.segment_of(member));
        let own = |lane: &Lane| lane.member == member && lane.consumer.is_some();
        for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| own(lane)) {
            let mut begun = match fault::is_put_in(Fault::BegunTooLate) {
                true => lane.counts(),
                false => lane.counts_given(),
            };
            let mut begun_given = lane.given;
            if at == current {
                begun.produced = begun.produced.wrapping_add(passed);
                begun_given += passed;
            }
            let share = Share { begun, begun_given, is_late: true, ..Share::default() };
            self.set_share(at, lane, key, segment, share);
            if lane.place() != RingPlace::default() {
                self.stream.always_state(RingKey(at as u32));
            }
        }
    }

    /// Goes on with a process at the keyframe that comes next.
    fn go_on(&mut self, member: usize) {
        let Some(portion) = self.portions.get_mut(member).and_then(Option::as_mut) else { return };
        portion.state = PortionState::Taking;
        self.stream.resume(portion.key);
    }

    /// Notes records that are missing in the stream.
    fn count_missing(
        &mut self,
        at: usize,
        cause: GapCause,
        (bytes, stamp): (&[u8], u64),
        now_ns: u64,
    ) {
        let Some(Some(share)) = self.shares.get_mut(at) else { return };
        if fault::is_put_in(Fault::MissedUncounted) {
            return;
        }
        let found = stretch(bytes);
        self.missed_calls += found.calls;
        let begun = GapEntry { cause, first_stamp: stamp, start_ns: now_ns, ..GapEntry::default() };
        let missed = share.missed.get_or_insert(begun);
        missed.records += found.records;
        missed.calls += found.calls;
        missed.bytes += bytes.len() as u64;
        missed.last_stamp = found.last_stamp.unwrap_or(stamp);
        missed.end_ns = now_ns;
        let share = *share;
        self.put_share(at, share);
    }

    /// Ring space of the lane that it does not need: all below. What waits in memory for an output that takes
    /// nothing is no reason to hold a program up, where what comes is missing, or nothing comes.
    pub fn free_index(&self, at: usize, member: usize) -> u64 {
        let lets_go = |portion: &Portion| {
            matches!(portion.state, PortionState::Missing { .. } | PortionState::Over)
        };
        if self.portion(member).is_some_and(lets_go) || fault::is_put_in(Fault::SpaceGivenEarly) {
            return u64::MAX;
        }
        self.held(at).unwrap_or(u64::MAX)
    }

    /// Where something of the lane is on its way to the output: the ring index from which on.
    fn held(&self, at: usize) -> Option<u64> {
        let share = self.shares.get(at).copied().flatten()?;
        let is_held = share.blocks > 0 || self.stream.has_open(RingKey(at as u32));
        is_held.then_some(share.written_index)
    }

    /// Whether something of these lanes is still on its way, though their process may be over.
    pub fn holds(&self, mut lanes: Range<usize>) -> bool {
        lanes.any(|at| self.held(at).is_some())
    }

    /// Hears which of its blocks are written, and tells of which lanes they had something.
    pub fn take_done(&mut self, mut written: impl FnMut(usize)) {
        if std::mem::take(&mut self.has_let_go) {
            (0..self.shares.len()).for_each(&mut written);
        }
        loop {
            match self.done.try_recv() {
                Ok(done) => {
                    self.blocks_under_way -= 1;
                    self.blocks_done += 1;
                    for (ring, index) in done.releases {
                        let at = ring.0 as usize;
                        if let Some(Some(share)) = self.shares.get_mut(at) {
                            share.blocks = share.blocks.saturating_sub(1);
                            share.written_index = share.written_index.max(index);
                            written(at);
                        }
                    }
                }
                Err(TryRecvError::Empty) => break,
                // Its writer has failed, and says so; nobody is to wait for it.
                Err(TryRecvError::Disconnected) => {
                    (self.blocks_under_way, self.blocks_done) = (0, u64::MAX);
                    self.shares.iter_mut().flatten().for_each(|share| share.blocks = 0);
                    (0..self.shares.len()).for_each(&mut written);
                    if self.cause.is_none() && !self.is_finished {
                        self.stop(Cause::Output);
                    }
                    break;
                }
            }
        }
    }

    /// Gives out all that was published by now; who waits hears of it.
    pub fn flush_for(&mut self, reached: Sender<()>) {
        self.flushes.push((FLUSH_ROUNDS, reached));
    }

    /// Gives out what is wanted at once. True: some of it takes another round.
    pub fn flush_for_others(&mut self) -> bool {
        if self.flushes.is_empty() {
            return false;
        }
        self.flush();
        for (rounds, done) in std::mem::take(&mut self.flushes) {
            match rounds.checked_sub(1) {
                Some(rounds) => self.flushes.push((rounds, done)),
                None => self.feed.mark(done),
            }
        }
        !self.flushes.is_empty()
    }

    /// Closes the open block if it is 200 ms old.
    pub fn close_old_block(&mut self, now_ns: u64) {
        if self.stream.opened_ns().is_some_and(|opened| now_ns >= opened + BLOCK_AGE_NS) {
            self.flush();
        }
    }

    /// Has its blocks leave memory, if any are there: the ring space that they hold is waited for.
    pub fn await_all(&self) {
        if self.blocks_under_way > 0 {
            self.feed.await_all();
        }
    }

    /// Closes the open block.
    pub fn flush(&mut self) {
        let Self { stream, feed, shares, blocks_under_way, .. } = self;
        stream.flush(&mut |block| send(feed, block, shares, blocks_under_way));
    }
}

/// What is left of a run once something before it was passed over.
struct Part<'a> {
    bytes: &'a [u8],
    /// Records before it in the run, and those in all of it.
    passed: u64,
    all: u64,
    /// Where the ring was before it.
    start: RingPlace,
    end_index: u64,
}

impl<'a> Part<'a> {
    /// All of a run, of a ring that was there before.
    fn of(run: &Emitted<'a, RingKey>, start: RingPlace) -> Self {
        let (bytes, all, end_index) = (run.bytes, run.records, run.end_index);
        Self { bytes, passed: 0, all, start, end_index }
    }

    fn records(&self) -> u64 {
        self.all - self.passed
    }

    /// Passes over so many bytes, which are so many records.
    fn pass(&mut self, len: usize, records: u64, capacity_bytes: u64) {
        let (head, rest) = self.bytes.split_at(len);
        let ends = (self.start.index, self.end_index);
        self.start = RingPlace {
            index: index_at(ends, (len, self.bytes.len()), capacity_bytes),
            records: self.start.records.wrapping_add(records),
            stamp: stretch(head).last_stamp.unwrap_or(self.start.stamp),
        };
        self.passed += records;
        self.bytes = rest;
    }

    /// Passes over so many records.
    fn pass_records(&mut self, records: u64, capacity_bytes: u64) {
        let len = spans(self.bytes).take(records as usize).sum();
        self.pass(len, records, capacity_bytes);
    }

    /// Passes over what is below a ring index.
    fn pass_to(&mut self, index: u64, capacity_bytes: u64) {
        if self.start.index >= index {
            return;
        }
        let ends = (self.start.index, self.end_index);
        let all = self.bytes.len();
        let (mut at, mut records) = (0, 0);
        for span in spans(self.bytes) {
            if index_at(ends, (at, all), capacity_bytes) >= index {
                break;
            }
            (at, records) = (at + span, records + 1);
        }
        self.pass(at, records, capacity_bytes);
    }
}

/// A writer that is gone is noticed when it is asked what it has done.
fn send(feed: &Feed, block: Block, shares: &mut [Option<Share>], under_way: &mut usize) {
    *under_way += 1;
    for (ring, _) in &block.releases {
        if let Some(Some(share)) = shares.get_mut(ring.0 as usize) {
            share.blocks += 1;
        }
    }
    feed.block(block);
}
