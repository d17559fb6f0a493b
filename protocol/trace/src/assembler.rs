//! Makes commands of records: pairs enter with leave, and puts commands in the order in which they
//! take effect.
//!
//! A command is handed out when its leave record has been seen, and no command before those that
//! took effect earlier. What has to wait is held within limits; nothing is held by a thread that
//! has no command open. Reads no file: blocks are given to it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::blobs::BlobSource;
use super::command::{Blobs, Command, Traces};
use super::description::Description;
use super::meta::{Meta, Traced};
use super::record::{Located, RecordError, locate};
use super::story::{Begin, Story};
use super::tracker::{Place, TrackError, Tracker};
use gapii_abi::atom::{
    EFFECT, FRAME_END, Frame, FrameKind, InFlight, LEAVE, LEAVES, META_FIRST, SETUP, TracedKind,
};

/// How much an [`Assembler`] holds of commands that are not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Commands that wait for an earlier one.
    pub held_commands: usize,
    /// Bytes of records, those of the block being read not counted.
    pub held_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { held_commands: 1 << 19, held_bytes: 1 << 30 }
    }
}

/// Commands that wait behind one that has left, for what tracers made of its result. Epilogues seldom take
/// longer than others take to make so many; a result that comes later is not told.
const WAITING_MAX: usize = 1 << 16;

/// What was not as a whole trace has it. Cut ends and reading from the middle cause these too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
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
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("record at byte {at} of the block: {why}")]
    Track { at: usize, why: TrackError },
}

/// What [`Assembler::advance`] came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// [`Assembler::command`] has the next command.
    Command,
    /// The block is used up: [`Assembler::refill`] or [`Assembler::finish`].
    NeedsBlock,
    /// There are no more commands.
    Done,
}

/// Makes commands of the blocks it is given.
pub struct Assembler {
    limits: Limits,
    tracker: Tracker,
    story: Story,
    raw: Arc<Vec<u8>>,
    at: usize,
    /// By thread.
    lanes: Vec<Open>,
    /// In order of effect.
    queue: VecDeque<Held>,
    /// Commands that have left `queue` at its front, ever.
    popped: u64,
    /// Commands that were open at the end, or too long.
    aside: VecDeque<Held>,
    current: Held,
    ends_in_flight: Vec<InFlight>,
    held_bytes: usize,
    finished: bool,
    anomalies: Anomalies,
    /// What was said of the next command of a thread.
    ahead: BTreeMap<u32, Ahead>,
    /// What tracers did is told: commands that never reached the driver are handed out, and one that has
    /// left waits for its thread's next record, which may say what the program got.
    tells_tracers: bool,
}

/// What records ahead of a command say of it.
#[derive(Default)]
struct Ahead {
    /// The frame that was read back for it.
    frame: Option<Box<Frame>>,
    /// Function id, and what tracers did.
    traces: Option<(u16, Box<Traces>)>,
}

/// A thread's last command.
#[derive(Default)]
enum Open {
    /// Complete, or there was none.
    #[default]
    None,
    /// Takes effect at leave.
    Entered(Box<Held>),
    /// Took effect at enter; in the queue at this place, counted from the stream's start.
    Queued(u64),
    /// The same, has no leave record, and may be the one that was in flight at the end.
    Suspect(u64),
    /// Has its leave record, and waits in the queue for what tracers made of its result.
    Left(u64),
    /// Was in the queue for too long.
    Aside,
}

/// A command and where its bytes are.
#[derive(Default)]
struct Held {
    seq: Option<u64>,
    enter_stamp: Option<u64>,
    leave_stamp: Option<u64>,
    driver_ns: Option<u64>,
    context: u64,
    frame: u64,
    process: u32,
    thread: u32,
    id: u16,
    ready: bool,
    in_flight: bool,
    /// Was set aside; only its place in the queue is left.
    vacant: bool,
    is_setup: bool,
    ends_frame: bool,
    enter: Span,
    leave: Span,
    frame_seen: Option<Box<Frame>>,
    traces: Option<Box<Traces>>,
}

/// Bytes of a record's payload.
#[derive(Default)]
enum Span {
    #[default]
    None,
    /// In the block that is being read.
    Block { start: u32, end: u32 },
    /// Of a block before it.
    Own(Box<[u8]>),
}

