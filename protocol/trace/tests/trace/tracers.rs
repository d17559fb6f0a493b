//! TRACED records, and the commands that a reader makes of them.

use gapii_abi::atom::EndReason;
use gapii_abi::atom::TracedKind::{self, Changed, Own, Result as Given, Skipped};
use gapii_abi::atom::{EFFECT, FRAME_END, TRACED, Traced};
use gapii_trace::assembler::{Anomalies, HoldLimits};
use gapii_trace::verify;
use serde_json::{Value, json};

use crate::describe::*;
use crate::writer::{Writer, line, lines, open};

/// The payload of a TRACED record about a command with `args_len` bytes of arguments.
fn traced(w: &mut Writer, thread: u32, kind: TracedKind, id: u16, args_len: u32, rest: &[u8]) {
    let payload = [&Traced { id, kind, args_len }.encode(), rest].concat();
    w.record(thread, TRACED, 0, None, &payload);
}

/// An argument or a result of 4 bytes, padded.
fn word(value: u32) -> [u8; 8] {
    u64::from(value).to_le_bytes()
}

fn start() -> (Writer, u32, u32) {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    (w, a, b)
}

/// Returns the commands as JSON, with the changes that tracers made to them.
fn told(file: &[u8], limits: HoldLimits) -> Vec<Value> {
    let mut reader = open(file);
    let mut commands = reader.commands_limited(limits).unwrap().with_tracers();
    let mut told = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        told.push(serde_json::from_str(&line(&command)).unwrap());
    }
    told
}

/// These fields of each command; null for a missing field.
fn fields<const N: usize>(told: &[Value], names: [&str; N]) -> Vec<[Value; N]> {
    told.iter().map(|command| names.map(|name| command[name].clone())).collect()
}

/// A thread with a TRACED record for every command. Between a leave record and the TRACED behind it come
/// another thread's commands, and a new block.
pub fn traced_file() -> Vec<u8> {
    let (mut w, a, b) = start();
    traced(&mut w, a, Changed, CLEAR, 8, &word(0x4000));
    w.command(a, CLEAR, Some(3), &Payload::new().u32(0x100));
    let parts = [word(0x4000), word(0x400)].concat();
    traced(&mut w, a, Skipped, CLEAR, 8, &parts);
    let (handles, no) = ([[0; 8], [0; 8]].concat(), word(0));
    traced(&mut w, a, Skipped, SWAP, 16, &[&handles[..], &handles, &no].concat());
    w.enter(a, SWAP, 0, Some(4), &swap_args());
    w.leave(a, SWAP, EFFECT | FRAME_END, None, &Payload::new().u32(1));
    w.command(b, CLEAR, Some(5), &Payload::new().u32(0));
    w.end_block();
    traced(&mut w, a, Given, SWAP, 0, &word(0));
    traced(&mut w, a, Own, CLEAR, 0, &[]);
    w.command(a, CLEAR, Some(6), &Payload::new().u32(0x4000));
    w.end(EndReason::Stop, Vec::new());
    w.finish()
}

#[test]
fn what_tracers_did_is_told_to_who_asks() {
    let told = told(&traced_file(), HoldLimits::default());
    let (none, clear, swap) = (Value::Null, "glClear", "eglSwapBuffers");
    assert_eq!(
        fields(&told, ["seq", "name", "made", "given", "skipped", "tracer"]),
        [
            [
                json!(0),
                json!(clear),
                json!({"mask": "GL_COLOR_BUFFER_BIT"}),
                none.clone(),
                none.clone(),
                none.clone()
            ],
            [
                none.clone(),
                json!(clear),
                json!({"mask": "GL_COLOR_BUFFER_BIT"}),
                none.clone(),
                json!(true),
                none.clone()
            ],
            [none.clone(), json!(swap), none.clone(), none.clone(), json!(true), none.clone()],
            [json!(1), json!(swap), none.clone(), json!(false), none.clone(), none.clone()],
            [json!(2), json!(clear), none.clone(), none.clone(), none.clone(), none.clone()],
            [json!(3), json!(clear), none.clone(), none.clone(), none.clone(), json!(true)],
        ]
    );
    assert_eq!(told[0]["args"]["mask"], "GL_DEPTH_BUFFER_BIT");
    assert_eq!(told[1]["args"]["mask"], "GL_STENCIL_BUFFER_BIT", "what the prologues left");
    assert_eq!(told[2]["result"], false, "what the program got");
    assert_eq!(told[3]["result"], true, "what the driver said");
}

