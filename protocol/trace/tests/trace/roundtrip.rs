//! Commands are read as they were written, whatever the threads do and wherever blocks end.

use gapii_abi::atom::{EFFECT, EndReason, InFlight};
use gapii_trace::value::{Observation, Value};
use gapii_trace::{Command, verify};
use proptest::prelude::*;

use crate::describe::*;
use crate::writer::{Writer, collect, open};

const THREADS: usize = 3;

/// A step of a thread. Each command has its own number as an argument.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A command without a leave record.
    Command,
    /// A command with a leave record that takes effect at enter.
    EnterNow,
    /// A command with a leave record that takes effect at leave.
    EnterLater,
    /// The open command returns and has written `written` bytes, as a blob in pieces.
    Leave {
        written: usize,
        piece: usize,
    },
    Swap,
    EndBlock,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Command),
        2 => Just(Act::EnterNow),
        2 => Just(Act::EnterLater),
        4 => (0usize..40, 0usize..10).prop_map(|(written, piece)| Act::Leave { written, piece }),
        1 => Just(Act::Swap),
        1 => Just(Act::EndBlock),
    ]
}

/// A command as it should be read.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    seq: Option<u64>,
    thread: u32,
    frame: u64,
    number: i64,
    written: Option<Vec<u8>>,
    in_flight: bool,
}

/// State of the script, and the commands that should be read.
struct Model {
    writer: Writer,
    stamp: u64,
    seq: u64,
    frame: u64,
    /// By thread: index in `expected` of the open command, or the index that it will have.
    open: [Option<(u64, i64, Option<usize>)>; THREADS],
    expected: Vec<Expected>,
}

impl Model {
    fn new() -> Self {
        let mut writer = Writer::new();
        let process = writer.process(4711, "scene");
        for thread in 0..THREADS {
            writer.thread(process, 100 + thread as u32, 0);
        }
        Self { writer, stamp: 0, seq: 0, frame: 0, open: [None; THREADS], expected: Vec::new() }
    }

    fn expect(&mut self, thread: u32, number: i64, written: Option<Vec<u8>>) -> usize {
        let seq = Some(self.seq);
        self.seq += 1;
        let frame = self.frame;
        self.expected.push(Expected { seq, thread, frame, number, written, in_flight: false });
        self.expected.len() - 1
    }

    fn act(&mut self, thread: u32, act: Act, number: i64) {
        self.stamp += 1;
        let stamp = (!self.stamp.is_multiple_of(3)).then_some(self.stamp);
        let open = self.open[thread as usize].is_some();
        match act {
            Act::Leave { written, piece } if open => self.leave(thread, written, piece),
            Act::EndBlock => self.writer.end_block(),
            Act::Leave { .. } => {}
            _ if open => {}
            Act::Command => {
                self.writer.command(thread, UNIFORM, stamp, &uniform(number as i32));
                self.expect(thread, number, None);
            }
            Act::EnterNow | Act::EnterLater => {
                let flags = if let Act::EnterNow = act { EFFECT } else { 0 };
                let args = Payload::new().i32(number as i32).u64(0x100);
                self.writer.enter(thread, GEN, flags, Some(self.stamp), &args);
                let place = (flags != 0).then(|| self.expect(thread, number, None));
                self.open[thread as usize] = Some((self.stamp, number, place));
            }
            Act::Swap => {
                self.writer.swap(thread, self.stamp);
                self.stamp += 1;
                self.expect(thread, 0x1000, None);
                self.frame += 1;
            }
        }
    }

    fn leave(&mut self, thread: u32, written: usize, piece: usize) {
        let Some((_, number, place)) = self.open[thread as usize].take() else { return };
        let bytes: Vec<u8> = (0..written).map(|i| (i as i64 + number) as u8).collect();
        let payload = match piece {
            0 => Payload::new().inline(&bytes),
            piece => {
                self.writer.blob(thread, &bytes, piece);
                // An empty blob has no pieces.
                if written == 0 { Payload::new().inline(&[]) } else { Payload::new().blob(&bytes) }
            }
        };
        let flags = if place.is_none() { EFFECT } else { 0 };
        self.writer.leave(thread, GEN, flags, None, &payload);
        let place = place.unwrap_or_else(|| self.expect(thread, number, None));
        self.expected[place].written = Some(bytes);
    }

