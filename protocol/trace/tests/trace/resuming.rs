//! Reading that begins in the middle of a trace, because it paused between two blocks and goes on there in another reader, or
//! because commands are wanted by their numbers: the commands are those of a reader that read everything. Bytes that no
//! reader saved are refused, or give other commands, and no panic.

use gapii_abi::atom::{
    self, EFFECT, EndReason, Frame, FrameKind, InFlight, Keyframe, SETUP, Subject, SubjectKind,
};
use gapii_trace::Commands;
use proptest::prelude::*;

use crate::describe::*;
use crate::writer::{Writer, line, open};

/// The next step of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Clear,
    /// Takes effect when it is entered, and leaves later.
    EnterSwap,
    LeaveSwap,
    /// Takes effect when it leaves.
    EnterGen,
    LeaveGen,
    Context(u64),
    Limits(u64),
    Frame,
    Keyframe,
    Describe(u64),
    Gap,
    EndBlock,
}

pub fn step() -> impl Strategy<Value = (u32, Step)> {
    let step = prop_oneof![
        4 => Just(Step::Clear),
        3 => Just(Step::EnterSwap),
        3 => Just(Step::LeaveSwap),
        3 => Just(Step::EnterGen),
        3 => Just(Step::LeaveGen),
        1 => (0..3u64).prop_map(Step::Context),
        1 => (0..3u64).prop_map(Step::Limits),
        1 => Just(Step::Frame),
        1 => Just(Step::Keyframe),
        2 => (0..3u64).prop_map(Step::Describe),
        1 => Just(Step::Gap),
        8 => Just(Step::EndBlock),
    ];
    (0..3u32, step)
}

pub fn written(steps: &[(u32, Step)], in_flight: Vec<InFlight>) -> Vec<u8> {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    for tid in 10..13 {
        w.thread(process, tid, 1);
    }
    for (at, &(thread, step)) in (2..).zip(steps) {
        let stamp = Some(at);
        match step {
            Step::Clear => w.command(thread, CLEAR, stamp, &Payload::new().u32(at as u32)),
            Step::EnterSwap => w.enter(thread, SWAP, EFFECT, stamp, &swap_args()),
            Step::LeaveSwap => {
                w.leave(thread, SWAP, atom::FRAME_END, stamp, &Payload::new().u32(1));
            }
            Step::EnterGen => w.enter(thread, GEN, 0, stamp, &Payload::new().i32(1).u64(at)),
            Step::LeaveGen => {
                w.leave(thread, GEN, EFFECT, stamp, &Payload::new().inline(&[7, 0, 0, 0]));
            }
            Step::Context(context) => w.context(thread, context),
            Step::Limits(context) => {
                let mut limits = context.to_le_bytes().to_vec();
                limits.extend_from_slice(&[3, 0, 2, 0, 1, 0, 4, 0, at as u8, 0, 0, 0]);
                limits.extend_from_slice(b"GL_A\0\0");
                w.record(thread, atom::LIMITS, 0, None, &limits);
            }
            Step::Frame => {
                let frame = Frame {
                    surface: 5,
                    frame: at,
                    width: 1,
                    height: 1,
                    kind: FrameKind::Hash,
                    name: [3; 16],
                };
                w.record(thread, atom::FRAME, 0, None, &frame.encode());
            }
            Step::Keyframe => {
                let keyframe = Keyframe { frame: 0, at_ns: 0 };
                w.record(thread, atom::KEYFRAME, 0, None, &keyframe.encode());
            }
            Step::Describe(id) => {
                let subject = Subject { id, kind: SubjectKind::Context, made: 0 };
                w.record(thread, atom::SUBJECT, 0, None, &subject.encode());
                w.record(thread, CLEAR, EFFECT | SETUP, stamp, &Payload::new().u32(at as u32).0);
                w.record(thread, atom::SNAPSHOT, 0, None, &[0; 8]);
            }
            Step::Gap => w.gap(thread, 1, 1, 8),
            Step::EndBlock => w.end_block(),
        }
    }
    w.end(EndReason::Exit, in_flight);
    w.finish()
}

/// A place between two blocks: the block, what a reader saves there, and the number of commands before it.
type Pause = (usize, Vec<u8>, usize);

/// Returns a line for each command, with what a line does not show, and all places at which the reading can pause.
fn read(file: &[u8], from: Option<(usize, &[u8])>) -> Option<(Vec<String>, Vec<Pause>, String)> {
    let mut reader = open(file);
    let mut commands = reader.commands().unwrap();
    if let Some((block, saved)) = from
        && !commands.resume(block, saved)
    {
        return None;
    }
    let (mut lines, mut pauses) = (Vec::new(), Vec::new());
    loop {
        if !commands.advance_in_block() {
            pauses.extend(commands.pause().map(|(block, saved)| (block, saved, lines.len())));
            if !commands.advance().unwrap() {
                break;
            }
        }
        let command = commands.command();
        lines.push(format!("{} {:?} {}", line(&command), command.limits, command.ends_frame));
    }
    let anomalies = format!("{:?}", commands.anomalies());
    Some((lines, pauses, anomalies))
}

