//! The drain: reads the rings of some processes, and gives their records in one order to every capture that takes part.
//! Sleeps until the doorbell rings, at most 20 ms (`NAP`) while a process records and 200 ms otherwise. A refused ring
//! is read no further and counted; the process' other rings go on. A drain that continues another daemon's captures
//! waits up to 250 ms for their other processes. A slot of a dead thread is free only once all its records and its
//! account are written.
//!
//! Does no file or socket I/O, and waits only for the doorbell. Trusts of a ring only what its consumer has checked.
//! A round reads all heads, reads them all again, copies out the records below them, and gives out what the merge
//! releases; see docs/memory-model.md. Each reading begins with the number of slots that each process has used, so that a
//! slot that was never used costs nothing.
//!
//! Ring space is reused once all captures that take its records report them as written. Until then it also limits how
//! much of a capture is in memory.
//!
//! A drain that continues captures of another daemon reads nothing before their processes and their files are there,
//! or are late: what one process has recorded may depend on what another has recorded.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use gapii_ringbuf::{Merger, Reading, SlotCounts, SlotState};

use crate::clock::Clock;
use crate::end::Departure;
use crate::fault::{self, Fault};
use crate::lane::Lane;
use crate::member::{Joining, Look, Member, Phase};
use crate::order::Order;
use crate::plan::Plan;
use crate::process::{Counter, Process};
use crate::stream::RingKey;
use crate::taker::Taker;

/// Longest sleep while a process records, because a doorbell may be missed: 20 ms.
const NAP: Duration = Duration::from_millis(20);
/// Longest sleep while no process records: 200 ms.
const SLEEP: Duration = Duration::from_millis(200);
/// Time for which the first processes of a continued capture wait for the others: 250 ms.
const PATIENCE_NS: u64 = 250_000_000;

/// The handle of a drain.
#[derive(Debug)]
pub struct DrainHandle {
    /// Number of the capture that the drain began with.
    pub id: u64,
    /// Plan of the first capture, with the settings that the drain's processes got.
    pub plan: Plan,
    /// `None` once the drain takes no more orders.
    orders: Mutex<Option<Sender<Order>>>,
    /// The counter page that the drain's processes take stamps from.
    pub counter: Counter,
}

/// A drain.
pub struct Drain {
    handle: Arc<DrainHandle>,
    orders: Receiver<Order>,
    merger: Merger<RingKey>,
    members: Vec<Member>,
    /// All rings of the members, by their key.
    lanes: Vec<Lane>,
    /// Lanes of members that are over.
    vacant: Vec<usize>,
    takers: Vec<Taker>,
    /// Monotonic time until which the drain waits for processes and captures of another daemon's drain. `None`: it
    /// does not wait.
    waits_until_ns: Option<u64>,
}

/// Time of the drain's next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// At once.
    Busy,
    /// When the doorbell rings, or after the longest sleep.
    Idle,
    /// Never: all its captures are over.
    Over,
}

impl DrainHandle {
    /// Adds a capture to `drain`. Starts a drain with the capture if `drain` is `None`, or has just ended.
    pub fn with(
        drain: Option<Arc<Self>>,
        taker: Box<Taker>,
        counter: &Counter,
    ) -> io::Result<Arc<Self>> {
        let Some(drain) = drain else { return Self::start(*taker, counter.clone()) };
        match drain.order(Order::Take(taker)) {
            Ok(()) => Ok(drain),
            // The drain has just ended.
            Err(Order::Take(taker)) => Self::start(*taker, counter.clone()),
            Err(_) => Err(io::Error::other("the drain returned another order")),
        }
    }

    fn start(first: Taker, counter: Counter) -> io::Result<Arc<Self>> {
        let clock = first.profile.clock;
        let (handle, drain) = Self::new(first, counter, clock.monotonic_ns());
        thread::Builder::new()
            .name(format!("drain-{}", handle.id))
            .spawn(move || drain.run(clock))?;
        Ok(handle)
    }

