//! Puts merged records into blocks: the stream, before compression.
//!
//! Pure: no clock, no ring, no file. Takes whole, validated records in their final order, and states
//! process, thread and context in every block, so that each can be read alone. Copies runs as they
//! are; looks at every record once, at its header word (and at what the few records say that are
//! not commands).

mod standing;

use std::sync::Arc;

use gapii_abi::atom::{
    self, BLOB, CaptureEnd, EFFECT, FRAME, FRAME_END, Header, KEYFRAME, LEAVE, RECORD_LEN_MAX,
    SETUP, STORED, STORED_PIECE_MAX, Seam,
};
use gapii_protocol::trace::Description;
use gapii_protocol::trace::append::AppendTo;
use gapii_protocol::trace::footer::{GapEntry, Lost};
use gapii_protocol::trace::meta::{self, Meta, MetaError};
use gapii_protocol::trace::rings::RingState;
use gapii_protocol::trace::story::Begin;

use crate::filtering::Filtering;
use crate::plain::PlainPayloads;
use crate::selection::{Owner, Selection, is_landmark};
use crate::store::Store;

pub use self::standing::{RingNote, RingPlace, RingSite, index_at, is_count_of_threads};

/// A ring, by the order in which the assembler was told of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingKey(pub u32);

/// A process, by the order in which the assembler was told of it; not its index in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberKey(pub u32);

/// Records of one ring that follow each other in the stream.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub ring: RingKey,
    pub records: &'a [u8],
    /// Where the ring was before: behind the record before the first one.
    pub start: RingPlace,
    /// Ring index behind the last record.
    pub end_index: u64,
}

/// A finished block, and what has to be known of it without reading it.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub raw: Vec<u8>,
    /// Commands that took effect before the block, and in it.
    pub first_seq: u64,
    pub seqs: u32,
    /// Per thread, the records of it in the block.
    pub records: Vec<(u32, u64)>,
    /// Ends of frames: process and number, as in the trace's index.
    pub frame_ends: Vec<(u32, u64)>,
    /// The records that hold memory, in order.
    pub memory: Vec<Memory>,
    /// Bytes that some of them only name, and that are still to come; see [`fill`](crate::fill).
    pub unfilled_bytes: usize,
    pub threads: Vec<ThreadLabel>,
    /// What its records say was lost.
    pub gaps: Vec<GapEntry>,
    /// Its first record of an application is a keyframe.
    pub is_keyframe: bool,
    /// For how long a thread was held for a snapshot, at most, in microseconds, and what that leaves out.
    pub held_us: u64,
    pub missing: Vec<String>,
    /// Ring space below the index may be reused once the block is safe.
    pub releases: Vec<(RingKey, u64)>,
}

/// A record of a block that holds memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub thread: u32,
    /// Where in the block it begins.
    pub at: u32,
    /// What it names is in this store, or it is a piece of what the store of that number is to hold.
    pub store: Option<(Arc<Store>, u64)>,
}

/// A thread that has records in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadLabel {
    pub thread: u32,
    pub process: u32,
    pub tid: u32,
    name: [u8; 16],
}

impl ThreadLabel {
    pub fn name(&self) -> String {
        name_text(&self.name)
    }
}

/// The text of a name that is padded with NULs.
pub fn name_text(name: &[u8; 16]) -> String {
    String::from_utf8_lossy(gapii_abi::app::until_nul(name)).into_owned()
}

/// Why a record can't go into the stream; its ring must not be read on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Meta(#[from] MetaError),
    #[error("record {0:#06x} is only for the daemon to write")]
    DaemonOnly(u16),
    #[error("record {0:#06x} is of no kind that there is")]
    Unknown(u16),
    #[error("thread {tid} writes into the ring of thread {owner}")]
    OtherThread { owner: u32, tid: u32 },
    #[error("record {0:#06x} has a time, which only leave records of a timed capture have")]
    Timed(u16),
    #[error("a piece of {len} bytes at {offset} of {total}, as it were, is in the daemon's store")]
    Stored { total: u64, offset: u64, len: u64 },
    #[error("more of the daemon's store is asked for than is there")]
    StoredTooOften,
    #[error("more than {THREADS_MAX} threads in one capture")]
    Threads,
}

/// What the stream knows of a process.
#[derive(Default)]
pub struct Member {
    /// Index in the trace, from its first record on.
    pub process: Option<u32>,
    pub pid: u32,
    pub start_ns: u64,
    pub name: Vec<u8>,
    /// Frames that ended in the stream.
    pub frames: u64,
    /// What its CAPTURE_END record says.
    pub ended: Option<CaptureEnd>,
    /// What holds its blobs from one capture to the next.
    store: Option<Arc<Store>>,
    /// What of it belongs to the stream; all does without one.
    selection: Option<Selection>,
    /// Frames after which no more of it does.
    frame_limit: Option<u64>,
    /// What it does is missing, up to the next keyframe.
    is_missing: bool,
    /// Bytes of it that its records have named since the capture or its keyframe began.
    named_bytes: u64,
    stated_in: u64,
}

/// What the stream knows of a thread.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub process: u32,
    pub tid: u32,
    pub name: [u8; 16],
    pub api: u32,
    pub context: u64,
    /// Stamp of its last record.
    pub stamp: u64,
    /// Records in the stream.
    pub records: u64,
    pub last_command: Option<LastCommand>,
    /// What its gaps have told of.
    pub told: Lost,
    stated_in: u64,
    records_in_block: u64,
}

/// The last record of a thread that is a command's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastCommand {
    pub id: u16,
    pub flags: u16,
    pub stamp: u64,
    /// Ring index behind the record.
    pub end_index: u64,
}

/// Threads that one capture takes: a bound for what an application can make the daemon remember.
const THREADS_MAX: usize = 1 << 16;
/// Gaps that are listed one by one; later ones are added to the thread's last.
const GAPS_MAX: usize = 1 << 14;
/// Bytes that a process may name of its store before its next keyframe, in times of what that may hold: who
/// names more means to keep the daemon busy.
const NAMED_TIMES: u64 = 4;
/// Sentences about what snapshots leave out, at most.
pub const MISSING_MAX: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
struct Ring {
    member: MemberKey,
    /// Index in the trace of the thread that owns the ring now.
    thread: Option<u32>,
    owner: Owner,
    /// Records of it that do not belong to the stream.
    left_out: u64,
    /// Stamp of such a record, which the next command continues without saying so.
    owed_stamp: Option<u64>,
    released_in: u64,
    site: RingSite,
    /// Where it was when it came.
    begun_index: u64,
    /// Behind the last record that was taken, or does not belong to the stream.
    place: RingPlace,
    note: RingNote,
}

