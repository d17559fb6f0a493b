//! The drain of one capture: rings in, blocks out.
//!
//! Does no file or socket I/O and waits for nobody but the doorbell. Believes of a ring only what
//! its consumer has checked. A round reads all heads, reads them all again, copies out what is
//! below them, and appends what the merge lets go; see docs/memory-model.md.
//!
//! Ring space is reused once the writer says that what was there is written; until then it also
//! bounds how much of a capture is in memory.

use std::fmt::Display;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use gapii_protocol::atom::process_end;
use gapii_protocol::control::Summary;
use gapii_protocol::trace::Footer;
use gapii_protocol::trace::block::BLOCK_TARGET_BYTES;
use gapii_protocol::trace::footer::ProcessEntry;
use gapii_protocol::trace::meta::{CaptureEnd, End, EndReason, InFlight};
use gapii_ringbuf::{CounterMap, Merger, ModeSettings, Reading, SlotCounts, SlotState};

use crate::capture::assemble::{Assembler, Block, MemberKey, RingKey, Run, name_text};
use crate::capture::backlog::Feed;
use crate::capture::end::{self, Cause, Exited, MemberEnd};
use crate::capture::lane::Lane;
use crate::capture::ledger::{Account, Ledger};
use crate::capture::writer::{Done, Finish, Written};
use crate::capture::{Capture, Departure, Joining, Order};
use crate::clock;
use crate::process::Process;

/// Longest sleep while a process records: a doorbell may be missed.
const NAP: Duration = Duration::from_millis(20);
/// Longest sleep while none does.
const SLEEP: Duration = Duration::from_millis(200);
/// A block is closed when it is this old.
const BLOCK_AGE_NS: u64 = 200_000_000;
/// How long a process has to put its hooks back.
const GOODBYE_NS: u64 = 500_000_000;
/// How often the counters that others read are brought up to date.
const REPORT_NS: u64 = 100_000_000;
/// Rounds after which all is merged that was published before the first: what the last one read may wait
/// for the next.
const FLUSH_ROUNDS: u32 = 2;
/// Blocks on their way to the output: more would only wait there.
const BLOCKS_UNDER_WAY: usize = 16;

/// What ties a drain to the other threads.
#[derive(Debug)]
pub struct Threads {
    pub orders: Receiver<Order>,
    pub feed: Feed,
    pub done: Receiver<Done>,
    pub writing: JoinHandle<Written>,
}

/// One capture's drain.
pub struct Drain {
    capture: Arc<Capture>,
    counter: Arc<CounterMap>,
    threads: Threads,
    started_unix_ns: u64,
    merger: Merger<RingKey>,
    assembler: Assembler,
    ledger: Ledger,
    members: Vec<Member>,
    /// All rings of the processes, by their key.
    lanes: Vec<Lane>,
    /// Lanes of processes that are over.
    vacant: Vec<Range<usize>>,
    ends: Vec<MemberEnd>,
    cause: Option<Cause>,
    exited: Option<Exited>,
    /// Whether more processes may join.
    awaits_more: bool,
    /// When the time is up.
    deadline_ns: Option<u64>,
    blocks_under_way: usize,
    /// Who wants all that was published by now to be out, and how many rounds that takes yet.
    flushes: Vec<(u32, Sender<()>)>,
    unslotted_calls: u64,
    /// Bytes that came through rings.
    ring_bytes: u64,
    reported_ns: u64,
}

/// A process in the capture.
struct Member {
    process: Arc<Process>,
    key: MemberKey,
    generation: u64,
    unslotted_calls: u64,
    /// Its rings, among the drain's lanes.
    lanes: Range<usize>,
    phase: Phase,
    left: Option<Departure>,
    /// It has put its hooks back, whether or not there was room to say why.
    put_back: bool,
}

/// How far a process is; only forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Recording,
    /// Told to stop; not waited for beyond the deadline.
    Stopping {
        deadline_ns: u64,
    },
    /// Writes no more, or nothing that is still wanted: its rings are emptied up to their cuts.
    Emptying,
    Over,
}

