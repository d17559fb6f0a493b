//! Counts what blocks hold, record by record, and notes contradictions between records: numbers of blocks, stamps that
//! fall, restated state that differs, references to blobs that do not precede them. A record that cannot be read ends
//! its block. Lists up to 16,384 gaps, 65,536 seams and 64 sentences about missing memory, and looks at no arguments.
//!
//! Pairs no records: `Assembler` does. Holds no observed memory, only the names of blobs.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::blob_name::BlobName;
use super::blobs::{BLOBS_MAX, BlobEntry, BlobNumber, BlobSource, Collector};
use super::description::Description;
use super::header::{KeptFrom, TraceHeader};
use super::index::FrameEnd;
use super::memory_totals::{MemoryTotals, Reference};
use super::meta::{Blob, Meta};
use super::problem::{Problem, ProblemKind};
use super::record::{Record, Records};
use super::rings::Account;
use super::story::Story;
use super::tracker::{Place, THREADS_MAX, TrackError, Tracker};
use super::untrusted::Untrusted;
use super::value::Names;
use gapii_abi::atom::{self, Block, EFFECT, FRAME_END, Gap, LEAVE, META_FIRST, SETUP, Seam};

/// Most seams that are listed.
const SEAMS_MAX: usize = 1 << 16;
/// Most sentences about missing memory that are listed.
const MISSING_MAX: usize = 64;
/// Most gaps that are listed.
const GAPS_MAX: usize = 1 << 14;

/// Counts over the blocks so far.
#[derive(Default)]
pub struct Census {
    tracker: Tracker,
    story: Story,
    from: KeptFrom,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of records before compression.
    pub raw_bytes: u64,
    /// Records from applications.
    pub records: u64,
    /// Commands that took effect.
    pub calls: u64,
    /// Leave records with the driver's time.
    pub timed: u64,
    /// Leave records with the time at which the driver was called.
    pub begun: u64,
    /// Ends of frames, in order.
    pub frame_ends: Vec<FrameEnd>,
    /// Counts of each thread, by thread index.
    pub threads: BTreeMap<u32, ThreadCount>,
    /// Number of enter records of each function, by function id, up to the highest id of a record.
    pub functions: Vec<u64>,
    /// Contradictions that were found.
    pub problems: Vec<Problem>,
    /// Blobs and observations.
    pub memory: MemoryTotals,
    /// References to blobs that do not precede them, without those that may come later.
    missing_blobs: References,
    /// References of set-up commands to blobs that have not come so far.
    owed: HashMap<BlobNumber, References>,
    /// True if the stream has a snapshot.
    pub snapshot: bool,
    /// The longest that a thread stood still for a snapshot, in microseconds.
    pub held_us: u64,
    /// State that the snapshots leave out, and memory that the trace lacks, one sentence per item.
    pub missing: Vec<Untrusted>,
    /// Memory that the trace lacks, one sentence per item, each once, at most 64.
    pub missing_memory: BTreeSet<Untrusted>,
    /// Commands that have no times on the GPU although they were asked for, one sentence per item.
    pub without_gpu_times: BTreeSet<&'static str>,
    /// Where other daemons continued the capture.
    pub seams: Vec<Seam>,
    /// Totals of threads that were gone before the footer was written.
    pub accounts: Vec<Account>,
    /// The GAPs in the stream, with their thread's index.
    pub gaps: Vec<(u32, Gap)>,
    /// The thread whose records are being counted; `threads` gets its counts at the next thread's records, and at the end
    /// of each block.
    counted: Option<(u32, ThreadCount)>,
    collector: Collector,
    /// The blobs so far, each where it begins first.
    blobs: HashMap<BlobName, BlobEntry>,
    numbers: Numbers,
}

/// Number of references to blobs, and the bytes of these blobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct References {
    /// References.
    pub count: u64,
    /// Bytes of the blobs, once for each reference.
    pub bytes: u64,
}

impl References {
    fn add(&mut self, size: u64) {
        self.add_all(Self { count: 1, bytes: size });
    }