    /// Makes a drain that does not run yet.
    pub fn new(first: Taker, counter: Counter, now_ns: u64) -> (Arc<Self>, Drain) {
        let (orders, orders_in) = channel();
        let (id, plan) = (first.id(), first.profile.plan.clone());
        let handle = Arc::new(Self { id, plan, orders: Mutex::new(Some(orders)), counter });
        let was_begun = first.profile.was_begun_elsewhere;
        let waits_until_ns = was_begun.then(|| now_ns + PATIENCE_NS);
        let drain = Drain {
            handle: Arc::clone(&handle),
            orders: orders_in,
            merger: Merger::new(),
            members: Vec::new(),
            lanes: Vec::new(),
            vacant: Vec::new(),
            takers: vec![first],
            waits_until_ns,
        };
        (handle, drain)
    }

    /// Gives the drain an order. Returns the order if the drain takes no more.
    pub fn order(&self, order: Order) -> Result<(), Order> {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        match &*orders {
            Some(sender) => sender.send(order).map_err(|refused| refused.0)?,
            None => return Err(order),
        }
        self.counter.map.ring_doorbell();
        Ok(())
    }

    /// Closes the queue of orders, unless it holds an order, which is returned.
    fn close(&self, left: &Receiver<Order>) -> Option<Order> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let order = left.try_recv().ok();
        if order.is_none() {
            *orders = None;
        }
        order
    }
}

impl Drain {
    /// Runs until all captures are over.
    fn run(mut self, clock: Clock) {
        loop {
            let seen = self.handle.counter.map.doorbell();
            match self.step(clock.monotonic_ns()) {
                Step::Over => return,
                Step::Busy => {}
                Step::Idle => self.sleep(seen),
            }
        }
    }

    /// Returns whether a capture has not begun yet with one of its processes.
    #[cfg(test)]
    pub fn has_waiting(&self) -> bool {
        self.takers.iter().any(Taker::is_waiting)
    }

    /// Does all work that is due at `now_ns`, in nanoseconds of the monotonic clock.
    pub fn step(&mut self, now_ns: u64) -> Step {
        self.take_done();
        let mut busy = false;
        // No short-circuit: every taker is asked.
        let held_up = self.takers.iter_mut().fold(false, |held, taker| held | taker.holds_up());
        if self.waits_for_others(now_ns) || held_up {
            self.take_orders(now_ns);
        } else {
            // A little data is cheaper to handle once more has gathered. Much data is cheaper to handle at once.
            busy = self.round(now_ns) >= self.handle.plan.ring_bytes / 16;
            busy |= self.look_after_members(now_ns);
            for taker in &mut self.takers {
                busy |= taker.flush_for_others();
            }
        }
        self.add_settled(now_ns);
        self.look_after_takers(now_ns);
        if self.takers.is_empty() && self.members.iter().all(Member::is_over) {
            match self.handle.close(&self.orders) {
                Some(order) => self.take_order(order, now_ns),
                None => return Step::Over,
            }
            busy = true;
        }
        if busy { Step::Busy } else { Step::Idle }
    }

    /// Returns whether processes or captures of another daemon's drain may be about to come back. Once they are there
    /// or late, continues with those that are there.
    fn waits_for_others(&mut self, now_ns: u64) -> bool {
        let Some(until_ns) = self.waits_until_ns else { return false };
        let here: Vec<u32> = self.members.iter().map(|member| member.process.pid).collect();
        let lacks_captures = |member: &Member| {
            let claims = member.claims.as_ref().map_or(usize::MAX, Vec::len);
            claims < member.process.takers_before() as usize
        };
        let lacks = here.is_empty()
            || self.takers.iter().any(|taker| taker.lacks_processes(&here))
            || self.members.iter().any(lacks_captures);
        let is_hurried = self.takers.iter().any(Taker::is_stopping);
        if lacks && !is_hurried && now_ns < until_ns {
            return true;
        }
        self.waits_until_ns = None;
        (0..self.members.len()).for_each(|index| self.take_up(index, now_ns));
        self.takers.iter_mut().for_each(Taker::begin_again);
        false
    }