impl Drain {
    pub fn new(
        capture: Arc<Capture>,
        counter: Arc<CounterMap>,
        threads: Threads,
        started_unix_ns: u64,
    ) -> Self {
        // A block must be out long before the ring that it came from is full.
        let block_bytes = BLOCK_TARGET_BYTES.min(capture.plan.ring_bytes as usize / 4);
        let has_keyframes = capture.plan.keep.is_some();
        let assembler = Assembler::new(block_bytes, capture.plan.timing, has_keyframes);
        Self {
            capture,
            counter,
            threads,
            started_unix_ns,
            merger: Merger::new(),
            assembler,
            ledger: Ledger::default(),
            members: Vec::new(),
            lanes: Vec::new(),
            vacant: Vec::new(),
            ends: Vec::new(),
            cause: None,
            exited: None,
            awaits_more: true,
            deadline_ns: None,
            blocks_under_way: 0,
            flushes: Vec::new(),
            unslotted_calls: 0,
            ring_bytes: 0,
            reported_ns: 0,
        }
    }

    /// Runs the capture to its end.
    pub fn run(mut self) -> Summary {
        loop {
            let seen = self.counter.doorbell();
            let now_ns = clock::monotonic_ns();
            self.take_done();
            let mut busy = false;
            if self.blocks_under_way < BLOCKS_UNDER_WAY {
                // Little at a time is cheaper left to gather; much is cheaper taken at once.
                busy = self.round(now_ns) >= self.capture.plan.ring_bytes / 16;
                busy |= self.look_after_members(now_ns);
                busy |= self.flush_for_others();
            } else {
                self.take_orders(now_ns);
            }
            if self.is_over() {
                break;
            }
            self.close_old_block(now_ns);
            self.ask_keyframe();
            self.report(now_ns);
            if !busy {
                self.sleep(seen);
            }
        }
        self.finish()
    }

