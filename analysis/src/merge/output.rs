//! The trace that is written: records go into blocks, and the counts of index and footer are taken from these blocks, as a reader
//! finds them.

use std::borrow::Cow;
use std::io::Write;

use gapii_abi::atom::{self, EndReason, Header, InFlight, KEYFRAME, RECORD_LEN_MAX, Seam};
use gapii_trace::append::AppendTo;
use gapii_trace::blobs::BLOBS_MAX;
use gapii_trace::block::{BLOCK_TARGET_BYTES, BlockEncoder, DEFAULT_LEVEL};
use gapii_trace::census::Census;
use gapii_trace::footer::{LevelUse, Totals};
use gapii_trace::tracker::ThreadTrack;
use gapii_trace::{
    BlockEntry, Description, DescriptionWriter, Footer, TraceHeader, TraceIndex, meta,
};

use super::error::MergeError;
use super::source::Head;

/// Blocks and what is known of them.
pub struct Output<W> {
    /// Counts of the blocks that were written.
    pub census: Census,
    out: W,
    version: u32,
    position: u64,
    description: Cow<'static, Description>,
    descriptions: Option<DescriptionWriter>,
    encoder: BlockEncoder,
    index: TraceIndex,
    compressed_bytes: u64,
    raw: Vec<u8>,
    compressed: Vec<u8>,
    /// The thread of the last record of the block.
    current: Option<u32>,
    /// Processes and threads that the block has stated.
    processes: Vec<u32>,
    threads: Vec<u32>,
    /// The latest begin of a block.
    last_ns: u64,
}

/// The thread of a record, and its process.
pub struct Who<'a> {
    pub process: u32,
    pub pid: u32,
    pub start_ns: u64,
    pub process_name: &'a [u8],
    pub thread: u32,
    pub tid: u32,
    pub name: [u8; 16],
}

impl<W: Write> Output<W> {
    /// Writes the header.
    pub fn begin(out: W, header: &TraceHeader) -> Result<Self, MergeError> {
        let mut census = Census::default();
        census.begin(header);
        let mut output = Self {
            census,
            out,
            version: header.version,
            position: 0,
            description: header.description.clone(),
            descriptions: header.description_writer(),
            encoder: BlockEncoder::for_version(DEFAULT_LEVEL, header.version)?,
            index: TraceIndex::default(),
            compressed_bytes: 0,
            raw: Vec::new(),
            compressed: Vec::new(),
            current: None,
            processes: Vec::new(),
            threads: Vec::new(),
            last_ns: 0,
        };
        output.write(&header.encode()?)?;
        Ok(output)
    }

