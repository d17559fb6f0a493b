//! The JSON of commands, summaries and verifications, which other programs rely on.

use gapii_abi::atom::{EFFECT, EndReason, InFlight};
use gapii_trace::{Info, verify};

use crate::describe::*;
use crate::writer::{Writer, lines, open, small_file, small_trace};

#[test]
fn small_trace_dumps_every_shape_of_command() {
    insta::assert_snapshot!(lines(&small_file()).join("\n"));
}

#[test]
fn egl_commands_dump_attributes_by_name_and_outputs_with_values() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    let attributes = int_bytes(&[0x3024, 8, 0x3021, 0, 0x9999, 1, 0x3038]);
    let args = Payload::new().u64(1).u64(0x10).u64(0x20).i32(4).u64(0x30).inline(&attributes);
    w.enter(thread, CHOOSE, EFFECT, Some(2), &args);
    let found = Payload::new().u32(1).inline(&1u64.to_le_bytes()).inline(&int_bytes(&[1]));
    w.leave(thread, CHOOSE, 0, Some(3), &found);
    let args = Payload::new().u64(1).u64(0).u64(0).i32(0).u64(0x30).unobserved();
    w.enter(thread, CHOOSE, EFFECT, Some(4), &args);
    w.leave(thread, CHOOSE, 0, None, &Payload::new().u32(0).unobserved().unobserved());
    w.end(EndReason::Exit, Vec::new());
    insta::assert_snapshot!(lines(&w.finish()).join("\n"));
}

#[test]
fn values_without_a_name_dump_in_hexadecimal() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    w.command(thread, DRAW, None, &draw(0x8892, -1, 0));
    w.command(thread, DRAW, None, &draw(0x1234, 0, 0));
    w.command(thread, CLEAR, None, &Payload::new().u32(0));
    w.command(thread, CLEAR, None, &Payload::new().u32(0x4003));
    w.command(thread, CLEAR, None, &Payload::new().u32(0x3));
    w.command(thread, UNDESCRIBED, None, &Payload::new().u32(1));
    w.command(thread, DRAW, None, &Payload::new().u32(4));
    w.end(EndReason::Stop, Vec::new());
    insta::assert_snapshot!(lines(&w.finish()).join("\n"));
}

#[test]
fn commands_in_flight_dump_last() {
    let file = crash();
    insta::assert_snapshot!(lines(&file).join("\n"));
    let info = Info::of(&mut open(&file)).unwrap();
    insta::assert_json_snapshot!(without_compression(info));
}

/// The summary without the numbers that depend on the version of zstd.
fn without_compression(info: Info) -> Info {
    Info { file_bytes: 0, ..info }
}

/// Two threads are in the driver when the program dies: one in a command without a leave record, the
/// other in a command that takes effect at leave.
pub fn crash() -> Vec<u8> {
    let mut w = Writer::new();
    let process = w.process(4711, "scene");
    let (main, other) = (w.thread(process, 100, 1), w.thread(process, 101, 2));
    w.command(main, DRAW, Some(3), &draw(4, 0, 3));
    w.command(main, DRAW, None, &draw(4, 0, 4));
    w.enter(other, FINISH, 0, Some(4), &Payload::new());
    w.command(main, DRAW, Some(5), &draw(4, 0, 5));
    w.command(main, DRAW, None, &draw(4, 0, 6));
    let in_flight = |thread, id, stamp| InFlight { thread, id, stamp };
    w.footer.signal = Some(11);
    w.end(EndReason::Crash, vec![in_flight(main, DRAW, 5), in_flight(other, FINISH, 4)]);
    w.finish()
}

#[test]
fn info_is_the_same_from_footer_and_by_counting() {
    let mut whole = small_trace();
    whole.end(EndReason::Frames, Vec::new());
    let without_footer = whole.file.clone();
    let from_footer = Info::of(&mut open(&whole.finish())).unwrap();
    insta::assert_json_snapshot!(without_compression(from_footer.clone()));
    let mut counted = Info::of(&mut open(&without_footer)).unwrap();
    assert_eq!(counted.tail.take(), Some(format!("cut at byte {}", without_footer.len())));
    assert!(!std::mem::replace(&mut counted.complete, true));
    assert!(!std::mem::replace(&mut counted.lost_is_known, true));
    counted.file_bytes = from_footer.file_bytes;
    counted.ended_unix_ns = from_footer.ended_unix_ns;
    counted.started_unix_ns = from_footer.started_unix_ns;
    counted.processes[0].exe.clone_from(&from_footer.processes[0].exe);
    counted.processes[0].apis.clone_from(&from_footer.processes[0].apis);
    assert_eq!(counted, from_footer);
}

#[test]
fn verified_trace_says_what_was_checked() {
    for file in [small_file(), crash()] {
        let verification = verify(&mut open(&file)).unwrap();
        assert!(verification.ok, "{verification:#?}");
    }
    let verification = verify(&mut open(&small_file())).unwrap();
    insta::assert_json_snapshot!(verification);
}

#[test]
fn every_contradiction_is_a_problem() {
    type Change = fn(&mut Writer);
    let cases: [(&str, Change); 14] = [
        ("produced", |w| w.footer.threads[0].produced += 1),
        ("emitted", |w| {
            w.footer.threads[0].emitted += 1;
            w.footer.threads[0].lost -= 0;
            w.footer.threads[0].produced += 1;
        }),
        ("lost", |w| {
            w.footer.threads[0].lost += 1;
            w.footer.threads[0].produced += 1;
        }),
        ("gap of no ledger", |w| w.footer.gaps.clear()),
        ("thread of no ledger", |w| {
            w.footer.threads.pop();
        }),
        ("calls", |w| w.footer.totals.calls += 1),
        ("frames", |w| w.footer.totals.frames += 1),
        ("frames of a process", |w| w.footer.processes[0].frames += 1),
        ("records", |w| w.footer.totals.records += 1),
        ("blocks", |w| w.footer.totals.blocks += 1),
        ("reason", |w| w.footer.reason = EndReason::Stop),
        ("in flight", |w| w.footer.in_flight.push(InFlight { thread: 0, id: 0, stamp: 0 })),
        ("index of frames", |w| w.index.frame_ends[1].block += 1),
        ("index of commands", |w| w.index.blocks[1].first_seq += 1),
    ];
    let mut messages = Vec::new();
    for (what, change) in cases {
        let mut w = small_trace();
        w.end(EndReason::Frames, Vec::new());
        change(&mut w);
        let verification = verify(&mut open(&w.finish())).unwrap();
        assert!(!verification.ok, "{what}");
        messages.extend(verification.problems.iter().map(|p| format!("{what}: {}", p.message)));
    }
    insta::assert_snapshot!(messages.join("\n"));
}