proptest! {
    #[test]
    fn resumed_reader_gives_the_commands_of_one_that_read_everything(
        steps in prop::collection::vec(step(), 1..60),
        ends_in_flight in any::<bool>(),
    ) {
        let in_flight = InFlight { thread: 1, id: CLEAR, stamp: 2 + steps.len() as u64 };
        let last = [steps.clone(), vec![(1, Step::Clear)]].concat();
        let file = match ends_in_flight {
            true => written(&last, vec![in_flight]),
            false => written(&steps, Vec::new()),
        };
        let (all, pauses, anomalies) = read(&file, None).unwrap();
        for (block, saved, before) in &pauses {
            let resumed = read(&file, Some((*block, saved))).expect("a reader saved it");
            prop_assert_eq!(&resumed.0, &all[*before..], "from block {}", block);
            prop_assert_eq!(&resumed.2, &anomalies);
            // Later saves have the same bytes, too.
            let behind: Vec<_> = pauses.iter().filter(|pause| pause.0 > *block).collect();
            let later: Vec<_> = resumed.1.iter().filter(|pause| pause.0 > *block).collect();
            prop_assert_eq!(behind.len(), later.len());
            prop_assert!(behind.iter().zip(later).all(|(one, other)| one.1 == other.1));
        }
    }

    #[test]
    fn numbered_commands_are_those_of_a_reader_that_read_everything(
        steps in prop::collection::vec(step(), 1..60),
        bounds in prop::array::uniform2(0..30u64),
    ) {
        // A reader in the middle cannot know which objects were described before. A frame is observed just before its swap.
        let is_known = |step: &&(u32, Step)| !matches!(step.1, Step::Describe(_) | Step::Frame);
        let steps: Vec<_> = steps.iter().filter(is_known).copied().collect();
        let file = written(&steps, Vec::new());
        let (first, end) = (bounds[0].min(bounds[1]), bounds[0].max(bounds[1]) + 1);
        let lines = |commands: Commands<'_, _>| {
            let mut commands = commands;
            let mut lines = Vec::new();
            while let Some(command) = commands.next_command().unwrap() {
                if command.seq.is_some_and(|seq| (first..end).contains(&seq)) {
                    lines.push(line(&command));
                }
            }
            lines
        };
        let expected = lines(open(&file).commands().unwrap());
        prop_assert_eq!(lines(open(&file).commands_numbered(first..end).unwrap()), expected);
    }

    #[test]
    fn changed_bytes_are_refused_or_read(
        steps in prop::collection::vec(step(), 10..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        at in any::<prop::sample::Index>(),
    ) {
        let file = written(&steps, Vec::new());
        let (_, pauses, _) = read(&file, None).unwrap();
        prop_assume!(!pauses.is_empty());
        let (block, mut saved, _) = at.get(&pauses).clone();
        for (place, byte) in changes {
            *place.get_mut(&mut saved) = byte;
        }
        read(&file, Some((block, &saved)));
    }
}

#[test]
fn block_that_is_not_there_and_other_bytes_are_refused() {
    let steps = [(0, Step::Clear), (0, Step::EndBlock), (0, Step::EnterSwap), (0, Step::EndBlock)];
    let file = written(&steps, Vec::new());
    let (_, pauses, _) = read(&file, None).unwrap();
    let (block, saved, _) = pauses.last().expect("it has blocks");
    assert!(read(&file, Some((*block, saved))).is_some());
    assert!(read(&file, Some((99, saved))).is_none());
    assert!(read(&file, Some((*block, &saved[..saved.len() - 1]))).is_none());
    assert!(read(&file, Some((*block, b"other"))).is_none());
}

#[test]
fn blocks_far_from_the_wanted_numbers_are_not_read() {
    let mut steps = vec![(0, Step::EnterGen), (1, Step::Clear), (0, Step::EndBlock)];
    for _ in 0..20 {
        steps.extend([(1, Step::Clear), (1, Step::EndBlock)]);
    }
    steps.extend([(0, Step::LeaveGen), (2, Step::Frame), (0, Step::EndBlock)]);
    steps.extend([(2, Step::EnterSwap), (2, Step::LeaveSwap), (0, Step::EndBlock)]);
    let mut file = written(&steps, Vec::new());
    let blocks = open(&file).blocks().to_vec();
    let read = |file: &[u8], number: u64| {
        let mut reader = open(file);
        let mut commands = reader.commands_numbered(number..number + 1).unwrap();
        let mut found = Vec::new();
        while let Some(command) = commands.next_command().unwrap() {
            found.extend(command.seq.filter(|seq| *seq == number).map(|_| line(&command)));
        }
        found
    };
    // The frame is in the block before.
    assert!(read(&file, 22)[0].contains("observed_frame"));
    // This command was entered in the first block.
    let last = read(&file, 21);
    assert!(last.len() == 1 && !last[0].contains("enter_missing"), "{last:?}");
    let middle = read(&file, 10);
    file[blocks[3].offset as usize + 12] ^= 1;
    file[blocks[17].offset as usize + 12] ^= 1;
    assert_eq!(middle.len(), 1);
    assert_eq!(read(&file, 10), middle);
}
