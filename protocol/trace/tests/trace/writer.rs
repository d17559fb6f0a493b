//! Writes traces for tests as the daemon does, from a script instead of rings.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Cursor;

use gapii_abi::atom::{
    self, EFFECT, EndReason, FRAME_END, GapCause, Header, InFlight, LEAVE, LEAVES, META_FIRST,
    TimeKind,
};
use gapii_trace::append::AppendTo;
use gapii_trace::blobs::{BlobEntry, BlobName, BlobNumber, Collector};
use gapii_trace::footer::{Footer, GapEntry, ProcessEntry, ThreadLedger};
use gapii_trace::index::FrameEnd;
use gapii_trace::meta::{self, Meta};
use gapii_trace::{
    BlockEncoder, BlockEntry, Command, DescriptionWriter, TraceHeader, TraceIndex, TraceReader,
    json,
};

use crate::describe::{self, Payload};

/// A trace under construction.
pub struct Writer {
    /// The file so far: whole blocks only.
    pub file: Vec<u8>,
    /// Where each block begins, and where the last one ends.
    pub block_offsets: Vec<usize>,
    /// Format version of the trace.
    pub version: u32,
    pub footer: Footer,
    pub index: TraceIndex,
    /// What describes functions in front of the blocks, if the header does not.
    pub descriptions: Option<DescriptionWriter>,
    raw: Vec<u8>,
    first_seq: u64,
    seq: u64,
    current: Option<u32>,
    restated: BTreeSet<u32>,
    restated_processes: BTreeSet<u32>,
    contexts: Vec<u64>,
    stamps: Vec<u64>,
    /// Of each thread: the ordinal of its last command, and the time of its next record of a command.
    pending: Vec<(Option<u64>, Option<u64>)>,
    collector: Collector,
    numbers: Vec<(BlobNumber, BlobName)>,
    pub blobs: Vec<BlobEntry>,
}

pub fn header() -> TraceHeader {
    TraceHeader {
        description: Cow::Owned(describe::description()),
        ..TraceHeader::new("gapiid test", [0xAB; 16], 1_700_000_000_000_000_000, 5_000)
    }
}

impl Writer {
    pub fn new() -> Self {
        Self::with_header(header().encode().unwrap())
    }

    pub fn with_header(file: Vec<u8>) -> Self {
        Self {
            block_offsets: vec![file.len()],
            version: u32::from_le_bytes(*file[20..].first_chunk().unwrap()),
            file,
            footer: Footer { started_unix_ns: 10, ended_unix_ns: 20, ..Footer::default() },
            index: TraceIndex::default(),
            descriptions: None,
            raw: Vec::new(),
            first_seq: 0,
            seq: 0,
            current: None,
            restated: BTreeSet::new(),
            restated_processes: BTreeSet::new(),
            contexts: Vec::new(),
            stamps: Vec::new(),
            pending: Vec::new(),
            collector: Collector::default(),
            blobs: Vec::new(),
            numbers: Vec::new(),
        }
    }

    pub fn process(&mut self, pid: u32, name: &str) -> u32 {
        let process = self.footer.processes.len() as u32;
        let apis = vec!["egl".into(), "gl".into()];
        let (name, exe) = (name.into(), format!("/usr/bin/{name}").into());
        self.footer.processes.push(ProcessEntry {
            process,
            pid,
            name,
            exe,
            apis,
            ..ProcessEntry::default()
        });
        process
    }

    /// A thread with its first two records.
    pub fn thread(&mut self, process: u32, tid: u32, stamp: u64) -> u32 {
        let thread = self.footer.threads.len() as u32;
        let name = format!("thread-{tid}").into();
        self.footer.threads.push(ThreadLedger { thread, process, tid, name, ..Default::default() });
        self.contexts.push(0);
        self.stamps.push(0);
        self.pending.push((None, None));
        let record = atom::Thread { tid, flags: 0, name: *b"t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" };
        self.record(thread, atom::THREAD, 0, Some(stamp), &record.encode());
        self.context(thread, 0x77);
        thread
    }

    pub fn context(&mut self, thread: u32, context: u64) {
        let record = atom::Context { context, api: 0x30A0, client_version: 3 };
        self.record(thread, atom::CONTEXT, 0, None, &record.encode());
        self.contexts[thread as usize] = context;
    }

    /// A whole command that has no leave record.
    pub fn command(&mut self, thread: u32, id: u16, stamp: Option<u64>, payload: &Payload) {
        self.record(thread, id, EFFECT, stamp, &payload.0);
    }