    fn finish(mut self) -> (Vec<u8>, Vec<Expected>) {
        let mut in_flight = Vec::new();
        let mut last = Vec::new();
        for thread in 0..THREADS as u32 {
            let Some((stamp, number, place)) = self.open[thread as usize] else { continue };
            in_flight.push(InFlight { thread, id: GEN, stamp });
            let never =
                Expected { seq: None, thread, frame: 0, number, written: None, in_flight: true };
            let expected = match place {
                Some(place) => Expected { in_flight: true, ..self.expected[place].clone() },
                None => never,
            };
            last.push((stamp, expected));
        }
        let gone: Vec<_> = self.open.iter().flatten().filter_map(|open| open.2).collect();
        let mut place = 0;
        self.expected.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
        last.sort_by_key(|(stamp, _)| *stamp);
        self.expected.extend(last.into_iter().map(|(_, expected)| expected));
        self.writer.end(EndReason::Stop, in_flight);
        (self.writer.finish(), self.expected)
    }
}

fn read(command: &Command<'_>) -> Expected {
    let number = match command.args().next().map(|arg| arg.value) {
        Some(Value::Signed(number)) => number,
        Some(Value::Unsigned(number)) => number as i64,
        other => panic!("{other:?}"),
    };
    let observation = command.args().last().map_or(Observation::None, |arg| arg.observation);
    let written = command.bytes_of(observation).map(|bytes| bytes.to_vec());
    // A command that took no effect counts for the frame in which it was entered.
    let frame = if command.seq.is_some() { command.frame } else { 0 };
    let (seq, in_flight) = (command.seq, command.in_flight);
    Expected { seq, thread: command.thread, frame, number, written, in_flight }
}

proptest! {
    #[test]
    fn commands_come_in_order_of_effect_with_their_results(
        script in proptest::collection::vec((0..THREADS as u32, act()), 0..200),
    ) {
        let mut model = Model::new();
        for (number, (thread, act)) in script.into_iter().enumerate() {
            model.act(thread, act, number as i64);
        }
        let (file, expected) = model.finish();
        prop_assert_eq!(collect(&mut open(&file), read), expected);
        let verification = verify(&mut open(&file)).unwrap();
        prop_assert!(verification.ok, "{:#?}", verification);
    }

    #[test]
    fn blocks_of_any_records_survive_the_round_trip(
        raw in proptest::collection::vec(any::<u8>(), 0..5000),
        level in -3..4,
    ) {
        use gapii_trace::{BlockDecoder, encode_block};
        let frame = encode_block(&raw, level).unwrap();
        let mut back = Vec::new();
        BlockDecoder::new(raw.len()).decode_into(&frame, &mut back).unwrap();
        prop_assert_eq!(back, raw);
    }
}

#[test]
fn zstd_tool_decompresses_a_trace_to_its_packed_records() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let file = crate::writer::small_file();
    let mut tool = Command::new("zstd")
        .args(["-d", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("zstd runs: apt-get install zstd");
    // Written whole before any is read: the file and its records are far smaller than a pipe.
    tool.stdin.take().unwrap().write_all(&file).unwrap();
    let output = tool.wait_with_output().unwrap();
    let mut reader = open(&file);
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    for index in 0..reader.blocks().len() {
        reader.read_block(index, &mut raw).unwrap();
        all.extend_from_slice(&raw);
    }
    assert!(output.status.success());
    let mut unpacked = Vec::new();
    assert!(output.stdout.len() < all.len());
    gapii_trace::packed::unpack(&output.stdout, all.len(), &mut unpacked).unwrap();
    assert_eq!(unpacked, all);
}
