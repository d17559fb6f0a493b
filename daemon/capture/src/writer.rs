//! The thread that compresses blocks and writes them, so that the drain never waits for a file. Ring space is free only
//! after the write of its records has returned; for a stream, which another daemon cannot continue, before it. After an error it takes blocks only to report that they are not in the
//! file, and still tries to write the end, index and footer of a regular file, if need be in place of the last blocks, up to
//! 64 KiB of them (`TAKEN_BACK`). A trace with more than 4,194,304 frame ends has no index; above 2,097,152 blobs the index
//! lists none.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use gapii_abi::atom::{self, GapCause, Seam};
use gapii_control::{InFlight, Summary};
use gapii_ringbuf::CounterMap;
use gapii_trace::append::AppendTo;
use gapii_trace::blobs::{BLOBS_MAX, BlobEntry, BlobName, BlobNumber, Collector};
use gapii_trace::block::{EncodeError, FAST_LEVEL};
use gapii_trace::clock::Moment;
use gapii_trace::footer::{GapEntry, LevelUse, Lost, ProcessEntry, Totals};
use gapii_trace::frame::UNTIMED_VERSION;
use gapii_trace::header::KeptFrom;
use gapii_trace::meta;
use gapii_trace::used::Used;
use gapii_trace::{
    BlockEncoder, BlockEntry, Description, DescriptionWriter, Footer, TraceHeader, TraceIndex,
};

use crate::backlog::{Backlog, Done, Work};
use crate::clock::Clock;
use crate::facts::Facts;
use crate::fault::{self, Fault};
use crate::fill::{NOT_THERE, add_lost};
use crate::finish::Finish;
use crate::ledger::Ledger;
use crate::output::{Output, OutputError};
use crate::progress::Progress;
use crate::recover::Recovered;
use crate::stream::{Block, MISSING_MAX};
use crate::survey::{Survey, Surveyed};

/// The outcome of a capture.
#[derive(Debug, Default)]
pub struct Written {
    pub footer: Footer,
    pub waits: u64,
    pub wait_ns: u64,
    pub file_bytes: u64,
    pub stored_bytes: u64,
    /// Bytes of a snapshot that had no room for a copy in the program.
    pub held_bytes: u64,
    pub error: Option<OutputError>,
}

impl Written {
    /// Returns the outcome as clients see it.
    pub fn summary(&self) -> Summary {
        let Footer { reason, totals, lost, processes, threads, in_flight, .. } = &self.footer;
        let thread = |index: u32| threads.iter().find(|thread| thread.thread == index);
        let process = |index: u32| processes.iter().find(|process| process.process == index);
        let name = |id| {
            let function = Description::built_in().function(id);
            function.map(|function| function.name.clone()).unwrap_or_default()
        };
        let in_flight = in_flight.iter().map(|command| InFlight {
            pid: thread(command.thread).and_then(|t| process(t.process)).map_or(0, |p| p.pid),
            tid: thread(command.thread).map_or(0, |t| t.tid),
            name: name(command.id).into(),
            id: command.id,
            stamp: command.stamp,
        });
        Summary {
            reason: reason.name().to_owned(),
            frames: totals.frames,
            calls: totals.calls,
            records: totals.records,
            threads: threads.len() as u64,
            processes: processes.len() as u64,
            raw_bytes: totals.raw_bytes,
            blobs: totals.memory.blobs,
            blob_bytes: totals.memory.blob_bytes,
            saved_bytes: totals.memory.saved_bytes(),
            stored_bytes: self.stored_bytes,
            held_bytes: self.held_bytes,
            file_bytes: self.file_bytes,
            lost: gapii_control::Lost { calls: lost.calls, bytes: lost.bytes },
            paused: self.paused(),
            incomplete: totals.memory.incomplete,
            reentrant: self.footer.reentrant_calls(),
            foreign: self.footer.foreign_calls(),
            waits: self.waits,
            wait_ns: self.wait_ns,
            snapshot: self.footer.snapshot,
            held_us: self.footer.held_us,
            missing: self.footer.missing.clone(),
            without_gpu_times: self.footer.without_gpu_times.clone(),
            in_flight: in_flight.collect(),
            seams: self.footer.seams.len() as u64,
            away_ns: self.footer.seams.iter().map(Seam::away_ns).fold(0, u64::saturating_add),
            when_happened: self.footer.when_happened,
            signal: self.footer.signal,
            error: self.error.as_ref().map(|error| error.to_string().into()),
        }
    }