    pub fn enter(&mut self, thread: u32, id: u16, flags: u16, stamp: Option<u64>, p: &Payload) {
        self.record(thread, id, flags | LEAVES, stamp, &p.0);
    }

    pub fn leave(&mut self, thread: u32, id: u16, flags: u16, stamp: Option<u64>, p: &Payload) {
        self.record(thread, id, flags | LEAVE, stamp, &p.0);
    }

    /// Like [`Self::leave`], with the driver's time, and its begin if there are two times.
    pub fn leave_timed(&mut self, thread: u32, id: u16, flags: u16, times: &[u64], p: &Payload) {
        let header = Header::new(id, flags | LEAVE, 8 + p.0.len() as u32);
        let header = if times.len() == 1 { header.with_time() } else { header.with_times() };
        self.write(thread, header, None, times, &p.0);
    }

    /// A swap that ends a frame.
    pub fn swap(&mut self, thread: u32, stamp: u64) {
        self.enter(thread, describe::SWAP, EFFECT, Some(stamp), &describe::swap_args());
        let result = Payload::new().u32(1);
        self.leave(thread, describe::SWAP, FRAME_END, Some(stamp + 1), &result);
    }

    /// A swap that ends a frame, at this time.
    pub fn swap_at(&mut self, thread: u32, stamp: u64, at_ns: u64) {
        self.enter(thread, describe::SWAP, EFFECT, Some(stamp), &describe::swap_args());
        self.time(thread, at_ns);
        let result = Payload::new().u32(1);
        self.leave(thread, describe::SWAP, FRAME_END, Some(stamp + 1), &result);
    }

    /// The time of the thread's next record of a command.
    pub fn time(&mut self, thread: u32, at_ns: u64) {
        let record = atom::Time { at_ns, kind: TimeKind::Command, function: 0, duration_ns: 0 };
        self.record(thread, atom::TIME, 0, None, &record.encode());
        self.pending[thread as usize].1 = Some(at_ns);
    }

    /// A piece of a blob.
    pub fn piece(&mut self, thread: u32, total: u64, offset: u64, bytes: &[u8]) {
        let mut payload = atom::Blob { total, offset }.encode().to_vec();
        payload.extend_from_slice(bytes);
        self.record(thread, atom::BLOB, 0, None, &payload);
    }

    /// Writes a blob in pieces of `piece` bytes, and its number.
    pub fn blob(&mut self, thread: u32, bytes: &[u8], piece: usize) {
        for (index, part) in bytes.chunks(piece).enumerate() {
            self.piece(thread, bytes.len() as u64, (index * piece) as u64, part);
        }
        self.number(thread, describe::number_of(bytes));
    }

    /// Writes the number of the thread's last blob.
    pub fn number(&mut self, thread: u32, number: u64) {
        self.record(thread, atom::NUMBERED, 0, None, &atom::Numbered { number }.encode());
    }

    pub fn gap(&mut self, thread: u32, records: u64, calls: u64, bytes: u64) {
        let cause = GapCause::Dropped;
        let record = atom::Gap {
            records,
            calls,
            bytes,
            first_stamp: 1,
            last_stamp: 2,
            start_ns: 3,
            end_ns: 4,
            cause,
        };
        self.record(thread, atom::GAP, 0, None, &record.encode());
        self.pending[thread as usize].1 = None;
        let gap = GapEntry { thread, records, calls, bytes, cause, ..GapEntry::default() };
        self.footer.gaps.push(gap);
        let ledger = &mut self.footer.threads[thread as usize];
        ledger.lost += records;
        ledger.produced += records;
        self.footer.lost.records += records;
        self.footer.lost.calls += calls;
        self.footer.lost.bytes += bytes;
    }

    /// A record of a thread, after the atoms that must precede it in its block.
    pub fn record(&mut self, thread: u32, id: u16, flags: u16, stamp: Option<u64>, payload: &[u8]) {
        self.write(thread, Header::new(id, flags, 8 + payload.len() as u32), stamp, &[], payload);
    }

