//! Tests of the stream: what its blocks hold, and what its figures count.

use std::sync::Arc;

use gapii_abi::atom::{
    self, BEGUN, BLOB, EFFECT, FRAME_END, Header, KEYFRAME, LEAVE, SETUP, STORED, STORED_PIECE_MAX,
};
use gapii_abi::atom::{GapCause, LEAVES, Time};
use gapii_trace::Description;
use gapii_trace::census::Census;
use gapii_trace::filter::Filter;
use gapii_trace::frame_rule::FrameRule;
use gapii_trace::meta::Meta;
use gapii_trace::record::Records;
use gapii_trace::story::Begin;

use super::builder::StreamBuilder;
use super::figures::GAPS_MAX;
use super::words::{decode, header_at};
use super::*;
use crate::filtering::Filtering;
use crate::store::Store;

const DRAW: u16 = 7;

/// Records as a ring has them, and a stream that takes them.
struct Bench {
    stream: StreamBuilder,
    blocks: Vec<Block>,
    indices: Vec<u64>,
}

impl Bench {
    fn new(block_bytes: usize, rings: usize) -> Self {
        Self::of(StreamBuilder::new(block_bytes, false), rings)
    }

    fn of(mut stream: StreamBuilder, rings: usize) -> Self {
        let process = stream.add_process(100, 5, b"prog");
        for ring in 0..rings as u32 {
            let (site, place) = (RingSite::default(), RingPlace::default());
            stream.set_ring(RingKey(ring), process, site, place);
        }
        Self { stream, blocks: Vec::new(), indices: vec![0; rings] }
    }

    fn append(&mut self, ring: u32, records: &[Vec<u8>]) -> Result<(), Refusal> {
        let records = records.concat();
        let index = &mut self.indices[ring as usize];
        *index += records.len() as u64;
        let start = RingPlace { index: *index - records.len() as u64, ..Default::default() };
        let run = Run { ring: RingKey(ring), records: &records, start, end_index: *index };
        self.stream.append(run, 1000, &mut |block| self.blocks.push(block))
    }

    fn flush(&mut self) {
        self.stream.flush(&mut |block| self.blocks.push(block));
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
        let header = Header::new(id, flags, 16).with_time();
        [header.0, 70, 5000].map(u64::to_le_bytes).concat()
    };
    for (is_timed, id, flags, is_taken) in [
        (true, DRAW, LEAVE, true),
        (true, DRAW, LEAVE | BEGUN, true),
        (false, DRAW, LEAVE | BEGUN, false),
        (false, DRAW, LEAVE, false),
        (true, DRAW, EFFECT | LEAVES, false),
        (true, atom::CONTEXT, LEAVE, false),
    ] {
        let mut bench = Bench::of(StreamBuilder::new(1 << 20, is_timed), 1);
        let enter = record(DRAW, EFFECT | LEAVES, None, &[1; 16]);
        let taken = bench.append(0, &[thread(1, 1), enter, timed(id, flags)]);
        let expected = if is_taken { Ok(()) } else { Err(Refusal::Timed(id)) };
        assert_eq!(taken, expected, "{is_timed} {id:#x} {flags}");
        bench.flush();
        assert_eq!(bench.blocks[0].records, [(0, if is_taken { 3 } else { 2 })]);
    }
}

/// A stream that takes only swaps.
fn filtered(block_bytes: usize) -> Bench {
    let mut stream = StreamBuilder::new(block_bytes, false);
    let functions = vec!["eglSwapBuffers".to_owned()];
    let filter = Filter { functions, ..Filter::default() };
    stream.set_filter(
        Filtering::of(&filter, &FrameRule::default(), Description::built_in()).unwrap(),
    );
    let process = stream.add_process(100, 5, b"prog");
    stream.select(process, Begin::Capture);
    stream.set_ring(RingKey(0), process, RingSite::default(), RingPlace::default());
    Bench { stream, blocks: Vec::new(), indices: vec![0] }
}

fn swap(flags: u16, stamp: Option<u64>) -> Vec<u8> {
    let swap = Description::built_in().named("eglSwapBuffers").unwrap();
    record(swap.id, flags, stamp, &[1; 16])
}

#[test]
fn command_states_the_stamp_of_records_left_out_before_it() {
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
    assert_eq!(bench.stream.left_out(RingKey(0)), 3);
    assert_eq!((bench.stream.calls(), bench.stream.left_out_calls()), (3, 3));
    assert_eq!(block.releases, [(RingKey(0), bench.indices[0])]);
}

