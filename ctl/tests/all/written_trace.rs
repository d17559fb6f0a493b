//! `WrittenTrace`: a trace of one process that a test writes, record by record, with the functions of this build.

use gapii_abi::atom::{
    self, EFFECT, EndReason, FRAME_END, FrameKind, GapCause, Header, LEAVE, LEAVES, OBSERVED_BLOB,
    OBSERVED_INLINE, TimeKind, observation_word, range_word,
};
use gapii_trace::append::AppendTo;
use gapii_trace::footer::{Footer, Lost, ProcessEntry, ThreadLedger, Totals};
use gapii_trace::frame::TIMED_VERSION;
use gapii_trace::used::Used;
use gapii_trace::{BlobName, DescriptionWriter, TraceHeader, encode_block, meta};

/// Thread ids and names of the threads 0 and 1.
pub const THREADS: [(u32, &str); 2] = [(4711, "main"), (4712, "loader")];
/// When the capture began: 2023-11-14 22:13:20 UTC.
pub const BEGAN_UNIX_NS: u64 = 1_700_000_000_000_000_000;
/// The same moment in `CLOCK_MONOTONIC`, in nanoseconds.
pub const BEGAN_NS: u64 = 5_000_000_000;

#[derive(Clone)]
pub struct WrittenTrace {
    header: TraceHeader,
    descriptions: DescriptionWriter,
    /// Bytes of the header and the descriptions.
    header_bytes: u64,
    file: Vec<u8>,
    raw: Vec<u8>,
    blocks: u64,
    commands: u64,
    frames: u64,
    raw_bytes: u64,
}

impl WrittenTrace {
    /// A trace that began a second before its first record.
    pub fn new(is_timed: bool) -> WrittenTrace {
        let mut header = TraceHeader::new("test", [7; 16], BEGAN_UNIX_NS, BEGAN_NS);
        if is_timed {
            header.version = TIMED_VERSION;
        }
        let file = header.encode().unwrap();
        let (raw, blocks, commands, frames, raw_bytes) = (Vec::new(), 0, 0, 0, 0);
        let (descriptions, header_bytes) =
            (header.description_writer().unwrap(), file.len() as u64);
        let mut trace = WrittenTrace {
            header,
            descriptions,
            header_bytes,
            file,
            raw,
            blocks,
            commands,
            frames,
            raw_bytes,
        };
        trace.begin_block(BEGAN_NS + 1_000_000_000);
        trace
    }

    /// Length of the header and the descriptions once the block has ended.
    pub fn header_bytes(&self) -> u64 {
        let mut ended = self.clone();
        ended.end_block();
        ended.header_bytes
    }

    /// Ends the block and begins the next one at this time.
    pub fn begin_block(&mut self, start_ns: u64) {
        self.end_block();
        atom::Block { number: self.blocks, first_seq: self.commands, start_ns }
            .append_to(&mut self.raw);
        let (process, pid, frames, name) = (0, 4711, self.frames, b"gears".as_slice());
        meta::Process { process, pid, start_ns, frames, name }.append_to(&mut self.raw);
        for (thread, (tid, name)) in (0..).zip(THREADS) {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            let (process, api, context, stamp, name) = (0, 0x30A0, 0x77, 1, padded);
            atom::ThreadState { thread, process, tid, api, context, stamp, name }
                .append_to(&mut self.raw);
        }
    }

