//! The driver's times in leave records.

use gapii_abi::atom::{BEGUN, EFFECT, EndReason, Header, LEAVE, LEAVES, META_FIRST};
use gapii_trace::frame::{TIMED_VERSION, UNTIMED_VERSION, has_begins};
use gapii_trace::verify::{Verification, verify};
use gapii_trace::{Command, TraceHeader, TraceReader};
use serde_json::Value;
use std::io::Cursor;

use crate::describe::*;
use crate::writer::{Writer, collect, header, lines, open, small_file};

fn timed_writer(version: u32) -> (Writer, u32) {
    let mut w = Writer::with_header(TraceHeader { version, ..header() }.encode().unwrap());
    let process = w.process(1, "p");
    let thread = w.thread(process, 10, 1);
    (w, thread)
}

/// A command without a result, a command with one, and a command whose leave record is in another block.
pub fn timed_file(version: u32) -> Vec<u8> {
    let times: fn(&[u64; 2]) -> &[u64] = match has_begins(version) {
        true => |times| times,
        false => |times| &times[..1],
    };
    let (mut w, main) = timed_writer(version);
    w.enter(main, CLEAR, EFFECT, None, &Payload::new().u32(0x4100));
    w.leave_timed(main, CLEAR, 0, times(&[70, 9000]), &Payload::new());
    w.enter(main, GET_STRING, EFFECT, None, &Payload::new().u32(0x1F01));
    w.leave_timed(
        main,
        GET_STRING,
        0,
        times(&[5, 9080]),
        &Payload::new().u64(0x55).inline(b"Mesa"),
    );
    w.enter(main, UNIFORM, EFFECT, None, &uniform(7));
    w.end_block();
    w.leave_timed(main, UNIFORM, 0, times(&[u64::MAX, 9100]), &Payload::new());
    w.command(main, DEPTH_MASK, None, &Payload::new().put([1]));
    w.end(EndReason::Stop, Vec::new());
    w.finish()
}

fn verified(file: Vec<u8>) -> Verification {
    verify(&mut TraceReader::open(Cursor::new(file)).unwrap()).unwrap()
}

/// Version 6 is that of timed traces of earlier builds.
#[test]
fn commands_have_the_driver_s_time_and_its_begin_and_all_else_as_without() {
    for (version, begins) in
        [(6, [None; 4]), (TIMED_VERSION, [Some(9000), Some(9080), Some(9100), None])]
    {
        let file = timed_file(version);
        let times = collect(&mut open(&file), |command: &Command<'_>| command.driver_ns);
        assert_eq!(times, [Some(70), Some(5), Some(u64::MAX), None]);
        let begun = collect(&mut open(&file), |command: &Command<'_>| command.begin_ns);
        assert_eq!(begun, begins);
        let lines: Vec<Value> =
            lines(&file).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["driver_ns"], 70);
        assert_eq!(lines[0]["begin_ns"].as_u64(), begins[0]);
        assert_eq!(lines[1]["result"], "Mesa");
        assert_eq!(lines[2]["driver_ns"], u64::MAX);
        let has_none = ["driver_ns", "begin_ns"].iter().all(|name| lines[3].get(*name).is_none());
        assert!(has_none, "{}", lines[3]);
        let found = verified(file);
        assert!(found.ok, "{:?}", found.problems);
        assert_eq!(found.checked.timed, 3);
    }
}

#[test]
fn begins_in_a_trace_of_the_version_without_are_a_problem() {
    let (mut w, main) = timed_writer(6);
    w.enter(main, CLEAR, EFFECT, None, &Payload::new().u32(0x4100));
    w.leave_timed(main, CLEAR, 0, &[70, 9000], &Payload::new());
    w.end(EndReason::Stop, Vec::new());
    let found = verified(w.finish());
    assert!(
        !found.ok && found.problems[0].message.contains("1 records have the begin"),
        "{found:?}"
    );
}

#[test]
fn times_in_a_trace_of_the_version_without_are_a_problem() {
    let found = verified(timed_file(UNTIMED_VERSION));
    assert!(!found.ok && found.problems[0].message.contains("format version 14"), "{found:?}");
}

#[test]
fn times_on_other_records_are_a_problem() {
    // A begin without a time of the driver is one, too.
    for (id, flags) in
        [(CLEAR, EFFECT | LEAVES), (META_FIRST + 0x77, 0), (META_FIRST, LEAVE), (CLEAR, LEAVE)]
    {
        let (mut w, main) = timed_writer(TIMED_VERSION);
        w.command(main, CLEAR, None, &Payload::new().u32(0));
        let header = match flags {
            LEAVE if id < META_FIRST => Header::new(id, flags | BEGUN, 32),
            _ => Header::new(id, flags, 24).with_time(),
        };
        w.raw_bytes(&[header.0, 1, 2, 3].map(u64::to_le_bytes).concat());
        w.end_block();
        let found = verified(w.finish());
        let is_said = found.problems.iter().any(|p| p.message.ends_with("is not a leave record"));
        assert!(is_said, "{id:#x}: {:?}", found.problems);
    }
}

#[test]
fn record_without_room_for_its_time_is_refused() {
    let (mut w, main) = timed_writer(TIMED_VERSION);
    w.command(main, CLEAR, None, &Payload::new().u32(0));
    w.raw_bytes(&Header::new(CLEAR, LEAVE | 32, 8).0.to_le_bytes());
    w.end_block();
    assert!(!verified(w.finish()).ok);
}

#[test]
fn every_frame_states_the_version_that_its_reader_must_know() {
    for (file, version) in
        [(small_file(), UNTIMED_VERSION), (timed_file(TIMED_VERSION), TIMED_VERSION)]
    {
        let mut stated = Vec::new();
        for tag in [b"GAPIIHDR", b"GAPIIIDX", b"GAPIIFTR"] {
            let at = file.windows(8).position(|bytes| bytes == tag).unwrap();
            stated.push(u32::from_le_bytes(*file[at + 12..].first_chunk().unwrap()));
        }
        assert_eq!(stated, [version; 3]);
        assert_eq!(open(&file).header().version, version);
    }
}