    /// Returns the commands that are missing because they came while the capture was paused.
    fn paused(&self) -> gapii_control::Lost {
        let gaps = self.footer.gaps.iter().filter(|gap| gap.cause == GapCause::Paused);
        gaps.fold(gapii_control::Lost::default(), |sum, gap| gapii_control::Lost {
            calls: sum.calls.saturating_add(gap.calls),
            bytes: sum.bytes.saturating_add(gap.bytes),
        })
    }
}

/// Largest number of frame ends in an index. A longer trace has no index.
const FRAME_ENDS_MAX: usize = 4 << 20;
/// Largest number of blobs in an index. If more are sent, it lists none, and readers find them in the blocks.
const BLOB_ENTRIES_MAX: usize = BLOBS_MAX;

/// Bytes of blocks that may be taken back for the end of a trace whose output is full.
const TAKEN_BACK: u64 = 64 << 10;

/// Writes one trace.
pub struct Writer {
    output: Output,
    clock: Clock,
    encoder: BlockEncoder,
    /// The zstd level while the writer keeps up.
    level: i32,
    /// Blocks that were compressed at each level.
    levels: BTreeMap<i32, LevelUse>,
    frame: Vec<u8>,
    /// Format version of the trace.
    version: u32,
    /// What describes functions in front of the blocks that first use them. `None` if the header describes all, or another
    /// build's daemon began the trace, whose functions have other ids.
    descriptions: Option<Arc<DescriptionWriter>>,
    /// Where in its capture the trace begins.
    from: KeptFrom,
    index: TraceIndex,
    totals: Totals,
    /// Number of records in the file, by thread of the trace.
    records: Vec<u64>,
    /// Number of frame ends in the file, by process of the trace.
    frames: Vec<u64>,
    /// The blobs in the file, in order. A blob that was sent twice is listed twice.
    blobs: Vec<BlobEntry>,
    /// The numbers of the blobs.
    numbers: Vec<(BlobNumber, BlobName)>,
    lists_blobs: bool,
    /// Contents that blocks lack and that stores should have had.
    unfilled: Vec<GapEntry>,
    /// Survey of the blocks that other daemons wrote.
    survey: Option<Survey>,
    /// Places before each of the last blocks, to which the trace can be taken back; empty for a stream. The blocks together
    /// have at least `TAKEN_BACK` bytes if the file does.
    marks: VecDeque<Mark>,
    error: Option<OutputError>,
}

/// Sums and lengths of a trace when only its beginning was written.
struct Mark {
    file_bytes: u64,
    totals: Totals,
    unfilled: Vec<GapEntry>,
    records: Vec<u64>,
    frames: Vec<u64>,
    blocks: usize,
    frame_ends: usize,
    descriptions: Option<Arc<DescriptionWriter>>,
}

/// Facts from which the end of a trace is written.
#[derive(Clone)]
struct Ending {
    end: meta::End,
    ledger: Ledger,
    footer: Footer,
    calls: u64,
}

/// A trace that has ended.
struct Ended {
    footer: Footer,
    waits: u64,
    wait_ns: u64,
    /// Whether the file has its footer.
    has_footer: bool,
}

impl Writer {
    /// Makes a writer that compresses with zstd at `level`.
    pub fn new(output: Output, level: i32, clock: Clock) -> Result<Self, EncodeError> {
        Ok(Self {
            output,
            clock,
            encoder: BlockEncoder::new(level)?,
            level,
            levels: BTreeMap::new(),
            from: KeptFrom::default(),
            frame: Vec::new(),
            version: UNTIMED_VERSION,
            descriptions: None,
            index: TraceIndex::default(),
            totals: Totals::default(),
            records: Vec::new(),
            frames: Vec::new(),
            blobs: Vec::new(),
            numbers: Vec::new(),
            lists_blobs: true,
            unfilled: Vec::new(),
            survey: None,
            marks: VecDeque::new(),
            error: None,
        })
    }

