//! One client's part in a drain: what of it goes into its stream, and its books.
//!
//! Has no thread and no clock: the drain gives it what the merge lets go, and tells it the time. Ring space
//! that its blocks hold is not reused before they are written; beyond that it holds none, so that who takes
//! nothing keeps nobody waiting.

mod books;
mod going_on;
mod portion;
mod report;
mod taking;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use gapii_abi::atom::{EndReason, GapCause};
use gapii_trace::Description;
use gapii_trace::block::BLOCK_TARGET_BYTES;
use gapii_trace::story::Begin;

use crate::armed::Armed;
use crate::backlog::{Done, Feed};
use crate::end::{self, Cause, Departure, Exited, PortionEnd};
use crate::filtering::Filtering;
use crate::lane::Lane;
use crate::ledger::Ledger;
use crate::member::Member;
use crate::process::Process;
use crate::profile::Profile;
use crate::recover::Recovered;
use crate::stream::{ProcessKey, RingKey, RingSite, StreamBuilder};
use crate::takeover::Takeover;
use crate::taker::portion::{Portion, PortionState, Share};

/// A capture, as its drain has it.
pub struct Taker {
    pub profile: Arc<Profile>,
    stream: StreamBuilder,
    feed: Feed,
    done: Receiver<Done>,
    ledger: Ledger,
    /// By the drain's members.
    portions: Vec<Option<Portion>>,
    /// By the drain's lanes.
    shares: Vec<Option<Share>>,
    /// Processes that it is to have as soon as they can be had.
    pub wants: Vec<Arc<Process>>,
    ends: Vec<PortionEnd>,
    cause: Option<Cause>,
    exited: Option<Exited>,
    /// Whether more processes may join.
    awaits_more: bool,
    /// When the time is up.
    deadline_ns: Option<u64>,
    /// Somebody wants it to leave out what comes.
    is_paused: bool,
    /// It holds no ring space any more for blocks that are under way.
    has_let_go: bool,
    blocks_under_way: usize,
    /// Blocks of the stream that are dealt with, those of other daemons among them.
    blocks_done: u64,
    /// What another daemon was at, where it began the capture.
    takeover: Option<Takeover>,
    /// Who wants all that was published by now to be out, and how many rounds that takes yet.
    flushes: Vec<(u32, Sender<()>)>,
    unslotted_calls: u64,
    /// Commands that are missing in its stream.
    missed_calls: u64,
    /// Bytes that came through rings.
    ring_bytes: u64,
    reported_ns: u64,
    is_finished: bool,
}

impl Taker {
    /// Makes the drain's half of a capture: `feed` and `done` lead to its writer. `recovered` is what another
    /// daemon wrote of it, if one did.
    pub fn new(
        profile: Arc<Profile>,
        feed: Feed,
        done: Receiver<Done>,
        recovered: Option<Recovered>,
    ) -> Self {
        // A block must be out long before the ring that it came from is full.
        let block_bytes = BLOCK_TARGET_BYTES.min(profile.plan.ring_bytes as usize / 4);
        let mut stream = StreamBuilder::new(block_bytes, profile.plan.timing);
        if let Some(filter) = Filtering::of(&profile.plan.filter, Description::built_in()) {
            stream.set_filter(filter);
        }
        if profile.can_go_on {
            stream.state_rings();
        }
        if let Some(recovered) = &recovered {
            stream.go_on(recovered);
        }
        let blocks_done = recovered.as_ref().map_or(0, |recovered| recovered.blocks);
        let takeover = recovered.map(|file| Takeover::new(file, profile.clock.monotonic_ns()));
        Self {
            profile,
            stream,
            feed,
            done,
            ledger: Ledger::default(),
            portions: Vec::new(),
            shares: Vec::new(),
            wants: Vec::new(),
            ends: Vec::new(),
            cause: None,
            exited: None,
            awaits_more: true,
            deadline_ns: None,
            is_paused: false,
            has_let_go: false,
            blocks_under_way: 0,
            blocks_done,
            takeover,
            flushes: Vec::new(),
            unslotted_calls: 0,
            missed_calls: 0,
            ring_bytes: 0,
            reported_ns: 0,
            is_finished: false,
        }
    }