    /// Continues with a process that was handed over, at the places of the captures that claim it.
    fn take_up(&mut self, index: usize, now_ns: u64) {
        let Some(claims) = self.members[index].claims.take() else { return };
        let (member, lanes) = (&self.members[index], &mut self.lanes);
        for &at in &member.lanes {
            let lane = &mut lanes[at];
            let claimed = self.takers.iter().filter(|taker| claims.contains(&taker.id()));
            let standings: Vec<_> =
                claimed.map(|taker| taker.standing(&member.process, lane)).collect();
            lane.go_on(&standings);
        }
        for taker in self.takers.iter_mut().filter(|taker| claims.contains(&taker.id())) {
            taker.take_up(index, member, lanes, now_ns);
        }
    }

    /// Notes that a capture continues with a process that was handed over.
    fn claim(&mut self, process: &Process, capture: u64, now_ns: u64) {
        let index = self.members.iter().position(|member| member.is(process.index));
        let (Some(at), Some(index)) = (self.taker(capture), index) else { return };
        let member = &mut self.members[index];
        match &mut member.claims {
            Some(claims) => claims.push(capture),
            None if member.phase == Phase::Recording => {
                self.takers[at].take_up(index, member, &self.lanes, now_ns);
                self.takers[at].begin_again();
            }
            None => self.takers[at].lacks(process),
        }
    }

    fn take_orders(&mut self, now_ns: u64) {
        while let Ok(order) = self.orders.try_recv() {
            self.take_order(order, now_ns);
        }
        for taker in &mut self.takers {
            taker.look_at_limits(now_ns);
        }
        if self.waits_until_ns.is_none() {
            self.stop_unneeded(now_ns);
        }
    }

    fn take_order(&mut self, order: Order, now_ns: u64) {
        match order {
            Order::Take(taker) => self.takers.push(*taker),
            Order::Join { capture, joining } => self.join(joining, capture, now_ns),
            Order::Want { capture, process } => self.want(&process, capture, now_ns),
            Order::Claim { capture, process } => self.claim(&process, capture, now_ns),
            Order::AllJoined { capture } => self.with(capture, Taker::all_joined),
            Order::Gone { index, how } => self.leave(index, how),
            Order::Pause { capture } => self.with(capture, |taker| taker.pause(now_ns)),
            Order::Resume { capture } => self.with(capture, |taker| taker.resume(now_ns)),
            Order::Stop { capture, cause } => self.with(capture, |taker| taker.stop(cause)),
            Order::Exited { capture, pid, signal } => self.program_exited(capture, pid, signal),
            Order::Flush { capture, reached } => {
                self.with(capture, |taker| taker.flush_for(reached));
            }
        }
    }

    fn with(&mut self, capture: u64, does: impl FnOnce(&mut Taker)) {
        if let Some(at) = self.taker(capture) {
            does(&mut self.takers[at]);
        }
    }

    /// Returns the index of a capture that is not finished.
    fn taker(&self, capture: u64) -> Option<usize> {
        let is_it = |taker: &Taker| taker.id() == capture && !taker.is_finished();
        self.takers.iter().position(is_it)
    }

    /// Adds a process to the drain. The capture takes all its records, or, if the process was handed over, those that
    /// the capture does not have yet.
    fn join(&mut self, joining: Joining, capture: u64, now_ns: u64) {
        let Some(taker) = self.taker(capture) else { return joining.take_back() };
        let Joining { process, rings, counts, unslotted_calls, passed_on, generation, lost_ns } =
            joining;
        let index = self.members.len();
        let new: Vec<_> = match lost_ns {
            Some(_) => {
                let rings = rings.into_iter().zip(0..);
                rings.map(|(ring, slot)| Lane::handed_over(ring, index, slot, generation)).collect()
            }
            None => {
                let rings = rings.into_iter().zip(counts).zip(0..);
                rings
                    .map(|((ring, begun), slot)| Lane::new(ring, index, (slot, generation), begun))
                    .collect()
            }
        };
        let lanes = new.into_iter().map(|lane| self.add_lane(lane)).collect();
        let takers = process.takers_before();
        self.members.push(Member {
            process,
            generation,
            unslotted_calls,
            passed_on,
            lanes,
            phase: Phase::Recording,
            lost_ns,
            claims: lost_ns.map(|_| vec![capture]),
            takers,
            left: None,
            put_back: false,
            is_cut: false,
            owed: None,
        });
        match lost_ns {
            None => self.takers[taker].add(index, &self.members[index], &self.lanes, now_ns),
            Some(_) if self.waits_until_ns.is_none() => self.take_up(index, now_ns),
            Some(_) => {}
        }
    }

