//! The assembler: order of commands, pairing of records, limits, and reading from the middle.

use gapii_abi::atom::{EFFECT, EndReason, FRAME, FRAME_END, Frame, FrameKind, InFlight};
use gapii_trace::BlobName;
use gapii_trace::assembler::HoldLimits;
use gapii_trace::{Command, Commands};
use std::io::Cursor;

use crate::describe::*;
use crate::writer::{Writer, collect, open};

/// Each command as `glFinish 3 left`: its name, its seq, and whether it has a leave record.
fn brief(command: &Command<'_>) -> String {
    let seq = command.seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string());
    let left = if command.leave_stamp.is_some() { " left" } else { "" };
    let in_flight = if command.in_flight { " in flight" } else { "" };
    format!("{} {seq}{left}{in_flight}", command.name())
}

fn two_threads() -> (Writer, u32, u32) {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    (w, a, b)
}

fn drain(mut commands: Commands<'_, Cursor<Vec<u8>>>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        all.push(brief(&command));
    }
    all
}

#[test]
fn command_with_effect_at_enter_is_held_until_it_returns() {
    let (mut w, a, b) = two_threads();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.command(b, CLEAR, Some(4), &Payload::new().u32(0));
    w.end_block();
    w.enter(b, GEN, 0, Some(5), &Payload::new().i32(1).u64(0));
    w.leave(b, GEN, EFFECT, None, &Payload::new().unobserved());
    w.leave(a, SWAP, FRAME_END, Some(6), &Payload::new().u32(1));
    w.end(EndReason::Stop, Vec::new());
    let file = w.finish();
    assert_eq!(
        collect(&mut open(&file), brief),
        ["eglSwapBuffers 0 left", "glClear 1", "glGenTextures 2 left"]
    );
}

#[test]
fn command_whose_leave_record_never_came_is_listed_when_its_thread_goes_on() {
    let (mut w, a, b) = two_threads();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.command(b, CLEAR, Some(4), &Payload::new().u32(0));
    w.enter(b, FINISH, 0, None, &Payload::new());
    w.gap(b, 1, 0, 8);
    w.command(b, CLEAR, Some(5), &Payload::new().u32(0));
    w.command(a, CLEAR, Some(6), &Payload::new().u32(0));
    w.end(EndReason::Stop, Vec::new());
    let mut reader = open(&w.finish());
    assert_eq!(
        collect(&mut reader, brief),
        ["eglSwapBuffers 0", "glClear 1", "glFinish -", "glClear 2", "glClear 3"]
    );
    let mut commands = reader.commands().unwrap();
    while commands.next_command().unwrap().is_some() {}
    assert_eq!(commands.anomalies().missing_leaves, 2);
}

#[test]
fn command_with_no_effect_is_listed_where_it_returned() {
    let (mut w, a, _) = two_threads();
    w.enter(a, GEN, 0, Some(3), &Payload::new().i32(-1).u64(0));
    w.leave(a, GEN, 0, None, &Payload::new().unobserved());
    w.command(a, CLEAR, None, &Payload::new().u32(0));
    w.end(EndReason::Stop, Vec::new());
    assert_eq!(collect(&mut open(&w.finish()), brief), ["glGenTextures - left", "glClear 0"]);
}

#[test]
fn in_flight_command_without_leave_record_is_told_from_equals_before_it() {
    let (mut w, a, b) = two_threads();
    for _ in 0..3 {
        w.command(a, DRAW, None, &draw(4, 0, 3));
    }
    w.end_block();
    w.command(a, DRAW, None, &draw(4, 0, 3));
    w.command(b, CLEAR, Some(9), &Payload::new().u32(0));
    w.end(EndReason::Crash, vec![InFlight { thread: a, id: DRAW, stamp: 1 }]);
    assert_eq!(
        collect(&mut open(&w.finish()), brief),
        [
            "glDrawArrays 0",
            "glDrawArrays 1",
            "glDrawArrays 2",
            "glClear 4",
            "glDrawArrays 3 in flight"
        ]
    );
}

#[test]
fn commands_open_at_a_cut_end_are_in_flight() {
    let (mut w, a, b) = two_threads();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.enter(b, FINISH, 0, Some(4), &Payload::new());
    w.end_block();
    assert_eq!(
        collect(&mut open(&w.file), brief),
        ["eglSwapBuffers 0 in flight", "glFinish - in flight"]
    );
}

/// A swap of one thread that does not return while another thread issues a command in each of six
/// blocks.
fn held_up() -> (Writer, u32) {
    let (mut w, a, b) = two_threads();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    for stamp in 4..10 {
        w.command(b, CLEAR, Some(stamp), &Payload::new().u32(0));
        w.end_block();
    }
    (w, a)
}

const THREE: HoldLimits = HoldLimits { commands: 3, bytes: 1 << 20 };