    /// Writes a trace from its header to its footer, until [`Work::Finish`] comes.
    pub fn run(
        mut self,
        header: &TraceHeader,
        backlog: &Backlog,
        done: &Sender<Done>,
        (progress, counter): (&Progress, &CounterMap),
    ) -> Written {
        if self.survey.is_none() {
            // A pipe may be full.
            backlog.set_writing(true);
            self.begin(header);
            backlog.set_writing(false);
        }
        // Relaxed: as below.
        progress.output_failed.store(self.error.is_some(), Ordering::Relaxed);
        while let Some(work) = backlog.next() {
            self.take_in_hand(&work, backlog, done);
            if let Some(finish) = self.deal_with(work, backlog, progress, done) {
                return self.finish(*finish);
            }
            counter.ring_doorbell();
        }
        // The drain ended without a word. What is written stays readable.
        Written { error: self.error, ..Written::default() }
    }

    /// Returns whether ring space of a block is free before its write: the block is in memory, and no other daemon
    /// continues a stream.
    fn is_early(&self) -> bool {
        self.output.is_stream() && !fault::is_put_in(Fault::SpaceKeptForReader)
    }

    /// Lets go of what a piece of work need not hold while [`Self::deal_with`] waits for a reader, who may accept nothing
    /// for any time: other captures of the same rings end meanwhile.
    pub fn take_in_hand(&self, work: &Work, backlog: &Backlog, done: &Sender<Done>) {
        if let Work::Block(waiting, _) = work
            && self.is_early()
        {
            backlog.set_writing(true);
            // A drain that is gone needs no ring space.
            let _ = done.send(Done { releases: waiting.block().releases.clone() });
        }
    }

    /// Does a piece of work that was taken in hand. Returns the last one, for [`Self::finish`].
    pub fn deal_with(
        &mut self,
        work: Work,
        backlog: &Backlog,
        progress: &Progress,
        done: &Sender<Done>,
    ) -> Option<Box<Finish>> {
        match work {
            Work::Block(waiting, facts) => {
                let block = waiting.block();
                let is_short = waiting.frame().is_none() && backlog.is_pressed();
                let level = if is_short { self.level.min(FAST_LEVEL) } else { self.level };
                self.count_level(level, &facts);
                backlog.set_writing(true);
                self.write_block(block, &facts, waiting.frame(), level);
                self.note_unfilled(&facts);
                backlog.set_writing(false);
                self.tell(progress);
                if !self.is_early() {
                    // A drain that is gone needs no ring space.
                    let _ = done.send(Done { releases: block.releases.clone() });
                }
            }
            Work::Spilled(Ok(frame), facts) => {
                self.count_level(self.level, &facts);
                backlog.set_writing(true);
                self.write_whole(&frame, &facts);
                self.note_unfilled(&facts);
                backlog.set_writing(false);
                self.tell(progress);
            }
            Work::Spilled(Err(error), _) => {
                self.note(Err(OutputError::Spill(error)));
                self.tell(progress);
            }
            Work::Mark(reached) => drop(reached),
            Work::Finish(finish) => return Some(finish),
        }
        None
    }

    /// Continues the trace that other daemons wrote, including its header.
    pub fn go_on(&mut self, header: &TraceHeader, recovered: &Recovered) -> io::Result<()> {
        self.version = header.version;
        // What the file describes already is described again.
        self.descriptions = header.description_writer().map(Arc::new);
        let encoder = BlockEncoder::for_version(self.level, header.version);
        self.encoder = encoder.map_err(io::Error::other)?;
        (self.totals.blocks, self.totals.calls) = (recovered.blocks, recovered.seq);
        self.survey = Some(Survey::begin(self.output.file()?, header.clone(), recovered.end)?);
        Ok(())
    }

    /// Writes the header.
    pub fn begin(&mut self, header: &TraceHeader) {
        self.version = header.version;
        self.descriptions = header.description_writer().map(Arc::new);
        self.from = header.kept.unwrap_or_default();
        let written =
            header.encode().map_err(OutputError::from).and_then(|frame| self.output.write(&frame));
        self.note(written);
    }