/// The stream so far. Blocks are numbered from 1 inside, so that 0 is no block.
pub struct Assembler {
    /// A block is full from here on, in bytes.
    block_bytes: usize,
    /// Bytes of blobs in the open block, which make it full at a quarter of that: they compress
    /// by themselves as well as together, and their ring space is wanted.
    blobs_in_block: usize,
    /// Bytes that were passed over since it was opened, which hold ring space until it is written, so that it
    /// says so.
    passed_in_block: usize,
    plain: PlainPayloads,
    /// Leave records may say how long the driver took.
    is_timed: bool,
    filter: Option<Arc<Filtering>>,
    rings: Vec<Ring>,
    members: Vec<Member>,
    threads: Vec<Thread>,
    processes: u32,
    gaps: Vec<GapEntry>,
    block: Block,
    /// Number of the block that is open, or was last.
    block_number: u64,
    open: bool,
    opened_ns: u64,
    current_thread: Option<u32>,
    calls: u64,
    left_out_calls: u64,
    records: u64,
    raw_bytes: u64,
    blob_bytes: u64,
    stored_bytes: u64,
    snapshot: bool,
    held_us: u64,
    missing: Vec<String>,
    /// Blocks end with how far the rings are.
    states_rings: bool,
    is_paused: bool,
    /// The next block begins with it.
    seam: Option<Seam>,
    /// Those that blocks have begun with.
    seams: Vec<Seam>,
    /// Rings of the file that nobody has handed over yet.
    absent: Vec<RingState>,
}

impl Assembler {
    /// Blocks are full at `block_bytes`: a record more, and what is stated, can come on top. Only in a
    /// timed capture do records have times.
    pub fn new(block_bytes: usize, is_timed: bool) -> Self {
        Self {
            block_bytes,
            blobs_in_block: 0,
            passed_in_block: 0,
            plain: PlainPayloads::of(Description::built_in()),
            is_timed,
            filter: None,
            rings: Vec::new(),
            members: Vec::new(),
            threads: Vec::new(),
            processes: 0,
            gaps: Vec::new(),
            block: Block::default(),
            block_number: 0,
            open: false,
            opened_ns: 0,
            current_thread: None,
            calls: 0,
            left_out_calls: 0,
            records: 0,
            raw_bytes: 0,
            blob_bytes: 0,
            stored_bytes: 0,
            snapshot: false,
            held_us: 0,
            missing: Vec::new(),
            states_rings: false,
            is_paused: false,
            seam: None,
            seams: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Tells of a process. It has a place in the trace from its first record on.
    pub fn add_member(&mut self, pid: u32, start_ns: u64, name: &[u8]) -> MemberKey {
        self.members.push(Member { pid, start_ns, name: name.to_owned(), ..Member::default() });
        MemberKey(self.members.len() as u32 - 1)
    }

    /// What holds the process' blobs from one capture to the next.
    pub fn set_store(&mut self, member: MemberKey, store: Arc<Store>) {
        self.members[member.0 as usize].store = Some(store);
    }

    /// Of processes that are selected from here on only that belongs to the stream which the filter wants.
    pub fn set_filter(&mut self, filter: Filtering) {
        self.filter = Some(Arc::new(filter));
    }

    /// From here on of a process only that belongs to the stream which is new to one that has begun so.
    /// To be said before its rings are.
    pub fn select(&mut self, member: MemberKey, begin: Begin) {
        let selection = Selection::new(begin, self.filter.clone());
        self.members[member.0 as usize].selection = Some(selection);
    }

    /// Behind a gap: a process' part goes on at the keyframe that is appended next, as if it began there.
    pub fn resume(&mut self, member: MemberKey) {
        let mut selection = Selection::resuming(self.filter.clone());
        for ring in self.rings.iter_mut().filter(|ring| ring.member == member) {
            ring.owner = selection.owner();
            ring.owed_stamp = None;
        }
        self.members[member.0 as usize].selection = Some(selection);
    }

    /// Ends a process' part in the stream behind the end of its frame of that number, or of its next one.
    pub fn limit_frames(&mut self, member: MemberKey, frames: u64) {
        self.members[member.0 as usize].frame_limit = Some(frames);
    }

    /// Whether a process' part has come to its end so.
    pub fn is_at_limit(&self, member: MemberKey) -> bool {
        let Member { frames, frame_limit, .. } = self.members[member.0 as usize];
        frame_limit.is_some_and(|limit| frames >= limit)
    }

    /// Tells of a ring of a process, whose next record starts at `place` or behind padding there. Its key
    /// may have been another ring's, which has ended.
    pub fn set_ring(&mut self, ring: RingKey, member: MemberKey, site: RingSite, place: RingPlace) {
        let at = ring.0 as usize;
        let owner = self.members[member.0 as usize].owner();
        let ring = Ring {
            member,
            thread: None,
            owner,
            left_out: 0,
            owed_stamp: None,
            released_in: 0,
            site,
            begun_index: place.index,
            place,
            note: RingNote::default(),
        };
        if self.rings.len() <= at {
            // Keys between are of rings of which this stream has nothing.
            self.rings.resize(at + 1, ring);
        }
        self.rings[at] = ring;
    }

    /// The next record of the ring is of another thread. Returns how many records of the last one did not
    /// belong to the stream.
    pub fn end_thread(&mut self, ring: RingKey) -> u64 {
        let ring = &mut self.rings[ring.0 as usize];
        (ring.thread, ring.owed_stamp) = (None, None);
        ring.owner = self.members[ring.member.0 as usize].owner();
        std::mem::take(&mut ring.left_out)
    }

    /// Records of the ring's thread, so far, that do not belong to the stream.
    pub fn left_out(&self, ring: RingKey) -> u64 {
        self.rings[ring.0 as usize].left_out
    }

    /// Whether the open block has something of the ring.
    pub fn has_open(&self, ring: RingKey) -> bool {
        self.open && self.rings[ring.0 as usize].released_in == self.block_number
    }

    /// Gives the ring a new owner, with a place in the trace.
    pub fn begin_thread(
        &mut self,
        ring: RingKey,
        tid: u32,
        name: [u8; 16],
    ) -> Result<u32, Refusal> {
        if self.threads.len() == THREADS_MAX {
            return Err(Refusal::Threads);
        }
        let thread = self.threads.len() as u32;
        let process = self.place(self.rings[ring.0 as usize].member);
        self.threads.push(Thread { process, tid, name, ..Thread::default() });
        self.rings[ring.0 as usize].thread = Some(thread);
        Ok(thread)
    }

    /// The thread that owns the ring, by its index in the trace.
    pub fn thread_of(&self, ring: RingKey) -> Option<u32> {
        self.rings[ring.0 as usize].thread
    }

    pub fn thread(&self, thread: u32) -> &Thread {
        &self.threads[thread as usize]
    }

    pub fn member(&self, member: MemberKey) -> &Member {
        &self.members[member.0 as usize]
    }

    /// Gives the process a place in the trace though it has no record there.
    pub fn place(&mut self, member: MemberKey) -> u32 {
        let member = &mut self.members[member.0 as usize];
        *member.process.get_or_insert_with(|| {
            self.processes += 1;
            self.processes - 1
        })
    }

    pub fn gaps(&self) -> &[GapEntry] {
        &self.gaps
    }

    /// Whether the stream begins with what there was.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot
    }

    /// Whether a thread's last command describes what it found.
    pub fn is_describing(&self) -> bool {
        let describes = |last: &LastCommand| last.flags & SETUP != 0;
        self.threads.iter().any(|thread| thread.last_command.as_ref().is_some_and(describes))
    }

    /// For how long a thread was held for that, at most, in microseconds.
    pub fn held_us(&self) -> u64 {
        self.held_us
    }

    /// What that leaves out.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Commands that took effect.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The same of the program's own that do not belong to the stream.
    pub fn left_out_calls(&self) -> u64 {
        self.left_out_calls
    }

    /// Frames that ended, over all processes.
    pub fn frames(&self) -> u64 {
        self.members.iter().map(|member| member.frames).sum()
    }

    /// Records taken, those of the assembler's own not counted.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of stream, the open block included.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes + self.block.raw.len() as u64
    }

