//! Times at which frames end.

use gapii_abi::atom::{self, EFFECT, EndReason, FRAME_END};
use gapii_trace::Command;
use gapii_trace::index::FrameEnd;
use gapii_trace::verify::verify;
use serde_json::Value;

use crate::describe::*;
use crate::writer::{Writer, collect, lines, open};

/// A trace of two threads of a process.
fn two_threads() -> (Writer, u32, u32) {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    (w, a, b)
}

fn end(mut w: Writer) -> Vec<u8> {
    w.end(EndReason::Stop, Vec::new());
    w.finish()
}

/// The times of the frames of a file, in the order of the stream. The file is sound, and the commands that end frames
/// have the same times.
fn times(file: &[u8]) -> Vec<Option<u64>> {
    let mut reader = open(file);
    let found = verify(&mut reader).unwrap();
    assert!(found.ok, "{:?}", found.problems);
    let end_of =
        |command: &Command<'_>| command.ends_frame.then_some((command.seq, command.frame_end_ns));
    let by_commands: Vec<_> = collect(&mut open(file), end_of).into_iter().flatten().collect();
    let listed = &reader.index().unwrap().frame_ends;
    let mut by_index: Vec<_> = listed.iter().map(|end| (end.seq, end.time_ns)).collect();
    by_index.sort_unstable();
    assert_eq!(by_commands, by_index);
    listed.iter().map(|end| end.time_ns).collect()
}

fn first_problem(file: &[u8]) -> String {
    let found = verify(&mut open(file)).unwrap();
    found.problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
}

#[test]
fn frame_ends_have_the_times_that_precede_them() {
    let (mut w, a, b) = two_threads();
    w.swap(a, 3);
    w.swap_at(a, 5, 700);
    w.enter(a, SWAP, EFFECT, Some(7), &swap_args());
    w.time(a, 800);
    // Another thread's records, a blob and a block's end stand between the time and its record.
    w.swap_at(b, 8, 650);
    w.end_block();
    w.piece(a, 4, 0, &[1; 4]);
    w.leave(a, SWAP, FRAME_END, Some(10), &Payload::new().u32(1));
    let file = end(w);
    assert_eq!(times(&file), [None, Some(700), Some(650), Some(800)]);
    let seqs: Vec<_> = open(&file).index().unwrap().frame_ends.iter().map(|end| end.seq).collect();
    assert_eq!(seqs, [Some(0), Some(1), Some(3), Some(2)]);
    let shown: Vec<_> = lines(&file)
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["time_ns"].as_u64())
        .collect();
    assert_eq!(shown, [None, Some(700), Some(800), Some(650)]);
}

#[test]
fn time_whose_record_is_lost_belongs_to_no_later_frame() {
    let (mut w, a, _) = two_threads();
    w.enter(a, SWAP, EFFECT, None, &swap_args());
    w.time(a, 700);
    w.gap(a, 1, 0, 16);
    w.swap(a, 5);
    // A time before another command is that command's.
    w.time(a, 800);
    w.command(a, CLEAR, None, &Payload::new().u32(0));
    w.swap(a, 7);
    assert_eq!(times(&end(w)), [None, None]);
}

#[test]
fn frame_whose_command_took_no_effect_has_no_number() {
    let (mut w, a, _) = two_threads();
    w.enter(a, SWAP, EFFECT, None, &swap_args());
    w.leave(a, SWAP, 0, None, &Payload::new().u32(0));
    w.enter(a, SWAP, 0, None, &swap_args());
    w.leave(a, SWAP, FRAME_END, None, &Payload::new().u32(1));
    w.enter(a, SWAP, 0, None, &swap_args());
    w.leave(a, SWAP, EFFECT | FRAME_END, None, &Payload::new().u32(1));
    let ends = open(&end(w)).index().unwrap().frame_ends.clone();
    assert_eq!(ends.iter().map(|end| end.seq).collect::<Vec<_>>(), [None, Some(1)]);
}

#[test]
fn clock_of_a_thread_that_goes_back_is_a_problem() {
    let (mut w, a, _) = two_threads();
    w.swap_at(a, 5, 700);
    w.swap_at(a, 7, 699);
    let message = first_problem(&end(w));
    assert!(message.contains("goes back from 700 ns to 699 ns"), "{message}");
}

#[test]
fn index_with_another_time_or_command_is_a_problem_and_one_without_is_none() {
    type Change = fn(&mut FrameEnd);
    let cases: [(Change, bool); 5] = [
        (|_| {}, true),
        (|end| end.time_ns = None, true),
        (|end| end.seq = None, true),
        (|end| end.time_ns = Some(701), false),
        (|end| end.seq = Some(1), false),
    ];
    for (change, is_sound) in cases {
        let (mut w, a, _) = two_threads();
        w.swap_at(a, 5, 700);
        change(&mut w.index.frame_ends[0]);
        let message = first_problem(&end(w));
        assert_eq!(message.is_empty(), is_sound, "{message}");
    }
}

#[test]
fn time_of_a_kind_that_only_later_versions_know_is_passed_over() {
    let (mut w, a, _) = two_threads();
    let later =
        atom::Time { at_ns: 700, kind: atom::TimeKind::Other(77), function: 0, duration_ns: 9 };
    w.enter(a, SWAP, EFFECT, None, &swap_args());
    w.record(a, atom::TIME, 0, None, &later.encode());
    w.leave(a, SWAP, FRAME_END, None, &Payload::new().u32(1));
    assert_eq!(times(&end(w)), [None]);
}