    fn write(
        &mut self,
        thread: u32,
        mut header: Header,
        stamp: Option<u64>,
        times: &[u64],
        payload: &[u8],
    ) {
        self.announce(thread);
        let flags = header.flags();
        if stamp.is_some() {
            header = header.with_stamp();
        }
        self.count_memory(thread, header, payload);
        self.raw.extend_from_slice(&header.0.to_le_bytes());
        if let Some(stamp) = stamp {
            self.raw.extend_from_slice(&stamp.to_le_bytes());
            self.stamps[thread as usize] = stamp;
        }
        self.raw.extend(times.iter().flat_map(|time| time.to_le_bytes()));
        self.raw.extend_from_slice(payload);
        self.raw.resize(self.raw.len().next_multiple_of(8), 0);
        let ledger = &mut self.footer.threads[thread as usize];
        ledger.emitted += 1;
        ledger.produced += 1;
        self.footer.totals.records += 1;
        if header.id() >= META_FIRST {
            return;
        }
        let (seq, time_ns) = &mut self.pending[thread as usize];
        if flags & (EFFECT | LEAVE) != LEAVE {
            *seq = (flags & EFFECT != 0).then_some(self.seq);
        }
        if flags & EFFECT != 0 {
            self.seq += 1;
            self.footer.totals.calls += 1;
        }
        if flags & FRAME_END != 0 {
            let ProcessEntry { process, frames: frame, .. } =
                self.footer.processes[ledger.process as usize];
            let (seq, time_ns) = (*seq, *time_ns);
            self.index.push_frame_end(FrameEnd { process, frame, block: 0, seq, time_ns });
            self.footer.processes[process as usize].frames += 1;
            self.footer.totals.frames += 1;
        }
        self.pending[thread as usize].1 = None;
    }

    fn count_memory(&mut self, thread: u32, header: Header, payload: &[u8]) {
        let memory = &mut self.footer.totals.memory;
        let place = (self.index.blocks.len() as u32, self.raw.len() as u32);
        if let Some(function) = describe::description().function(header.id()) {
            memory.command(function, header, payload);
        } else if let (atom::BLOB, Ok(Meta::Blob(piece))) =
            (header.id(), Meta::decode(header.id(), payload))
            && let Some(blob) = self.collector.piece(thread, place, &piece)
        {
            memory.blob(blob.size);
            self.blobs.push(blob);
        } else if let Ok(Meta::Numbered(atom::Numbered { number })) =
            Meta::decode(header.id(), payload)
            && let Some(name) = self.collector.numbered(thread)
        {
            let process = self.footer.threads[thread as usize].process;
            self.numbers.push((BlobNumber { process, number }, name));
        }
    }

    /// Appends bytes that no thread's account counts.
    pub fn raw_bytes(&mut self, bytes: &[u8]) {
        self.begin_block();
        self.raw.extend_from_slice(bytes);
    }

    pub fn end_block(&mut self) {
        if self.raw.is_empty() {
            return;
        }
        let mut encoder = BlockEncoder::for_version(1, self.version).unwrap();
        let frame = encoder.encode(&self.raw).unwrap();
        if let Some(descriptions) = &mut self.descriptions {
            let described = descriptions.frame(&encoder.used(), self.version).unwrap();
            self.file.extend_from_slice(&described.unwrap_or_default());
        }
        self.index.push_block(BlockEntry {
            file_offset: self.file.len() as u64,
            compressed_len: frame.len() as u32,
            raw_len: self.raw.len() as u32,
            first_seq: self.first_seq,
            seqs: (self.seq - self.first_seq) as u32,
        });
        self.footer.totals.blocks += 1;
        self.footer.totals.raw_bytes += self.raw.len() as u64;
        self.footer.totals.compressed_bytes += frame.len() as u64;
        self.file.extend_from_slice(&frame);
        self.block_offsets.push(self.file.len());
        self.raw.clear();
        self.first_seq = self.seq;
        self.current = None;
        self.restated.clear();
        self.restated_processes.clear();
    }

    pub fn end(&mut self, reason: EndReason, in_flight: Vec<InFlight>) {
        self.begin_block();
        meta::End { reason, in_flight: in_flight.clone() }.append_to(&mut self.raw);
        self.footer.reason = reason;
        self.footer.in_flight = in_flight;
        self.end_block();
    }

    /// The whole file, with index and footer.
    pub fn finish(mut self) -> Vec<u8> {
        self.index.list_blobs(self.blobs, self.numbers);
        let index_offset = self.file.len() as u64;
        self.file.extend_from_slice(&self.index.encode(self.version));
        let footer_offset = self.file.len() as u64;
        self.file.extend_from_slice(&self.footer.encode(
            self.version,
            Some(index_offset),
            footer_offset,
        ));
        self.file
    }

    /// The whole file, with a footer and no index.
    pub fn finish_without_index(mut self) -> Vec<u8> {
        let footer_offset = self.file.len() as u64;
        self.file.extend_from_slice(&self.footer.encode(self.version, None, footer_offset));
        self.file
    }

