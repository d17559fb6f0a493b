//! Commands with any arguments, in any order, cause no panic: tools follow traces that they cannot trust, and
//! programs may call anything. State that is stored between any two of them goes on as if it had not been.

use std::sync::Arc;

use gapii_follow::generated::dispatch::COMMANDS;
use gapii_follow::{Context, Group, Process, Thread};
use gapii_state::stored::{Reader, Stored, Writer};
use gapii_state::{ContextApi, Memory};
use proptest::prelude::*;

/// A few arbitrary bytes, repeated, and nothing readable beyond them.
struct Space(Vec<u8>);

const SPACE: u64 = 0x10_0000;
const SPACE_BYTES: u64 = 1 << 12;

impl Memory for Space {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let end = address.checked_add(into.len() as u64);
        if address < SPACE || end.is_none_or(|end| end > SPACE + SPACE_BYTES) {
            return false;
        }
        let begin = (address - SPACE) as usize % self.0.len();
        let (first, rest) = into.split_at_mut(into.len().min(self.0.len() - begin));
        first.copy_from_slice(&self.0[begin..][..first.len()]);
        rest.chunks_mut(self.0.len())
            .for_each(|chunk| chunk.copy_from_slice(&self.0[..chunk.len()]));
        true
    }

    fn text_len(&self, address: u64, most: u64) -> u64 {
        let is_text = |at: &u64| {
            let mut byte = [0];
            self.read(address.wrapping_add(*at), &mut byte) && byte[0] != 0
        };
        (0..most.min(SPACE_BYTES)).take_while(is_text).count() as u64
    }
}

/// Numbers that programs use, and some that they should not use.
fn argument() -> impl Strategy<Value = u64> {
    let absurd = [64, 4096, u64::MAX, 1 << 31, i32::MAX as u64, i64::MAX as u64, 1 << 40];
    // Targets, formats, types and names of values.
    let names = [
        0x0DE1, 0x1401, 0x1403, 0x1405, 0x1406, 0x1907, 0x1908, 0x8892, 0x8893, 0x88E4, 0x88EB,
        0x88EC, 0x8A11, 0x8C8E, 0x8D40, 0x8D41, 0x8513, 0x8B30, 0x8B31, 0x90D2, 0x84C0,
    ];
    prop_oneof![
        4 => 0..8u64,
        1 => prop::sample::select(absurd.to_vec()),
        2 => (SPACE..SPACE + SPACE_BYTES).prop_map(|address| address & !7),
        3 => prop::sample::select(names.to_vec()),
        1 => any::<u64>(),
    ]
}

/// A command, whether the driver returned, arguments and result.
type Call = (prop::sample::Index, bool, Vec<u64>, u64);

fn call() -> impl Strategy<Value = Call> {
    let args = prop::collection::vec(argument(), 12);
    (any::<prop::sample::Index>(), any::<bool>(), args, argument())
}

/// APIs and versions of contexts.
const ALL: [(ContextApi, (u8, u8)); 7] = [
    (ContextApi::Es, (1, 1)),
    (ContextApi::Es, (2, 0)),
    (ContextApi::Es, (3, 0)),
    (ContextApi::Es, (3, 2)),
    (ContextApi::Core, (3, 3)),
    (ContextApi::Core, (4, 6)),
    (ContextApi::Compatibility, (4, 6)),
];

/// A thread with a current context of this version.
fn thread((api, version): (ContextApi, (u8, u8))) -> Thread {
    let mut thread = Thread::new(Arc::new(Process::default()), 1);
    let mut context = Context::new(1, Arc::new(Group::default()), version);
    context.api = api;
    thread.context = Some(Box::new(context));
    thread
}

fn follow(thread: &mut Thread, space: &Space, (command, returned, args, result): &Call) {
    let command = command.get(COMMANDS);
    if let Some(enter) = command.enter {
        enter(thread, space, args, *result);
    }
    if let Some(leave) = command.leave.filter(|_| *returned) {
        leave(thread, space, args, *result);
    }
}

fn stored(thread: &Thread) -> Vec<u8> {
    let mut writer = Writer::default();
    thread.store(&mut writer);
    writer.into_bytes()
}

proptest! {
    // A command with a large count takes as long as a hundred others.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_commands_with_any_arguments_are_followed(
        version in prop::sample::select(ALL.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 1..256),
        calls in prop::collection::vec(call(), 1..80),
    ) {
        let mut thread = thread(version);
        let space = Space(bytes);
        // Commands of EGL and GLX create and remove contexts; this test is about what happens in one.
        let is_of_a_context = |call: &&Call| {
            let name = call.0.get(COMMANDS).name;
            !name.starts_with("egl") && !name.starts_with("glX")
        };
        calls.iter().filter(is_of_a_context).for_each(|call| follow(&mut thread, &space, call));
        let context = thread.context.as_deref().expect("no command has removed it");
        // Drivers refuse commands for viewports that they do not have.
        let indices = context.viewports.keys().chain(context.scissors.keys()).chain(context.depth_ranges.keys());
        prop_assert!(indices.max().is_none_or(|last| *last < 16));
    }
}

proptest! {
    // Each case stores the whole state several times.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn restored_state_goes_on_like_the_one_that_was_stored(
        version in prop::sample::select(ALL.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 1..256),
        before in prop::collection::vec(call(), 1..80),
        behind in prop::collection::vec(call(), 1..40),
    ) {
        let mut thread = thread(version);
        let space = Space(bytes);
        before.iter().for_each(|call| follow(&mut thread, &space, call));
        let bytes = stored(&thread);
        let mut reader = Reader::new(&bytes);
        let mut restored = Thread::restore(&mut reader).expect("it was stored");
        prop_assert!(reader.is_at_end());
        prop_assert!(stored(&restored) == bytes);
        for call in &behind {
            follow(&mut thread, &space, call);
            follow(&mut restored, &space, call);
        }
        prop_assert!(stored(&restored) == stored(&thread));
    }

    #[test]
    fn bytes_that_no_state_was_stored_as_are_refused_or_followed(
        bytes in prop::collection::vec(any::<u8>(), 1..256),
        before in prop::collection::vec(call(), 1..40),
        behind in prop::collection::vec(call(), 1..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut thread = thread((ContextApi::Compatibility, (4, 6)));
        let space = Space(bytes);
        before.iter().for_each(|call| follow(&mut thread, &space, call));
        let mut bytes = stored(&thread);
        prop_assert!(Thread::restore(&mut Reader::new(&bytes[..end.index(bytes.len())])).is_none());
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Some(mut thread) = Thread::restore(&mut Reader::new(&bytes)) {
            behind.iter().for_each(|call| follow(&mut thread, &space, call));
        }
    }
}
