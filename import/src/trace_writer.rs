//! Writes a trace of one process: header, blocks, index and footer, one after the other. Memory of 512 bytes and more
//! (`BLOB_BYTES_MIN`) becomes a blob, once for equal bytes. A block ends at 1 MiB of records.
//!
//! Holds one block, and for each blob and each frame the entry of the index. Without times: the recording has none.

use std::collections::HashMap;
use std::io::{self, Write};

use gapii_abi::atom::{
    self, EFFECT, EndReason, FRAME_END, Header, InFlight, LEAVE, META_FIRST, RECORD_LEN_MAX,
};
use gapii_trace::append::AppendTo;
use gapii_trace::blobs::{BLOBS_MAX, BlobEntry, BlobName, BlobNumber};
use gapii_trace::block::{BLOCK_TARGET_BYTES, BlockEncoder, DEFAULT_LEVEL};
use gapii_trace::description::Function;
use gapii_trace::footer::{CaptureOptions, Footer, LevelUse, ProcessEntry, ThreadLedger};
use gapii_trace::index::{BlockEntry, FrameEnd};
use gapii_trace::{DescriptionWriter, TraceHeader, TraceIndex, meta};

/// Least bytes of an observation that becomes a blob.
pub const BLOB_BYTES_MIN: usize = 512;
/// Bytes of a piece of a blob.
const PIECE_BYTES: usize = 256 << 10;
/// Largest number of frame ends in an index. A longer trace has no index.
const FRAME_ENDS_MAX: usize = 4 << 20;
/// The only process.
const PROCESS: u32 = 0;

/// Writes a trace.
pub struct TraceWriter<W> {
    out: W,
    version: u32,
    descriptions: Option<DescriptionWriter>,
    encoder: BlockEncoder,
    position: u64,
    raw: Vec<u8>,
    compressed: Vec<u8>,
    index: TraceIndex,
    footer: Footer,
    first_seq: u64,
    seq: u64,
    stamp: u64,
    /// The thread of the last record of the block.
    current: Option<u32>,
    process_is_announced: bool,
    threads: Vec<Thread>,
    numbers: HashMap<BlobName, u64>,
    blobs: Vec<BlobEntry>,
}

/// The state of a thread.
#[derive(Default)]
struct Thread {
    name: [u8; 16],
    context: atom::Context,
    stamp: u64,
    is_announced: bool,
    /// The ordinal of the last command, if it took effect.
    seq: Option<u64>,
}