    /// Writes a record. `stamp` is that of the thread's record before; `now_ns` is when the block of the record was begun.
    pub fn record(
        &mut self,
        who: &Who<'_>,
        stamp: &mut u64,
        (head, bytes, now_ns): (&Head, &[u8], u64),
    ) -> Result<(), MergeError> {
        if self.raw.len() >= BLOCK_TARGET_BYTES || head.header.id() == KEYFRAME {
            self.end_block()?;
        }
        self.last_ns = self.last_ns.max(now_ns);
        self.begin_block();
        self.enter(who, *stamp);
        let before = std::mem::replace(stamp, head.stamp);
        // Records that were left out may have had later stamps, which a record without a stamp goes by.
        let must_say = before != head.stamp && !head.is_stamped;
        let has_room = head.header.len_untrusted() <= RECORD_LEN_MAX - 8;
        match bytes.split_at_checked(8) {
            Some((_, rest)) if must_say && has_room => {
                let Header(word) = head.header.with_stamp();
                self.raw.extend_from_slice(&word.to_le_bytes());
                self.raw.extend_from_slice(&head.stamp.to_le_bytes());
                self.raw.extend_from_slice(rest);
            }
            _ => self.raw.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Begins a block with a seam.
    pub fn seam(&mut self, seam: Seam) -> Result<(), MergeError> {
        self.end_block()?;
        self.begin_block();
        seam.append_to(&mut self.raw);
        Ok(())
    }

    /// Writes the last record of the stream.
    pub fn end(&mut self, reason: EndReason, in_flight: Vec<InFlight>) -> Result<(), MergeError> {
        self.begin_block();
        meta::End { reason, in_flight }.append_to(&mut self.raw);
        self.end_block()
    }

    /// Writes index and footer, whose totals are those of the blocks. Returns the bytes of the file.
    pub fn finish(mut self, mut footer: Footer) -> Result<u64, MergeError> {
        let census = &mut self.census;
        let (blocks, raw_bytes) = (census.blocks, census.raw_bytes);
        footer.totals = Totals {
            frames: census.frame_ends.len() as u64,
            calls: census.calls,
            records: census.records,
            blocks,
            raw_bytes,
            compressed_bytes: self.compressed_bytes,
            memory: census.memory,
        };
        footer.levels = vec![LevelUse { level: DEFAULT_LEVEL, blocks, raw_bytes }];
        self.index.frame_ends = std::mem::take(&mut census.frame_ends);
        if census.blobs().len() <= BLOBS_MAX {
            self.index.list_blobs(census.blobs().copied().collect(), census.numbers());
        }
        let index_offset = self.position;
        let index = self.index.encode(self.version);
        self.write(&index)?;
        let footer = footer.encode(self.version, Some(index_offset), self.position);
        self.write(&footer)?;
        self.out.flush().map_err(MergeError::Write)?;
        Ok(self.position)
    }

    fn begin_block(&mut self) {
        if self.raw.is_empty() {
            let first_seq = self.census.calls;
            atom::Block { number: self.census.blocks, first_seq, start_ns: self.last_ns }
                .append_to(&mut self.raw);
        }
    }

    /// Makes the thread the current one, and states what a reader of this block must know of it.
    fn enter(&mut self, who: &Who<'_>, stamp: u64) {
        if self.current == Some(who.thread) {
            return;
        }
        self.current = Some(who.thread);
        let (thread, process) = (who.thread, who.process);
        // State of the blocks before, because this block has no record of the thread.
        if !self.threads.contains(&thread) {
            self.threads.push(thread);
            let tracker = self.census.tracker();
            if !self.processes.contains(&process) {
                self.processes.push(process);
                let frames = tracker.process_at(process).map_or(0, |it| it.frames);
                let Who { pid, start_ns, process_name: name, .. } = *who;
                meta::Process { process, pid, start_ns, frames, name }.append_to(&mut self.raw);
            }
            let before = tracker.thread_at(thread);
            let (api, context) = before.map_or((0, 0), |it: &ThreadTrack| (it.api, it.context));
            let Who { tid, name, .. } = *who;
            atom::ThreadState { thread, process, tid, api, context, stamp, name }
                .append_to(&mut self.raw);
        }
        atom::SwitchThread { thread }.append_to(&mut self.raw);
    }

    fn end_block(&mut self) -> Result<(), MergeError> {
        if self.raw.is_empty() {
            return Ok(());
        }
        self.compressed.clear();
        self.encoder.encode_into(&self.raw, &mut self.compressed)?;
        if let Some(descriptions) = &mut self.descriptions {
            let frame = descriptions.frame(&self.encoder.used(), self.version)?;
            self.write(&frame.unwrap_or_default())?;
        }
        let first_seq = self.census.calls;
        self.census.block(&self.raw, &self.description);
        // `verify` reports them.
        self.census.problems.clear();
        self.index.push_block(BlockEntry {
            file_offset: self.position,
            compressed_len: self.compressed.len() as u32,
            raw_len: self.raw.len() as u32,
            first_seq,
            seqs: (self.census.calls - first_seq) as u32,
        });
        self.compressed_bytes += self.compressed.len() as u64;
        let compressed = std::mem::take(&mut self.compressed);
        self.write(&compressed)?;
        self.compressed = compressed;
        self.raw.clear();
        self.current = None;
        self.processes.clear();
        self.threads.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes).map_err(MergeError::Write)
    }
}
