//! Reads a capture's state from its file, for a daemon that continues the capture. Reads the lengths of all frames, and
//! the first and the last block. Refuses a file that is not regular, is complete, is another capture's, is damaged, has
//! more than 65,536 threads or processes, or does not state the places of the rings. A file without a whole header
//! continues from the rings alone. A block that the daemon's death cut off is truncated; its records are still in the
//! rings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use gapii_abi::atom::{Block, CaptureEnd, META_FIRST};
use gapii_ringbuf::CaptureId;
use gapii_trace::FileAt;
use gapii_trace::header::TraceHeader;
use gapii_trace::meta::Meta;
use gapii_trace::reader::{BlockError, OpenError, Tail, TraceReader};
use gapii_trace::record::Records;
use gapii_trace::rings::{RingState, Rings};
use gapii_trace::tracker::{PROCESSES_MAX, ProcessTrack, ThreadTrack, Tracker};
use rustix::fs::{FileType, fstat};

use crate::stream::thread::is_count_of_threads;

/// A capture's state, by its file.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// `None`: the header is incomplete.
    pub header: Option<TraceHeader>,
    /// Offset of the last whole block's end, in bytes.
    pub end: u64,
    pub blocks: u64,
    /// Number of commands that took effect in the blocks.
    pub seq: u64,
    /// When the first block was begun, and the last.
    pub first_ns: Option<u64>,
    pub last_ns: u64,
    /// The processes and threads that the last block states, as of its end.
    pub processes: Vec<(u32, ProcessTrack)>,
    pub threads: Vec<(u32, ThreadTrack)>,
    /// Processes, by their indices in the trace, whose records are all in the file.
    pub ended: Vec<(u32, CaptureEnd)>,
    pub rings: Rings,
}

/// Why a file cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    #[error("only a capture into a regular file can be continued")]
    NotAFile,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the file is {0}")]
    Open(OpenError),
    #[error("the file is the trace of another capture")]
    Other,
    #[error("the trace is complete")]
    Complete,
    #[error("the trace is damaged at byte {at}: {why}")]
    Damaged { at: u64, why: String },
    #[error("the trace does not say how far the rings are")]
    Silent,
}

impl Recovered {
    /// Returns the rings of the process with this segment, as the file states them.
    pub fn rings_of(&self, segment: u64) -> impl Iterator<Item = &RingState> {
        self.rings.rings.iter().filter(move |ring| ring.segment == segment)
    }

    /// Returns the segments of the file's processes, each with whether the process' part is over.
    pub fn segments(&self) -> BTreeMap<u64, bool> {
        let mut segments = BTreeMap::new();
        for ring in &self.rings.rings {
            *segments.entry(ring.segment).or_default() |= ring.is_over;
        }
        segments
    }

    /// Returns how the part of a process of the trace ended, if it has.
    pub fn ended_of(&self, process: u32) -> Option<CaptureEnd> {
        self.ended.iter().find(|(index, _)| *index == process).map(|(_, ended)| *ended)
    }
}