    /// Returns the capture's number.
    pub fn id(&self) -> u64 {
        self.profile.plan.id
    }

    /// Commands that it was given, those included that its stream does not have.
    pub fn seen_calls(&self) -> u64 {
        self.stream.calls() + self.stream.left_out_calls() + self.missed_calls
    }

    /// Whether another daemon could go on with it.
    pub fn can_go_on(&self) -> bool {
        self.profile.can_go_on
    }

    /// Takes all of a process that joins the drain for it.
    pub fn add(&mut self, index: usize, member: &Member, lanes: &[Lane], now_ns: u64) {
        if self.profile.plan.when.is_some() {
            // Until then it is looked through, and nothing of it is kept.
            self.add_late(index, member, now_ns);
            return member.process.share();
        }
        let key = self.add_portion(index, member, None, PortionState::Taking, now_ns);
        if self.profile.plan.keep.is_none() {
            self.stream.select(key, Begin::Capture);
        }
        let segment = self.segment_of(index);
        for at in member.lanes.clone() {
            let share = Share { begun: lanes[at].begun, ..Share::default() };
            self.set_share(at, &lanes[at], key, segment, share);
        }
    }

    /// Takes a process that is in the drain from its next keyframe on.
    pub fn add_late(&mut self, index: usize, member: &Member, now_ns: u64) {
        let from_frame = match self.profile.plan.skip_frames {
            0 => 0,
            skipped => member.process.frames().saturating_add(skipped),
        };
        let state = PortionState::Waiting { from_frame, has_asked: false };
        let key = self.add_portion(index, member, None, state, now_ns);
        if let (Some(when), Some(portion)) = (&self.profile.plan.when, &mut self.portions[index]) {
            let frames = member.process.frames();
            portion.armed = Some(Armed::with(when, frames, Description::built_in()));
        }
        self.stream.select(key, Begin::Keyframe);
        self.limit_frames();
    }

    /// From now on its processes go on behind its last frame.
    pub fn limit_frames(&mut self) {
        let Some(frames) = self.profile.plan.frames else { return };
        for portion in self.portions.iter().flatten() {
            self.stream.limit_frames(portion.key, frames);
        }
    }

    /// A process that it was to have can't be had.
    pub fn lacks(&mut self, process: &Process) {
        let left = Some(Departure::Died);
        self.ends.push(PortionEnd { left, ..PortionEnd::default() });
        self.profile.leave(process.index);
    }

    fn add_portion(
        &mut self,
        index: usize,
        Member { process, unslotted_calls, .. }: &Member,
        known: Option<ProcessKey>,
        state: PortionState,
        now_ns: u64,
    ) -> ProcessKey {
        let key = known.unwrap_or_else(|| {
            self.stream.add_member(process.pid, now_ns, process.name.as_bytes())
        });
        if let Some(store) = process.store() {
            self.stream.set_store(key, store);
        }
        let (process, unslotted_calls) = (Arc::clone(process), *unslotted_calls);
        if self.portions.len() <= index {
            self.portions.resize_with(index + 1, || None);
        }
        let (capture, pid, name) = (self.id(), process.pid, &process.name);
        let waits = matches!(state, PortionState::Waiting { .. });
        let is_armed = waits && self.profile.plan.when.is_some();
        let does = if is_armed { "waits in" } else { "records" };
        tracing::info!(capture, pid, name, "capture {capture} {does} {}", process.described());
        self.portions[index] = Some(Portion { process, key, state, armed: None, unslotted_calls });
        if !is_armed {
            self.begin_time(now_ns);
        }
        key
    }

    /// Its time runs from now on, unless it does already.
    fn begin_time(&mut self, now_ns: u64) {
        if let (None, Some(seconds)) = (self.deadline_ns, self.profile.plan.seconds) {
            let before = self.takeover.as_ref().and_then(|takeover| takeover.file.first_ns);
            let began_ns = before.unwrap_or(now_ns);
            self.deadline_ns = Some(began_ns.saturating_add((seconds * 1e9) as u64));
        }
    }