    fn add_all(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// Whether all of them can be to a blob of this size.
    fn are_of(self, size: Option<u64>) -> bool {
        size.and_then(|size| size.checked_mul(self.count)) == Some(self.bytes)
    }
}

/// The numbers of blobs so far.
#[derive(Default)]
struct Numbers(HashMap<BlobNumber, BlobName>);

/// Counts of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadCount {
    /// Records.
    pub records: u64,
    /// Lost records, by the thread's GAPs.
    pub lost_records: u64,
    /// Lost commands, by the thread's GAPs.
    pub lost_calls: u64,
    /// Bytes of the lost records, by the thread's GAPs.
    pub lost_bytes: u64,
    stamp: Option<u64>,
    /// When the thread's last frame ended.
    frame_end_ns: Option<u64>,
}

impl BlobSource for Numbers {
    fn name(&self, number: BlobNumber) -> Option<BlobName> {
        self.0.get(&number).copied()
    }

    fn bytes(&self, _: BlobName, _: u64) -> Option<Arc<Vec<u8>>> {
        None
    }
}

impl Census {
    /// Takes from the header where the trace begins. Call this before the first [`Self::block`].
    pub fn begin(&mut self, header: &TraceHeader) {
        self.story = Story::new(header.begin());
        self.from = header.kept.unwrap_or_default();
    }

    /// Counts the block with these records. A contradiction becomes a problem in [`Self::problems`].
    pub fn block(&mut self, raw: &[u8], description: &Description) {
        self.tracker.begin_block();
        self.raw_bytes += raw.len() as u64;
        for record in Records::new(raw) {
            let counted = match record {
                Ok(record) => self.record(&record, description),
                Err(error) => Err(error.to_string()),
            };
            if let Err(message) = counted {
                self.problem(ProblemKind::Structure, message);
                break;
            }
        }
        self.put_back();
        self.blocks += 1;
    }

    /// Returns the state as of the last record.
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    fn record(&mut self, record: &Record<'_>, description: &Description) -> Result<(), String> {
        let at = record.start;
        let named = |error: TrackError| format!("record at byte {at}: {error}");
        if record.header.id() >= META_FIRST {
            return self.meta(record).map_err(named);
        }
        let place = self.tracker.command(record.header, record.stamp).map_err(named)?;
        self.count_record(place.thread, place.stamp);
        self.time(record);
        self.calls += u64::from(record.header.flags() & EFFECT != 0);
        if record.header.flags() & FRAME_END != 0 {
            self.end_frame(&place);
        }
        if record.header.flags() & LEAVE == 0 {
            self.count_function(record.header.id());
        }
        let Some(function) = description.function(record.header.id()) else {
            let message = format!("the trace does not describe function {}", record.header.id());
            self.problem(ProblemKind::Structure, message);
            return Ok(());
        };
        let is_told = self.is_told();
        let may_owe = record.header.flags() & SETUP != 0;
        let Self { memory, blobs, missing_blobs, owed, numbers, .. } = self;
        let names = Names { source: numbers, process: place.process };
        memory.observations(function, record.header, record.payload, names, |it, size| match it {
            _ if !is_told => {}
            Reference::Name(name) if blobs.get(&name).is_some_and(|blob| blob.size == size) => {}
            Reference::Number(number) if may_owe && owed.len() < BLOBS_MAX => {
                owed.entry(number).or_default().add(size);
            }
            _ => missing_blobs.add(size),
        });
        Ok(())
    }