    /// Bytes of blobs among them.
    pub fn blob_bytes(&self) -> u64 {
        self.blob_bytes
    }

    /// Those that came from stores.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// When the open block was opened; none is open without one.
    pub fn opened_ns(&self) -> Option<u64> {
        self.open.then_some(self.opened_ns)
    }

    /// Appends a run, and gives `full` every block that it fills.
    ///
    /// After a refusal the records before the refused one are in the stream, and at a process' limit of
    /// frames those before it.
    pub fn append(
        &mut self,
        run: Run<'_>,
        now_ns: u64,
        full: &mut impl FnMut(Block),
    ) -> Result<(), Refusal> {
        self.rings[run.ring.0 as usize].place = run.start;
        let mut at = 0;
        loop {
            let passed = self.pass_over(&run, at);
            if passed > at {
                self.note_passed(run.ring, passed - at, now_ns);
                if self.is_full() {
                    self.seal(full);
                }
            }
            at = passed;
            if at >= run.records.len() {
                return Ok(());
            }
            let is_keyframe = header_at(run.records, at).id() == KEYFRAME;
            if is_keyframe {
                // Blocks before it are not needed by who begins there.
                self.flush(full);
                self.forget_what_is_described(run.ring);
            }
            self.open_block(now_ns);
            self.block.is_keyframe |= is_keyframe;
            let thread = self.enter_thread(run.ring, &run.records[at..])?;
            let first_memory = self.block.memory.len();
            let stamp = self.owed_stamp(run.ring, header_at(run.records, at));
            if let Some(stamp) = stamp {
                self.threads[thread as usize].stamp = stamp;
            }
            let walk = self.walk(thread, &run, at);
            self.copy(&run.records[at..walk.end], stamp);
            if stamp.is_some() || header_at(run.records, at).is_stamped() {
                self.rings[run.ring.0 as usize].owed_stamp = None;
            }
            self.block.strip_stores(first_memory);
            at = walk.end;
            let ring = &mut self.rings[run.ring.0 as usize];
            ring.place.index = run.index_at(at, ring.site.capacity_bytes);
            let index = ring.place.index;
            self.release(run.ring, index);
            if self.is_full() {
                self.seal(full);
            }
            walk.refused?;
            if walk.is_last {
                return Ok(());
            }
        }
    }

    /// Where the records from `at` on begin to belong to the stream.
    #[inline]
    fn pass_over(&mut self, run: &Run<'_>, mut at: usize) -> usize {
        let ring = &mut self.rings[run.ring.0 as usize];
        let Some(selection) = &mut self.members[ring.member.0 as usize].selection else {
            return at;
        };
        let start = at;
        while at < run.records.len() {
            let header = header_at(run.records, at);
            if ring.owner.is_plain() && !is_landmark(header.id()) {
                break;
            }
            let end = at + header.span_untrusted() as usize;
            if selection.takes(&mut ring.owner, header, &run.records[at..end]) {
                break;
            }
            if header.is_stamped() {
                ring.place.stamp = word_at(run.records, at + 8);
            }
            ring.left_out += 1;
            if header.is_stamped() {
                ring.owed_stamp = Some(word_at(run.records, at + 8));
            }
            if header.id() < atom::META_FIRST && header.flags() & (EFFECT | SETUP) == EFFECT {
                self.left_out_calls += 1;
            }
            ring.place.records = ring.place.records.wrapping_add(1);
            at = end;
        }
        if at > start {
            ring.place.index = run.index_at(at, ring.site.capacity_bytes);
        }
        at
    }

    /// Bytes of a ring do not belong to the stream. An open block keeps their space from being reused; where
    /// blocks say how far the rings are, one is to say so.
    fn note_passed(&mut self, ring: RingKey, bytes: usize, now_ns: u64) {
        if self.states_rings {
            self.open_block(now_ns);
            self.release(ring, self.rings[ring.0 as usize].place.index);
        }
        if self.open {
            self.passed_in_block += bytes;
        }
    }