    /// The arguments of a command as its record has them.
    pub fn args(&self, name: &str, values: &[u64]) -> Vec<u8> {
        let function = self.header.description.named(name).unwrap();
        let mut bytes = vec![0; (function.fixed_len as usize).next_multiple_of(8)];
        for (param, value) in function.params.iter().zip(values) {
            let (at, size) = (param.offset as usize, param.ty.repr.unwrap().size().into());
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        bytes
    }

    /// A command without a result, with all its arguments by value.
    pub fn does(&mut self, name: &str, values: &[u64]) {
        let args = self.args(name, values);
        self.call(name, &args, &[], &[], &[]);
    }

    /// A command without a result; with a time, if there is one.
    pub fn command(&mut self, thread: u32, name: &str, args: &[u8], driver_ns: Option<u64>) {
        self.enter(thread, name, args);
        self.leave(name, 0, &[], driver_ns);
    }

    /// The end of a frame.
    pub fn swap(&mut self, thread: u32, driver_ns: Option<u64>) {
        self.enter(thread, "eglSwapBuffers", &[0; 16]);
        self.leave("eglSwapBuffers", FRAME_END, &1_u32.to_le_bytes(), driver_ns);
        self.frames += 1;
    }

    /// A command with a result, and the memory that its parameters point at, as it read and wrote it.
    pub fn call(
        &mut self,
        name: &str,
        args: &[u8],
        read: &[&[u8]],
        result: &[u8],
        written: &[&[u8]],
    ) {
        self.enter(0, name, &[args, &all(read)].concat());
        let mut answer = result.to_vec();
        answer.resize(result.len().next_multiple_of(8), 0);
        self.leave(name, 0, &[answer, all(written)].concat(), None);
    }

    /// A command without a result that reads a blob, for the parameter with this index, in a range. The blob is written
    /// unless it was before.
    pub fn upload(&mut self, name: &str, args: &[u8], (param, bytes): (u8, &[u8]), is_known: bool) {
        if !is_known {
            let mut piece = atom::Blob { total: bytes.len() as u64, offset: 0 }.encode().to_vec();
            piece.extend_from_slice(bytes);
            self.record(0, Header::new(atom::BLOB, 0, 0), None, &piece);
        }
        let word = range_word(OBSERVED_BLOB, param, bytes.len() as u64);
        let range = [0x5555, word].map(u64::to_le_bytes).concat();
        self.enter(0, name, &[args, &range, &BlobName::of(bytes).0].concat());
        self.leave(name, 0, &[], None);
    }

    /// The end of a frame at this time of `CLOCK_MONOTONIC`, in nanoseconds.
    pub fn swap_at(&mut self, at_ns: u64) {
        let time = atom::Time { at_ns, kind: TimeKind::Command, function: 0, duration_ns: 0 };
        self.enter(0, "eglSwapBuffers", &[0; 16]);
        self.record(0, Header::new(atom::TIME, 0, 0), None, &time.encode());
        self.leave("eglSwapBuffers", FRAME_END, &1_u32.to_le_bytes(), None);
        self.frames += 1;
    }

    /// A wait of a thread for room, at this time of `CLOCK_MONOTONIC`, in nanoseconds.
    pub fn wait(&mut self, thread: u32, at_ns: u64, duration_ns: u64) {
        let time = atom::Time { at_ns, kind: TimeKind::Wait, function: 0, duration_ns };
        self.record(thread, Header::new(atom::TIME, 0, 0), None, &time.encode());
    }

    /// `glGetString`, with its answer.
    pub fn get_string(&mut self, name: u32, answer: &str) {
        self.enter(0, "glGetString", &name.to_le_bytes());
        let result = [&0x55_u64.to_le_bytes(), inline(answer.as_bytes()).as_slice()].concat();
        self.leave("glGetString", 0, &result, None);
    }

    /// `glGetString`, with its answer in a blob.
    pub fn get_string_in_a_blob(&mut self, name: u32, answer: &str) {
        let mut piece = atom::Blob { total: answer.len() as u64, offset: 0 }.encode().to_vec();
        piece.extend_from_slice(answer.as_bytes());
        self.record(0, Header::new(atom::BLOB, 0, 0), None, &piece);
        self.enter(0, "glGetString", &name.to_le_bytes());
        let word = observation_word(OBSERVED_BLOB, answer.len() as u64);
        let result = [0x55, word].map(u64::to_le_bytes).concat();
        let result = [&*result, &BlobName::of(answer.as_bytes()).0].concat();
        self.leave("glGetString", 0, &result, None);
    }

    /// A command that makes an object, with its name.
    pub fn create(&mut self, name: &str, object: u32) {
        self.enter(0, name, &[]);
        self.leave(name, 0, &object.to_le_bytes(), None);
    }

    /// A command that asks a program for a number by name, with the answer. `interface` stands before the name, if the
    /// command takes one.
    pub fn ask_by_name(
        &mut self,
        function: &str,
        (program, interface): (u32, Option<u32>),
        name: &str,
        answer: i32,
    ) {
        let mut args = program.to_le_bytes().to_vec();
        args.extend_from_slice(&interface.unwrap_or(0).to_le_bytes());
        args.extend_from_slice(&0x5555_0000_u64.to_le_bytes());
        args.extend(inline(format!("{name}\0").as_bytes()));
        self.enter(0, function, &args);
        self.leave(function, 0, &answer.to_le_bytes(), None);
    }

    /// A command without a result: the memory that its parameters point at, as it read and wrote it, in the order of the
    /// parameters.
    pub fn exchange(&mut self, name: &str, args: &[u8], read: &[&[u8]], written: &[&[u8]]) {
        self.enter(0, name, &[args, &all(read)].concat());
        self.leave(name, 0, &all(written), None);
    }

    /// Another context is current on the first thread from here on.
    pub fn context(&mut self, context: u64) {
        let atom = atom::Context { context, api: 0x30A0, client_version: 3 };
        self.record(0, Header::new(atom::CONTEXT, 0, 0), None, &atom.encode());
    }

    /// `eglQuerySurface`, with its answer.
    pub fn query_surface(&mut self, surface: u64, attribute: u32, answer: u32) {
        let attribute = u64::from(attribute);
        let args = [1, surface, attribute, 0x30].map(u64::to_le_bytes).concat();
        self.enter(0, "eglQuerySurface", &args);
        let result = [&1_u64.to_le_bytes(), inline(&answer.to_le_bytes()).as_slice()].concat();
        self.leave("eglQuerySurface", 0, &result, None);
    }

    /// Limits of a context, with the size of its default framebuffer, as an older writer recorded them.
    pub fn limits(&mut self, context: u64, width: i32, height: i32) {
        self.limits_and_driver(context, [width, height], b"");
    }

    /// The same, with the driver's renderer and version, each NUL-terminated.
    pub fn limits_and_driver(&mut self, context: u64, [width, height]: [i32; 2], driver: &[u8]) {
        let mut numbers = [0; 13];
        [numbers[11], numbers[12]] = [width, height];
        let fixed = atom::Limits { context, major: 3, minor: 2, numbers: 13, extensions_len: 0 };
        let numbers = numbers.map(i32::to_le_bytes).concat();
        self.record(
            0,
            Header::new(atom::LIMITS, 0, 0),
            None,
            &[&fixed.encode(), &*numbers, driver].concat(),
        );
    }

    /// The end of a frame whose pixels were read back.
    pub fn observed_swap(&mut self, width: u32, height: u32) {
        let (surface, frame, kind, name) = (5, self.frames, FrameKind::Hash, [7; 16]);
        let frame = atom::Frame { surface, frame, width, height, kind, name };
        self.record(0, Header::new(atom::FRAME, 0, 0), None, &frame.encode());
        self.swap(0, None);
    }

    /// A time without a daemon, in nanoseconds of `CLOCK_MONOTONIC`.
    pub fn seam(&mut self, from_ns: u64, to_ns: u64) {
        atom::Seam { from_ns, to_ns, processes: 1, absent: 0 }.append_to(&mut self.raw);
    }

    /// Commands that the program could not record.
    pub fn gap(&mut self, calls: u64) {
        let gap = atom::Gap {
            records: calls,
            calls,
            bytes: 32 * calls,
            first_stamp: 1,
            last_stamp: 1,
            start_ns: 1,
            end_ns: 1,
            cause: GapCause::Dropped,
        };
        self.record(0, Header::new(atom::GAP, 0, 0), None, &gap.encode());
    }

    /// The trace as it is if its writer ends here: without an end and a footer.
    pub fn cut(mut self) -> Vec<u8> {
        self.end_block();
        self.file
    }

    /// The whole trace, which ended this number of nanoseconds after the capture began.
    pub fn finish(mut self, duration_ns: u64) -> Vec<u8> {
        meta::End { reason: EndReason::Stop, in_flight: Vec::new() }.append_to(&mut self.raw);
        self.end_block();
        let threads = (0..).zip(THREADS).map(|(thread, (tid, name))| ThreadLedger {
            thread,
            tid,
            name: name.into(),
            waits: 2,
            ..ThreadLedger::default()
        });
        let footer = Footer {
            reason: EndReason::Stop,
            started_unix_ns: BEGAN_UNIX_NS,
            ended_unix_ns: BEGAN_UNIX_NS + duration_ns,
            totals: Totals {
                frames: self.frames,
                calls: self.commands,
                blocks: self.blocks,
                raw_bytes: self.raw_bytes,
                ..Totals::default()
            },
            lost: Lost::default(),
            processes: vec![ProcessEntry {
                pid: 4711,
                name: "gears".into(),
                frames: self.frames,
                ..ProcessEntry::default()
            }],
            threads: threads.collect(),
            ..Footer::default()
        };
        let at = self.file.len() as u64;
        self.file.extend_from_slice(&footer.encode(self.header.version, None, at));
        self.file
    }

    fn enter(&mut self, thread: u32, name: &str, args: &[u8]) {
        let header = Header::new(self.id(name), EFFECT | LEAVES, 0);
        self.record(thread, header, None, args);
        self.commands += 1;
    }

    fn leave(&mut self, name: &str, flags: u16, result: &[u8], driver_ns: Option<u64>) {
        let header = Header::new(self.id(name), LEAVE | flags, 0);
        self.append(header, driver_ns, result);
    }

    fn record(&mut self, thread: u32, header: Header, driver_ns: Option<u64>, payload: &[u8]) {
        atom::SwitchThread { thread }.append_to(&mut self.raw);
        self.append(header, driver_ns, payload);
    }

    fn append(&mut self, header: Header, driver_ns: Option<u64>, payload: &[u8]) {
        let mut header = Header::new(header.id(), header.flags(), 8 + payload.len() as u32);
        if driver_ns.is_some() {
            header = header.with_time();
        }
        self.raw.extend_from_slice(&header.0.to_le_bytes());
        self.raw.extend_from_slice(driver_ns.map(u64::to_le_bytes).as_slice().as_flattened());
        self.raw.extend_from_slice(payload);
        self.raw.resize(self.raw.len().next_multiple_of(8), 0);
    }

    fn id(&self, name: &str) -> u16 {
        self.header.description.named(name).unwrap().id
    }

    fn end_block(&mut self) {
        if !self.raw.is_empty() {
            let described = self.descriptions.frame(&Used::by(&self.raw), self.header.version);
            let described = described.unwrap().unwrap_or_default();
            self.header_bytes += described.len() as u64;
            self.file.extend_from_slice(&described);
            self.file.extend_from_slice(&encode_block(&self.raw, 1).unwrap());
            self.raw_bytes += self.raw.len() as u64;
            self.blocks += 1;
            self.raw.clear();
        }
    }
}

/// Observed memory of several parameters in a record.
fn all(memory: &[&[u8]]) -> Vec<u8> {
    memory.iter().flat_map(|it| inline(it)).collect()
}

/// Observed memory of the parameter with this index, in a range.
pub fn range(param: u8, bytes: &[u8]) -> Vec<u8> {
    let mut range = 0x5555_u64.to_le_bytes().to_vec();
    range.extend_from_slice(&range_word(OBSERVED_INLINE, param, bytes.len() as u64).to_le_bytes());
    range.extend_from_slice(bytes);
    range.resize(range.len().next_multiple_of(8), 0);
    range
}

/// Observed memory in a record.
fn inline(bytes: &[u8]) -> Vec<u8> {
    let mut observed = observation_word(OBSERVED_INLINE, bytes.len() as u64).to_le_bytes().to_vec();
    observed.extend_from_slice(bytes);
    observed.resize(observed.len().next_multiple_of(8), 0);
    observed
}
