//! The builder of a stream: its parts, and questions about it.

use std::sync::Arc;

use gapii_abi::atom::{SETUP, Seam};
use gapii_trace::Description;
use gapii_trace::Untrusted;
use gapii_trace::footer::GapEntry;
use gapii_trace::rings::RingState;
use gapii_trace::story::Begin;

use super::block::Block;
use super::figures::{Figures, add_new};
use super::process::{ProcessKey, StreamProcess};
use super::refusal::Refusal;
use super::ring::{Ring, RingKey, RingNote, RingPlace, RingSite};
use super::thread::{LastCommand, StreamThread, THREADS_MAX};
use crate::filtering::Filtering;
use crate::plain::PlainPayloads;
use crate::selection::Selection;
use crate::store::Store;

/// The open block, or the last one.
#[derive(Default)]
pub(super) struct OpenBlock {
    pub(super) block: Block,
    /// Number of the block, counted from 1, so that 0 is no block.
    pub(super) number: u64,
    pub(super) is_open: bool,
    pub(super) opened_ns: u64,
    /// The thread that the last record belongs to, by its index in the trace.
    pub(super) thread: Option<u32>,
    /// Bytes of blobs in the block. A quarter of `block_bytes` fills it: blobs compress alone as well as
    /// together, and their ring space is wanted.
    pub(super) blob_bytes: usize,
    /// Bytes that the stream passed over since the block was opened. They hold ring space until the block is
    /// written, because the block states the rings' places.
    pub(super) passed_bytes: usize,
}

/// Statements of a stream for a daemon that may continue it, and data from the stream that it continues.
#[derive(Default)]
pub(super) struct Handover {
    /// Blocks state the places of the rings at their end.
    pub(super) states_rings: bool,
    pub(super) is_paused: bool,
    /// The next block begins with this seam.
    pub(super) seam: Option<Seam>,
    /// The seams that blocks have begun with.
    pub(super) seams: Vec<Seam>,
    /// Rings of the file that no process has handed over yet.
    pub(super) absent: Vec<RingState>,
}

/// Puts merged records into blocks; see the module's documentation.
pub struct StreamBuilder {
    /// A block is full from this many bytes on.
    pub(super) block_bytes: usize,
    pub(super) plain: PlainPayloads,
    /// Leave records may say how long the driver took.
    pub(super) is_timed: bool,
    pub(super) filter: Option<Arc<Filtering>>,
    pub(super) rings: Vec<Ring>,
    pub(super) processes: Vec<StreamProcess>,
    pub(super) threads: Vec<StreamThread>,
    /// Processes that have a place in the trace.
    pub(super) process_count: u32,
    pub(super) open: OpenBlock,
    pub(super) figures: Figures,
    pub(super) handover: Handover,
}

impl StreamBuilder {
    /// Makes a builder. A block is full at `block_bytes`; one more record, and the block's statements, may
    /// exceed that. Records have times only in a timed capture.
    pub fn new(block_bytes: usize, is_timed: bool) -> Self {
        Self {
            block_bytes,
            plain: PlainPayloads::of(Description::built_in()),
            is_timed,
            filter: None,
            rings: Vec::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            process_count: 0,
            open: OpenBlock::default(),
            figures: Figures::default(),
            handover: Handover::default(),
        }
    }

    /// Adds a process. It gets an index in the trace with its first record.
    pub fn add_process(&mut self, pid: u32, start_ns: u64, name: &[u8]) -> ProcessKey {
        self.processes.push(StreamProcess {
            pid,
            start_ns,
            name: name.to_owned(),
            ..StreamProcess::default()
        });
        ProcessKey(self.processes.len() as u32 - 1)
    }

    /// Sets the store that holds the process' blobs from one capture to the next.
    pub fn set_store(&mut self, process: ProcessKey, store: Arc<Store>) {
        self.processes[process.0 as usize].store = Some(store);
    }

    /// Sets the filter for processes that are selected from now on.
    pub fn set_filter(&mut self, filter: Filtering) {
        self.filter = Some(Arc::new(filter));
    }

    /// Limits the process' records in the stream, from now on, to those that are new to a stream which begins
    /// like `begin`. Must be called before the process' rings are set.
    pub fn select(&mut self, process: ProcessKey, begin: Begin) {
        let selection = Selection::new(begin, self.filter.clone());
        self.processes[process.0 as usize].selection = Some(selection);
    }

    /// Continues a process' part behind a gap, at the next appended keyframe, as if the part began there.
    pub fn resume(&mut self, process: ProcessKey) {
        let mut selection = Selection::resuming(self.filter.clone());
        for ring in self.rings.iter_mut().filter(|ring| ring.process == process) {
            ring.owner = selection.owner();
            ring.owed_stamp = None;
        }
        self.processes[process.0 as usize].selection = Some(selection);
    }

    /// Ends a process' part in the stream at the end of its frame with this number, or of its next frame.
    pub fn limit_frames(&mut self, process: ProcessKey, frames: u64) {
        self.processes[process.0 as usize].frame_limit = Some(frames);
    }

    /// Returns whether a process' part has ended at its limit of frames.
    pub fn is_at_limit(&self, process: ProcessKey) -> bool {
        let StreamProcess { frames, frame_limit, .. } = self.processes[process.0 as usize];
        frame_limit.is_some_and(|limit| frames >= limit)
    }