    /// Adds a ring of a process, in place of one of a member that is over, if possible: a launch may have any number of
    /// processes, one after the other. A place is free only once no records of the former ring are on their way, because
    /// they would be taken for records of the new one. Returns the lane's index.
    fn add_lane(&mut self, new: Lane) -> usize {
        let is_free = |at: &usize| !self.takers.iter().any(|taker| taker.holds(*at));
        if let Some(vacant) = self.vacant.iter().rposition(is_free) {
            let at = self.vacant.swap_remove(vacant);
            self.lanes[at] = new;
            return at;
        }
        self.lanes.push(new);
        self.lanes.len() - 1
    }

    /// Adds lanes for the slots that threads of a member have used for the first time since the last call. Their rings
    /// are read from the beginning.
    fn add_used(&mut self, member: usize) {
        let Member { process, lanes, generation, .. } = &self.members[member];
        let (new, generation): (Vec<_>, _) =
            (process.rings_from(lanes.len()).collect(), *generation);
        for ring in new {
            let slot = self.members[member].lanes.len() as u32;
            let lane = Lane::new(ring, member, (slot, generation), SlotCounts::default());
            let at = self.add_lane(lane);
            self.members[member].lanes.push(at);
            for taker in &mut self.takers {
                taker.add_lane(at, &self.lanes[at]);
            }
        }
    }

    /// Adds a process to a capture: from the process' next keyframe on if other captures have it, otherwise from its
    /// next frame on. If its former part in the drain is about to end, it is added after that.
    fn want(&mut self, process: &Arc<Process>, capture: u64, now_ns: u64) {
        let Some(at) = self.taker(capture) else { return };
        let index = self.members.iter().position(|member| member.is(process.index));
        match index.map(|index| (index, self.members[index].phase)) {
            // The keyframe would end what the process still sends for its first snapshot.
            Some((index, Phase::Recording)) if self.members[index].owes(now_ns) => {
                self.takers[at].wants.push(Arc::clone(process));
            }
            Some((index, Phase::Recording)) => {
                self.takers.iter_mut().for_each(Taker::limit_frames);
                self.takers[at].add_late(index, &self.members[index], now_ns);
                process.record_for_several();
            }
            Some(_) => self.takers[at].wants.push(Arc::clone(process)),
            None if process.is_gone() => self.takers[at].lacks(process),
            None => {
                let taker = &self.takers[at];
                let (plan, can_continue) = (&taker.profile.plan, taker.can_continue());
                match Joining::begin(process, self.handle.id, plan, can_continue) {
                    Some(joining) => self.join(joining, capture, now_ns),
                    None => self.takers[at].lacks(process),
                }
            }
        }
    }

    /// Adds processes that have sent what they owed to the captures that wait for that.
    fn add_settled(&mut self, now_ns: u64) {
        if self.takers.iter().all(|taker| taker.wants.is_empty()) {
            return;
        }
        let recording = self.members.iter_mut().filter(|it| it.phase == Phase::Recording);
        let settled =
            recording.filter_map(|it| (!it.owes(now_ns)).then(|| Arc::clone(&it.process)));
        let settled: Vec<_> = settled.collect();
        for process in settled {
            for capture in self.stop_waiting_for(process.index) {
                self.want(&process, capture, now_ns);
            }
        }
    }