/// A record of a command.
pub struct Record<'a> {
    /// The function.
    pub function: &'a Function,
    /// Flags of the header.
    pub flags: u16,
    /// The payload.
    pub payload: &'a [u8],
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header.
    pub fn begin(mut out: W, header: &TraceHeader, process: ProcessEntry) -> io::Result<Self> {
        let bytes = header.encode().map_err(io::Error::other)?;
        out.write_all(&bytes)?;
        let footer = Footer {
            started_unix_ns: header.started_unix_ns,
            ended_unix_ns: header.started_unix_ns,
            processes: vec![process],
            options: CaptureOptions { overflow: "wait".to_owned(), ..CaptureOptions::default() },
            ..Footer::default()
        };
        Ok(Self {
            out,
            version: header.version,
            descriptions: header.description_writer(),
            encoder: BlockEncoder::new(DEFAULT_LEVEL).map_err(io::Error::other)?,
            position: bytes.len() as u64,
            raw: Vec::new(),
            compressed: Vec::new(),
            index: TraceIndex::default(),
            footer,
            first_seq: 0,
            seq: 0,
            stamp: 0,
            current: None,
            process_is_announced: false,
            threads: Vec::new(),
            numbers: HashMap::new(),
            blobs: Vec::new(),
        })
    }

    /// Begins a thread, and returns its index in the trace.
    pub fn thread(&mut self, tid: u32, name: &str) -> io::Result<u32> {
        let thread = self.threads.len() as u32;
        let mut bytes = [0; 16];
        let len = name.len().min(bytes.len() - 1);
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        self.threads.push(Thread { name: bytes, ..Thread::default() });
        self.footer.threads.push(ThreadLedger {
            thread,
            process: PROCESS,
            tid,
            name: name.into(),
            ..ThreadLedger::default()
        });
        let record = atom::Thread { tid, flags: 0, name: bytes };
        self.write(thread, Header::new(atom::THREAD, 0, payload_len(24)), &record.encode())?;
        self.context(thread, atom::Context::default())?;
        Ok(thread)
    }

    /// Notes that another context is current on a thread.
    pub fn context(&mut self, thread: u32, context: atom::Context) -> io::Result<()> {
        let bytes = context.encode();
        self.write(thread, Header::new(atom::CONTEXT, 0, payload_len(bytes.len())), &bytes)?;
        self.threads[thread as usize].context = context;
        Ok(())
    }

    /// Returns whether a payload fits into a record.
    pub fn fits(payload: &[u8]) -> bool {
        // The header word and the stamp.
        payload.len() + 16 <= RECORD_LEN_MAX as usize
    }

    /// Writes a record of a command, whose payload [fits](Self::fits). Returns its stamp.
    pub fn command(&mut self, thread: u32, record: &Record<'_>) -> io::Result<u64> {
        let header =
            Header::new(record.function.id, record.flags, payload_len(record.payload.len()));
        self.stamp += 1;
        self.footer.totals.memory.command(record.function, header, record.payload);
        self.write(thread, header.with_stamp(), record.payload)?;
        let of_thread = &mut self.threads[thread as usize];
        of_thread.stamp = self.stamp;
        if record.flags & (EFFECT | LEAVE) != LEAVE {
            of_thread.seq = (record.flags & EFFECT != 0).then_some(self.seq);
        }
        if record.flags & EFFECT != 0 {
            self.seq += 1;
            self.footer.totals.calls += 1;
        }
        if record.flags & FRAME_END != 0 {
            let process = &mut self.footer.processes[PROCESS as usize];
            let (frame, seq) = (process.frames, of_thread.seq);
            process.frames += 1;
            self.footer.totals.frames += 1;
            if self.index.frame_ends.len() <= FRAME_ENDS_MAX {
                let end = FrameEnd { process: PROCESS, frame, block: 0, seq, time_ns: None };
                self.index.push_frame_end(end);
            }
        }
        Ok(self.stamp)
    }

    /// Writes a blob unless the trace has it, and returns its number.
    pub fn blob(&mut self, thread: u32, bytes: &[u8]) -> io::Result<u64> {
        let name = BlobName::of(bytes);
        if let Some(number) = self.numbers.get(&name) {
            return Ok(*number);
        }
        let total = bytes.len() as u64;
        let number = self.footer.totals.memory.blobs + 1;
        let mut begin = None;
        for (index, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
            let offset = (index * PIECE_BYTES) as u64;
            let mut record = atom::Blob { total, offset }.encode().to_vec();
            record.extend_from_slice(piece);
            let header = Header::new(atom::BLOB, 0, payload_len(record.len()));
            let place = self.write(thread, header, &record)?;
            begin.get_or_insert(place);
        }
        let numbered = atom::Numbered { number }.encode();
        let header = Header::new(atom::NUMBERED, 0, payload_len(numbered.len()));
        self.write(thread, header, &numbered)?;
        self.footer.totals.memory.blob(total);
        if self.blobs.len() < BLOBS_MAX {
            let (block, offset) = begin.unwrap_or_default();
            self.blobs.push(BlobEntry { name, size: total, block, offset });
            self.numbers.insert(name, number);
        }
        Ok(number)
    }

    /// Returns the number of commands that took effect.
    pub fn commands(&self) -> u64 {
        self.footer.totals.calls
    }

    /// Returns the number of frames that ended.
    pub fn frames(&self) -> u64 {
        self.footer.totals.frames
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> u64 {
        self.threads.len() as u64
    }

    /// Writes the end of the stream, index and footer.
    pub fn finish(
        mut self,
        reason: EndReason,
        in_flight: Vec<InFlight>,
        nested_calls: u64,
    ) -> io::Result<W> {
        self.begin_block();
        meta::End { reason, in_flight: in_flight.clone() }.append_to(&mut self.raw);
        self.end_block()?;
        self.footer.reason = reason;
        self.footer.in_flight = in_flight;
        self.footer.processes[PROCESS as usize].reentrant_calls = nested_calls;
        let totals = &self.footer.totals;
        let (level, blocks, raw_bytes) = (DEFAULT_LEVEL, totals.blocks, totals.raw_bytes);
        self.footer.levels = vec![LevelUse { level, blocks, raw_bytes }];
        let mut index_offset = None;
        if self.index.frame_ends.len() <= FRAME_ENDS_MAX {
            if totals.memory.blobs <= BLOBS_MAX as u64 {
                let numbers = self.numbers.iter().map(|(name, number)| {
                    (BlobNumber { process: PROCESS, number: *number }, *name)
                });
                self.index.list_blobs(std::mem::take(&mut self.blobs), numbers);
            }
            index_offset = Some(self.position);
            let index = self.index.encode(self.version);
            self.out.write_all(&index)?;
            self.position += index.len() as u64;
        }
        let footer = self.footer.encode(self.version, index_offset, self.position);
        self.out.write_all(&footer)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes a record of a thread, after the atoms that must precede it in its block. Returns the block, and the place of
    /// the record in it.
    fn write(&mut self, thread: u32, header: Header, payload: &[u8]) -> io::Result<(u32, u32)> {
        if self.raw.len() >= BLOCK_TARGET_BYTES {
            self.end_block()?;
        }
        self.announce(thread);
        let place = (self.index.blocks.len() as u32, self.raw.len() as u32);
        self.raw.extend_from_slice(&header.0.to_le_bytes());
        if header.id() < META_FIRST {
            self.raw.extend_from_slice(&self.stamp.to_le_bytes());
        }
        self.raw.extend_from_slice(payload);
        self.raw.resize(self.raw.len().next_multiple_of(8), 0);
        let ledger = &mut self.footer.threads[thread as usize];
        ledger.emitted += 1;
        ledger.produced += 1;
        self.footer.totals.records += 1;
        Ok(place)
    }

    fn begin_block(&mut self) {
        if self.raw.is_empty() {
            let number = self.index.blocks.len() as u64;
            let block = atom::Block { number, first_seq: self.seq, start_ns: 0 };
            block.append_to(&mut self.raw);
        }
    }

    fn announce(&mut self, thread: u32) {
        self.begin_block();
        let process = &self.footer.processes[PROCESS as usize];
        if !self.process_is_announced {
            self.process_is_announced = true;
            meta::Process {
                process: PROCESS,
                pid: process.pid,
                start_ns: 0,
                frames: process.frames,
                name: process.name.raw().as_bytes(),
            }
            .append_to(&mut self.raw);
        }
        let of_thread = &mut self.threads[thread as usize];
        if !of_thread.is_announced {
            of_thread.is_announced = true;
            atom::ThreadState {
                thread,
                process: PROCESS,
                tid: self.footer.threads[thread as usize].tid,
                api: of_thread.context.api,
                context: of_thread.context.context,
                stamp: of_thread.stamp,
                name: of_thread.name,
            }
            .append_to(&mut self.raw);
        }
        if self.current != Some(thread) {
            self.current = Some(thread);
            atom::SwitchThread { thread }.append_to(&mut self.raw);
        }
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.compressed.clear();
        let len =
            self.encoder.encode_into(&self.raw, &mut self.compressed).map_err(io::Error::other)?
                as u32;
        if let Some(descriptions) = &mut self.descriptions {
            let described = descriptions.frame(&self.encoder.used(), self.version);
            if let Some(frame) = described.map_err(io::Error::other)? {
                self.out.write_all(&frame)?;
                self.position += frame.len() as u64;
            }
        }
        self.out.write_all(&self.compressed)?;
        let raw_len = self.raw.len() as u32;
        self.index.push_block(BlockEntry {
            file_offset: self.position,
            compressed_len: len,
            raw_len,
            first_seq: self.first_seq,
            seqs: (self.seq - self.first_seq) as u32,
        });
        self.position += u64::from(len);
        self.footer.totals.blocks += 1;
        self.footer.totals.raw_bytes += u64::from(raw_len);
        self.footer.totals.compressed_bytes += u64::from(len);
        self.raw.clear();
        self.first_seq = self.seq;
        self.current = None;
        self.process_is_announced = false;
        self.threads.iter_mut().for_each(|thread| thread.is_announced = false);
        Ok(())
    }
}

/// Length of a record with a payload of this length, without stamp.
fn payload_len(len: usize) -> u32 {
    8 + len as u32
}
