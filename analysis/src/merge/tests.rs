//! Traces of a few records, merged.

use std::io::Cursor;

use gapii_abi::atom::{
    self, CONTEXT, EFFECT, EndReason, FRAME_END, Header, KEYFRAME, LEAVE, LEAVES, SETUP, SNAPSHOT,
    SUBJECT, THREAD,
};
use gapii_commands::ids;
use gapii_trace::append::AppendTo;
use gapii_trace::block::BlockEncoder;
use gapii_trace::footer::{Lost, ThreadLedger};
use gapii_trace::{BlockEntry, TraceIndex, meta, verify};

use super::*;

const SESSION: [u8; 16] = [7; 16];

type Reader = TraceReader<Cursor<Vec<u8>>>;

/// A record of a thread of process 1: its thread id, its stamp if it carries one, its id, its flags, and its payload.
type Row<'a> = (u32, Option<u64>, u16, u16, &'a [u8]);

fn set_up(tid: u32, stamp: u64) -> Row<'static> {
    (tid, Some(stamp), ids::GL_FINISH, EFFECT | SETUP, &[])
}

fn call(tid: u32, stamp: Option<u64>) -> Row<'static> {
    (tid, stamp, ids::GL_FINISH, EFFECT, &[])
}

fn swap(tid: u32, stamp: u64) -> [Row<'static>; 2] {
    let leave = EFFECT | LEAVE | FRAME_END;
    [
        (tid, Some(stamp), ids::EGL_SWAP_BUFFERS, LEAVES, &[0; 16]),
        (tid, None, ids::EGL_SWAP_BUFFERS, leave, &[1, 0, 0, 0]),
    ]
}

fn begin(tid: u32, stamp: u64) -> Row<'static> {
    (tid, Some(stamp), THREAD, 0, &[0; 24])
}

fn subject(tid: u32) -> Row<'static> {
    (tid, None, SUBJECT, 0, &[0; 16])
}

fn snapshot(tid: u32) -> Row<'static> {
    (tid, None, SNAPSHOT, 0, &[0; 8])
}

