//! What of the drain's records a capture takes, from when on, and what it misses.

use std::sync::mpsc::{Sender, TryRecvError};

use gapii_protocol::atom::{gap_cause, process_end};
use gapii_protocol::trace::footer::GapEntry;
use gapii_protocol::trace::meta::CaptureEnd;
use gapii_ringbuf::Emitted;

use crate::capture::armed::Armed;
use crate::capture::assemble::{Block, Refusal, RingKey, Run};
use crate::capture::backlog::Feed;
use crate::capture::end::Cause;
use crate::capture::fault::{self, Fault};
use crate::capture::lane::Lane;
use crate::capture::member::unslotted_calls;
use crate::capture::selection::{keyframe_in, stretch};
use crate::capture::taker::Taker;
use crate::capture::taker::portion::{Portion, PortionState, Share};

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
        let keeps = self.capture.kept.as_ref().is_some_and(|kept| kept.wants_keyframe());
        let spills = self.feed.spilled_bytes() > 0;
        let may_go_on = !self.is_paused && !spills && self.blocks_under_way == 0;
        for portion in self.portions.iter_mut().flatten().filter(|portion| !portion.is_armed()) {
            match &mut portion.state {
                PortionState::Waiting { from_frame, has_asked } => {
                    if !*has_asked && !self.is_paused && portion.process.frames() >= *from_frame {
                        *has_asked = true;
                        portion.process.ask_keyframe();
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
        if let (Some(when), true) = (&self.capture.plan.when, armed.has_come() && !had_come) {
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
        if self.feed.is_exhausted() && self.capture.kept.is_none() {
            self.miss(gap_cause::SLOW);
        }
        !self.has_room()
    }

    pub(super) fn miss(&mut self, cause: u32) {
        let capture = self.id();
        let mut misses = false;
        let portions = self.portions.iter_mut().flatten();
        for portion in portions.filter(|portion| portion.state == PortionState::Taking) {
            portion.state = PortionState::Missing { cause, has_asked: false };
            misses = true;
            // Its limit is of frames that it has.
            portion.process.share();
            let (pid, whom) = (portion.process.pid, portion.process.described());
            match cause {
                gap_cause::PAUSED => {
                    tracing::info!(capture, pid, "capture {capture} pauses with {whom}")
                }
                _ => tracing::warn!(
                    capture,
                    pid,
                    "capture {capture} misses what {whom} does: its output takes too little"
                ),
            }
        }
        if misses {
            self.flush();
            self.has_let_go = true;
            self.limit_frames();
        }
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
        let (key, mut bytes, mut passed) = (portion.key, run.bytes, 0);
        match portion.state {
            PortionState::Over => return Ok(()),
            PortionState::Taking => {}
            PortionState::Waiting { .. } => {
                let is_armed = self.is_armed(member);
                self.armed_sees(member, |armed, frames| armed.look_at(run.bytes, frames));
                let found = keyframe_in(run.bytes).filter(|_| !is_armed);
                let Some((start, records)) = found else { return Ok(()) };
                (bytes, passed) = (&run.bytes[start..], records);
                self.begin_time(now_ns);
                self.begin(lanes, member, (at, records));
            }
            PortionState::Missing { cause, has_asked } => {
                let found = keyframe_in(run.bytes).filter(|_| has_asked);
                let (start, records) = found.unwrap_or((run.bytes.len(), run.records));
                self.count_missing(at, cause, (&run.bytes[..start], run.stamp), now_ns);
                if found.is_none() {
                    return Ok(());
                }
                (bytes, passed) = (&run.bytes[start..], records);
                self.go_on(member);
            }
        }
        self.ring_bytes += bytes.len() as u64;
        let records = run.records - passed;
        let Some(share) = self.shares.get_mut(at).and_then(Option::as_mut) else { return Ok(()) };
        if self.cause == Some(Cause::Output) || lanes[at].discards() {
            share.discarded += records;
            return Ok(());
        }
        if share.blocks == 0 && !self.assembler.has_open(run.ring) {
            share.written_index = lanes[at].taken_index;
        }
        let Self { assembler, feed, shares, blocks_under_way, .. } = self;
        let before = assembler.records() + assembler.left_out(run.ring);
        let run = Run { ring: run.ring, records: bytes, end_index: run.end_index };
        let result = assembler.append(run, now_ns, &mut |block| {
            send(feed, block, shares, blocks_under_way);
        });
        let taken = assembler.records() + assembler.left_out(run.ring) - before;
        if assembler.is_at_limit(key) {
            let frames = assembler.member(key).frames;
            let said = Some(CaptureEnd { reason: process_end::FRAMES, frames });
            self.cut(lanes, member, Some((at, passed + taken)), said);
        } else if let Some(share) = &mut shares[at] {
            share.discarded += records - taken;
        }
        result
    }

    /// Begins with a process, behind so many records of that lane which the lanes do not count yet.
    fn begin(&mut self, lanes: &[Lane], member: usize, (current, passed): (usize, u64)) {
        let Some(portion) = self.portions.get_mut(member).and_then(Option::as_mut) else { return };
        portion.state = PortionState::Taking;
        portion.unslotted_calls = unslotted_calls(&portion.process);
        let key = portion.key;
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
            self.set_share(at, lane, key, share);
        }
    }

    /// Goes on with a process at the keyframe that comes next.
    fn go_on(&mut self, member: usize) {
        let Some(portion) = self.portions.get_mut(member).and_then(Option::as_mut) else { return };
        portion.state = PortionState::Taking;
        self.assembler.resume(portion.key);
    }

    /// Notes records that are missing in the stream.
    fn count_missing(&mut self, at: usize, cause: u32, (bytes, stamp): (&[u8], u64), now_ns: u64) {
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
    }

    /// Ring space of the lane that it does not need: all below. What waits in memory for an output that takes
    /// nothing is no reason to hold a program up, where what comes is missing, or nothing comes.
    pub fn free_index(&self, at: usize, member: usize) -> u64 {
        let lets_go = |portion: &Portion| {
            matches!(portion.state, PortionState::Missing { .. } | PortionState::Over)
        };
        if self.portion(member).is_some_and(lets_go) {
            return u64::MAX;
        }
        match self.shares.get(at) {
            Some(Some(share)) if share.blocks > 0 => share.written_index,
            Some(Some(share)) if self.assembler.has_open(RingKey(at as u32)) => share.written_index,
            _ => u64::MAX,
        }
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
                    self.blocks_under_way = 0;
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

    pub fn close_old_block(&mut self, now_ns: u64) {
        if self.assembler.opened_ns().is_some_and(|opened| now_ns >= opened + BLOCK_AGE_NS) {
            self.flush();
        }
    }

    /// Has its blocks leave memory, if any are there: the ring space that they hold is waited for.
    pub fn await_all(&self) {
        if self.blocks_under_way > 0 {
            self.feed.await_all();
        }
    }

    pub fn flush(&mut self) {
        let Self { assembler, feed, shares, blocks_under_way, .. } = self;
        assembler.flush(&mut |block| send(feed, block, shares, blocks_under_way));
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