    /// The stamp that a record must say in the stream, and does not in the ring.
    fn owed_stamp(&self, ring: RingKey, header: Header) -> Option<u64> {
        let owed = self.rings[ring.0 as usize].owed_stamp?;
        // One that is as long as any may be has to do without.
        let has_room = header.len_untrusted() <= RECORD_LEN_MAX - 8;
        let says_none = header.id() < atom::META_FIRST && !header.is_stamped();
        (has_room && says_none).then_some(owed)
    }

    /// Appends records to the block; one that is to say a stamp comes alone.
    fn copy(&mut self, records: &[u8], stamp: Option<u64>) {
        let raw = &mut self.block.raw;
        match (stamp, records.split_at_checked(8)) {
            (Some(stamp), Some((_, rest))) => {
                raw.extend_from_slice(&header_at(records, 0).with_stamp().0.to_le_bytes());
                raw.extend_from_slice(&stamp.to_le_bytes());
                raw.extend_from_slice(rest);
            }
            _ => raw.extend_from_slice(records),
        }
    }

    /// Gives `full` the open block, if there is one.
    pub fn flush(&mut self, full: &mut impl FnMut(Block)) {
        if self.open {
            self.seal(full);
        }
    }

    fn is_full(&self) -> bool {
        self.open
            && (self.block.raw.len() >= self.block_bytes
                || self.blobs_in_block >= self.block_bytes / 4
                || self.passed_in_block >= self.block_bytes)
    }

    fn open_block(&mut self, now_ns: u64) {
        if self.open {
            return;
        }
        self.open = true;
        (self.blobs_in_block, self.passed_in_block) = (0, 0);
        self.opened_ns = now_ns;
        self.block_number += 1;
        self.current_thread = None;
        self.block.first_seq = self.calls;
        self.block.raw.reserve(self.block_bytes + self.block_bytes / 8);
        let number = self.block_number - 1;
        let first = atom::Block { number, first_seq: self.calls, start_ns: now_ns };
        first.append_to(&mut self.block.raw);
        self.append_seam();
    }

    fn seal(&mut self, full: &mut impl FnMut(Block)) {
        if self.states_rings {
            self.append_rings();
        }
        let mut block = std::mem::take(&mut self.block);
        block.seqs = (self.calls - block.first_seq) as u32;
        for (thread, records) in &mut block.records {
            *records = std::mem::take(&mut self.threads[*thread as usize].records_in_block);
        }
        self.raw_bytes += (block.raw.len() + block.unfilled_bytes) as u64;
        if block.unfilled_bytes > 0 {
            // Many of these may wait, and they are short until they are filled.
            block.raw.shrink_to_fit();
        }
        self.open = false;
        full(block);
    }

    /// Makes the thread of the ring's next records the current one, and says so in the stream.
    fn enter_thread(&mut self, ring: RingKey, records: &[u8]) -> Result<u32, Refusal> {
        let thread = match self.rings[ring.0 as usize].thread {
            Some(owner) => owner,
            None => {
                let (tid, name) =
                    new_thread(records)?.map_or((0, [0; 16]), |new| (new.tid, new.name));
                self.begin_thread(ring, tid, name)?
            }
        };
        if self.current_thread != Some(thread) {
            self.state_thread(thread, ring);
            atom::SwitchThread { thread }.append_to(&mut self.block.raw);
            self.current_thread = Some(thread);
        }
        Ok(thread)
    }

    /// Writes what a reader of this block must know before the thread's first record in it.
    fn state_thread(&mut self, index: u32, ring: RingKey) {
        let number = self.block_number;
        let thread = &mut self.threads[index as usize];
        if thread.stated_in == number {
            return;
        }
        thread.stated_in = number;
        self.block.records.push((index, 0));
        let member = &mut self.members[self.rings[ring.0 as usize].member.0 as usize];
        if member.stated_in != number {
            member.stated_in = number;
            let Member { pid, start_ns, frames, .. } = *member;
            let process = thread.process;
            meta::Process { process, pid, start_ns, frames, name: &member.name }
                .append_to(&mut self.block.raw);
        }
        let Thread { process, tid, name, api, context, stamp, .. } = *thread;
        self.block.threads.push(ThreadLabel { thread: index, process, tid, name });
        atom::ThreadState { thread: index, process, tid, api, context, stamp, name }
            .append_to(&mut self.block.raw);
    }

    /// Looks at the records from `start` on, to the block's end or the run's.
    fn walk(&mut self, index: u32, run: &Run<'_>, start: usize) -> Walk {
        let records = run.records;
        let raw_len = self.block.raw.len();
        let room = self.block_bytes.saturating_sub(raw_len);
        let limit = records.len().min(start + room.max(1));
        // As readers know it: what was left out may have said later ones.
        let mut stamp = self.threads[index as usize].stamp;
        let (mut at, mut count, mut calls) = (start, 0, 0);
        let mut last_command = None;
        let (mut refused, mut is_last) = (Ok(()), false);
        // What is not plain is looked at record by record.
        let limit = if self.is_plain(run.ring) { limit } else { start + 1 };
        while at < limit {
            let header = header_at(records, at);
            if header.id() >= atom::META_FIRST && at > start && is_landmark(header.id()) {
                break;
            }
            let end = at + header.span_untrusted() as usize;
            if header.is_stamped() {
                stamp = word_at(records, at + 8);
            }
            if header.is_timed() && !self.may_be_timed(header) {
                refused = Err(Refusal::Timed(header.id()));
                break;
            }
            if header.id() < atom::META_FIRST {
                calls += u64::from(header.flags() & EFFECT != 0);
                last_command = Some((header, stamp, end));
                if header.flags() & FRAME_END != 0 {
                    is_last = self.end_frame(run.ring);
                }
            } else {
                refused = self.take_meta(index, run.ring, header, &records[at..end]);
                if refused.is_err() {
                    break;
                }
            }
            if matches!(header.id(), BLOB | STORED | FRAME) || self.plain.are_exceeded(header) {
                let store = self.store_of(run.ring, header, &records[at..end]);
                let at = (raw_len + at - start) as u32;
                self.block.memory.push(Memory { thread: index, at, store });
            }
            count += 1;
            at = end;
            if is_last {
                break;
            }
            if matches!(header.id(), BLOB | STORED) && self.blobs_in_block >= self.block_bytes / 4 {
                break;
            }
        }
        self.calls += calls;
        self.records += count;
        let place = &mut self.rings[run.ring.0 as usize].place;
        (place.records, place.stamp) = (place.records.wrapping_add(count), place.stamp.max(stamp));
        let thread = &mut self.threads[index as usize];
        thread.stamp = stamp;
        thread.records += count;
        thread.records_in_block += count;
        if let Some((header, stamp, end)) = last_command {
            let end_index = run.end_index - (records.len() - end) as u64;
            let (id, flags) = (header.id(), header.flags());
            thread.last_command = Some(LastCommand { id, flags, stamp, end_index });
        }
        Walk { end: at, refused, is_last }
    }