    /// Writes a block that was compressed before.
    pub fn write_whole(&mut self, frame: &[u8], facts: &Facts) {
        if self.error.is_some() {
            return;
        }
        let mark = self.mark();
        match self.describe(&facts.used).and_then(|()| self.output.write(frame)) {
            Ok(()) => {
                self.remember_mark(mark);
                self.enter(facts, frame.len() as u32);
            }
            Err(error) => self.note(Err(error)),
        }
    }

    fn write_block(
        &mut self,
        block: &Block,
        facts: &Facts,
        ahead: Option<(&[u8], &Used)>,
        level: i32,
    ) {
        if self.error.is_some() {
            return;
        }
        let mark = self.mark();
        match self.write_frame(block, ahead, level) {
            Ok(compressed_len) => {
                self.remember_mark(mark);
                self.enter(facts, compressed_len);
            }
            Err(error) => self.note(Err(error)),
        }
    }

    /// Notes the contents that a written block lacks and that stores should have had.
    fn note_unfilled(&mut self, facts: &Facts) {
        let unfilled = facts.gaps.iter().filter(|gap| gap.cause == GapCause::Store);
        for gap in unfilled.filter(|_| self.error.is_none()) {
            add_lost(&mut self.unfilled, gap.thread, gap.bytes);
        }
    }

    fn tell(&self, progress: &Progress) {
        // Relaxed: numbers for people. The drain looks again soon for an error, which is passed on at the end.
        progress.file_bytes.store(self.output.len_bytes(), Ordering::Relaxed);
        progress.output_failed.store(self.error.is_some(), Ordering::Relaxed);
    }

    fn count_level(&mut self, level: i32, facts: &Facts) {
        let used = self.levels.entry(level).or_default();
        (used.level, used.blocks) = (level, used.blocks + 1);
        used.raw_bytes += u64::from(facts.raw_len);
    }

    /// Writes a block's frame, behind what it needs of a description: `ahead` if it was compressed in advance, otherwise
    /// compressed at `level`. Returns the frame's length.
    fn write_frame(
        &mut self,
        block: &Block,
        ahead: Option<(&[u8], &Used)>,
        level: i32,
    ) -> Result<u32, OutputError> {
        if let Some((frame, used)) = ahead {
            self.describe(used)?;
            self.output.write(frame)?;
            return Ok(frame.len() as u32);
        }
        self.frame.clear();
        self.encoder.set_level(level)?;
        self.encoder.encode_into(&block.raw, &mut self.frame)?;
        self.describe(&self.encoder.used())?;
        self.output.write(&self.frame)?;
        Ok(self.frame.len() as u32)
    }

    /// Writes what a block needs of a description and no earlier block needed.
    fn describe(&mut self, used: &Used) -> Result<(), OutputError> {
        let Some(descriptions) =
            self.descriptions.as_mut().filter(|descriptions| descriptions.lacks(used))
        else {
            return Ok(());
        };
        match Arc::make_mut(descriptions).frame(used, self.version)? {
            Some(frame) => self.output.write(&frame),
            None => Ok(()),
        }
    }

    /// Enters a written block into the index and the sums.
    fn enter(&mut self, facts: &Facts, compressed_len: u32) {
        for &end in &facts.frame_ends {
            *counter_at(&mut self.frames, end.process) += 1;
            if self.index.frame_ends.len() <= FRAME_ENDS_MAX {
                self.index.push_frame_end(end);
            }
        }
        self.totals.memory.add(&facts.memory);
        for blob in &facts.blobs {
            // A blob that begins before the file is not in it.
            let block = u64::from(blob.block).checked_sub(self.from.block);
            let Some(block) = block.and_then(|block| u32::try_from(block).ok()) else { continue };
            self.totals.memory.blob(blob.size);
            self.remember(BlobEntry { block, ..*blob });
        }
        if self.lists_blobs {
            self.numbers.extend_from_slice(&facts.numbers);
        }
        self.index.push_block(BlockEntry {
            file_offset: self.output.len_bytes() - u64::from(compressed_len),
            compressed_len,
            raw_len: facts.raw_len,
            first_seq: facts.first_seq,
            seqs: facts.seqs,
        });
        for &(thread, records) in &facts.records {
            *counter_at(&mut self.records, thread) += records;
            self.totals.records += records;
        }
        self.totals.frames += facts.frame_ends.len() as u64;
        self.totals.calls += u64::from(facts.seqs);
        self.totals.blocks += 1;
        self.totals.raw_bytes += u64::from(facts.raw_len);
        self.totals.compressed_bytes += u64::from(compressed_len);
    }