    /// Returns the captures that wait for a process, which they do no longer.
    fn stop_waiting_for(&mut self, process: u32) -> Vec<u64> {
        let mut waited = Vec::new();
        for taker in &mut self.takers {
            let before = taker.wants.len();
            taker.wants.retain(|wanted| wanted.index != process);
            if taker.wants.len() < before {
                waited.push(taker.id());
            }
        }
        waited
    }

    fn leave(&mut self, index: u32, how: Departure) {
        for member in &mut self.members {
            if member.is(index) && member.left.is_none() {
                member.left = Some(how);
            }
        }
    }

    fn program_exited(&mut self, capture: u64, pid: Option<u32>, signal: Option<i32>) {
        self.with(capture, |taker| taker.exited(pid, signal));
        for member in &mut self.members {
            if member.left.is_none() && !member.is_over() && member.process.is_gone() {
                member.left = Some(Departure::Died);
            }
        }
    }

    /// Tells processes to stop that no capture needs, and ends a capture's part of a process that continues for
    /// others.
    fn stop_unneeded(&mut self, now_ns: u64) {
        for (index, member) in self.members.iter_mut().enumerate() {
            if member.phase != Phase::Recording {
                continue;
            }
            if !self.takers.iter().any(|taker| taker.needs(index)) {
                member.stop(now_ns);
                continue;
            }
            for taker in self.takers.iter_mut().filter(|taker| !taker.needs(index)) {
                taker.cut(&self.lanes, index, None, now_ns);
            }
        }
    }

    /// Lets producers reuse the ring space of written blocks.
    fn take_done(&mut self) {
        let mut written = Vec::new();
        for taker in &mut self.takers {
            taker.take_done(|lane| written.push(lane));
        }
        for lane in written {
            settle(&mut self.lanes, lane, &self.takers);
        }
    }

    /// Moves records from the rings to the captures. Returns the number of bytes copied.
    fn round(&mut self, now_ns: u64) -> u64 {
        self.read_heads(0);
        // A process joins before it publishes. Records that the first reading found may depend on records of a
        // process that joined since the last round, so the second reading must include its rings.
        self.take_orders(now_ns);
        self.read_heads(1);
        let copied = self.copy_out();
        self.merge(now_ns);
        copied
    }

    /// Loads the heads of all rings. The number of used slots is loaded first: a record on which one below a head of the
    /// first reading depends is in a slot that the second reading finds used (USED in docs/memory-model.md).
    fn read_heads(&mut self, reading: usize) {
        let is_first_only = fault::is_put_in(Fault::SlotsReadOnce);
        for index in (0..self.members.len()).filter(|_| reading == 0 || !is_first_only) {
            if self.members[index].is_read() && !self.members[index].is_cut {
                self.add_used(index);
                #[cfg(test)]
                crate::fault::putting_in::between_looks();
            }
        }
        for member in self.members.iter().filter(|member| member.is_read()) {
            let dead = member.left.is_some();
            for &at in &member.lanes {
                let lane = &mut self.lanes[at];
                if reading == 1 && fault::is_put_in(Fault::OneReading) {
                    lane.heads[1] = lane.heads[0];
                    continue;
                }
                let passed = lane.read_head(reading, dead);
                if passed > 0 {
                    self.takers.iter_mut().for_each(|taker| taker.pass_over(at, lane, passed));
                }
                #[cfg(test)]
                crate::fault::putting_in::between_looks();
            }
        }
    }