    fn begin_block(&mut self) {
        if self.raw.is_empty() {
            let number = self.index.blocks.len() as u64;
            let (first_seq, start_ns) = (self.seq, 1_000 * number);
            atom::Block { number, first_seq, start_ns }.append_to(&mut self.raw);
        }
    }

    fn announce(&mut self, thread: u32) {
        self.begin_block();
        let ledger = &self.footer.threads[thread as usize];
        let process = &self.footer.processes[ledger.process as usize];
        if self.restated_processes.insert(process.process) {
            meta::Process {
                process: process.process,
                pid: process.pid,
                start_ns: 7,
                frames: process.frames,
                name: process.name.raw().as_bytes(),
            }
            .append_to(&mut self.raw);
        }
        if self.restated.insert(thread) {
            atom::ThreadState {
                thread,
                process: process.process,
                tid: ledger.tid,
                api: 0x30A0,
                context: self.contexts[thread as usize],
                stamp: self.stamps[thread as usize],
                name: [0; 16],
            }
            .append_to(&mut self.raw);
        }
        if self.current != Some(thread) {
            atom::SwitchThread { thread }.append_to(&mut self.raw);
            self.current = Some(thread);
        }
    }
}

/// Three frames of two threads in several blocks, with every shape of command.
pub fn small_trace() -> Writer {
    use describe::*;
    let mut w = Writer::new();
    let process = w.process(4711, "scene");
    let main = w.thread(process, 100, 1);
    let loader = w.thread(process, 101, 2);
    w.command(main, CLEAR, Some(3), &Payload::new().u32(0x4100));
    w.command(main, UNIFORM, None, &uniform(7));
    w.enter(loader, GEN, 0, Some(4), &Payload::new().i32(2).u64(0x7ffe_0000_1000));
    w.command(main, DRAW, Some(5), &draw(4, 0, 36));
    let names = Payload::new().inline(&int_bytes(&[11, 12]));
    w.leave(loader, GEN, EFFECT, Some(6), &names);
    w.swap(main, 7);
    w.end_block();
    let text = [5, 0, 0, 0, b'v', b'o', b'i', b'd', b' ', 2, 0, 0, 0, b'{', b'}'];
    let source = Payload::new().u32(3).i32(2).u64(0x10).u64(0).inline(&text);
    w.command(loader, SOURCE, Some(9), &source);
    w.enter(main, GET_STRING, EFFECT, Some(10), &Payload::new().u32(0x1F01));
    let answer = Payload::new().u64(0x55).inline(b"Mesa");
    w.leave(main, GET_STRING, 0, None, &answer);
    let bytes = [[1; 12].as_slice(), &[2; 8]].concat();
    w.piece(loader, 20, 0, &bytes[..12]);
    w.end_block();
    w.piece(loader, 20, 12, &bytes[12..]);
    w.number(loader, describe::number_of(&bytes));
    let data = Payload::new().u32(0x8892).u64(20).u64(0x1234).u32(0x88E4);
    w.command(loader, DATA, Some(11), &data.clone().blob(&bytes));
    w.command(loader, DATA, None, &data.unobserved().blob_range(2, 0x1234, &bytes));
    let arrays = draw(4, 0, 3).range(255, 0x5000, &[12, 11, 10]);
    w.command(main, DRAW, None, &arrays.unrecorded_range(255, 0x6000, 4096));
    w.swap(main, 12);
    w.gap(loader, 5, 4, 160);
    w.end_block();
    w.command(main, DEPTH_MASK, Some(15), &Payload::new().put([1]));
    w.swap(main, 16);
    w
}

/// The same trace, ended, with index and footer.
pub fn small_file() -> Vec<u8> {
    let mut w = small_trace();
    w.end(EndReason::Frames, Vec::new());
    w.finish()
}

pub fn open(file: &[u8]) -> TraceReader<Cursor<Vec<u8>>> {
    TraceReader::open(Cursor::new(file.to_vec())).unwrap()
}

/// One line per command.
pub fn lines(file: &[u8]) -> Vec<String> {
    collect(&mut open(file), line)
}

pub fn line(command: &Command<'_>) -> String {
    let mut out = Vec::new();
    json::write_line(command, &mut out).unwrap();
    String::from_utf8(out).unwrap().trim_end().to_owned()
}

pub fn collect<T>(
    reader: &mut TraceReader<Cursor<Vec<u8>>>,
    map: impl Fn(&Command<'_>) -> T,
) -> Vec<T> {
    let mut commands = reader.commands().unwrap();
    let mut all = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        all.push(map(&command));
    }
    all
}