    /// Sets a ring of a process. Its next record starts at `place`, or behind padding there. The key may have been
    /// that of another ring, which has ended.
    pub fn set_ring(
        &mut self,
        ring: RingKey,
        process: ProcessKey,
        site: RingSite,
        place: RingPlace,
    ) {
        let at = ring.0 as usize;
        let owner = self.processes[process.0 as usize].owner();
        let ring = Ring {
            process,
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
            // Keys in between are of rings of which this stream has nothing.
            self.rings.resize(at + 1, ring);
        }
        self.rings[at] = ring;
    }

    /// Ends the ring's owner: the next record is of another thread. Returns how many of the owner's records did not
    /// belong to the stream.
    pub fn end_thread(&mut self, ring: RingKey) -> u64 {
        let ring = &mut self.rings[ring.0 as usize];
        (ring.thread, ring.owed_stamp) = (None, None);
        ring.owner = self.processes[ring.process.0 as usize].owner();
        std::mem::take(&mut ring.left_out)
    }

    /// Returns how many records of the ring's thread, so far, do not belong to the stream.
    pub fn left_out(&self, ring: RingKey) -> u64 {
        self.rings[ring.0 as usize].left_out
    }

    /// Returns whether the open block has records of the ring.
    pub fn has_open(&self, ring: RingKey) -> bool {
        self.open.is_open && self.rings[ring.0 as usize].released_in == self.open.number
    }

    /// Gives the ring a new owner. Returns the owner's index in the trace.
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
        let process = self.place(self.rings[ring.0 as usize].process);
        self.threads.push(StreamThread { process, tid, name, ..StreamThread::default() });
        self.rings[ring.0 as usize].thread = Some(thread);
        Ok(thread)
    }

    /// Returns the thread that owns the ring, by its index in the trace.
    pub fn thread_of(&self, ring: RingKey) -> Option<u32> {
        self.rings[ring.0 as usize].thread
    }

    /// Returns a thread by its index in the trace. Panics if no thread has it.
    pub fn thread(&self, thread: u32) -> &StreamThread {
        &self.threads[thread as usize]
    }

    /// Returns a process by its key. Panics if the key is of another stream.
    pub fn process(&self, process: ProcessKey) -> &StreamProcess {
        &self.processes[process.0 as usize]
    }

    /// Returns the process' index in the trace. Gives it one even if it has no record there.
    pub fn place(&mut self, process: ProcessKey) -> u32 {
        let process = &mut self.processes[process.0 as usize];
        *process.index.get_or_insert_with(|| {
            self.process_count += 1;
            self.process_count - 1
        })
    }

    /// Returns the gaps that records of the stream state.
    pub fn gaps(&self) -> &[GapEntry] {
        &self.figures.gaps
    }

    /// Returns whether the stream begins with a snapshot.
    pub fn has_snapshot(&self) -> bool {
        self.figures.snapshot
    }

    /// Returns whether a thread is writing a snapshot, by its last command.
    pub fn is_describing(&self) -> bool {
        let describes = |last: &LastCommand| last.flags & SETUP != 0;
        self.threads.iter().any(|thread| thread.last_command.as_ref().is_some_and(describes))
    }

    /// Returns the longest time that a thread was held for a snapshot, in microseconds.
    pub fn held_us(&self) -> u64 {
        self.figures.held_us
    }

    /// Notes state that a snapshot has described and that the stream lacks.
    pub fn lacks(&mut self, sentence: &str) {
        add_new(&mut self.figures.missing, &sentence.into());
    }

    /// Returns which commands have no times on the GPU although they were asked for, one sentence per item.
    pub fn without_gpu_times(&self) -> &[Untrusted] {
        &self.figures.without_gpu_times
    }

    /// Returns the state that snapshots leave out, one sentence per item.
    pub fn missing(&self) -> &[Untrusted] {
        &self.figures.missing
    }

    /// Returns the number of commands that took effect.
    pub fn calls(&self) -> u64 {
        self.figures.calls
    }

    /// Returns how many of the program's own commands do not belong to the stream.
    pub fn left_out_calls(&self) -> u64 {
        self.figures.left_out_calls
    }

    /// Returns the number of frames that ended, over all processes.
    pub fn frames(&self) -> u64 {
        self.processes.iter().map(|process| process.frames).sum()
    }

    /// Returns the number of records taken, without those that the daemon writes itself.
    pub fn records(&self) -> u64 {
        self.figures.records
    }

    /// Returns the number of bytes in the stream, including the open block.
    pub fn raw_bytes(&self) -> u64 {
        self.figures.raw_bytes + self.open.block.raw.len() as u64
    }

    /// Returns the number of bytes of blobs in the stream.
    pub fn blob_bytes(&self) -> u64 {
        self.figures.blob_bytes
    }

    /// Returns how many of these bytes came from stores.
    pub fn stored_bytes(&self) -> u64 {
        self.figures.stored_bytes
    }

    /// Returns when the open block was opened, if one is open.
    pub fn opened_ns(&self) -> Option<u64> {
        self.open.is_open.then_some(self.open.opened_ns)
    }
}