    /// The store that a record has to do with.
    fn store_of(&self, ring: RingKey, header: Header, record: &[u8]) -> Option<(Arc<Store>, u64)> {
        if !is_for_store(header) && header.id() != STORED {
            return None;
        }
        let (_, number) = atom::of_store(word_at(record, header.payload_offset()));
        let member = &self.members[self.rings[ring.0 as usize].member.0 as usize];
        member.store.clone().map(|store| (store, number))
    }

    fn may_be_timed(&self, header: Header) -> bool {
        self.is_timed && header.id() < atom::META_FIRST && header.flags() & LEAVE != 0
    }

    fn is_plain(&self, ring: RingKey) -> bool {
        let ring = &self.rings[ring.0 as usize];
        ring.owed_stamp.is_none() && ring.owner.is_plain()
            || self.members[ring.member.0 as usize].selection.is_none()
    }

    /// True if the process' part has come to its end.
    fn end_frame(&mut self, ring: RingKey) -> bool {
        let member = &mut self.members[self.rings[ring.0 as usize].member.0 as usize];
        // A member that has a record has a place.
        self.block.frame_ends.push((member.process.unwrap_or(0), member.frames));
        member.frames += 1;
        member.frame_limit.is_some_and(|limit| member.frames >= limit)
    }

    /// Takes a record that is not a command.
    fn take_meta(
        &mut self,
        index: u32,
        ring: RingKey,
        header: Header,
        record: &[u8],
    ) -> Result<(), Refusal> {
        let thread = &mut self.threads[index as usize];
        match decode(header, record)? {
            Meta::Thread(new) if thread.tid == 0 || thread.tid == new.tid => {
                thread.tid = new.tid;
                thread.name = new.name;
            }
            Meta::Thread(new) => {
                return Err(Refusal::OtherThread { owner: thread.tid, tid: new.tid });
            }
            Meta::Context(context) => {
                thread.context = context.context;
                thread.api = context.api;
            }
            Meta::Gap(gap) => self.take_gap(index, &gap),
            Meta::CaptureEnd(ended) => {
                let member = self.rings[ring.0 as usize].member;
                self.members[member.0 as usize].ended = Some(ended);
            }
            Meta::Blob(piece) => {
                self.blob_bytes += piece.bytes.len() as u64;
                self.blobs_in_block += piece.bytes.len();
            }
            Meta::Snapshot(snapshot) => {
                self.snapshot = true;
                self.held_us = self.held_us.max(snapshot.held_us.into());
                self.block.held_us = self.block.held_us.max(snapshot.held_us.into());
                for sentence in snapshot.sentences() {
                    add_new(&mut self.missing, &sentence);
                    add_new(&mut self.block.missing, &sentence);
                }
            }
            Meta::Stored(stored) => self.take_stored(ring, &stored)?,
            // Left out where there should be none.
            Meta::Keyframe(_) => {
                let member = self.rings[ring.0 as usize].member;
                let member = &mut self.members[member.0 as usize];
                (member.named_bytes, member.is_missing) = (0, false);
            }
            Meta::Limits(_) | Meta::Frame(_) | Meta::Subject(_) | Meta::Traced(_) => {}
            Meta::Unknown(id) => return Err(Refusal::Unknown(id)),
            _ => return Err(Refusal::DaemonOnly(header.id())),
        }
        Ok(())
    }

    fn take_stored(&mut self, ring: RingKey, stored: &atom::Stored) -> Result<(), Refusal> {
        let atom::Stored { total, offset, len, .. } = *stored;
        let member = &mut self.members[self.rings[ring.0 as usize].member.0 as usize];
        let end = offset.checked_add(len).filter(|end| *end <= total);
        let is_piece = (1..=STORED_PIECE_MAX).contains(&len) && end.is_some();
        let Some(store) = member.store.as_ref().filter(|_| is_piece) else {
            return Err(Refusal::Stored { total, offset, len });
        };
        member.named_bytes += len;
        if member.named_bytes > store.limit.saturating_mul(NAMED_TIMES) {
            return Err(Refusal::StoredTooOften);
        }
        self.blob_bytes += len;
        self.stored_bytes += len;
        self.blobs_in_block += len as usize;
        self.block.unfilled_bytes += len as usize;
        Ok(())
    }

    fn take_gap(&mut self, thread: u32, gap: &atom::Gap) {
        let entry = GapEntry::told_by(thread, gap);
        let told = &mut self.threads[thread as usize].told;
        *told = told.plus(entry.lost());
        add_gap(&mut self.gaps, entry);
        add_gap(&mut self.block.gaps, entry);
    }

    fn release(&mut self, ring: RingKey, index: u64) {
        let state = &mut self.rings[ring.0 as usize];
        if state.released_in != self.block_number {
            state.released_in = self.block_number;
            self.block.releases.push((ring, index));
        } else if let Some(entry) = self.block.releases.iter_mut().find(|(key, _)| *key == ring) {
            entry.1 = index;
        }
    }
}

impl Member {
    /// Somebody who has a ring of it from now on.
    fn owner(&mut self) -> Owner {
        self.selection.as_mut().map(Selection::owner).unwrap_or_default()
    }
}

impl Block {
    /// Takes what is said to a store out of the records from that one on: streams know of none.
    fn strip_stores(&mut self, first_memory: usize) {
        for memory in &self.memory[first_memory..] {
            let at = memory.at as usize;
            let header = header_at(&self.raw, at);
            if is_for_store(header) {
                let total_at = at + header.payload_offset();
                let (total, _) = atom::of_store(word_at(&self.raw, total_at));
                let plain = header.without_flags(SETUP);
                self.raw[at..at + 8].copy_from_slice(&plain.0.to_le_bytes());
                self.raw[total_at..total_at + 8].copy_from_slice(&total.to_le_bytes());
            }
        }
    }
}