/// Reads the state of the capture `id` from its file.
pub fn recover(file: &File, id: CaptureId) -> Result<Recovered, RecoverError> {
    let stat = fstat(file).map_err(io::Error::from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(RecoverError::NotAFile);
    }
    let mut reader = match TraceReader::open(FileAt::of(file)?) {
        Ok(reader) => reader,
        // The daemon died before the header was written. Everything else is in the rings.
        Err(OpenError::HeaderTruncated { .. }) => return Ok(Recovered::default()),
        Err(_) if stat.st_size == 0 => return Ok(Recovered::default()),
        Err(OpenError::Io(error)) => return Err(error.into()),
        Err(error) => return Err(RecoverError::Open(error)),
    };
    let session: String = id.session.iter().map(|byte| format!("{byte:02x}")).collect();
    let header = reader.header().clone();
    if (&header.session, header.capture) != (&session, id.number) || header.kept.is_some() {
        return Err(RecoverError::Other);
    }
    let end = match reader.tail() {
        Tail::Complete => return Err(RecoverError::Complete),
        Tail::Truncated { at } => *at,
        Tail::Damaged { at, why } => {
            return Err(RecoverError::Damaged { at: *at, why: why.clone() });
        }
    };
    let recovered = Recovered { end, header: Some(header), ..Recovered::default() };
    let blocks = reader.blocks();
    let (count, last_end) = match blocks.last() {
        None => return Ok(recovered),
        Some(last) => (blocks.len(), last.offset + u64::from(last.compressed_len)),
    };
    // The daemon may have died between a block's description and the block.
    let described = reader.descriptions().last().map_or(0, |frame| frame.offset + frame.len);
    if last_end.max(described) != end {
        // Tables of a writer that had finished.
        return Err(RecoverError::Complete);
    }
    let mut raw = Vec::new();
    read_block(&mut reader, 0, &mut raw)?;
    let first_ns = begun_ns(&raw);
    read_block(&mut reader, count - 1, &mut raw)?;
    let last = LastBlock::read(&raw).map_err(|why| RecoverError::Damaged { at: end, why })?;
    last.add_to(Recovered { blocks: count as u64, first_ns, ..recovered })
}

fn read_block(
    reader: &mut TraceReader<FileAt>,
    index: usize,
    raw: &mut Vec<u8>,
) -> Result<(), RecoverError> {
    let at = reader.blocks()[index].offset;
    reader.read_block(index, raw).map_err(|error| match error {
        BlockError::Io(error) => error.into(),
        error => RecoverError::Damaged { at, why: error.to_string() },
    })
}

/// Returns when a block was begun, as it states itself.
fn begun_ns(raw: &[u8]) -> Option<u64> {
    let first = Records::new(raw).next()?.ok()?;
    match Meta::decode(first.header.id(), first.payload).ok()? {
        Meta::Block(block) => Some(block.start_ns),
        _ => None,
    }
}

/// The statements of a block's records, read without earlier blocks.
#[derive(Default)]
struct LastBlock {
    tracker: Tracker,
    ended: Vec<(u32, CaptureEnd)>,
    rings: Option<Rings>,
}

impl LastBlock {
    fn read(raw: &[u8]) -> Result<Self, String> {
        let mut last = Self::default();
        last.tracker.begin_block();
        for record in Records::new(raw) {
            let record = record.map_err(|error| error.to_string())?;
            let id = record.header.id();
            if id < META_FIRST {
                last.tracker
                    .command(record.header, record.stamp)
                    .map_err(|error| error.to_string())?;
                continue;
            }
            let meta = last.tracker.meta(record.header, record.stamp, record.payload);
            match meta.map_err(|error| error.to_string())? {
                Meta::Rings(rings) => {
                    let all = last.rings.get_or_insert_with(Rings::default);
                    let before = std::mem::take(&mut all.rings);
                    *all = Rings { rings: [before, rings.rings].concat(), ..rings };
                }
                Meta::CaptureEnd(ended) => {
                    let thread = last.tracker.current().and_then(|at| last.tracker.thread_at(at));
                    let process = thread.map(|thread| thread.process);
                    last.ended.extend(process.map(|process| (process, ended)));
                }
                _ => {}
            }
        }
        Ok(last)
    }

    fn add_to(self, recovered: Recovered) -> Result<Recovered, RecoverError> {
        if self.tracker.end().is_some() {
            return Err(RecoverError::Complete);
        }
        let (Some(rings), Some(block)) = (self.rings, self.tracker.current_block()) else {
            return Err(RecoverError::Silent);
        };
        check(&recovered, &rings, &block)?;
        let tracker = &self.tracker;
        let processes = tracker.processes().map(|(at, process)| (at, process.clone())).collect();
        let threads = tracker.threads().map(|(at, thread)| (at, thread.clone())).collect();
        let (seq, last_ns) = (tracker.seq(), block.start_ns);
        let ended = self.ended;
        Ok(Recovered { seq, last_ns, processes, threads, ended, rings, ..recovered })
    }
}

