//! Makes commands of records: pairs enter records with leave records, and hands commands out in the order in which they
//! take effect. A command waits for its leave record and for earlier commands, within `HoldLimits`: 2^19 commands and 1
//! GiB. Beyond, the first is handed out without its leave record (`late_leaves`), and bytes are dropped
//! (`dropped_records`). A result that a tracer changed is awaited for 65,536 commands. Commands in flight at the end
//! come last. Reads no file.
//!
//! A command is handed out when its leave record has been read and all commands that took effect earlier have been
//! handed out. A thread without an open command holds nothing up.
//!
//! Modules: `queue` has the commands that wait, `held` one command with its bytes, `announced` the notes of a
//! thread's records about its next command, `batch` commands for another thread, `saved` an assembler between two
//! blocks as bytes.

mod announced;
mod batch;
mod held;
mod queue;
mod saved;

use std::sync::Arc;

use gapii_abi::atom::{EFFECT, FRAME_END, FrameKind, InFlight, LEAVE, LEAVES, META_FIRST, SETUP};
use serde::{Deserialize, Serialize};

use self::announced::{Announced, TracerNote};
pub use self::batch::Batch;
use self::held::{Budget, Held, Span};
use self::queue::{EffectQueue, QueuePlace};
use super::blobs::BlobSource;
use super::command::Command;
use super::description::Description;
use super::event::{Event, EventLog};
use super::gpu_times::GpuTimes;
use super::meta::Meta;
use super::record::{Located, RecordError, locate};
use super::story::{Begin, Story};
use super::tracker::{Place, TrackError, Tracker};

/// Limits of the data that an [`Assembler`] holds for incomplete commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoldLimits {
    /// Commands that wait for an earlier one.
    pub commands: usize,
    /// Bytes of records, those of the block being read not counted.
    pub bytes: usize,
}

impl Default for HoldLimits {
    /// 2^19 commands and 1 GiB.
    fn default() -> Self {
        Self { commands: 1 << 19, bytes: 1 << 30 }
    }
}

/// Most commands that wait behind a command that has left and whose result a tracer may still change. An
/// epilogue seldom takes longer than the other threads take for this many commands. A changed result that comes
/// later is not reported.
const WAITING_MAX: usize = 1 << 16;

/// Counts of records that are out of place. A complete trace has none; a cut file, and reading from the middle,
/// cause them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Anomalies {
    /// Leave records whose enter record was not read.
    pub orphan_leaves: u64,
    /// Commands whose leave record never came, though their thread went on.
    pub missing_leaves: u64,
    /// Commands handed out without their leave record because too much waited for it.
    pub late_leaves: u64,
    /// Records that exceeded the limits before their command was complete.
    pub dropped_records: u64,
}

/// Why a block's content is not a stream.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StreamError {
    /// The bytes are not records.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A record contradicts the records before it.
    #[error("record at byte {at} of the block: {why}")]
    Track {
        /// Where the record begins, in bytes from the block's start.
        at: usize,
        /// The contradiction.
        why: TrackError,
    },
}

/// Result of [`Assembler::advance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// [`Assembler::command`] has the next command.
    Command,
    /// The block is used up: call [`Assembler::refill`] or [`Assembler::finish`].
    NeedsBlock,
    /// There are no more commands.
    Done,
}

/// Makes commands of the blocks that it is given.
#[derive(Clone)]
pub struct Assembler {
    limits: HoldLimits,
    tracker: Tracker,
    story: Story,
    /// Content of the block that is being read.
    block: Arc<Vec<u8>>,
    /// Where the next record begins in `block`, in bytes.
    at: usize,
    /// The last command of each thread, by thread index.
    last: Vec<LastCommand>,
    announced: Announced,
    queue: EffectQueue,
    /// The command that was handed out last.
    current: Held,
    budget: Budget,
    /// The commands that END lists, by thread.
    ends_in_flight: Vec<InFlight>,
    is_finished: bool,
    anomalies: Anomalies,
    /// True if commands come with the changes that tracers made. Then skipped commands are handed out too, and a
    /// command that has left waits for its thread's next record, which may hold the result that the program got.
    tells_tracers: bool,
    /// What happened beside the commands; `None` if nobody asks.
    events: Option<Box<EventLog>>,
    /// Times on the GPU; `None` if nobody asks.
    gpu_times: Option<Arc<GpuTimes>>,
}