impl LastCommand {
    /// Whether the command can still be in the driver, by its records alone.
    pub fn is_open(&self) -> bool {
        self.flags & LEAVE == 0
    }
}

/// Lists a gap, or adds it to the thread's last one where there are too many.
fn add_gap(gaps: &mut Vec<GapEntry>, gap: GapEntry) {
    if gaps.len() >= GAPS_MAX
        && let Some(last) = gaps.iter_mut().rev().find(|last| last.thread == gap.thread)
    {
        last.records = last.records.saturating_add(gap.records);
        last.calls = last.calls.saturating_add(gap.calls);
        last.bytes = last.bytes.saturating_add(gap.bytes);
        last.last_stamp = gap.last_stamp;
        last.end_ns = gap.end_ns;
        return;
    }
    gaps.push(gap);
}

struct Walk {
    /// Offset behind the last record that was taken.
    end: usize,
    refused: Result<(), Refusal>,
    /// The process' part ends there.
    is_last: bool,
}

/// The THREAD record that the records begin with, if they do.
fn new_thread(records: &[u8]) -> Result<Option<atom::Thread>, Refusal> {
    let header = header_at(records, 0);
    if header.id() != atom::THREAD {
        return Ok(None);
    }
    match decode(header, records)? {
        Meta::Thread(thread) => Ok(Some(thread)),
        _ => Ok(None),
    }
}

/// What a record says that is not a command; `record` starts at its header.
fn decode(header: Header, record: &[u8]) -> Result<Meta<'_>, Refusal> {
    // Validated before it came here: the length is within `record` and covers the stamp.
    let payload = &record[header.payload_offset()..header.len_untrusted() as usize];
    Ok(Meta::decode(header.id(), payload)?)
}

/// Whether it is a piece of what a store is to hold.
fn is_for_store(header: Header) -> bool {
    header.id() == BLOB && header.flags() & SETUP != 0
}

fn header_at(records: &[u8], at: usize) -> Header {
    Header(word_at(records, at))
}

fn word_at(records: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&records[at..at + 8]);
    u64::from_le_bytes(word)
}