    /// Begins with a lane; of its process' segment are which it is, and the bytes in each of its rings.
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
        if self.shares.len() <= at {
            self.shares.resize(at + 1, None);
        }
        self.put_share(at, share);
    }

    /// Changes what is said of a lane that it has.
    fn put_share(&mut self, at: usize, share: Share) {
        self.stream.note(RingKey(at as u32), share.note());
        self.shares[at] = Some(share);
    }

    fn segment_of(&self, member: usize) -> (u64, u64) {
        let of = |portion: &Portion| (portion.process.segment(), portion.process.ring_bytes());
        self.portion(member).map_or((0, 1), of)
    }

    /// Whether it takes part in what that member does from now on.
    pub fn needs(&self, member: usize) -> bool {
        !self.is_stopping() && self.has(member)
    }

    /// Whether it is to end with what there is by now.
    pub fn is_stopping(&self) -> bool {
        self.cause.is_some() || self.exited.is_some()
    }

    /// Whether it has not begun yet with one of its processes.
    #[cfg(test)]
    pub fn is_waiting(&self) -> bool {
        let waits = |portion: &Portion| matches!(portion.state, PortionState::Waiting { .. });
        !self.is_stopping() && self.portions.iter().flatten().any(waits)
    }

    /// No more processes join than have by now.
    pub fn all_joined(&mut self) {
        self.awaits_more = false;
    }

    /// It is to end. What the processes did is the reason where all is over already.
    pub fn stop(&mut self, cause: Cause) {
        let mut portions = self.portions.iter().flatten().peekable();
        let is_empty = portions.peek().is_none();
        let all_over = portions.all(|portion| portion.state == PortionState::Over);
        if cause == Cause::Shutdown || is_empty || !all_over {
            self.cause.get_or_insert(cause);
        }
        self.awaits_more = false;
        self.wants.clear();
    }

    /// The launched program has ended.
    pub fn exited(&mut self, signal: Option<i32>) {
        self.exited = Some(Exited { signal });
        self.awaits_more = false;
        self.wants.clear();
    }

    /// Stops where its time is up, or its output takes no more.
    pub fn look_at_limits(&mut self, now_ns: u64) {
        // Relaxed: a flag on its own.
        let has_failed = self.profile.progress.output_failed.load(Ordering::Relaxed);
        if has_failed && self.cause.is_none() {
            self.stop(Cause::Output);
        }
        // Relaxed: a number on its own.
        let written = self.profile.progress.file_bytes.load(Ordering::Relaxed);
        let is_full = self.profile.plan.bytes.is_some_and(|limit| written >= limit);
        let is_late = self.deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns);
        if (is_full || is_late) && !self.is_stopping() {
            self.stop(Cause::Stop);
        }
    }

    /// Leaves out what comes, until somebody wants it to go on.
    pub fn pause(&mut self, now_ns: u64) {
        self.is_paused = true;
        self.stream.state_pause(true, now_ns);
        self.miss(GapCause::Paused);
        self.flush();
    }

    /// Goes on from the next keyframe on.
    pub fn resume(&mut self, now_ns: u64) {
        self.is_paused = false;
        self.stream.state_pause(false, now_ns);
    }

    /// The drain's members of which it has had something.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        let portions = self.portions.iter().enumerate();
        portions.filter_map(|(index, portion)| portion.as_ref().map(|_| index))
    }

    /// Whether nothing more of it comes.
    pub fn is_over(&self) -> bool {
        let is_over = |portion: &Portion| portion.state == PortionState::Over;
        if !self.portions.iter().flatten().all(is_over) || !self.wants.is_empty() {
            return false;
        }
        // A launch goes on in further processes, unless its frames are complete.
        !self.awaits_more || end::reason(None, None, &self.ends) == EndReason::Frames
    }

    /// Returns whether the end of the stream was handed to the writer.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether the drain has nothing more to do with it.
    pub fn is_done(&self) -> bool {
        self.is_finished && self.blocks_under_way == 0
    }

    /// Whether something of that member is still to come, or under way.
    pub fn has(&self, member: usize) -> bool {
        self.portion(member).is_some_and(|portion| portion.state != PortionState::Over)
    }

    fn portion(&self, member: usize) -> Option<&Portion> {
        self.portions.get(member).and_then(Option::as_ref)
    }
}