    fn remember(&mut self, blob: BlobEntry) {
        if self.blobs.len() < BLOB_ENTRIES_MAX {
            self.blobs.push(blob);
        } else {
            self.lists_blobs = false;
            self.numbers = Vec::new();
        }
    }

    fn note(&mut self, written: Result<(), OutputError>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the stream, and writes index and footer.
    pub fn finish(mut self, finish: Finish) -> Written {
        let Finish { end, mut ledger, mut footer, calls, .. } = finish;
        let Finish { stored_bytes, held_bytes, ends_for_memory, .. } = finish;
        if let Some(survey) = self.survey.take() {
            match survey.finish(self.output.len_bytes()) {
                Ok(surveyed) => self.take_over(surveyed, &mut ledger, &mut footer),
                Err(error) => {
                    // A part that cannot be read again has no index and no accounts.
                    self.note(Err(OutputError::Survey(error)));
                    return Written { footer, error: self.error, ..Written::default() };
                }
            }
        }
        let mut marks = std::mem::take(&mut self.marks);
        let parts = Ending { end, ledger, footer, calls };
        let (mut ended, mut finished) = self.end(parts.clone());
        // A trace that says what it lacks is worth more than its last blocks.
        while !ended.has_footer
            && finished.as_ref().is_err_and(OutputError::is_full)
            && let Some(mark) = marks.pop_back()
            && self.go_back(mark).is_ok()
        {
            self.note(finished);
            (ended, finished) = self.end(parts.clone());
        }
        self.note(finished);
        if ends_for_memory {
            self.note(Err(OutputError::Memory));
        }
        let Ended { footer, waits, wait_ns, .. } = ended;
        Written {
            footer,
            waits,
            wait_ns,
            file_bytes: self.output.len_bytes(),
            stored_bytes,
            held_bytes,
            error: self.error,
        }
    }

    /// Writes the end of the stream, index and footer behind the blocks that are in the file.
    fn end(&mut self, parts: Ending) -> (Ended, Result<(), OutputError>) {
        let Ending { mut end, mut ledger, mut footer, calls } = parts;
        end.in_flight.retain(|command| {
            self.records.get(command.thread as usize).is_some_and(|&records| records > 0)
        });
        // After an error there may still be room for the end of the trace.
        let can_end = self.error.is_none() || self.output.len_bytes() > 0 && self.output.is_whole();
        let ended = if can_end { self.write_end(&end) } else { Ok(()) };
        ledger.settle(&self.records);
        let unwritten = calls.saturating_sub(self.totals.calls);
        ledger.lost = ledger.lost.plus(Lost { calls: unwritten, ..Lost::default() });
        let (waits, wait_ns) = (ledger.waits, ledger.wait_ns);
        self.complete(&mut footer, end, ledger);
        let mut has_footer = false;
        let finished = match ended {
            Ok(()) if can_end => self.write_tables(&footer, &mut has_footer),
            ended => ended,
        };
        (Ended { footer, waits, wait_ns, has_footer }, finished)
    }

    fn remember_mark(&mut self, mark: Option<Mark>) {
        let Some(mark) = mark else { return };
        self.marks.push_back(mark);
        let enough = self.output.len_bytes().saturating_sub(TAKEN_BACK);
        while self.marks.get(1).is_some_and(|second| second.file_bytes <= enough) {
            self.marks.pop_front();
        }
    }

    /// Returns the place to which [`Self::go_back`] can take the trace back; `None` for a stream.
    fn mark(&self) -> Option<Mark> {
        self.output.is_whole().then(|| Mark {
            file_bytes: self.output.len_bytes(),
            totals: self.totals,
            unfilled: self.unfilled.clone(),
            records: self.records.clone(),
            frames: self.frames.clone(),
            blocks: self.index.blocks.len(),
            frame_ends: self.index.frame_ends.len(),
            descriptions: self.descriptions.clone(),
        })
    }

    /// Takes back what was written since `mark`. The index then lists no blobs, and readers find them in the blocks.
    fn go_back(&mut self, mark: Mark) -> io::Result<()> {
        let Mark { file_bytes, totals, unfilled, records, frames, blocks, frame_ends, .. } = mark;
        self.output.go_back(file_bytes)?;
        self.descriptions = mark.descriptions;
        (self.totals, self.records, self.frames) = (totals, records, frames);
        self.unfilled = unfilled;
        self.index.blocks.truncate(blocks);
        self.index.frame_ends.truncate(frame_ends);
        (self.index.blobs, self.index.numbers, self.lists_blobs) = (None, None, false);
        Ok(())
    }

    /// Completes the footer with the sums and accounts of the records in the file.
    fn complete(&mut self, footer: &mut Footer, end: meta::End, mut ledger: Ledger) {
        // Kept for a second end.
        let mut unfilled = self.unfilled.clone();
        if !unfilled.is_empty() {
            ledger.lost = unfilled.iter().fold(ledger.lost, |sum, gap| {
                sum.plus(Lost { bytes: gap.bytes, ..Lost::default() })
            });
            footer.missing.push(NOT_THERE.into());
            footer.gaps.append(&mut unfilled);
        }
        for process in &mut footer.processes {
            process.frames = *counter_at(&mut self.frames, process.process);
        }
        footer.levels = self.levels.values().copied().collect();
        footer.reason = end.reason;
        footer.in_flight = end.in_flight;
        footer.totals = self.totals;
        footer.lost = ledger.lost;
        footer.threads = ledger.threads;
        footer.gaps.append(&mut ledger.gaps);
        footer.refused = ledger.refused;
        let Moment { monotonic_ns, unix_ns, boot_ns } = self.clock.now();
        (footer.ended_unix_ns, footer.ended_ns) = (unix_ns, monotonic_ns);
        footer.ended_boot_ns = boot_ns;
    }

    /// Replaces the numbers since the capture was continued by those of the whole file.
    fn take_over(&mut self, mut surveyed: Surveyed, ledger: &mut Ledger, footer: &mut Footer) {
        self.index = surveyed.index();
        // They count only what this daemon wrote.
        self.marks.clear();
        surveyed.add_accounts(ledger);
        footer.gaps = surveyed.gaps().collect();
        let census = &surveyed.census;
        self.records.clear();
        for (&thread, count) in &census.threads {
            *counter_at(&mut self.records, thread) = count.records;
        }
        self.frames.clear();
        for end in &self.index.frame_ends {
            *counter_at(&mut self.frames, end.process) += 1;
        }
        self.blobs = census.blobs().copied().collect();
        self.numbers = census.numbers().collect();
        self.lists_blobs = self.blobs.len() < BLOB_ENTRIES_MAX;
        self.totals = Totals {
            frames: self.index.frame_ends.len() as u64,
            calls: census.calls,
            records: census.records,
            blocks: census.blocks,
            raw_bytes: census.raw_bytes,
            compressed_bytes: surveyed.compressed_bytes,
            memory: census.memory,
        };
        footer.snapshot |= census.snapshot;
        footer.held_us = footer.held_us.max(census.held_us);
        footer.missing = census.missing.iter().take(MISSING_MAX).cloned().collect();
        footer.without_gpu_times = census.without_gpu_times.iter().map(|it| (*it).into()).collect();
        footer.seams.clone_from(&census.seams);
        for (process, track) in census.tracker().processes() {
            if !footer.processes.iter().any(|known| known.process == process) {
                let (pid, name) = (track.pid, track.name.clone());
                footer.processes.push(ProcessEntry { process, pid, name, ..Default::default() });
            }
        }
        footer.processes.sort_by_key(|process| process.process);
    }

    /// Writes the last block, which has only the END record.
    fn write_end(&mut self, end: &meta::End) -> Result<(), OutputError> {
        let first_seq = self.from.seq + self.totals.calls;
        let mut block = Block { first_seq, ..Block::default() };
        let number = self.from.block + self.totals.blocks;
        atom::Block { number, first_seq, start_ns: self.clock.monotonic_ns() }
            .append_to(&mut block.raw);
        end.append_to(&mut block.raw);
        let compressed_len = self.write_frame(&block, None, self.level)?;
        // The block holds no memory.
        let facts = Facts::of(&block, self.totals.blocks as u32, &mut Collector::default());
        self.enter(&facts, compressed_len);
        Ok(())
    }

    /// Writes index and footer, or only the footer if both do not fit. Sets `has_footer` if the footer is written.
    fn write_tables(&mut self, footer: &Footer, has_footer: &mut bool) -> Result<(), OutputError> {
        let mut indexed = Ok(None);
        if self.lists_blobs {
            let (blobs, numbers) = (&mut self.blobs, &mut self.numbers);
            self.index.list_blobs(std::mem::take(blobs), std::mem::take(numbers));
        }
        if self.index.frame_ends.len() <= FRAME_ENDS_MAX {
            let offset = self.output.len_bytes();
            indexed = self.output.write(&self.index.encode(self.version)).map(|()| Some(offset));
        }
        let index_offset = match &indexed {
            Ok(offset) => *offset,
            Err(_) if self.output.is_whole() => None,
            Err(_) => return indexed.map(drop),
        };
        self.output.write(&footer.encode(self.version, index_offset, self.output.len_bytes()))?;
        *has_footer = true;
        indexed.map(drop)
    }
}

/// Returns the counter at `index` of a list that grows as needed.
fn counter_at(counters: &mut Vec<u64>, index: u32) -> &mut u64 {
    let index = index as usize;
    if counters.len() <= index {
        counters.resize(index + 1, 0);
    }
    &mut counters[index]
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, mpsc};