impl Assembler {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
            story: Story::default(),
            raw: Arc::default(),
            at: 0,
            lanes: Vec::new(),
            queue: VecDeque::new(),
            popped: 0,
            aside: VecDeque::new(),
            current: Held::default(),
            ends_in_flight: Vec::new(),
            held_bytes: 0,
            finished: false,
            anomalies: Anomalies::default(),
            ahead: BTreeMap::new(),
            tells_tracers: false,
        }
    }

    /// Has commands come with what tracers did to them, and those as well that a tracer had skipped. To be
    /// said before the first block.
    pub fn tell_tracers(&mut self) {
        self.tells_tracers = true;
    }

    /// What the stream's END record says is in flight, for a reader that can look ahead. Without it
    /// a command that has no leave record is taken to have returned.
    pub fn expect_in_flight(&mut self, in_flight: Vec<InFlight>) {
        self.ends_in_flight = in_flight;
        self.ends_in_flight.sort_by_key(|ended| ended.thread);
    }

    /// Where in its capture the first block begins that it is given. To be said before.
    pub fn begin(&mut self, begin: Begin) {
        self.story = Story::new(begin);
    }

    /// Gives it the next block: `fill` replaces the content of the buffer.
    pub fn refill<E>(&mut self, fill: impl FnOnce() -> Result<Arc<Vec<u8>>, E>) -> Result<(), E> {
        self.own_held();
        self.current = Held::default();
        self.at = 0;
        // Let go of before there is another.
        self.raw = Arc::default();
        let filled = fill().map(|raw| self.raw = raw);
        self.tracker.begin_block();
        filled
    }

    /// There are no more blocks: what is open will stay so.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        for index in 0..self.lanes.len() {
            match std::mem::take(&mut self.lanes[index]) {
                Open::Entered(held) => self.aside.push_back(Held { in_flight: true, ..*held }),
                Open::Queued(place) => self.set_aside(place, true),
                Open::Suspect(place) => self.set_aside(place, self.tracker.end().is_some()),
                Open::Left(place) => self.set_ready(place),
                Open::Aside | Open::None => {}
            }
        }
        self.aside.make_contiguous().sort_by_key(|held| (held.enter_stamp, held.thread));
    }

    /// Goes on to the next command. After an error the rest of the block is passed over.
    pub fn advance(&mut self) -> Result<Advance, StreamError> {
        self.release_current();
        loop {
            if self.queue.len() > self.limits.held_commands {
                self.force_front();
            }
            if self.tells_tracers && self.queue.len() > WAITING_MAX {
                self.go_on_without_word();
            }
            if self.queue.front().is_some_and(|held| held.ready) {
                self.popped += 1;
                self.current = self.queue.pop_front().unwrap_or_default();
                if self.current.vacant {
                    continue;
                }
                return Ok(Advance::Command);
            }
            if self.finished {
                return Ok(self.advance_aside());
            }
            if self.at >= self.raw.len() {
                return Ok(Advance::NeedsBlock);
            }
            let at = self.at;
            match self.step() {
                Ok(None) => {}
                Ok(Some(held)) => {
                    self.current = held;
                    return Ok(Advance::Command);
                }
                Err(error) => {
                    self.at = self.raw.len();
                    return Err(match error {
                        StreamError::Track { why, .. } => StreamError::Track { at, why },
                        other => other,
                    });
                }
            }
        }
    }

    /// The command that [`Self::advance`] came to; `blobs` has what it refers to.
    pub fn command<'a>(
        &'a self,
        description: &'a Description,
        blobs: &'a dyn BlobSource,
    ) -> Command<'a> {
        let held = &self.current;
        let process = self.tracker.process_at(held.process);
        let thread = self.tracker.thread_at(held.thread);
        Command {
            seq: held.seq,
            process: held.process,
            pid: process.map_or(0, |process| process.pid),
            thread: held.thread,
            tid: thread.map_or(0, |thread| thread.tid),
            context: held.context,
            limits: self.tracker.limits(held.process, held.context),
            frame: held.frame,
            enter_stamp: held.enter_stamp,
            leave_stamp: held.leave_stamp,
            driver_ns: held.driver_ns,
            in_flight: held.in_flight,
            is_setup: held.is_setup,
            ends_frame: held.ends_frame,
            id: held.id,
            function: description.function(held.id),
            description,
            enter: held.enter.bytes(&self.raw),
            leave: held.leave.bytes(&self.raw),
            traces: held.traces.as_deref(),
            observed_frame: held.frame_seen.as_deref(),
            blobs: Blobs(blobs),
        }
    }

    /// The frame of the command that [`Self::advance`] came to.
    pub fn frame(&self) -> u64 {
        self.current.frame
    }

    /// Whether commands that took effect wait for their own leave record or an earlier command's.
    pub fn holds_commands(&self) -> bool {
        !self.queue.is_empty()
    }

    /// State as of the last record that was read, which may be ahead of the last command.
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    pub fn anomalies(&self) -> Anomalies {
        self.anomalies
    }

    /// Takes one record. Returns the command it completes if that is next in order.
    #[inline]
    fn step(&mut self) -> Result<Option<Held>, StreamError> {
        let record = locate(&self.raw, self.at)?;
        self.at = record.next;
        if record.header.id() >= META_FIRST {
            self.meta(&record)?;
            return Ok(None);
        }
        let place = self.tracker.command(record.header, record.stamp).map_err(tracked)?;
        if self.lanes.len() <= place.thread as usize {
            self.lanes.resize_with(place.thread as usize + 1, Open::default);
        }
        if self.story.passes_over(place.thread, record.header.flags()) {
            self.ahead.remove(&place.thread);
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
                self.queue.push_back(held);
                None
            }
            None => None,
        })
    }

    fn enter(&mut self, record: &Located, place: Place) -> Option<Held> {
        if !matches!(self.lanes[place.thread as usize], Open::None) {
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
            enter: Span::of(record),
            ..Held::default()
        };
        if !self.ahead.is_empty() {
            self.take_ahead(&mut held);
        }
        let flags = record.header.flags();
        if flags & LEAVES == 0 {
            if !self.ends_in_flight.is_empty() && self.is_suspect(&held) {
                held.ready = false;
                self.lanes[place.thread as usize] = Open::Suspect(self.next_place());
            }
            return Some(held);
        }
        held.ready = false;
        if flags & EFFECT != 0 {
            self.lanes[place.thread as usize] = Open::Queued(self.next_place());
            return Some(held);
        }
        self.lanes[place.thread as usize] = Open::Entered(Box::new(held));
        None
    }

    fn leave(&mut self, record: &Located, place: Place) -> Option<Held> {
        match std::mem::take(&mut self.lanes[place.thread as usize]) {
            Open::Entered(held) if held.id == record.header.id() => {
                let mut held = *held;
                (held.seq, held.frame) = (place.seq, place.frame);
                held.complete(record, place);
                if self.waits_for_tracers(&held) {
                    held.ready = false;
                    self.lanes[place.thread as usize] = Open::Left(self.next_place());
                }
                Some(held)
            }
            Open::Queued(at) if self.queued(at).is_some_and(|h| h.id == record.header.id()) => {
                let tells_tracers = self.tells_tracers;
                if let Some(held) = self.queued(at) {
                    held.complete(record, place);
                    held.ready = !tells_tracers || held.is_setup;
                    if !held.ready {
                        self.lanes[place.thread as usize] = Open::Left(at);
                    }
                }
                None
            }
            Open::Aside => None,
            other => {
                self.lanes[place.thread as usize] = other;
                self.orphan(record, place)
            }
        }
    }

    /// What was said ahead of a command is this one's.
    #[cold]
    fn take_ahead(&mut self, held: &mut Held) {
        let Some(ahead) = self.ahead.remove(&held.thread) else { return };
        held.frame_seen = ahead.frame;
        match ahead.traces {
            Some((id, traces)) if !held.is_setup && id == held.id => held.traces = Some(traces),
            // Nobody called a command of a snapshot, which may come in between.
            traces if held.is_setup && traces.is_some() => {
                self.ahead.insert(held.thread, Ahead { frame: None, traces });
            }
            _ => {}
        }
    }

    /// The thread's next record may say what tracers made of the result.
    fn waits_for_tracers(&self, held: &Held) -> bool {
        self.tells_tracers && !held.is_setup
    }

    /// A leave record whose enter record was not read: a command if it took effect here.
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
        Some(held)
    }

    /// The thread goes on: its open command will have no leave record.
    fn abandon(&mut self, thread: u32) {
        match std::mem::take(&mut self.lanes[thread as usize]) {
            Open::None => {}
            Open::Suspect(place) | Open::Left(place) => self.set_ready(place),
            Open::Queued(place) => {
                self.anomalies.missing_leaves += 1;
                self.set_ready(place);
            }
            Open::Entered(mut held) => {
                self.anomalies.missing_leaves += 1;
                held.ready = true;
                self.queue.push_back(*held);
            }
            Open::Aside => {
                for held in self.aside.iter_mut().filter(|held| held.thread == thread) {
                    held.in_flight = false;
                }
            }
        }
    }

    fn meta(&mut self, record: &Located) -> Result<(), StreamError> {
        let payload = &self.raw[record.payload_start..record.payload_end];
        let meta = self.tracker.meta(record.header, record.stamp, payload).map_err(tracked)?;
        let Some(thread) = self.tracker.current() else { return Ok(()) };
        let process = self.tracker.thread_at(thread).map_or(0, |thread| thread.process);
        self.story.meta(thread, process, &meta);
        match meta {
            Meta::Frame(frame) if matches!(frame.kind, FrameKind::Hash | FrameKind::Blob) => {
                self.ahead.entry(thread).or_default().frame = Some(Box::new(frame));
            }
            Meta::Gap(_) => {
                self.ahead.remove(&thread);
            }
            Meta::Traced(traced) if self.tells_tracers => {
                let said = said(&traced);
                self.traced(thread, process, traced.id, said);
            }
            _ => {}
        }
        Ok(())
    }

    /// A record of tracers', of the thread whose records come now.
    fn traced(&mut self, thread: u32, process: u32, id: u16, said: Said) {
        match said {
            Said::Ahead(traces) => {
                self.ahead.entry(thread).or_default().traces = Some((id, traces));
            }
            Said::Behind(given) => {
                let Some(&Open::Left(place)) = self.lanes.get(thread as usize) else { return };
                if let Some(held) = self.queued(place).filter(|held| held.id == id) {
                    held.traces.get_or_insert_default().given = Some(given);
                }
                self.set_ready(place);
                self.lanes[thread as usize] = Open::None;
            }
            Said::Instead { traces, args, result } => {
                let [args, result] = [args, result].map(|bytes| self.own(bytes));
                let track = self.tracker.thread_at(thread);
                let frames = self.tracker.process_at(process).map_or(0, |process| process.frames);
                self.queue.push_back(Held {
                    enter_stamp: track.map(|track| track.stamp),
                    context: track.map_or(0, |track| track.context),
                    frame: frames,
                    process,
                    thread,
                    id,
                    ready: true,
                    enter: args,
                    leave: result,
                    traces: Some(traces),
                    ..Held::default()
                });
            }
            Said::Nothing => {}
        }
    }

    /// Bytes that are held, within the limit.
    fn own(&mut self, bytes: Box<[u8]>) -> Span {
        if bytes.is_empty() || self.held_bytes + bytes.len() > self.limits.held_bytes {
            return Span::None;
        }
        self.held_bytes += bytes.len();
        Span::Own(bytes)
    }

    fn set_ready(&mut self, place: u64) {
        if let Some(held) = self.queued(place) {
            held.ready = true;
        }
    }

    /// Whether END says that this command, or one just like it, was in flight.
    fn is_suspect(&self, held: &Held) -> bool {
        self.ended_in_flight(held.thread)
            .is_some_and(|ended| ended.id == held.id && Some(ended.stamp) == held.enter_stamp)
    }

    fn ended_in_flight(&self, thread: u32) -> Option<&InFlight> {
        let at = self.ends_in_flight.binary_search_by_key(&thread, |ended| ended.thread).ok()?;
        self.ends_in_flight.get(at)
    }

    /// The place in the queue, counted from the stream's start, that the next command gets.
    fn next_place(&self) -> u64 {
        self.popped + self.queue.len() as u64
    }

    fn queued(&mut self, place: u64) -> Option<&mut Held> {
        let index = place.checked_sub(self.popped)?;
        self.queue.get_mut(usize::try_from(index).ok()?)
    }

    /// Takes a command out of the queue's order, to be handed out after all others.
    fn set_aside(&mut self, place: u64, in_flight: bool) {
        let Some(held) = self.queued(place) else { return };
        held.ready = true;
        if !in_flight {
            return;
        }
        // Its place stays, empty, so that the places of others stay true.
        let vacant = Held { ready: true, vacant: true, ..Held::default() };
        let mut aside = std::mem::replace(held, vacant);
        aside.in_flight = true;
        self.aside.push_back(aside);
    }

    /// Too much waits for the front of the queue.
    #[cold]
    fn force_front(&mut self) {
        let Some(front) = self.queue.front_mut() else { return };
        if std::mem::replace(&mut front.ready, true) {
            return;
        }
        let thread = front.thread;
        let lane = &mut self.lanes[thread as usize];
        if let Open::Left(_) = lane {
            *lane = Open::None;
            return;
        }
        *lane = Open::Aside;
        match self.ended_in_flight(thread) {
            Some(_) => self.set_aside(self.popped, true),
            None => self.anomalies.late_leaves += 1,
        }
    }

    /// Too much waits for what tracers may have made of the result of the queue's front.
    fn go_on_without_word(&mut self) {
        let Some(front) = self.queue.front_mut().filter(|front| !front.ready) else { return };
        let lane = &mut self.lanes[front.thread as usize];
        if let Open::Left(_) = lane {
            *lane = Open::None;
            front.ready = true;
        }
    }

    fn advance_aside(&mut self) -> Advance {
        match self.aside.pop_front() {
            Some(held) => {
                self.current = held;
                Advance::Command
            }
            None => Advance::Done,
        }
    }

    /// Copies what is held of the block that is about to go.
    fn own_held(&mut self) {
        let entered = self.lanes.iter_mut().filter_map(|lane| match lane {
            Open::Entered(held) => Some(held.as_mut()),
            _ => None,
        });
        for held in self.queue.iter_mut().chain(&mut self.aside).chain(entered) {
            for span in [&mut held.enter, &mut held.leave] {
                let Span::Block { start, end } = *span else { continue };
                let len = (end - start) as usize;
                if self.held_bytes + len > self.limits.held_bytes {
                    self.anomalies.dropped_records += 1;
                    *span = Span::None;
                    continue;
                }
                self.held_bytes += len;
                *span = Span::Own(self.raw[start as usize..end as usize].into());
            }
        }
    }

    fn release_current(&mut self) {
        let held = std::mem::take(&mut self.current);
        let own = [&held.enter, &held.leave].map(|span| match span {
            Span::Own(bytes) => bytes.len(),
            _ => 0,
        });
        self.held_bytes = self.held_bytes.saturating_sub(own[0] + own[1]);
    }
}