#[test]
fn command_that_holds_up_too_many_is_let_go() {
    let (mut w, a) = held_up();
    w.leave(a, SWAP, FRAME_END, Some(10), &Payload::new().u32(1));
    w.command(a, CLEAR, None, &Payload::new().u32(0));
    w.end(EndReason::Stop, Vec::new());
    let mut reader = open(&w.finish());
    let mut commands = reader.commands_limited(THREE).unwrap();
    let mut frames = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        frames.push((command.seq, command.frame));
    }
    assert_eq!(commands.anomalies().late_leaves, 1);
    assert_eq!(frames.len(), 8);
    assert_eq!(frames.last(), Some(&(Some(7), 1)));
}

#[test]
fn command_that_holds_up_too_many_and_never_returns_is_listed_last() {
    let (mut w, a) = held_up();
    w.end(EndReason::Crash, vec![InFlight { thread: a, id: SWAP, stamp: 3 }]);
    let mut reader = open(&w.finish());
    let all = drain(reader.commands_limited(THREE).unwrap());
    assert_eq!(all.len(), 7);
    assert_eq!(all.last().map(String::as_str), Some("eglSwapBuffers 0 in flight"));
}

/// Ten frames of one thread, a block per frame, and a command that spans two of them.
fn frames() -> Vec<u8> {
    let (mut w, a, b) = two_threads();
    for frame in 0..10 {
        w.command(a, CLEAR, Some(10 * frame + 3), &Payload::new().u32(0));
        if frame == 4 {
            w.enter(b, FINISH, 0, Some(10 * frame + 4), &Payload::new());
        }
        if frame == 5 {
            w.leave(b, FINISH, EFFECT, Some(10 * frame + 4), &Payload::new());
        }
        w.swap(a, 10 * frame + 5);
        w.end_block();
    }
    w.end(EndReason::Frames, Vec::new());
    w.finish()
}

#[test]
fn frames_are_the_same_with_and_without_index() {
    let file = frames();
    let mut without_index = open(&file);
    let all = collect(&mut without_index, |command| (command.frame, brief(command)));
    for first in 0..11 {
        for last in first..11 {
            let mut reader = open(&file);
            let found = drain(reader.commands_in_frames(first..=last).unwrap());
            let expected: Vec<_> = all
                .iter()
                .filter(|(frame, _)| (first..=last).contains(frame))
                .map(|(_, brief)| brief.clone())
                .collect();
            assert_eq!(found, expected, "frames {first} to {last}");
        }
    }
}

#[test]
fn frames_before_and_after_the_wanted_are_not_read() {
    let mut file = frames();
    let blocks = open(&file).blocks().to_vec();
    for damaged in [1, 8] {
        file[blocks[damaged].offset as usize + 12] ^= 1;
    }
    let mut reader = open(&file);
    let found = drain(reader.commands_in_frames(3..=6).unwrap());
    assert_eq!(found.len(), 9);
}

/// A FRAME of 3 by 2 pixels whose name is all `name`.
fn frame(kind: FrameKind, name: u8) -> Vec<u8> {
    let frame = Frame { surface: 7, frame: 0, width: 3, height: 2, kind, name: [name; 16] };
    frame.encode().to_vec()
}

/// Each command with the first byte of the name of the frame that was observed before it.
fn shown(command: &Command<'_>) -> (String, Option<u8>) {
    let frame = command.observed_frame;
    assert!(frame.is_none_or(|frame| (frame.surface, frame.width, frame.height) == (7, 3, 2)));
    (command.name().to_owned(), frame.map(|frame| frame.name[0]))
}

#[test]
fn observed_frame_belongs_to_the_next_command_of_its_thread() {
    let (mut w, a, b) = two_threads();
    w.record(a, FRAME, 0, Some(3), &frame(FrameKind::Hash, 1));
    w.command(b, CLEAR, Some(4), &Payload::new().u32(0));
    w.end_block();
    w.swap(a, 5);
    w.swap(a, 7);
    // A FRAME of an unknown kind is ignored, and so is the FRAME of a lost swap.
    w.record(a, FRAME, 0, Some(9), &frame(FrameKind::Other(9), 2));
    w.swap(a, 10);
    w.record(a, FRAME, 0, Some(12), &frame(FrameKind::Hash, 3));
    w.gap(a, 2, 1, 8);
    w.swap(a, 13);
    w.end(EndReason::Stop, Vec::new());
    let swap = |name| ("eglSwapBuffers".to_owned(), name);
    assert_eq!(
        collect(&mut open(&w.finish()), shown),
        [("glClear".to_owned(), None), swap(Some(1)), swap(None), swap(None), swap(None)]
    );
}

#[test]
fn pixels_of_an_observed_frame_are_its_blob() {
    let (mut w, a, _) = two_threads();
    let pixels: Vec<u8> = (0..24).collect();
    w.blob(a, &pixels, 24);
    let mut payload = frame(FrameKind::Blob, 0);
    payload.splice(32.., BlobName::of(&pixels).0);
    w.record(a, FRAME, 0, None, &payload);
    w.swap(a, 5);
    w.end(EndReason::Stop, Vec::new());
    let mut reader = open(&w.finish());
    let kept = collect(&mut reader, |command| command.frame_pixels().map(|it| it.to_vec()));
    assert_eq!(kept, [Some(pixels)]);
}