    fn take_orders(&mut self, now_ns: u64) {
        while let Ok(order) = self.threads.orders.try_recv() {
            match order {
                Order::Join(joining) => self.join(joining, now_ns),
                Order::AllJoined => self.awaits_more = false,
                Order::Gone { index, how } => self.leave(index, how),
                Order::Stop(cause) => self.stop(cause, now_ns),
                Order::Exited { signal } => self.program_exited(signal, now_ns),
                Order::Flush(done) => self.flushes.push((FLUSH_ROUNDS, done)),
            }
        }
        // Relaxed: a flag on its own.
        if self.capture.progress.output_failed.load(Ordering::Relaxed) && self.cause.is_none() {
            self.stop(Cause::Output, now_ns);
        }
        if self.deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
            self.stop(Cause::Stop, now_ns);
        }
    }

    fn join(&mut self, joining: Joining, now_ns: u64) {
        let Joining { process, rings, counts, unslotted_calls, generation } = joining;
        let key = self.assembler.add_member(process.pid, now_ns, process.name.as_bytes());
        if let Some(store) = process.store() {
            self.assembler.set_store(key, store);
        }
        let new = rings.into_iter().zip(counts).zip(0..);
        let new = new.map(|((consumer, begun), slot)| Lane::new(consumer, slot, begun));
        let lanes = self.add_lanes(key, new.collect());
        let phase = Phase::Recording;
        let (capture, pid, name) = (self.capture.plan.id, process.pid, &process.name);
        tracing::info!(capture, pid, name, "capture {capture} records {}", process.described());
        self.members.push(Member {
            process,
            key,
            generation,
            unslotted_calls,
            lanes,
            phase,
            left: None,
            put_back: false,
        });
        self.ends.push(MemberEnd::default());
        if let (None, Some(seconds)) = (self.deadline_ns, self.capture.plan.seconds) {
            self.deadline_ns = Some(now_ns.saturating_add((seconds * 1e9) as u64));
        }
        if self.cause.is_some() || self.exited.is_some() {
            self.stop_members(now_ns);
        }
    }

    /// Takes the rings of a process in, where those of one that is over were, if there is one: a
    /// launch may have any number of processes, one after the other.
    fn add_lanes(&mut self, member: MemberKey, new: Vec<Lane>) -> Range<usize> {
        if let Some(lanes) = self.vacant.pop_if(|vacant| vacant.len() == new.len()) {
            for (index, lane) in lanes.clone().zip(new) {
                self.assembler.replace_ring(RingKey(index as u32), member, lane.taken_index);
                self.lanes[index] = lane;
            }
            return lanes;
        }
        let first = self.lanes.len();
        for lane in new {
            self.assembler.add_ring(member, lane.taken_index);
            self.lanes.push(lane);
        }
        first..self.lanes.len()
    }

    fn leave(&mut self, index: u32, how: Departure) {
        for member in &mut self.members {
            if member.process.index == index && member.left.is_none() {
                member.left = Some(how);
            }
        }
    }

    fn stop(&mut self, cause: Cause, now_ns: u64) {
        // Where all is over already, what the processes did is the reason.
        let all_over = self.members.iter().all(|member| member.phase == Phase::Over);
        if cause == Cause::Shutdown || self.members.is_empty() || !all_over {
            self.cause.get_or_insert(cause);
        }
        self.awaits_more = false;
        self.stop_members(now_ns);
    }

    fn program_exited(&mut self, signal: Option<i32>, now_ns: u64) {
        self.exited = Some(Exited { signal });
        self.awaits_more = false;
        for member in &mut self.members {
            if member.left.is_none() && member.process.is_gone() {
                member.left = Some(Departure::Died);
            }
        }
        self.stop_members(now_ns);
    }

    fn stop_members(&mut self, now_ns: u64) {
        for member in &mut self.members {
            if member.phase == Phase::Recording && member.left.is_none() {
                member.process.set_mode(ModeSettings::default());
                member.phase = Phase::Stopping { deadline_ns: now_ns + GOODBYE_NS };
            }
        }
    }

    /// Lets producers reuse what is written.
    fn take_done(&mut self) {
        while let Ok(done) = self.threads.done.try_recv() {
            self.blocks_under_way -= 1;
            for (ring, index) in done.releases {
                if let Some(consumer) = &mut self.lanes[ring.0 as usize].consumer {
                    consumer.release(index);
                }
            }
        }
    }

    /// Moves what the rings hold; returns how many bytes.
    fn round(&mut self, now_ns: u64) -> u64 {
        self.read_heads(0);
        // A process joins before it publishes. What the first reading has may depend on a process
        // that joined since the last round: the second reading must not miss its rings.
        self.take_orders(now_ns);
        self.read_heads(1);
        let copied = self.copy_out();
        self.ring_bytes += copied;
        self.merge(now_ns);
        copied
    }

    fn read_heads(&mut self, reading: usize) {
        for member in self.members.iter().filter(|member| member.phase != Phase::Over) {
            let dead = member.left.is_some();
            for lane in &mut self.lanes[member.lanes.clone()] {
                lane.heads[reading] = lane.head(dead);
            }
        }
    }

    fn copy_out(&mut self) -> u64 {
        let mut copied = 0;
        for member in self.members.iter().filter(|member| member.phase != Phase::Over) {
            for index in member.lanes.clone() {
                let lane = &mut self.lanes[index];
                let Some(consumer) = &mut lane.consumer else { continue };
                let before = consumer.read_index();
                if lane.heads == [before; 2] {
                    continue;
                }
                let merger = &mut self.merger;
                let id = *lane.merged.get_or_insert_with(|| merger.add(RingKey(index as u32)));
                let batch = merger.batch_mut(id).expect("a lane is removed with its member only");
                let drained = consumer
                    .drain_into(lane.heads[0], Reading::First, batch)
                    .and_then(|()| consumer.drain_into(lane.heads[1], Reading::Second, batch));
                copied += consumer.read_index() - before;
                if let Err(refusal) = drained {
                    refused(&self.capture, Some(&member.process), lane.slot, &refusal);
                    lane.refuse(refusal.name().to_owned(), &self.capture.progress);
                }
            }
        }
        copied
    }

    fn merge(&mut self, now_ns: u64) {
        let Self { merger, assembler, lanes, threads, blocks_under_way, cause, capture, .. } = self;
        let discards = *cause == Some(Cause::Output);
        merger.merge(|run| {
            let lane = &mut lanes[run.ring.0 as usize];
            lane.taken_index = run.end_index;
            let mut appended = 0;
            if !discards && !lane.discards() {
                let before = assembler.records();
                let run = Run { ring: run.ring, records: run.bytes, end_index: run.end_index };
                let result = assembler.append(run, now_ns, &mut |block| {
                    send(&threads.feed, block, blocks_under_way);
                });
                appended = assembler.records() - before;
                if let Err(refusal) = result {
                    refused(capture, None, lane.slot, &refusal);
                    lane.refuse(refusal.to_string(), &capture.progress);
                }
            }
            if appended < run.records {
                lane.discarded += run.records - appended;
                lane.release(run.end_index);
            }
        });
    }

    /// Takes every process as far as it can go. True if that may be further in a moment.
    fn look_after_members(&mut self, now_ns: u64) -> bool {
        let (mut flush, mut changed) = (false, false);
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            let rings = &mut self.lanes[member.lanes.clone()];
            match member.phase {
                Phase::Over => continue,
                Phase::Emptying => {
                    if rings.iter().all(|lane| lane.is_read(&mut self.merger)) {
                        flush = true;
                        if rings.iter().all(Lane::is_written) {
                            self.end_member(index);
                        }
                    }
                    continue;
                }
                Phase::Recording | Phase::Stopping { .. } => {}
            }
            let late =
                matches!(member.phase, Phase::Stopping { deadline_ns } if now_ns >= deadline_ns);
            // Acquire: pairs with the release of whoever put the hooks back, so that the heads read
            // below are the last ones.
            let ended = member.process.claims().ended_generation.load(Ordering::Acquire);
            member.put_back = ended >= member.generation;
            changed = member.left.is_some() || late || member.put_back;
            if member.left.is_some() {
                member.phase = Phase::Emptying;
            } else if late || member.put_back {
                member.phase = Phase::Emptying;
                rings.iter_mut().for_each(|lane| lane.cut = Some(lane.head(false)));
            } else {
                self.free_retired(index);
            }
        }
        if flush {
            self.flush();
        }
        changed
    }

    /// Frees the slots of threads that are gone, once everything of theirs is written.
    fn free_retired(&mut self, member: usize) {
        for index in self.members[member].lanes.clone() {
            let lane = &mut self.lanes[index];
            let Some(consumer) = &mut lane.consumer else { continue };
            if consumer.slot().state() != Some(SlotState::Retired)
                || !lane.is_read(&mut self.merger)
                || !lane.is_written()
            {
                continue;
            }
            let Some(consumer) = &mut lane.consumer else { continue };
            consumer.release(consumer.read_index());
            let counts = consumer.slot().counts_untrusted();
            if consumer.free_retired() {
                self.close_account(member, index, counts);
            }
        }
    }

    /// Closes the books of a ring's present owner.
    fn close_account(&mut self, member: usize, index: usize, after: SlotCounts) {
        let ring = RingKey(index as u32);
        let lane = &mut self.lanes[index];
        let Some(consumer) = &lane.consumer else { return };
        let consumed = consumer.consumed();
        let read = consumed - mem::replace(&mut lane.begun_consumed, consumed);
        let before = mem::replace(&mut lane.begun, after);
        let discarded = mem::take(&mut lane.discarded);
        let (tid, name) = (consumer.slot().tid_untrusted(), consumer.slot().name_untrusted());
        let refused = lane.refused.clone();
        let owner = match self.assembler.thread_of(ring) {
            Some(owner) => Some(owner),
            // Nothing to account for.
            None if before == after && refused.is_none() => return,
            None => self.assembler.begin_thread(ring, tid, name).ok(),
        };
        let Some(thread) = owner else { return };
        self.assembler.end_thread(ring);
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
            discarded,
            unread: after.produced.wrapping_sub(before.produced).saturating_sub(read),
            refused,
        };
        let (capture, pid) = (self.capture.plan.id, self.members[member].process.pid);
        tracing::debug!(capture, pid, tid = account.tid, "a thread's account: {account:?}");
        let told = self.assembler.gaps().iter().filter(|gap| gap.thread == thread);
        self.ledger.close(account, told);
    }

    /// Ends a process' part, all of which is written: closes its books and gives the rings back.
    fn end_member(&mut self, index: usize) {
        let in_flight = self.commands_in_flight(index);
        let lanes = self.members[index].lanes.clone();
        for lane in lanes.clone() {
            if let Some(consumer) = &self.lanes[lane].consumer {
                let counts = consumer.slot().counts_untrusted();
                self.close_account(index, lane, counts);
            }
        }
        let mut rings = Vec::with_capacity(lanes.len());
        self.vacant.push(lanes.clone());
        for lane in &mut self.lanes[lanes] {
            lane.merged.take().and_then(|id| self.merger.remove(id));
            rings.extend(lane.consumer.take());
        }
        let member = &mut self.members[index];
        member.phase = Phase::Over;
        self.unslotted_calls += member.unslotted();
        let known = self.assembler.member(member.key);
        // One that leaves because its ring stays full has no room to say so.
        let lost = CaptureEnd { reason: process_end::LOST, frames: known.frames };
        let said = known.ended.or_else(|| member.put_back.then_some(lost));
        self.ends[index] = MemberEnd { said, left: member.left, in_flight };
        let (capture, pid, name) = (self.capture.plan.id, member.process.pid, &member.process.name);
        let whom = member.process.described();
        let left = member.left;
        tracing::info!(capture, pid, name, ?said, ?left, "capture {capture} has all of {whom}");
        for ring in &mut rings {
            ring.release(ring.read_index());
            ring.free_retired();
        }
        member.process.return_rings(rings);
    }

    /// The commands that the threads of a dead process were in.
    fn commands_in_flight(&self, index: usize) -> Vec<InFlight> {
        let member = &self.members[index];
        if member.left != Some(Departure::Died) {
            return Vec::new();
        }
        let in_flight = |lane: usize| {
            let thread = self.assembler.thread_of(RingKey(lane as u32))?;
            let last = self.assembler.thread(thread).last_command?;
            let finished = self.lanes[lane].consumer.as_ref()?.finished_untrusted();
            let open = last.is_open() && finished < last.end_index;
            open.then_some(InFlight { thread, id: last.id, stamp: last.stamp })
        };
        member.lanes.clone().filter_map(in_flight).collect()
    }

    fn is_over(&self) -> bool {
        if !self.members.iter().all(|member| member.phase == Phase::Over) {
            return false;
        }
        // A launch goes on in further processes, unless its frames are complete.
        !self.awaits_more || end::reason(None, None, &self.ends) == EndReason::Frames
    }

    fn close_old_block(&mut self, now_ns: u64) {
        if self.assembler.opened_ns().is_some_and(|opened| now_ns >= opened + BLOCK_AGE_NS) {
            self.flush();
        }
    }

    /// Gives out what is wanted at once. True: some of it takes another round.
    fn flush_for_others(&mut self) -> bool {
        if self.flushes.is_empty() {
            return false;
        }
        self.flush();
        for (rounds, done) in mem::take(&mut self.flushes) {
            match rounds.checked_sub(1) {
                Some(rounds) => self.flushes.push((rounds, done)),
                None => self.threads.feed.mark(done),
            }
        }
        !self.flushes.is_empty()
    }

    /// Asks for a keyframe where what is kept would get too large without.
    fn ask_keyframe(&mut self) {
        if self.capture.kept.as_ref().is_some_and(|kept| kept.wants_keyframe()) {
            let recording = self.members.iter().filter(|member| member.phase == Phase::Recording);
            recording.for_each(|member| member.process.ask_keyframe());
        }
    }

    fn flush(&mut self) {
        let Self { assembler, threads, blocks_under_way, .. } = self;
        assembler.flush(&mut |block| send(&threads.feed, block, blocks_under_way));
    }

    fn sleep(&mut self, seen: u32) {
        let recording = || self.members.iter().filter(|member| member.phase != Phase::Over);
        let longest = if recording().next().is_some() { NAP } else { SLEEP };
        recording().for_each(|member| member.process.set_drain_sleeping(true));
        self.counter.wait_doorbell(seen, longest);
        recording().for_each(|member| member.process.set_drain_sleeping(false));
    }

    /// Brings the counters that others read up to date, from time to time.
    fn report(&mut self, now_ns: u64) {
        if now_ns < self.reported_ns + REPORT_NS {
            return;
        }
        self.reported_ns = now_ns;
        let mut lost = self.ledger.lost;
        let (mut waits, mut wait_ns) = (self.ledger.waits, self.ledger.wait_ns);
        for lane in self.lanes.iter().filter(|lane| lane.merged.is_some()) {
            let Some(consumer) = &lane.consumer else { continue };
            let counts = consumer.slot().counts_untrusted();
            lost.calls += counts.dropped_calls.saturating_sub(lane.begun.dropped_calls);
            lost.bytes += counts.dropped_bytes.saturating_sub(lane.begun.dropped_bytes);
            waits += counts.waits.saturating_sub(lane.begun.waits);
            wait_ns += counts.wait_ns.saturating_sub(lane.begun.wait_ns);
        }
        let live = self.members.iter().filter(|member| member.phase != Phase::Over);
        lost.calls += self.unslotted_calls + live.map(Member::unslotted).sum::<u64>();
        let progress = &self.capture.progress;
        let describing = self.assembler.frames() == 0 && self.assembler.is_describing();
        // Relaxed: as below.
        progress.describing.store(describing, Ordering::Relaxed);
        for (counter, value) in [
            (&progress.frames, self.assembler.frames()),
            (&progress.calls, self.assembler.calls()),
            (&progress.records, self.assembler.records()),
            (&progress.raw_bytes, self.assembler.raw_bytes()),
            (&progress.blob_bytes, self.assembler.blob_bytes()),
            (&progress.stored_bytes, self.assembler.stored_bytes()),
            (&progress.ring_bytes, self.ring_bytes),
            (&progress.lost_calls, lost.calls),
            (&progress.lost_bytes, lost.bytes),
            (&progress.waits, waits),
            (&progress.wait_ns, wait_ns),
        ] {
            // Relaxed: numbers for people.
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// Ends the stream and the trace.
    fn finish(mut self) -> Summary {
        self.capture.close(&self.threads.orders);
        self.reported_ns = 0;
        self.report(clock::monotonic_ns());
        self.flush();
        let reason = end::reason(self.cause, self.exited, &self.ends);
        let in_flight: Vec<_> = self.ends.iter().flat_map(|end| end.in_flight.clone()).collect();
        let mut ledger = mem::take(&mut self.ledger);
        ledger.lost.calls += self.unslotted_calls;
        let footer = Footer {
            signal: self.exited.and_then(|exited| exited.signal),
            started_unix_ns: self.started_unix_ns,
            processes: self.process_entries(),
            gaps: self.assembler.gaps().to_vec(),
            options: self.capture.plan.options(),
            snapshot: self.assembler.has_snapshot(),
            held_us: self.assembler.held_us(),
            missing: self.assembler.missing().to_vec(),
            ..Footer::default()
        };
        let calls = self.assembler.calls();
        let finish = Finish { end: End { reason, in_flight }, ledger, calls, footer };
        // A writer that is gone says so below.
        self.threads.feed.finish(finish);
        match self.threads.writing.join() {
            Ok(written) => {
                Summary { stored_bytes: self.assembler.stored_bytes(), ..written.summary() }
            }
            Err(_) => Summary {
                reason: reason.name().to_owned(),
                error: Some("the writer of the capture failed".to_owned()),
                ..Summary::default()
            },
        }
    }

    fn process_entries(&mut self) -> Vec<ProcessEntry> {
        let mut entries = Vec::with_capacity(self.members.len());
        for Member { process, key, .. } in &self.members {
            let index = self.assembler.place(*key);
            entries.push(ProcessEntry {
                process: index,
                pid: process.pid,
                name: process.name.clone(),
                exe: process.exe.clone(),
                apis: process.apis.clone(),
                frames: self.assembler.member(*key).frames,
            });
        }
        entries.sort_by_key(|entry| entry.process);
        entries
    }
}

/// A ring is read no further.
fn refused(capture: &Capture, process: Option<&Process>, slot: u32, refusal: &dyn Display) {
    let (capture, pid) = (capture.plan.id, process.map(|process| process.pid));
    let whose = process.map_or_else(String::new, |process| format!(" of {}", process.described()));
    tracing::warn!(capture, pid, slot, "ring {slot}{whose} is read no further: {refusal}");
}

impl Member {
    /// Calls since it joined that were not recorded because no slot was free.
    fn unslotted(&self) -> u64 {
        // Relaxed: a claim of the application's.
        let now = self.process.claims().unslotted_calls.load(Ordering::Relaxed);
        now.saturating_sub(self.unslotted_calls)
    }
}

/// A writer that is gone is noticed when the capture ends.
fn send(feed: &Feed, block: Block, under_way: &mut usize) {
    *under_way += 1;
    feed.block(block);
}