    fn copy_out(&mut self) -> u64 {
        let mut copied = 0;
        for member in self.members.iter().filter(|member| member.is_read()) {
            for &index in &member.lanes {
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
                    let (why, whom) = (refusal.name().to_owned(), &member.process);
                    refuse((self.handle.id, whom), lane, why, &refusal, &self.takers);
                }
            }
        }
        copied
    }

    fn merge(&mut self, now_ns: u64) {
        let Self { merger, lanes, takers, members, handle, .. } = self;
        merger.merge(|run| {
            let at = run.ring.0 as usize;
            let mut calls = 0;
            for index in 0..takers.len() {
                let before = takers[index].seen_calls();
                if let Err(refusal) = takers[index].take(lanes, &run, now_ns) {
                    let whom = &members[lanes[at].member].process;
                    refuse(
                        (handle.id, whom),
                        &mut lanes[at],
                        refusal.to_string(),
                        &refusal,
                        takers,
                    );
                }
                // Every capture sees the same records; one that has not begun yet counts none.
                calls = calls.max(takers[index].seen_calls() - before);
            }
            members[lanes[at].member].process.count_calls(calls);
            lanes[at].give(&run);
            settle(lanes, at, takers);
        });
    }

    /// Moves every member to the phase that it can have by now. Returns whether another step may get further at once.
    fn look_after_members(&mut self, now_ns: u64) -> bool {
        let (mut flush, mut changed) = (false, false);
        for index in 0..self.members.len() {
            let Self { members, lanes, merger, .. } = self;
            let member = &mut members[index];
            match member.phase {
                Phase::Over => continue,
                Phase::Emptying => {
                    let mut rings = member.lanes.iter().map(|&at| &lanes[at]);
                    if rings.clone().all(|lane| lane.is_read(merger)) {
                        flush = true;
                        match rings.all(Lane::is_written) {
                            true => self.end_member(index, now_ns),
                            false => self.takers.iter().for_each(Taker::await_all),
                        }
                    }
                    continue;
                }
                Phase::Recording | Phase::Stopping { .. } => {}
            }
            match member.look(now_ns) {
                Look::GoesOn => self.free_retired(index, now_ns),
                Look::Ended { is_cut } => {
                    changed = true;
                    if is_cut {
                        // By ENDED, slots that have the last records are found used.
                        self.add_used(index);
                        let Self { members, lanes, .. } = self;
                        members[index].lanes.iter().for_each(|&at| lanes[at].cut());
                    }
                }
            }
        }
        if flush {
            self.takers.iter_mut().for_each(Taker::flush);
        }
        changed
    }

    /// Frees the slots of threads that are gone once all their records and their accounts are written, so that a
    /// reader of the file's end knows each ring's owner.
    fn free_retired(&mut self, member: usize, now_ns: u64) {
        for slot in 0..self.members[member].lanes.len() {
            let index = self.members[member].lanes[slot];
            let lane = &mut self.lanes[index];
            let Some(consumer) = &lane.consumer else { continue };
            let is_retired = consumer.slot().state() == Some(SlotState::Retired);
            // The head is read after the state, so it is the owner's last.
            let has_more = consumer.read_index() != consumer.head_untrusted();
            let is_refused = consumer.refusal().is_some();
            let is_unread = is_refused || has_more || !lane.is_read(&mut self.merger);
            if !is_retired || is_unread && !fault::is_put_in(Fault::FreedUnread) {
                continue;
            }
            if !lane.is_accounted {
                let counts = consumer.slot().counts_untrusted();
                for taker in &mut self.takers {
                    taker.end_owner(index, &self.lanes[index], counts, now_ns);
                }
                self.lanes[index].begin_owner(counts);
            }
            let lane = &mut self.lanes[index];
            let has_account = self.takers.iter().all(|taker| taker.has_account(index));
            if !has_account || !lane.is_written() {
                continue;
            }
            let begun = lane.begun;
            let Some(consumer) = &mut lane.consumer else { continue };
            consumer.release(consumer.read_index());
            consumer.slot().note_begun(begun);
            if consumer.free_retired() {
                lane.is_accounted = false;
            }
        }
    }

    /// Ends the part of a member whose records are all written: closes its accounts and gives the rings back.
    /// Captures that had not begun with it begin now.
    fn end_member(&mut self, index: usize, now_ns: u64) {
        let member = &mut self.members[index];
        let process = Arc::clone(&member.process);
        let mut waiting = Vec::new();
        for taker in &mut self.takers {
            if taker.end_member(index, member, &self.lanes, now_ns) {
                waiting.push(taker.id());
            }
        }
        member.phase = Phase::Over;
        let has_left = member.left.is_some();
        waiting.extend(self.stop_waiting_for(process.index));
        let member = &mut self.members[index];
        let lanes = std::mem::take(&mut member.lanes);
        let mut rings = Vec::with_capacity(lanes.len());
        for &at in &lanes {
            let lane = &mut self.lanes[at];
            lane.merged.take().and_then(|id| self.merger.remove(id));
            rings.extend(lane.consumer.take());
        }
        self.vacant.extend(lanes);
        for ring in &mut rings {
            ring.release(ring.read_index());
            ring.free_retired();
        }
        process.return_rings(rings);
        for capture in waiting.into_iter().filter(|_| !has_left) {
            self.want(&process, capture, now_ns);
        }
    }

    fn look_after_takers(&mut self, now_ns: u64) {
        if self.waits_until_ns.is_some() {
            return;
        }
        for (index, member) in self.members.iter().enumerate().filter(|(_, it)| !it.is_over()) {
            if self.takers.iter().any(|taker| taker.is_armed(index)) {
                let longest_ns = member.process.take_longest_frame();
                self.takers.iter_mut().for_each(|it| it.hear_of_frames(index, longest_ns));
            }
        }
        for at in 0..self.takers.len() {
            if self.is_over(&self.takers[at]) {
                self.takers[at].finish(&self.lanes);
            }
            let taker = &mut self.takers[at];
            if !taker.is_finished() {
                taker.close_old_block(now_ns);
                taker.ask_keyframes();
                taker.report(&self.lanes, now_ns);
            }
        }
        for (index, member) in self.members.iter_mut().enumerate() {
            if !member.is_over() {
                let has = |taker: &&Taker| taker.can_continue() && taker.has(index);
                member.set_takers(self.takers.iter().filter(has).count() as u32);
            }
        }
        let all_over = self.members.iter().all(Member::is_over);
        // When nothing is recorded any more, no capture needs ring space, so finished captures need not stay.
        self.takers.retain(|taker| !taker.is_finished() || !all_over && !taker.is_done());
    }

    /// Returns whether a capture is over and can be finished: each of its processes is free by then, or another
    /// capture has it, so a client that then starts a new capture finds them.
    fn is_over(&self, taker: &Taker) -> bool {
        let is_needed = |index| self.takers.iter().any(|other| other.needs(index));
        let is_settled = |index: usize| self.members[index].is_over() || is_needed(index);
        !taker.is_finished() && taker.is_over() && taker.members().all(is_settled)
    }

    fn sleep(&mut self, seen: u32) {
        let recording = || self.members.iter().filter(|member| !member.is_over());
        let longest = if recording().next().is_some() { NAP } else { SLEEP };
        recording().for_each(|member| member.process.set_drain_sleeping(true));
        self.handle.counter.map.wait_doorbell(seen, longest);
        recording().for_each(|member| member.process.set_drain_sleeping(false));
    }
}

/// Lets the producer reuse ring space that no capture holds.
fn settle(lanes: &mut [Lane], at: usize, takers: &[Taker]) {
    let member = lanes[at].member;
    let free = takers.iter().map(|taker| taker.free_index(at, member)).min();
    lanes[at].release(free.unwrap_or(u64::MAX));
}

/// Reads a ring no further, and counts it for the captures that need its process.
fn refuse(
    (drain, process): (u64, &Process),
    lane: &mut Lane,
    why: String,
    refusal: &dyn Display,
    takers: &[Taker],
) {
    let (pid, slot, whose) = (process.pid, lane.slot, process.described());
    tracing::warn!(
        capture = drain,
        pid,
        slot,
        "ring {slot} of {whose} is read no further: {refusal}"
    );
    if lane.refuse(why) {
        for taker in takers.iter().filter(|taker| taker.needs(lane.member)) {
            taker.count_refused_ring();
        }
    }
}