    use super::*;
    use gapii_abi::atom::EndReason;

    use crate::backlog::backlog;
    use crate::nameless;

    /// Writes as many blocks of 1,000 bytes as wait at once, from rings of 4,000 bytes, at level 1. Returns the levels
    /// at which they were compressed.
    fn levels_of(blocks: u64) -> Vec<LevelUse> {
        let (feed, backlog, _ahead) = backlog(4000);
        let file: OwnedFd = nameless::make(&std::env::temp_dir()).unwrap().into();
        let output = Output::new(file, Arc::default()).unwrap();
        let clock = Clock { monotonic_ns: || 0, unix_ns: || 0, boot_ns: || 0 };
        let mut writer = Writer::new(output, 1, clock).unwrap();
        writer.begin(&TraceHeader::new("test", [0; 16], 0, 0));
        let (done, _reports) = mpsc::channel();
        for _ in 0..blocks {
            feed.block(Block { raw: vec![7; 1000], ..Block::default() });
        }
        for _ in 0..blocks {
            let work = backlog.next().unwrap();
            assert!(writer.deal_with(work, &backlog, &Progress::default(), &done).is_none());
        }
        let finish = Finish {
            end: meta::End { reason: EndReason::Stop, in_flight: Vec::new() },
            ledger: Ledger::default(),
            calls: 0,
            stored_bytes: 0,
            held_bytes: 0,
            ends_for_memory: false,
            footer: Footer::default(),
        };
        writer.finish(finish).footer.levels
    }

    #[test]
    fn blocks_that_queue_up_are_compressed_at_a_fast_level() {
        assert_eq!(levels_of(1), [LevelUse { level: 1, blocks: 1, raw_bytes: 1000 }]);
        let levels = levels_of(3);
        assert_eq!(levels[0].level, FAST_LEVEL, "{levels:?}");
        assert_eq!(levels.iter().map(|used| used.blocks).sum::<u64>(), 3);
        assert_eq!(levels.iter().map(|used| used.raw_bytes).sum::<u64>(), 3000);
    }
}