/// State of a thread's last command.
#[derive(Clone, Default, Serialize, Deserialize)]
enum LastCommand {
    /// Complete, or the thread has had none.
    #[default]
    Complete,
    /// It takes effect at its leave record, which has not come.
    Entered(Box<Held>),
    /// It took effect at its enter record and is in the queue; its leave record has not come.
    Queued(QueuePlace),
    /// Like `Queued`, but the command has no leave record, and END may list it as in flight.
    Suspect(QueuePlace),
    /// Its leave record has come. It waits in the queue because a tracer may still change its result.
    Left(QueuePlace),
    /// It was in the queue for too long, and is handed out without its leave record.
    GivenUp,
}

impl Assembler {
    /// An assembler that has been given no block, of a trace that holds its stream from the beginning.
    pub fn new(limits: HoldLimits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
            story: Story::default(),
            block: Arc::default(),
            at: 0,
            last: Vec::new(),
            announced: Announced::default(),
            queue: EffectQueue::default(),
            current: Held::default(),
            budget: Budget::new(limits.bytes),
            ends_in_flight: Vec::new(),
            is_finished: false,
            anomalies: Anomalies::default(),
            tells_tracers: false,
            events: None,
            gpu_times: None,
        }
    }

    /// Notes what happens beside the commands. Call this before the first [`Self::refill`].
    pub fn tell_events(&mut self) {
        self.events = Some(Box::default());
    }

    /// Hands out the events of the records that were read since the last call, in the order of the stream.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> + use<'_> {
        self.events.iter_mut().flat_map(|events| events.drain())
    }

    /// Hands out commands with their times on the GPU. Call this before the first [`Self::refill`].
    pub fn tell_gpu_times(&mut self, times: Arc<GpuTimes>) {
        self.gpu_times = Some(times);
    }

    /// Hands out commands with the changes that tracers made to them, and commands that a tracer skipped. Call
    /// this before the first [`Self::refill`].
    pub fn tell_tracers(&mut self) {
        self.tells_tracers = true;
    }

    /// Takes the list of commands in flight from the stream's END record, for a reader that can look ahead.
    /// Without it a command that has no leave record is taken to have returned.
    pub fn expect_in_flight(&mut self, in_flight: Vec<InFlight>) {
        self.ends_in_flight = in_flight;
        self.ends_in_flight.sort_by_key(|ended| ended.thread);
    }

    /// Says where in its capture the first block begins. Call this before the first [`Self::refill`].
    pub fn begin(&mut self, begin: Begin) {
        self.story = Story::new(begin);
    }

    /// Goes on with the next block, whose records `fill` returns.
    ///
    /// # Errors
    /// The error of `fill`.
    pub fn refill<E>(&mut self, fill: impl FnOnce() -> Result<Arc<Vec<u8>>, E>) -> Result<(), E> {
        self.leave_block();
        self.current = Held::default();
        self.at = 0;
        // Freed before `fill` makes the next one, so that there is one block in memory.
        self.block = Arc::default();
        let filled = fill().map(|block| self.block = block);
        self.tracker.begin_block();
        filled
    }

    /// Says that there are no more blocks: commands without a leave record will not get one.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        for index in 0..self.last.len() {
            match std::mem::take(&mut self.last[index]) {
                LastCommand::Entered(held) => self.queue.push_aside(*held),
                LastCommand::Queued(place) => self.queue.set_aside(place),
                LastCommand::Suspect(place) if self.tracker.end().is_some() => {
                    self.queue.set_aside(place);
                }
                LastCommand::Suspect(place) | LastCommand::Left(place) => {
                    self.queue.set_ready(place);
                }
                LastCommand::GivenUp | LastCommand::Complete => {}
            }
        }
        self.queue.sort_aside();
    }

    /// Goes on to the next command.
    ///
    /// # Errors
    /// [`StreamError`] if the rest of the block is not a stream; that rest is passed over.
    pub fn advance(&mut self) -> Result<Advance, StreamError> {
        let handed_out = std::mem::take(&mut self.current);
        self.budget.give_back(handed_out.own_bytes());
        loop {
            if self.queue.len() > self.limits.commands {
                self.give_up_on_front();
            }
            if self.tells_tracers && self.queue.len() > WAITING_MAX {
                self.give_up_on_tracers();
            }
            if let Some(command) = self.queue.pop_ready() {
                self.current = command;
                if self.current.vacant {
                    continue;
                }
                return Ok(Advance::Command);
            }
            if self.is_finished {
                let Some(command) = self.queue.pop_aside() else { return Ok(Advance::Done) };
                self.current = command;
                return Ok(Advance::Command);
            }
            if self.at >= self.block.len() {
                return Ok(Advance::NeedsBlock);
            }
            let at = self.at;
            match self.step() {
                Ok(None) => {}
                Ok(Some(command)) => {
                    self.current = command;
                    return Ok(Advance::Command);
                }
                Err(error) => {
                    self.at = self.block.len();
                    return Err(match error {
                        StreamError::Track { why, .. } => StreamError::Track { at, why },
                        other => other,
                    });
                }
            }
        }
    }

    /// Returns the command that [`Self::advance`] came to. `blobs` has the blobs that it refers to.
    pub fn command<'a>(
        &'a self,
        description: &'a Description,
        blobs: &'a dyn BlobSource,
    ) -> Command<'a> {
        let held = &self.current;
        let [pid, tid] = self.ids();
        let limits = self.tracker.limits(held.process, held.context);
        held.command(&self.block, [pid, tid], limits, description, blobs)
    }

    /// Moves the command that [`Self::advance`] came to into `batch`, which has to be empty or have commands of the same
    /// block.
    pub(super) fn take_into(&mut self, batch: &mut Batch) {
        let ids = self.ids();
        let held = std::mem::take(&mut self.current);
        self.budget.give_back(held.own_bytes());
        batch.push(held, ids, &self.block, &self.tracker);
    }

    /// Returns the ids of the operating system of the current command's process and thread.
    fn ids(&self) -> [u32; 2] {
        let process = self.tracker.process_at(self.current.process);
        let thread = self.tracker.thread_at(self.current.thread);
        [process.map_or(0, |process| process.pid), thread.map_or(0, |thread| thread.tid)]
    }

    /// Returns the frame of the command that [`Self::advance`] came to.
    pub fn frame(&self) -> u64 {
        self.current.frame
    }

    /// Returns true if commands that took effect wait for their own leave record or for an earlier command's.
    pub fn holds_commands(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Returns the state as of the last record that was read, which may be ahead of the last command.
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// Returns the counts so far.
    pub fn anomalies(&self) -> Anomalies {
        self.anomalies
    }

    /// Takes one record. Returns the command that it completes if this command is the next in order.
    #[inline]
    fn step(&mut self) -> Result<Option<Held>, StreamError> {
        let record = locate(&self.block, self.at)?;
        self.at = record.next;
        if record.header.id() >= META_FIRST {
            self.meta(&record)?;
            return Ok(None);
        }
        let place = self.tracker.command(record.header, record.stamp).map_err(tracked)?;
        if self.last.len() <= place.thread as usize {
            self.last.resize_with(place.thread as usize + 1, LastCommand::default);
        }
        if self.story.passes_over(place.thread, record.header.flags()) {
            self.announced.forget(place.thread);
            return Ok(None);
        }
        let held = if record.header.flags() & LEAVE != 0 {
            self.leave(&record, place)
        } else {
            self.enter(&record, place)
        };
        Ok(match held {
            Some(held) if self.queue.is_empty() && held.ready => Some(held),
            Some(held) => {
                self.queue.push(held);
                None
            }
            None => None,
        })
    }

    fn enter(&mut self, record: &Located, place: Place) -> Option<Held> {
        let thread = place.thread as usize;
        if !matches!(self.last[thread], LastCommand::Complete) {
            self.abandon(place.thread);
        }
        let mut held = Held {
            seq: place.seq,
            enter_stamp: Some(place.stamp),
            context: place.context,
            frame: place.frame,
            process: place.process,
            thread: place.thread,
            id: record.header.id(),
            ready: true,
            is_setup: record.header.flags() & SETUP != 0,
            ends_frame: record.header.flags() & FRAME_END != 0,
            begin_ns: place.time_ns,
            frame_end_ns: place.time_ns.filter(|_| record.header.flags() & FRAME_END != 0),
            enter: Span::of(record),
            ..Held::default()
        };
        self.announced.give(&mut held);
        let flags = record.header.flags();
        if flags & LEAVES == 0 {
            if !self.ends_in_flight.is_empty() && self.is_suspect(&held) {
                held.ready = false;
                self.last[thread] = LastCommand::Suspect(self.queue.next_place());
            }
            return Some(held);
        }
        held.ready = false;
        if flags & EFFECT != 0 {
            self.last[thread] = LastCommand::Queued(self.queue.next_place());
            return Some(held);
        }
        self.last[thread] = LastCommand::Entered(Box::new(held));
        None
    }

    fn leave(&mut self, record: &Located, place: Place) -> Option<Held> {
        let (thread, id) = (place.thread as usize, record.header.id());
        match std::mem::take(&mut self.last[thread]) {
            LastCommand::Entered(held) if held.id == id => {
                let mut held = *held;
                (held.seq, held.frame) = (place.seq, place.frame);
                held.complete(record, place);
                add_gpu_times(self.gpu_times.as_deref(), &self.tracker, &mut held);
                if self.tells_tracers && !held.is_setup {
                    held.ready = false;
                    self.last[thread] = LastCommand::Left(self.queue.next_place());
                }
                Some(held)
            }
            LastCommand::Queued(at) if self.queue.at(at).is_some_and(|held| held.id == id) => {
                if let Some(held) = self.queue.at(at) {
                    held.complete(record, place);
                    add_gpu_times(self.gpu_times.as_deref(), &self.tracker, held);
                    held.ready = !self.tells_tracers || held.is_setup;
                    if !held.ready {
                        self.last[thread] = LastCommand::Left(at);
                    }
                }
                None
            }
            LastCommand::GivenUp => None,
            other => {
                self.last[thread] = other;
                self.orphan(record, place)
            }
        }
    }

    /// Takes a leave record whose enter record was not read. It makes a command if the command took effect
    /// at it.
    #[cold]
    fn orphan(&mut self, record: &Located, place: Place) -> Option<Held> {
        self.anomalies.orphan_leaves += 1;
        self.abandon(place.thread);
        place.seq?;
        let mut held = Held {
            seq: place.seq,
            context: place.context,
            frame: place.frame,
            process: place.process,
            thread: place.thread,
            id: record.header.id(),
            ..Held::default()
        };
        held.complete(record, place);
        add_gpu_times(self.gpu_times.as_deref(), &self.tracker, &mut held);
        Some(held)
    }

    /// Closes the open command of a thread that has gone on: the leave record will not come.
    fn abandon(&mut self, thread: u32) {
        match std::mem::take(&mut self.last[thread as usize]) {
            LastCommand::Complete => {}
            LastCommand::Suspect(place) | LastCommand::Left(place) => self.queue.set_ready(place),
            LastCommand::Queued(place) => {
                self.anomalies.missing_leaves += 1;
                self.queue.set_ready(place);
            }
            LastCommand::Entered(mut held) => {
                self.anomalies.missing_leaves += 1;
                held.ready = true;
                self.queue.push(*held);
            }
            LastCommand::GivenUp => self.queue.has_gone_on(thread),
        }
    }

    fn meta(&mut self, record: &Located) -> Result<(), StreamError> {
        let payload = &self.block[record.payload_start..record.payload_end];
        let meta = self.tracker.meta(record.header, record.stamp, payload).map_err(tracked)?;
        if let Some(events) = &mut self.events {
            events.take(&self.tracker, &meta);
        }
        let Some(thread) = self.tracker.current() else { return Ok(()) };
        let process = self.tracker.thread_at(thread).map_or(0, |thread| thread.process);
        self.story.meta(thread, process, &meta);
        match meta {
            Meta::Frame(frame) if matches!(frame.kind, FrameKind::Hash | FrameKind::Blob) => {
                self.announced.frame(thread, frame);
            }
            Meta::Gap(_) => self.announced.forget(thread),
            Meta::Traced(traced) if self.tells_tracers => {
                let note = TracerNote::of(&traced);
                self.tracer_note(thread, process, traced.id, note);
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the content of a TRACED record of the current thread about a command of function `id`.
    fn tracer_note(&mut self, thread: u32, process: u32, id: u16, note: TracerNote) {
        match note {
            TracerNote::Next(traces) => self.announced.traces(thread, id, traces),
            TracerNote::Previous(given) => {
                let Some(&LastCommand::Left(place)) = self.last.get(thread as usize) else {
                    return;
                };
                if let Some(held) = self.queue.at(place).filter(|held| held.id == id) {
                    held.traces.get_or_insert_default().given = Some(given);
                }
                self.queue.set_ready(place);
                self.last[thread as usize] = LastCommand::Complete;
            }
            TracerNote::Skipped { traces, args, result } => {
                let traces = self.announced.skipped(thread, id, traces);
                let [enter, leave] = [args, result].map(|bytes| Span::own(bytes, &mut self.budget));
                let track = self.tracker.thread_at(thread);
                let frame = self.tracker.process_at(process).map_or(0, |process| process.frames);
                self.queue.push(Held {
                    enter_stamp: track.map(|track| track.stamp),
                    context: track.map_or(0, |track| track.context),
                    frame,
                    process,
                    thread,
                    id,
                    ready: true,
                    enter,
                    leave,
                    traces: Some(traces),
                    ..Held::default()
                });
            }
            TracerNote::Unknown => {}
        }
    }

    /// Returns true if END lists this command, or one with the same function and stamp, as in flight.
    fn is_suspect(&self, held: &Held) -> bool {
        self.ended_in_flight(held.thread)
            .is_some_and(|ended| ended.id == held.id && Some(ended.stamp) == held.enter_stamp)
    }

    fn ended_in_flight(&self, thread: u32) -> Option<&InFlight> {
        let at = self.ends_in_flight.binary_search_by_key(&thread, |ended| ended.thread).ok()?;
        self.ends_in_flight.get(at)
    }

    /// Stops waiting for the leave record of the queue's front, because too much waits behind it.
    #[cold]
    fn give_up_on_front(&mut self) {
        let Some((place, front)) = self.queue.front() else { return };
        if std::mem::replace(&mut front.ready, true) {
            return;
        }
        let thread = front.thread;
        let last = &mut self.last[thread as usize];
        if let LastCommand::Left(_) = last {
            *last = LastCommand::Complete;
            return;
        }
        *last = LastCommand::GivenUp;
        match self.ended_in_flight(thread) {
            Some(_) => self.queue.set_aside(place),
            None => self.anomalies.late_leaves += 1,
        }
    }

    /// Stops waiting for a changed result of the queue's front, because too much waits behind it.
    fn give_up_on_tracers(&mut self) {
        let front = self.queue.front().filter(|(_, front)| !front.ready);
        let Some((_, front)) = front else { return };
        let last = &mut self.last[front.thread as usize];
        if let LastCommand::Left(_) = last {
            *last = LastCommand::Complete;
            front.ready = true;
        }
    }

    /// Copies the held bytes of the current block, which is about to be freed.
    fn leave_block(&mut self) {
        let Self { queue, last, block, budget, anomalies, .. } = self;
        anomalies.dropped_records += queue.leave_block(block, budget);
        for last in last {
            if let LastCommand::Entered(held) = last {
                anomalies.dropped_records += held.leave_block(block, budget);
            }
        }
    }
}

/// Adds the times on the GPU to a command that has returned.
fn add_gpu_times(times: Option<&GpuTimes>, tracker: &Tracker, held: &mut Held) {
    let (Some(times), Some(begin_ns)) = (times, held.begin_ns) else { return };
    let Some(thread) = tracker.thread_at(held.thread) else { return };
    held.gpu = times.spans(held.process, thread.tid, begin_ns).collect();
    held.submitted_gpu_ns = times.submitted_ns(held.process, begin_ns);
}

fn tracked(why: TrackError) -> StreamError {
    StreamError::Track { at: 0, why }
}