/// Refuses numbers that no daemon has written.
fn check(recovered: &Recovered, rings: &Rings, block: &Block) -> Result<(), RecoverError> {
    let damaged = |why: &str| {
        Err(RecoverError::Damaged { at: recovered.end, why: format!("its last block {why}") })
    };
    if block.number.checked_add(1) != Some(recovered.blocks) {
        return damaged("is not the one that it says it is");
    }
    if !is_count_of_threads(rings.threads) || rings.processes > PROCESSES_MAX {
        return damaged("has more threads than there can be");
    }
    let is_known = |ring: &RingState| {
        ring.process < rings.processes && ring.thread.is_none_or(|thread| thread < rings.threads)
    };
    if !rings.rings.iter().all(is_known) {
        return damaged("has a ring of a thread that it does not know");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use gapii_abi::atom::{self, EFFECT, EndReason, Header, Seam};
    use gapii_trace::append::AppendTo;
    use gapii_trace::block::BLOCK_BYTES_MAX;
    use gapii_trace::census::Census;
    use gapii_trace::frame::UNTIMED_VERSION;
    use gapii_trace::meta::End;
    use gapii_trace::used::Used;
    use gapii_trace::{Description, encode_block};

    use super::*;
    use gapii_trace::story::Begin;

    use crate::stream::{Block, RingKey, RingPlace, RingSite, Run, StreamBuilder};

    const ID: CaptureId = CaptureId { session: [7; 16], number: 4 };
    const CAPACITY: u64 = 4096;
    const RING: RingKey = RingKey(0);
    const SITE: RingSite = RingSite { slot: 3, segment: 77, capacity_bytes: CAPACITY };

    fn record(id: u16, flags: u16, stamp: u64, payload: &[u8]) -> Vec<u8> {
        let header = Header::new(id, flags, 8 + payload.len() as u32).with_stamp();
        let mut bytes = [header.0.to_le_bytes(), stamp.to_le_bytes()].concat();
        bytes.extend(payload);
        bytes.resize(header.span_untrusted() as usize, 0);
        bytes
    }

    /// The first function without parameters that is memory.
    fn draw(stamp: u64) -> Vec<u8> {
        let functions = Description::built_in().functions();
        let plain = functions.iter().find(|function| function.name == "glFlush").unwrap();
        record(plain.id, EFFECT, stamp, &[])
    }

    fn thread(stamp: u64) -> Vec<u8> {
        record(atom::THREAD, 0, stamp, &[[9, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[0; 16]].concat())
    }

    /// A stream that is written down.
    struct Bench {
        stream: StreamBuilder,
        place: RingPlace,
        blocks: Vec<Block>,
    }

    impl Bench {
        fn new() -> Self {
            let mut stream = StreamBuilder::new(1 << 20, false);
            stream.state_rings();
            let process = stream.add_process(100, 5, b"prog");
            stream.set_ring(RING, process, SITE, RingPlace::default());
            Self { stream, place: RingPlace::default(), blocks: Vec::new() }
        }

        /// Makes the stream of another daemon, which continues from `recovered`.
        fn after(recovered: &Recovered) -> Self {
            let mut stream = StreamBuilder::new(1 << 20, false);
            stream.state_rings();
            stream.go_on(recovered);
            Self { stream, place: RingPlace::default(), blocks: Vec::new() }
        }

        fn append(&mut self, records: &[Vec<u8>], padding: u64) {
            let count = records.len() as u64;
            let records = records.concat();
            let start = self.place;
            self.place.index += records.len() as u64 + padding;
            self.place.records += count;
            let run = Run { ring: RING, records: &records, start, end_index: self.place.index };
            let blocks = &mut self.blocks;
            self.stream.append(run, 1000, &mut |block| blocks.push(block)).unwrap();
            self.stream.flush(&mut |block| blocks.push(block));
        }

        fn frames(&self) -> Vec<u8> {
            self.blocks.iter().flat_map(|block| encode_block(&block.raw, 1).unwrap()).collect()
        }
    }

    fn header() -> TraceHeader {
        TraceHeader { capture: ID.number, ..TraceHeader::new("test", ID.session, 1, 2) }
    }

    fn file(pieces: &[&[u8]]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        pieces.iter().for_each(|piece| file.write_all(piece).unwrap());
        file
    }

    #[test]
    fn blocks_of_a_stream_with_many_rings_can_be_read() {
        let mut bench = Bench::new();
        bench.append(&[thread(1), draw(2)], 0);
        let process = bench.stream.process_at(0).unwrap();
        for slot in 1..=45_000 {
            let site = RingSite { slot, ..SITE };
            bench.stream.set_ring(RingKey(slot), process, site, RingPlace::default());
            bench.stream.always_state(RingKey(slot));
        }
        bench.append(&[draw(3)], 0);
        let (header, frames) = (header().encode().unwrap(), bench.frames());
        let refused = recover(&file(&[&header, &frames]), ID).err();
        assert!(matches!(refused, Some(RecoverError::Silent)), "{refused:?}");
        let mut census = Census::default();
        bench.blocks.iter().for_each(|it| census.block(&it.raw, Description::built_in()));
        assert_eq!((census.problems.len(), bench.blocks.len()), (0, 2));
        assert!(bench.blocks.iter().all(|block| block.raw.len() < BLOCK_BYTES_MAX));
    }

    #[test]
    fn stream_continues_behind_its_last_whole_block() {
        let mut bench = Bench::new();
        bench.append(&[thread(1), draw(2)], 0);
        bench.append(&[draw(3)], 0);
        let (header, frames) = (header().encode().unwrap(), bench.frames());
        let cut = &frames[..frames.len() / 3];
        // The daemon may have died behind the description of a block that is not there.
        let mut described = self::header().description_writer().unwrap();
        let described = described.frame(&Used::by(&bench.blocks[0].raw), UNTIMED_VERSION);
        let described = described.unwrap().unwrap();
        for behind in [&[][..], cut] {
            let recovered = recover(&file(&[&header, &frames, &described, behind]), ID).unwrap();
            assert_eq!(recovered.end, (header.len() + frames.len() + described.len()) as u64);
            assert_eq!((recovered.blocks, recovered.seq), (2, 2));
        }
        let recovered = recover(&file(&[&header, &frames, cut]), ID).unwrap();
        assert_eq!(recovered.end, (header.len() + frames.len()) as u64);
        assert_eq!((recovered.blocks, recovered.seq), (2, 2));
        let [ring] = recovered.rings.rings[..] else { panic!("{:?}", recovered.rings) };
        assert_eq!((ring.slot, ring.thread, ring.index), (3, Some(0), bench.place.index));
        assert_eq!((ring.records, ring.stamp, ring.last_end), (3, 3, bench.place.index));

        // Another daemon continues, with its own numbers of processes and rings.
        let mut next = Bench::after(&recovered);
        next.stream.begin_with(Seam { from_ns: 1, to_ns: 3, processes: 1, absent: 0 });
        let process = next.stream.process_at(0).unwrap();
        next.stream.take_up(process, Begin::Capture);
        next.place = RingPlace { index: ring.index, records: ring.records, stamp: ring.stamp };
        next.stream.set_ring(RING, process, SITE, next.place);
        next.stream.take_up_ring(RING, &ring);
        next.append(&[draw(4), draw(5)], 0);
        assert_eq!(recovered.rings_of(77).count(), 1);

        let mut census = Census::default();
        for block in bench.blocks.iter().chain(&next.blocks) {
            census.block(&block.raw, Description::built_in());
        }
        assert_eq!(census.problems, []);
        assert_eq!((census.calls, census.records, census.seams.len()), (4, 5, 1));
        assert_eq!(census.threads.len(), 1);
    }

    #[test]
    fn ring_that_is_not_handed_over_keeps_its_place() {
        let mut bench = Bench::new();
        bench.append(&[thread(1), draw(2)], 0);
        let frames = [header().encode().unwrap(), bench.frames()].concat();
        let recovered = recover(&file(&[&frames]), ID).unwrap();
        let mut next = Bench::after(&recovered);
        let other = next.stream.add_process(200, 5, b"other");
        let site = RingSite { slot: 0, segment: 78, capacity_bytes: CAPACITY };
        next.stream.set_ring(RING, other, site, RingPlace::default());
        next.append(&[thread(8), draw(9)], 0);
        let frames = [frames, next.frames()].concat();
        let again = recover(&file(&[&frames]), ID).unwrap();
        assert_eq!((again.rings.threads, again.rings.processes), (2, 2));
        let slots: Vec<_> = again.rings.rings.iter().map(|r| (r.process, r.slot)).collect();
        assert_eq!(slots, [(0, 3), (1, 0)]);
        assert_eq!(again.rings.rings[0], recovered.rings.rings[0]);
    }

    #[test]
    fn place_behind_padding_is_known_in_the_middle_of_a_run() {
        let check = |start: u64, at: usize, padding: u64, expected: u64| {
            let records = [0; 160];
            let (start, end_index) =
                (RingPlace { index: start, ..RingPlace::default() }, start + 160 + padding);
            let run = Run { ring: RING, records: &records, start, end_index };
            assert_eq!(run.index_at(at, CAPACITY), expected, "{start:?} {at} {padding}");
        };
        check(0, 40, 0, 40);
        check(CAPACITY - 160, 160, 0, CAPACITY);
        // 24 bytes of padding before the lap's end, behind 80 bytes.
        let start = CAPACITY - 104;
        check(start, 40, 24, start + 40);
        check(start, 80, 24, start + 80);
        check(start, 81, 24, start + 81 + 24);
        check(start, 160, 24, start + 184);
        // The run begins behind padding.
        check(CAPACITY - 24, 40, 24, CAPACITY + 40);
    }

    #[test]
    fn file_of_another_kind_or_capture_is_refused() {
        let mut bench = Bench::new();
        bench.append(&[thread(1)], 0);
        let (header, frames) = (header().encode().unwrap(), bench.frames());
        let check = |pieces: &[&[u8]], id: CaptureId, expected: &str| {
            let found = recover(&file(pieces), id).map(|_| ()).map_err(|error| error.to_string());
            let error = found.expect_err(expected);
            assert!(error.contains(expected), "{error}");
        };
        let other = CaptureId { number: 5, ..ID };
        check(&[&header, &frames], other, "another capture");
        check(&[&header, &frames], CaptureId { session: [8; 16], ..ID }, "another capture");
        check(&[b"no trace at all"], ID, "not a trace");
        let mut ended = Vec::new();
        begin_block(&mut ended);
        End { reason: EndReason::Stop, in_flight: Vec::new() }.append_to(&mut ended);
        let ended = encode_block(&ended, 1).unwrap();
        check(&[&header, &frames, &ended], ID, "complete");
        let mut silent = Vec::new();
        begin_block(&mut silent);
        check(&[&header, &frames, &encode_block(&silent, 1).unwrap()], ID, "does not say");
        let pipe = std::io::pipe().unwrap();
        let found = recover(&File::from(std::os::fd::OwnedFd::from(pipe.0)), ID);
        assert!(matches!(found, Err(RecoverError::NotAFile)));
    }

    /// The first record of a block.
    fn begin_block(out: &mut Vec<u8>) {
        atom::Block { number: 1, first_seq: 0, start_ns: 0 }.append_to(out);
    }

    #[test]
    fn file_without_a_whole_header_is_begun_again() {
        let header = header().encode().unwrap();
        for file in [file(&[]), file(&[&header[..20]])] {
            let recovered = recover(&file, ID).unwrap();
            assert!(recovered.header.is_none() && recovered.end == 0);
        }
        let recovered = recover(&file(&[&header]), ID).unwrap();
        assert_eq!((recovered.end, recovered.blocks), (header.len() as u64, 0));
    }
}