/// What a record of tracers' says, and where the command is that it says it of.
enum Said {
    Ahead(Box<Traces>),
    Behind(Box<[u8]>),
    Instead {
        traces: Box<Traces>,
        args: Box<[u8]>,
        result: Box<[u8]>,
    },
    /// In a way that only later versions know.
    Nothing,
}

fn said(traced: &Traced<'_>) -> Said {
    let made = || Some(Box::from(traced.made));
    match traced.kind {
        TracedKind::Own => Said::Ahead(Box::new(Traces { is_own: true, ..Traces::default() })),
        TracedKind::Changed => Said::Ahead(Box::new(Traces { made: made(), ..Traces::default() })),
        TracedKind::Result => Said::Behind(Box::from(traced.given)),
        TracedKind::Skipped => {
            let made = if traced.made == traced.left { None } else { made() };
            let traces = Box::new(Traces { is_skipped: true, made, ..Traces::default() });
            Said::Instead { traces, args: Box::from(traced.left), result: Box::from(traced.given) }
        }
        TracedKind::Other(_) => Said::Nothing,
    }
}

impl Held {
    fn complete(&mut self, record: &Located, place: Place) {
        self.leave_stamp = Some(place.stamp);
        self.driver_ns = record.driver_ns;
        self.ends_frame |= record.header.flags() & FRAME_END != 0;
        self.leave = Span::of(record);
        self.ready = true;
    }
}

impl Span {
    fn of(record: &Located) -> Self {
        Self::Block { start: record.payload_start as u32, end: record.payload_end as u32 }
    }

    fn bytes<'a>(&'a self, raw: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::None => None,
            Self::Block { start, end } => raw.get(*start as usize..*end as usize),
            Self::Own(bytes) => Some(bytes),
        }
    }
}

fn tracked(why: TrackError) -> StreamError {
    StreamError::Track { at: 0, why }
}