/// What threads leave out of their descriptions is often the same.
fn add_new(missing: &mut Vec<String>, sentence: &str) {
    if missing.len() < MISSING_MAX && !missing.iter().any(|known| known == sentence) {
        missing.push(sentence.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gapii_abi::atom::{GapCause, LEAVES};
    use gapii_protocol::filter::Filter;
    use gapii_protocol::trace::record::Records;

    const DRAW: u16 = 7;

    /// Records as a ring has them, and a stream that takes them.
    struct Bench {
        assembler: Assembler,
        blocks: Vec<Block>,
        indices: Vec<u64>,
    }

    impl Bench {
        fn new(block_bytes: usize, rings: usize) -> Self {
            Self::of(Assembler::new(block_bytes, false), rings)
        }

        fn of(mut assembler: Assembler, rings: usize) -> Self {
            let member = assembler.add_member(100, 5, b"prog");
            for ring in 0..rings as u32 {
                let (site, place) = (RingSite::default(), RingPlace::default());
                assembler.set_ring(RingKey(ring), member, site, place);
            }
            Self { assembler, blocks: Vec::new(), indices: vec![0; rings] }
        }

        fn append(&mut self, ring: u32, records: &[Vec<u8>]) -> Result<(), Refusal> {
            let records = records.concat();
            let index = &mut self.indices[ring as usize];
            *index += records.len() as u64;
            let start = RingPlace { index: *index - records.len() as u64, ..Default::default() };
            let run = Run { ring: RingKey(ring), records: &records, start, end_index: *index };
            self.assembler.append(run, 1000, &mut |block| self.blocks.push(block))
        }

        fn flush(&mut self) {
            self.assembler.flush(&mut |block| self.blocks.push(block));
        }
    }

    fn record(id: u16, flags: u16, stamp: Option<u64>, payload: &[u8]) -> Vec<u8> {
        let mut header = Header::new(id, flags, 8 + payload.len() as u32);
        if stamp.is_some() {
            header = header.with_stamp();
        }
        let mut bytes = header.0.to_le_bytes().to_vec();
        bytes.extend(stamp.iter().flat_map(|stamp| stamp.to_le_bytes()));
        bytes.extend(payload);
        bytes.resize(header.span_untrusted() as usize, 0);
        bytes
    }

    fn thread(tid: u32, stamp: u64) -> Vec<u8> {
        let mut payload = [0; 24];
        payload[..4].copy_from_slice(&tid.to_le_bytes());
        record(atom::THREAD, 0, Some(stamp), &payload)
    }

    fn draw() -> Vec<u8> {
        record(DRAW, EFFECT, None, &[1; 16])
    }

    /// The records of a block, each as its id.
    fn ids(block: &Block) -> Vec<u16> {
        let (mut at, mut ids) = (0, Vec::new());
        while at < block.raw.len() {
            let header = header_at(&block.raw, at);
            ids.push(header.id());
            at += header.span_untrusted() as usize;
        }
        ids
    }

    #[test]
    fn times_are_taken_on_leave_records_of_timed_captures_alone() {
        let timed = |id, flags| {
            let header = Header::new(id, flags, 8).with_time();
            [header.0.to_le_bytes(), 70_u64.to_le_bytes()].concat()
        };
        for (is_timed, id, flags, is_taken) in [
            (true, DRAW, LEAVE, true),
            (false, DRAW, LEAVE, false),
            (true, DRAW, EFFECT | LEAVES, false),
            (true, atom::CONTEXT, LEAVE, false),
        ] {
            let mut bench = Bench::of(Assembler::new(1 << 20, is_timed), 1);
            let enter = record(DRAW, EFFECT | LEAVES, None, &[1; 16]);
            let taken = bench.append(0, &[thread(1, 1), enter, timed(id, flags)]);
            let expected = if is_taken { Ok(()) } else { Err(Refusal::Timed(id)) };
            assert_eq!(taken, expected, "{is_timed} {id:#x} {flags}");
            bench.flush();
            assert_eq!(bench.blocks[0].records, [(0, if is_taken { 3 } else { 2 })]);
        }
    }

    /// A stream that wants swaps alone.
    fn filtered(block_bytes: usize) -> Bench {
        let mut assembler = Assembler::new(block_bytes, false);
        let functions = vec!["eglSwapBuffers".to_owned()];
        let filter = Filter { functions, ..Filter::default() };
        assembler.set_filter(Filtering::of(&filter, Description::built_in()).unwrap());
        let member = assembler.add_member(100, 5, b"prog");
        assembler.select(member, Begin::Capture);
        assembler.set_ring(RingKey(0), member, RingSite::default(), RingPlace::default());
        Bench { assembler, blocks: Vec::new(), indices: vec![0] }
    }

    fn swap(flags: u16, stamp: Option<u64>) -> Vec<u8> {
        let swap = Description::built_in().named("eglSwapBuffers").unwrap();
        record(swap.id, flags, stamp, &[1; 16])
    }

    #[test]
    fn command_says_the_stamp_that_what_was_left_out_before_it_said() {
        let mut bench = filtered(1 << 20);
        let stamped_draw = record(DRAW, EFFECT, Some(5), &[1; 16]);
        let records =
            [thread(1, 1), stamped_draw, draw(), swap(EFFECT | LEAVES, None), swap(LEAVE, None)];
        bench.append(0, &records).unwrap();
        bench.append(0, &[draw(), swap(EFFECT, Some(9)), swap(EFFECT, None)]).unwrap();
        bench.flush();
        let [block] = &bench.blocks[..] else { panic!() };
        let found = Records::new(&block.raw).map(Result::unwrap);
        let swaps = found.filter(|record| record.header.id() < atom::META_FIRST);
        let stamps: Vec<_> = swaps.map(|record| (record.stamp, record.payload.len())).collect();
        assert_eq!(stamps, [(Some(5), 16), (None, 16), (Some(9), 16), (None, 16)]);
        assert_eq!(bench.assembler.left_out(RingKey(0)), 3);
        assert_eq!((bench.assembler.calls(), bench.assembler.left_out_calls()), (3, 3));
        assert_eq!(block.releases, [(RingKey(0), bench.indices[0])]);
    }

    #[test]
    fn what_is_left_out_does_not_keep_ring_space_for_long() {
        let mut bench = filtered(1024);
        bench.append(0, &[thread(1, 1), swap(EFFECT, None)]).unwrap();
        for _ in 0..100 {
            bench.append(0, &[draw()]).unwrap();
        }
        assert_eq!(bench.blocks.len(), 1);
        bench.flush();
        assert_eq!(bench.blocks.len(), 1);
    }

    #[test]
    fn every_block_states_what_its_records_need() {
        let mut bench = Bench::new(1 << 20, 2);
        bench.append(0, &[thread(1, 1), draw()]).unwrap();
        bench.append(1, &[thread(2, 2)]).unwrap();
        bench.append(1, &[draw()]).unwrap();
        bench.append(0, &[draw()]).unwrap();
        bench.flush();
        bench.append(0, &[draw()]).unwrap();
        bench.flush();
        use atom::{BLOCK, PROCESS, SWITCH_THREAD, THREAD, THREAD_STATE};
        let first = [
            [BLOCK, PROCESS, THREAD_STATE, SWITCH_THREAD, THREAD, DRAW].as_slice(),
            &[THREAD_STATE, SWITCH_THREAD, THREAD, DRAW, SWITCH_THREAD, DRAW],
        ];
        assert_eq!(ids(&bench.blocks[0]), first.concat());
        let second = [BLOCK, PROCESS, THREAD_STATE, SWITCH_THREAD, DRAW];
        assert_eq!(ids(&bench.blocks[1]), second);
        assert_eq!((bench.blocks[1].first_seq, bench.blocks[1].seqs), (3, 1));
        assert_eq!(bench.blocks[0].records, [(0, 3), (1, 2)]);
    }

    #[test]
    fn keyframe_begins_a_block_wherever_it_comes() {
        let mut bench = Bench::new(1 << 20, 1);
        let keyframe = || record(KEYFRAME, 0, Some(9), &7_u64.to_le_bytes());
        bench.append(0, &[thread(1, 1), draw(), keyframe(), draw()]).unwrap();
        bench.append(0, &[keyframe(), draw(), draw()]).unwrap();
        bench.append(0, &[keyframe()]).unwrap();
        bench.flush();
        let calls: Vec<_> = bench
            .blocks
            .iter()
            .map(|block| (block.is_keyframe, block.first_seq, block.seqs))
            .collect();
        assert_eq!(calls, [(false, 0, 1), (true, 1, 1), (true, 2, 2), (true, 4, 0)]);
        use atom::{BLOCK, PROCESS, SWITCH_THREAD, THREAD_STATE};
        let second = [BLOCK, PROCESS, THREAD_STATE, SWITCH_THREAD, KEYFRAME, DRAW];
        assert_eq!(ids(&bench.blocks[1]), second);
        let threads = bench.blocks.iter().map(|block| block.threads.len());
        assert_eq!(threads.collect::<Vec<_>>(), [1; 4]);
    }

    #[test]
    fn long_run_is_cut_between_records_and_released_in_parts() {
        let mut bench = Bench::new(1024, 1);
        let mut records = vec![thread(1, 1)];
        records.extend(std::iter::repeat_n(draw(), 200));
        bench.append(0, &records).unwrap();
        bench.flush();
        assert!(bench.blocks.len() > 4);
        let mut released = 0;
        for block in &bench.blocks {
            assert!(block.raw.len() < 1024 + 256, "{} bytes", block.raw.len());
            let [(RingKey(0), index)] = block.releases[..] else { panic!("{:?}", block.releases) };
            assert!(index > released);
            released = index;
        }
        assert_eq!(released, bench.indices[0]);
        assert_eq!(bench.blocks.iter().map(|block| u64::from(block.seqs)).sum::<u64>(), 200);
        assert_eq!(bench.assembler.thread(0).records, 201);
    }

    #[test]
    fn block_says_where_its_memory_is() {
        let mut bench = Bench::new(1 << 20, 2);
        let blob = record(BLOB, 0, None, &[0; 24]);
        bench.append(0, &[thread(1, 1), draw(), blob.clone()]).unwrap();
        let draw_with_memory = record(DRAW, EFFECT, None, &[1; 400]);
        bench.append(1, &[thread(2, 2), draw_with_memory, draw(), blob]).unwrap();
        bench.flush();
        let block = &bench.blocks[0];
        let found = block
            .memory
            .iter()
            .map(|memory| (memory.thread, header_at(&block.raw, memory.at as usize).id()));
        assert_eq!(found.collect::<Vec<_>>(), [(0, BLOB), (1, DRAW), (1, BLOB)]);
    }

    #[test]
    fn frames_are_numbered_per_process() {
        let mut bench = Bench::new(1 << 20, 1);
        let swap = record(9, LEAVE | FRAME_END, None, &[0; 4]);
        bench.append(0, &[thread(1, 1), swap.clone(), draw(), swap]).unwrap();
        bench.flush();
        assert_eq!(bench.blocks[0].frame_ends, [(0, 0), (0, 1)]);
        assert_eq!(bench.assembler.frames(), 2);
    }

    #[test]
    fn context_and_stamp_are_restated_in_the_next_block() {
        let mut bench = Bench::new(1 << 20, 1);
        let context = atom::Context { context: 0xC0, api: 0x30A0, client_version: 0 };
        let context = record(atom::CONTEXT, 0, Some(8), &context.encode());
        bench.append(0, &[thread(1, 7), context]).unwrap();
        bench.flush();
        bench.append(0, &[draw()]).unwrap();
        bench.flush();
        let raw = &bench.blocks[1].raw;
        let block = header_at(raw, 0).span_untrusted() as usize;
        let at = block + header_at(raw, block).span_untrusted() as usize;
        let Ok(Meta::ThreadState(state)) = decode(header_at(raw, at), &raw[at..]) else {
            panic!("no thread state: {:?}", ids(&bench.blocks[1]));
        };
        assert_eq!((state.tid, state.context, state.api, state.stamp), (1, 0xC0, 0x30A0, 8));
    }

    #[test]
    fn last_command_is_open_until_its_leave_record() {
        let mut bench = Bench::new(1 << 20, 1);
        let enter = record(9, EFFECT | LEAVES, Some(5), &[0; 16]);
        bench.append(0, &[thread(1, 1), enter]).unwrap();
        let last = bench.assembler.thread(0).last_command.unwrap();
        assert!(last.is_open());
        assert_eq!((last.id, last.stamp, last.end_index), (9, 5, bench.indices[0]));
        bench.append(0, &[record(9, LEAVE, None, &[0; 4])]).unwrap();
        assert!(!bench.assembler.thread(0).last_command.unwrap().is_open());
    }

    #[test]
    fn thread_describes_until_its_first_own_command() {
        let mut bench = Bench::new(1 << 20, 2);
        bench.append(0, &[thread(1, 1)]).unwrap();
        assert!(!bench.assembler.is_describing());
        bench.append(0, &[record(DRAW, SETUP | EFFECT, None, &[1; 16])]).unwrap();
        bench.append(1, &[thread(2, 2), draw()]).unwrap();
        assert!(bench.assembler.is_describing());
        bench.append(0, &[draw()]).unwrap();
        assert!(!bench.assembler.is_describing());
    }

    #[test]
    fn record_that_is_not_the_shims_to_write_is_refused() {
        let check = |bad: Vec<u8>, expected: &str| {
            let mut bench = Bench::new(1 << 20, 1);
            let refusal = bench.append(0, &[thread(1, 1), draw(), bad, draw()]).unwrap_err();
            assert_eq!(refusal.to_string(), expected);
            assert_eq!(bench.assembler.records(), 2);
        };
        check(thread(2, 9), "thread 2 writes into the ring of thread 1");
        check(
            record(atom::END, 0, None, &[0; 16]),
            "record 0xff14 is only for the daemon to write",
        );
        check(
            record(atom::CONTEXT, 0, None, &[0; 8]),
            "record 0xff02 has 8 bytes of payload and needs 16",
        );
    }

    #[test]
    fn pieces_that_no_store_can_have_are_refused() {
        let check = |store: Option<u64>, pieces: &[[u64; 3]], expected: Result<(), Refusal>| {
            let mut bench = Bench::new(1 << 20, 1);
            if let Some(limit) = store {
                bench.assembler.set_store(MemberKey(0), Arc::new(Store::new(limit)));
            }
            let stored = |&[total, offset, len]: &[u64; 3]| {
                let stored = atom::Stored { total, offset, len, name: [0; 16] };
                record(STORED, 0, None, &stored.encode())
            };
            let records = [vec![thread(1, 1)], pieces.iter().map(stored).collect()].concat();
            assert_eq!(bench.append(0, &records), expected, "{store:?} {pieces:?}");
        };
        let refused = |total, offset, len| Err(Refusal::Stored { total, offset, len });
        let most = STORED_PIECE_MAX;
        check(Some(most), &[[most, 0, most], [most, most - 1, 1]], Ok(()));
        check(None, &[[10, 0, 10]], refused(10, 0, 10));
        check(Some(most), &[[10, 0, 11]], refused(10, 0, 11));
        check(Some(most), &[[10, 0, 0]], refused(10, 0, 0));
        check(Some(most), &[[10, u64::MAX, 2]], refused(10, u64::MAX, 2));
        check(Some(most), &[[1 << 40, 0, most + 1]], refused(1 << 40, 0, most + 1));
        check(Some(most), &[[most, 0, most]; 4], Ok(()));
        check(Some(most), &[[most, 0, most]; 5], Err(Refusal::StoredTooOften));
    }

    #[test]
    fn gaps_past_the_limit_are_added_up() {
        let mut bench = Bench::new(1 << 20, 1);
        bench.append(0, &[thread(1, 1)]).unwrap();
        let gap = atom::Gap { records: 2, cause: GapCause::Dropped, ..Default::default() };
        let gap = record(atom::GAP, 0, None, &gap.encode());
        for _ in 0..GAPS_MAX + 3 {
            bench.append(0, std::slice::from_ref(&gap)).unwrap();
        }
        let gaps = bench.assembler.gaps();
        assert_eq!((gaps.len(), gaps[GAPS_MAX - 1].records), (GAPS_MAX, 2 * 4));
    }
}