    fn meta(&mut self, record: &Record<'_>) -> Result<(), TrackError> {
        self.time(record);
        self.contradictions(record);
        let seq = self.tracker.seq();
        let meta = self.tracker.meta(record.header, record.stamp, record.payload)?;
        if let Some(thread) = self.tracker.current() {
            let process = self.tracker.thread_at(thread).map_or(0, |thread| thread.process);
            self.story.meta(thread, process, &meta);
        }
        match meta {
            Meta::Block(block) => self.block_record(record, block, seq),
            Meta::Thread(_)
            | Meta::Context(_)
            | Meta::Limits(_)
            | Meta::Keyframe(_)
            | Meta::Subject(_)
            | Meta::Traced(_)
            | Meta::Time(_)
            | Meta::CaptureEnd(_) => {
                self.count_current_thread();
            }
            // An atom of a later shim, which counted it as a record.
            Meta::Unknown(id) if id < atom::BLOCK => self.count_current_thread(),
            Meta::Frame(frame) => {
                self.count_current_thread();
                self.memory.frame(&frame);
                if frame.has_pixels() && self.is_told() {
                    self.refer(BlobName(frame.name), frame.size());
                }
            }
            Meta::GpuTimes(times) => {
                self.count_current_thread();
                self.without_gpu_times.extend(times.without());
            }
            Meta::Snapshot(snapshot) => {
                self.count_current_thread();
                self.snapshot = true;
                self.held_us = self.held_us.max(snapshot.held_us.into());
                self.missing.extend(snapshot.sentences());
            }
            Meta::Missing(missing) => {
                self.count_current_thread();
                self.missing.extend(missing.sentences());
                let room = MISSING_MAX.saturating_sub(self.missing_memory.len());
                self.missing_memory.extend(missing.sentences().take(room));
            }
            Meta::Blob(piece) => {
                self.count_current_thread();
                self.blob(record.start, &piece);
            }
            Meta::Numbered(numbered) => {
                self.count_current_thread();
                self.number(numbered.number);
            }
            Meta::Gap(gap) => {
                self.count_current_thread();
                if let Some(thread) = self.tracker.current() {
                    let count = self.count_of(thread);
                    count.lost_records = count.lost_records.saturating_add(gap.records);
                    count.lost_calls = count.lost_calls.saturating_add(gap.calls);
                    count.lost_bytes = count.lost_bytes.saturating_add(gap.bytes);
                    if self.gaps.len() < GAPS_MAX {
                        self.gaps.push((thread, gap));
                    }
                }
            }
            Meta::Seam(seam) if self.seams.len() < SEAMS_MAX => self.seams.push(seam),
            Meta::Account(account) if self.accounts.len() < THREADS_MAX as usize => {
                self.accounts.push(account);
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes the end of a frame. Times of a thread do not fall; those of several threads of a process may.
    fn end_frame(&mut self, place: &Place) {
        let Place { process, frame, command_seq: seq, time_ns, .. } = *place;
        let block = self.blocks as u32;
        self.frame_ends.push(FrameEnd { process, frame, block, seq, time_ns });
        let Some(now_ns) = time_ns else { return };
        let before_ns = self.count_of(place.thread).frame_end_ns.replace(now_ns);
        if let Some(before_ns) = before_ns.filter(|before_ns| *before_ns > now_ns) {
            let message = format!(
                "the clock of thread {} goes back from {before_ns} ns to {now_ns} ns at the end of frame {frame}",
                place.thread
            );
            self.problem(ProblemKind::Sequence, message);
        }
    }

    /// Counts a record with the driver's time, which only a leave record of a command may have.
    fn time(&mut self, record: &Record<'_>) {
        if !record.header.is_timed() && !record.header.is_begun() {
            return;
        }
        self.timed += 1;
        self.begun += u64::from(record.header.is_begun());
        let is_leave = record.header.id() < META_FIRST && record.header.flags() & LEAVE != 0;
        if !is_leave || !record.header.is_timed() {
            let message = format!(
                "the record at byte {} has a driver time and is not a leave record",
                record.start
            );
            self.problem(ProblemKind::Structure, message);
        }
    }

    /// Returns true if records of the current thread must not refer to blobs from before the trace. Records
    /// that readers skip may do so.
    fn is_told(&self) -> bool {
        let current = self.tracker.current();
        !self.story.begins_at_keyframe()
            || current.is_some_and(|thread| self.story.is_introduced(thread))
    }

    /// Counts a reference whose blob does not precede it.
    fn refer(&mut self, name: BlobName, size: u64) {
        if self.blobs.get(&name).is_none_or(|blob| blob.size != size) {
            self.missing_blobs.add(size);
        }
    }

    fn blob(&mut self, start: usize, piece: &Blob<'_>) {
        let Some(thread) = self.tracker.current() else { return };
        let place = (self.blocks as u32, start as u32);
        let Some(whole) = self.collector.piece(thread, place, piece) else { return };
        self.memory.blob(whole.size);
        let known = self.blobs.len();
        if let Entry::Vacant(entry) = self.blobs.entry(whole.name)
            && known < BLOBS_MAX
        {
            entry.insert(whole);
        }
    }

    fn number(&mut self, number: u64) {
        let Some(thread) = self.tracker.current() else { return };
        let Some(name) = self.collector.numbered(thread) else { return };
        let process = self.tracker.thread_at(thread).map_or(0, |thread| thread.process);
        let number = BlobNumber { process, number };
        let Numbers(numbers) = &mut self.numbers;
        if numbers.len() < BLOBS_MAX {
            numbers.insert(number, name);
        }
        let size = self.blobs.get(&name).map(|blob| blob.size);
        if let Some(owed) = self.owed.remove(&number).filter(|owed| !owed.are_of(size)) {
            self.missing_blobs.add_all(owed);
        }
    }

    /// Returns the references to blobs that do not precede them, or, for those of set-up commands, that have not come at all.
    pub fn missing_blobs(&self) -> References {
        let mut all = self.missing_blobs;
        self.owed.values().for_each(|owed| all.add_all(*owed));
        all
    }

    /// Returns the numbers of blobs so far, with their names.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (BlobNumber, BlobName)> {
        let Numbers(numbers) = &self.numbers;
        numbers.iter().map(|(number, name)| (*number, *name))
    }

    /// Returns the blobs so far, each where it begins first.
    pub fn blobs(&self) -> impl ExactSizeIterator<Item = &BlobEntry> {
        self.blobs.values()
    }

    fn block_record(&mut self, record: &Record<'_>, block: Block, seq: u64) {
        if record.start != 0 {
            let message = format!("a BLOCK record is at byte {} of a block", record.start);
            self.problem(ProblemKind::Structure, message);
        }
        if block.number != self.blocks.saturating_add(self.from.block) {
            let message = format!("block {} has the number {}", self.blocks, block.number);
            self.problem(ProblemKind::Sequence, message);
        }
        let seq = if self.blocks == 0 { self.from.seq } else { seq };
        if block.first_seq != seq {
            let message = format!("block begins at seq {}, expected {seq}", block.first_seq);
            self.problem(ProblemKind::Sequence, message);
        }
    }

    /// Checks that a record which restates state agrees with the records before it.
    fn contradictions(&mut self, record: &Record<'_>) {
        let message = match Meta::decode(record.header.id(), record.payload) {
            Ok(Meta::Process(process)) => {
                let known = self.tracker.process_at(process.process);
                known
                    .filter(|known| (known.pid, known.frames) != (process.pid, process.frames))
                    .map(|_| format!("PROCESS {} contradicts earlier records", process.process))
            }
            Ok(Meta::ThreadState(state)) => {
                let known = self.tracker.thread_at(state.thread);
                known
                    .filter(|known| {
                        (known.process, known.tid) != (state.process, state.tid)
                            || (known.context, known.stamp) != (state.context, state.stamp)
                    })
                    .map(|_| format!("THREAD_STATE {} contradicts earlier records", state.thread))
            }
            Ok(Meta::SwitchThread(switch)) if !self.tracker.restated(switch.thread) => {
                Some(format!("thread {} has no THREAD_STATE in the block", switch.thread))
            }
            _ => None,
        };
        if let Some(message) = message {
            self.problem(ProblemKind::Sequence, message);
        }
    }

    fn count_current_thread(&mut self) {
        let Some(current) = self.tracker.current() else { return };
        let stamp = self.tracker.thread_at(current).map_or(0, |thread| thread.stamp);
        self.count_record(current, stamp);
    }

    fn count_record(&mut self, thread: u32, stamp: u64) {
        self.records += 1;
        let count = self.count_of(thread);
        count.records += 1;
        let before = count.stamp.replace(stamp);
        if let Some(before) = before.filter(|before| *before > stamp) {
            let message = format!("stamps of thread {thread} go back from {before} to {stamp}");
            self.problem(ProblemKind::Sequence, message);
        }
    }

    fn count_function(&mut self, id: u16) {
        let id = usize::from(id);
        if self.functions.len() <= id {
            self.functions.resize(id + 1, 0);
        }
        self.functions[id] += 1;
    }

    /// Returns the counts of a thread, for the records that come now.
    #[inline]
    fn count_of(&mut self, thread: u32) -> &mut ThreadCount {
        if !matches!(self.counted, Some((counted, _)) if counted == thread) {
            self.put_back();
        }
        let Self { counted, threads, .. } = self;
        &mut counted.get_or_insert_with(|| (thread, threads.remove(&thread).unwrap_or_default())).1
    }

    fn put_back(&mut self) {
        if let Some((thread, count)) = self.counted.take() {
            self.threads.insert(thread, count);
        }
    }

    fn problem(&mut self, kind: ProblemKind, message: String) {
        self.problems.push(Problem { kind, block: Some(self.blocks), message });
    }
}