/// Capture `number` of process `pid`, from `started` to `ended` nanoseconds, in a block for each slice of records.
fn trace(number: u64, pid: u32, (started, ended): (u64, u64), blocks: &[&[Row<'_>]]) -> Vec<u8> {
    let header =
        TraceHeader { capture: number, ..TraceHeader::new("test", SESSION, started, started) };
    let mut file = header.encode().unwrap();
    let mut descriptions = header.description_writer().unwrap();
    let mut encoder = BlockEncoder::for_version(1, header.version).unwrap();
    let (mut index, mut footer) = (TraceIndex::default(), Footer::default());
    let mut stamps = std::collections::BTreeMap::new();
    let mut tids: Vec<u32> = Vec::new();
    let mut frames = 0;
    for (number, rows) in (0..).zip(blocks) {
        let first_seq = footer.totals.calls;
        let mut raw = Vec::new();
        atom::Block { number, first_seq, start_ns: started }.append_to(&mut raw);
        meta::Process { process: 0, pid, start_ns: started, frames, name: b"it" }
            .append_to(&mut raw);
        let mut stated = Vec::new();
        for (tid, stamp, id, flags, payload) in *rows {
            let thread = tids.iter().position(|it| it == tid).unwrap_or_else(|| {
                tids.push(*tid);
                footer.threads.push(ThreadLedger::default());
                tids.len() - 1
            });
            let last = stamps.get(tid).copied().unwrap_or(0);
            if !stated.contains(tid) {
                stated.push(*tid);
                let state = atom::ThreadState {
                    thread: thread as u32,
                    process: 0,
                    tid: *tid,
                    api: 0,
                    context: 0,
                    stamp: last,
                    name: [0; 16],
                };
                state.append_to(&mut raw);
            }
            atom::SwitchThread { thread: thread as u32 }.append_to(&mut raw);
            let header = Header::new(*id, *flags, 8 + payload.len() as u32);
            let header = if stamp.is_some() { header.with_stamp() } else { header };
            raw.extend_from_slice(&header.0.to_le_bytes());
            raw.extend(stamp.iter().flat_map(|stamp| stamp.to_le_bytes()));
            let mut payload = payload.to_vec();
            if *id == THREAD {
                payload[..4].copy_from_slice(&tid.to_le_bytes());
            }
            raw.extend_from_slice(&payload);
            raw.resize(raw.len().next_multiple_of(8), 0);
            stamps.insert(*tid, stamp.unwrap_or(last));
            let ledger = &mut footer.threads[thread];
            let emitted = ledger.emitted + 1;
            *ledger = ThreadLedger {
                thread: thread as u32,
                tid: *tid,
                emitted,
                produced: emitted,
                ..ThreadLedger::default()
            };
            footer.totals.calls += u64::from(flags & EFFECT != 0);
            frames += u64::from(flags & FRAME_END != 0);
        }
        if number as usize + 1 == blocks.len() {
            meta::End { reason: EndReason::Stop, in_flight: Vec::new() }.append_to(&mut raw);
        }
        let block = encoder.encode(&raw).unwrap();
        file.extend(
            descriptions.frame(&encoder.used(), header.version).unwrap().unwrap_or_default(),
        );
        let file_offset = file.len() as u64;
        index.push_block(BlockEntry {
            file_offset,
            compressed_len: block.len() as u32,
            raw_len: raw.len() as u32,
            first_seq,
            seqs: (footer.totals.calls - first_seq) as u32,
        });
        file.extend(block);
    }
    let process = ProcessEntry { pid, name: "it".into(), frames, ..ProcessEntry::default() };
    (footer.processes, footer.reason) = (vec![process], EndReason::Stop);
    (footer.ended_ns, footer.ended_unix_ns) = (ended, ended);
    let at = file.len() as u64;
    file.extend(index.encode(header.version));
    let footer = footer.encode(header.version, Some(at), file.len() as u64);
    file.extend(footer);
    file
}

fn readers(traces: &[Vec<u8>]) -> Vec<Reader> {
    traces.iter().map(|it| TraceReader::open(Cursor::new(it.clone())).unwrap()).collect()
}

/// Merges the traces. Returns process, thread id, stamp and frame of each command of the result, which is verified.
fn merged(traces: &[Vec<u8>]) -> Result<(Vec<[u64; 4]>, Reader), MergeError> {
    let mut readers = readers(traces);
    assert_eq!(refusal(&readers), None);
    let mut file = Vec::new();
    let counts = merge(&mut readers, &mut file, ("test", Vec::new()), |_| {})?;
    assert_eq!(counts.file_bytes, file.len() as u64);
    let mut reader = TraceReader::open(Cursor::new(file)).unwrap();
    let found = verify(&mut reader).unwrap();
    assert!(found.ok, "{:?}", found.problems);
    let mut commands = reader.commands().unwrap();
    let mut rows = Vec::new();
    while let Some(it) = commands.next_command().unwrap() {
        let stamp = it.enter_stamp.or(it.leave_stamp).unwrap_or_default();
        rows.push([it.process.into(), it.tid.into(), stamp, it.frame]);
    }
    assert_eq!(counts.commands, rows.len() as u64);
    drop(commands);
    Ok((rows, reader))
}

#[track_caller]
fn refused(traces: &[Vec<u8>]) -> MergeError {
    merged(traces).err().expect("it is refused")
}

#[test]
fn two_programs_are_interleaved_by_their_stamps() {
    let [enter, leave] = swap(5, 4);
    let one =
        trace(1, 50, (10, 90), &[&[begin(5, 1), call(5, None)], &[enter, leave, call(5, Some(7))]]);
    let two =
        trace(2, 60, (20, 80), &[&[begin(6, 3), call(6, None), call(6, Some(5)), call(6, None)]]);
    let expected =
        vec![[0, 5, 1, 0], [1, 6, 3, 0], [0, 5, 4, 0], [1, 6, 5, 0], [1, 6, 5, 0], [0, 5, 7, 1]];
    for traces in [[&one, &two], [&two, &one]] {
        let (rows, reader) = merged(&traces.map(Clone::clone)).unwrap();
        assert_eq!(rows, expected);
        let footer = reader.footer().unwrap();
        assert_eq!(
            (footer.ended_ns, footer.totals.frames, reader.header().started_ns),
            (90, 1, 10)
        );
        let frames: Vec<_> = footer.processes.iter().map(|it| (it.pid, it.frames)).collect();
        assert_eq!(frames, [(50, 1), (60, 0)]);
    }
}

/// The second capture begins with a description while the first one runs, and ends later. The thread's commands have few stamps.
#[test]
fn commands_of_two_captures_of_a_thread_come_once() {
    let [enter, leave] = swap(5, 4);
    let [enter_later, leave_later] = swap(5, 9);
    let early = trace(
        1,
        50,
        (10, 90),
        &[&[
            begin(5, 1),
            call(5, None),
            begin(5, 2),
            call(5, Some(3)),
            call(5, None),
            enter,
            leave,
        ]],
    );
    let late = [begin(5, 2), subject(5), set_up(5, 3), snapshot(5), call(5, None), call(5, None)];
    let rest = [enter, leave, call(5, None), enter_later, leave_later];
    let late = trace(2, 50, (20, 120), &[&late, &rest]);
    for traces in [[&early, &late], [&late, &early]] {
        let (rows, reader) = merged(&traces.map(Clone::clone)).unwrap();
        let stamps: Vec<_> = rows
            .iter()
            .map(|[process, tid, stamp, frame]| (*process, *tid, *stamp, *frame))
            .collect();
        let expected = [(1, 0), (3, 0), (3, 0), (4, 0), (4, 1), (9, 1)];
        assert_eq!(stamps, expected.map(|(stamp, frame)| (0, 5, stamp, frame)));
        let footer = reader.footer().unwrap();
        assert_eq!((footer.processes.len(), footer.threads.len()), (1, 1));
        assert!(!footer.snapshot);
    }
}

#[test]
fn description_behind_the_last_record_of_the_first_capture_is_left_out() {
    let early = trace(1, 50, (10, 90), &[&[begin(5, 1), call(5, None), begin(5, 2)]]);
    let rows = [begin(5, 2), subject(5), set_up(5, 3), snapshot(5), call(5, Some(4))];
    let late = trace(2, 50, (20, 120), &[&rows]);
    let (rows, reader) = merged(&[early, late]).unwrap();
    assert_eq!(rows, [[0, 5, 1, 0], [0, 5, 4, 0]]);
    assert!(!reader.footer().unwrap().snapshot);
}

#[test]
fn captures_one_after_the_other_are_two_processes() {
    let early = trace(1, 50, (10, 20), &[&[begin(5, 1), call(5, None)]]);
    let late = trace(2, 50, (30, 40), &[&[begin(5, 6), set_up(5, 6), snapshot(5), call(5, None)]]);
    let (rows, reader) = merged(&[early, late]).unwrap();
    assert_eq!(rows, [[0, 5, 1, 0], [1, 5, 6, 0], [1, 5, 6, 0]]);
    assert!(reader.footer().unwrap().snapshot);
}

#[test]
fn capture_begins_behind_its_keyframe_though_commands_before_have_its_stamp() {
    let keyframe = |stamp| (5, stamp, KEYFRAME, 0, &[0; 8][..]);
    let own = [call(5, None), call(5, None), call(5, Some(9))];
    let early: Vec<_> = [begin(5, 1), call(5, None), call(5, None), call(5, None), keyframe(None)]
        .into_iter()
        .chain(own)
        .collect();
    let late = [begin(5, 1), keyframe(Some(1)), set_up(5, 1), snapshot(5)];
    let late: Vec<_> = late.into_iter().chain(own).collect();
    let (rows, _) =
        merged(&[trace(1, 50, (10, 90), &[&early]), trace(2, 50, (20, 90), &[&late])]).unwrap();
    let mut expected = vec![[0, 5, 1, 0]; 5];
    expected.push([0, 5, 9, 0]);
    assert_eq!(rows, expected);
}

#[test]
fn command_that_its_thread_published_late_is_found_behind_a_description() {
    let early = [begin(5, 1), begin(6, 2), call(5, Some(3)), call(5, None), call(6, Some(5))];
    let late =
        [begin(5, 1), begin(6, 2), call(5, Some(3)), set_up(6, 4), call(5, None), call(6, Some(5))];
    let (rows, _) =
        merged(&[trace(1, 50, (10, 90), &[&early]), trace(2, 50, (20, 90), &[&late])]).unwrap();
    assert_eq!(rows, [[0, 5, 3, 0], [0, 5, 3, 0], [0, 6, 5, 0]]);
}

#[test]
fn commands_that_differ_and_stamps_of_two_counters_are_refused() {
    let one = trace(1, 50, (10, 90), &[&[begin(5, 1), call(5, None), call(5, Some(3))]]);
    let other = (5, Some(3), ids::GL_FLUSH, EFFECT, &[][..]);
    let two = trace(2, 50, (20, 90), &[&[begin(5, 1), call(5, None), other]]);
    let error = refused(&[one.clone(), two]);
    assert!(matches!(error, MergeError::Differ { traces: [0, 1], tid: 5, stamp: 3 }), "{error:?}");
    // One has other arguments.
    let clears = |mask: &'static [u8]| {
        let clear = (5, Some(3), ids::GL_CLEAR, EFFECT, mask);
        trace(u64::from(mask[0]), 50, (10, 90), &[&[begin(5, 1), clear]])
    };
    let error = refused(&[clears(&[1; 8]), clears(&[2; 8])]);
    assert!(matches!(error, MergeError::Differ { traces: [0, 1], tid: 5, stamp: 3 }), "{error:?}");
    // One lacks a command.
    let three = [begin(5, 1), call(5, None), call(5, Some(2)), call(5, Some(3))];
    let [all, two] = [&three[..], &[three[0], three[1], three[3]]];
    let error = refused(&[trace(1, 50, (10, 90), &[all]), trace(2, 50, (20, 90), &[two])]);
    assert!(matches!(error, MergeError::Differ { tid: 5, stamp: 2, .. }), "{error:?}");
    // Two threads have one stamp.
    let two = trace(2, 60, (20, 90), &[&[begin(6, 1), call(6, None)]]);
    let error = refused(&[one.clone(), two]);
    assert!(matches!(error, MergeError::Counters { traces: [0, 1] }), "{error:?}");
    // The later capture has the lower stamps.
    let two = trace(2, 60, (100, 120), &[&[begin(6, 2), call(6, None)]]);
    let error = refused(&[one, two]);
    assert!(matches!(error, MergeError::Counters { traces: [0, 1] }), "{error:?}");
}

#[test]
fn overlapping_captures_that_lost_records_are_refused() {
    for (lost, expected) in [(0, false), (3, true)] {
        let rows: &[&[Row<'_>]] = &[&[begin(5, 1), call(5, None)]];
        let mut readers = readers(&[trace(1, 50, (10, 90), rows)]);
        let mut footer = readers[0].footer().cloned().unwrap();
        footer.threads[0].lost = lost;
        let source = Source::new(0, &mut readers[0], footer).unwrap();
        assert_eq!(source.has_lost(0), expected);
    }
}

#[test]
fn losses_of_all_traces_are_added() {
    let footer = |calls, ended_ns| {
        let lost = Lost { calls, bytes: 10 * calls, ..Lost::default() };
        Footer { lost, ended_ns, ..Footer::default() }
    };
    let (first, second) = (footer(1, 200), footer(2, 100));
    let header = TraceHeader::new("test", SESSION, 1, 1);
    let merged = about::footer(&[&first, &second], &header, Vec::new());
    assert_eq!((merged.lost.calls, merged.lost.bytes, merged.ended_ns), (3, 30, 200));
}

#[test]
fn traces_that_do_not_belong_together_are_refused() {
    let rows: &[&[Row<'_>]] = &[&[begin(5, 1), (5, None, CONTEXT, 0, &[0; 16])]];
    let one = trace(1, 50, (10, 90), rows);
    let check = |other: Vec<u8>, expected| {
        assert_eq!(refusal(&readers(&[one.clone(), other])), expected);
    };
    check(trace(2, 50, (10, 90), rows), None);
    check(one.clone(), Some(Refusal::Same([0, 1])));
    let of_header = |change: &dyn Fn(&mut TraceHeader), expected| {
        let mut header = TraceHeader { capture: 2, ..TraceHeader::new("test", SESSION, 1, 1) };
        change(&mut header);
        check(header.encode().unwrap(), Some(expected));
    };
    of_header(&|it| it.session = "8".repeat(32), Refusal::Session(1));
    of_header(&|it| it.session = String::new(), Refusal::NoSession(1));
    of_header(&|it| it.filter.threads = vec!["x".to_owned()], Refusal::Filter(1));
    of_header(&|it| it.kept = Some(gapii_trace::header::KeptFrom::default()), Refusal::Kept(1));
    of_header(&|it| it.version = 12, Refusal::Tables(1));
}