#[test]
fn records_left_out_do_not_hold_ring_space_for_long() {
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
    let calls: Vec<_> =
        bench.blocks.iter().map(|block| (block.is_keyframe, block.first_seq, block.seqs)).collect();
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
    assert_eq!(bench.stream.thread(0).records, 201);
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
    let ends = bench.blocks[0].frame_ends.iter().map(|end| (end.process, end.frame));
    assert_eq!(ends.collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    assert_eq!(bench.stream.frames(), 2);
}

#[test]
fn ends_of_frames_have_their_commands_and_times() {
    let time = |at_ns| record(atom::TIME, 0, None, &Time::of_command(9, at_ns).encode());
    let gap = || record(atom::GAP, 0, None, &atom::Gap::default().encode());
    let swap = |effects: [u16; 2], at_ns| {
        let leave = record(9, LEAVE | FRAME_END | effects[1], None, &[0; 4]);
        [record(9, LEAVES | effects[0], None, &[1; 16]), time(at_ns), leave]
    };
    let records = [
        vec![thread(1, 1), draw()],
        swap([EFFECT, 0], 700).to_vec(),
        vec![draw()],
        swap([0, EFFECT], 800).to_vec(),
        swap([0, 0], 900).to_vec(),
        // The time's record is lost.
        vec![time(1000), gap()],
        vec![record(9, EFFECT | LEAVES, None, &[]), record(9, LEAVE | FRAME_END, None, &[0; 4])],
        // The time is that of the command before.
        vec![time(1100), draw(), record(9, LEAVE | FRAME_END, None, &[0; 4])],
    ]
    .concat();
    let expected = [
        (Some(1), Some(700)),
        (Some(3), Some(800)),
        (None, Some(900)),
        (Some(4), None),
        (Some(5), None),
    ];
    // At once, in blocks that end behind each record, and record by record.
    for (block_bytes, at_once) in [(1 << 20, true), (1, true), (1 << 20, false)] {
        let mut bench = Bench::new(block_bytes, 1);
        match at_once {
            true => bench.append(0, &records).unwrap(),
            false => {
                records.iter().for_each(|it| bench.append(0, std::slice::from_ref(it)).unwrap())
            }
        }
        bench.flush();
        let ends = bench.blocks.iter().flat_map(|block| &block.frame_ends);
        let ends: Vec<_> = ends.map(|end| (end.seq, end.time_ns)).collect();
        assert_eq!(ends, expected, "{block_bytes} {at_once}");
        let mut census = Census::default();
        let description = Description::built_in();
        bench.blocks.iter().for_each(|block| census.block(&block.raw, description));
        let counted: Vec<_> = census.frame_ends.iter().map(|end| (end.seq, end.time_ns)).collect();
        assert_eq!(counted, expected, "{block_bytes} {at_once}");
    }
}

#[test]
fn context_and_stamp_are_restated_in_the_next_block() {
    let mut bench = Bench::new(1 << 20, 1);
    let context = atom::Context { context: 0xC0, api: 77, client_version: 0 };
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
    assert_eq!((state.tid, state.context, state.api, state.stamp), (1, 0xC0, 77, 8));
}

#[test]
fn last_command_is_open_until_its_leave_record() {
    let mut bench = Bench::new(1 << 20, 1);
    let enter = record(9, EFFECT | LEAVES, Some(5), &[0; 16]);
    bench.append(0, &[thread(1, 1), enter]).unwrap();
    let last = bench.stream.thread(0).last_command.unwrap();
    assert!(last.is_open());
    assert_eq!((last.id, last.stamp, last.end_index), (9, 5, bench.indices[0]));
    bench.append(0, &[record(9, LEAVE, None, &[0; 4])]).unwrap();
    assert!(!bench.stream.thread(0).last_command.unwrap().is_open());
}

#[test]
fn thread_describes_until_its_first_own_command() {
    let mut bench = Bench::new(1 << 20, 2);
    bench.append(0, &[thread(1, 1)]).unwrap();
    assert!(!bench.stream.is_describing());
    bench.append(0, &[record(DRAW, SETUP | EFFECT, None, &[1; 16])]).unwrap();
    bench.append(1, &[thread(2, 2), draw()]).unwrap();
    assert!(bench.stream.is_describing());
    bench.append(0, &[draw()]).unwrap();
    assert!(!bench.stream.is_describing());
}

#[test]
fn record_that_is_not_the_shims_to_write_is_refused() {
    let check = |bad: Vec<u8>, expected: &str| {
        let mut bench = Bench::new(1 << 20, 1);
        let refusal = bench.append(0, &[thread(1, 1), draw(), bad, draw()]).unwrap_err();
        assert_eq!(refusal.to_string(), expected);
        assert_eq!(bench.stream.records(), 2);
    };
    check(thread(2, 9), "thread 2 writes into the ring of thread 1");
    check(record(atom::END, 0, None, &[0; 16]), "record 0xff14 is only for the daemon to write");
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
            bench.stream.set_store(ProcessKey(0), Arc::new(Store::new(limit)));
        }
        let stored = |&[total, offset, len]: &[u64; 3]| {
            let stored = atom::Stored { total, offset, len, number: 1 };
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
    let gaps = bench.stream.gaps();
    assert_eq!((gaps.len(), gaps[GAPS_MAX - 1].records), (GAPS_MAX, 2 * 4));
}