#[test]
fn others_read_what_the_driver_got() {
    let told: Vec<Value> =
        lines(&traced_file()).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs = fields(&told, ["seq", "made", "given", "skipped", "tracer"]);
    let none = Value::Null;
    let numbered = |seq| [json!(seq), none.clone(), none.clone(), none.clone(), none.clone()];
    assert_eq!(seqs, [0, 1, 2, 3].map(numbered));
    assert!(verify(&mut open(&traced_file())).unwrap().ok);
}

#[test]
fn command_that_nobody_says_more_of_is_told_when_its_thread_goes_on_or_the_stream_ends() {
    let (mut w, a, b) = start();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.leave(a, SWAP, FRAME_END, None, &Payload::new().u32(1));
    w.enter(b, GEN, 0, Some(4), &Payload::new().i32(1).u64(0));
    w.leave(b, GEN, EFFECT, None, &Payload::new().unobserved());
    w.command(a, CLEAR, Some(5), &Payload::new().u32(0));
    w.end(EndReason::Stop, Vec::new());
    let file = w.finish();
    let expected = [(0, "eglSwapBuffers"), (1, "glGenTextures"), (2, "glClear")];
    let expected = expected.map(|(seq, name)| [json!(seq), json!(name), Value::Null]);
    for commands in [1, 1 << 10] {
        let limits = HoldLimits { commands, ..HoldLimits::default() };
        assert_eq!(fields(&told(&file, limits), ["seq", "name", "given"]), expected);
    }
}

/// A sleeping thread holds up other threads only until a limit.
#[test]
fn others_wait_for_no_more_than_a_number_of_commands() {
    let (mut w, a, b) = start();
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.leave(a, SWAP, FRAME_END, None, &Payload::new().u32(1));
    for stamp in 4..70_000 {
        w.command(b, CLEAR, Some(stamp), &Payload::new().u32(0));
        if stamp % 10_000 == 0 {
            w.end_block();
        }
    }
    w.end(EndReason::Stop, Vec::new());
    let file = w.finish();
    let mut reader = open(&file);
    let mut commands = reader.commands().unwrap().with_tracers();
    assert_eq!(commands.next_command().unwrap().unwrap().name(), "eglSwapBuffers");
    let read = commands.assembler().tracker().seq();
    assert!((60_000..69_000).contains(&read), "{read} commands were read for the first one");
    assert_eq!(commands.anomalies(), Anomalies::default());
}

#[test]
fn word_of_another_command_is_nobodys() {
    let (mut w, a, _) = start();
    traced(&mut w, a, Changed, DRAW, 16, &[0; 16]);
    w.command(a, CLEAR, Some(3), &Payload::new().u32(0));
    w.command(a, DRAW, None, &Payload::new().u32(4).i32(0).i32(3));
    w.enter(a, SWAP, 0, Some(4), &swap_args());
    w.leave(a, SWAP, EFFECT | FRAME_END, None, &Payload::new().u32(1));
    traced(&mut w, a, Given, FINISH, 0, &word(7));
    w.end(EndReason::Stop, Vec::new());
    let told = told(&w.finish(), HoldLimits::default());
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|command| command.get("made").or(command.get("given")).is_none()));
}

/// The commands that a reader reads if it does not know TRACED records.
#[test]
fn record_of_a_later_applications_is_accounted_for() {
    let (mut w, a, _) = start();
    w.command(a, CLEAR, Some(3), &Payload::new().u32(0));
    w.record(a, TRACED + 1, 0, None, &[0; 8]);
    w.end(EndReason::Stop, Vec::new());
    let verification = verify(&mut open(&w.finish())).unwrap();
    assert!(verification.ok, "{verification:#?}");
}

#[test]
fn record_that_is_shorter_than_it_says_is_damage() {
    let (mut w, a, _) = start();
    w.command(a, CLEAR, Some(3), &Payload::new().u32(0));
    traced(&mut w, a, Skipped, CLEAR, 8, &word(0));
    w.end(EndReason::Stop, Vec::new());
    assert!(!verify(&mut open(&w.finish())).unwrap().ok);
}
