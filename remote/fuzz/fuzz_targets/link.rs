//! Feeds arbitrary bytes and arbitrary frames from the other end of a link to `Inbox` and `Line`.

#![no_main]

use gapii_remote::frame::{self, Inbox, Kind};
use gapii_remote::line::{Line, Taken};
use libfuzzer_sys::fuzz_target;

const ROOM_BYTES: usize = 1 << 10;

fuzz_target!(|input: &[u8]| {
    let Some((way, input)) = input.split_first() else { return };
    match way % 2 {
        0 => hear(input, usize::from(way / 2) + 1),
        _ => hear(&frames(input), usize::from(way / 2) + 1),
    }
});

/// Encodes frames with valid checksums from the input: four bytes for each frame, then a payload of the length in the
/// last of them.
fn frames(mut input: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    while let Some(([kind, number, offset, len], rest)) = input.split_first_chunk() {
        let (payload, rest) = rest.split_at(rest.len().min(usize::from(*len)));
        let kind = Kind::ALL[usize::from(*kind) % Kind::ALL.len()];
        // Numbers near zero and near the end of the range.
        let number = u64::from(*number).wrapping_sub(16);
        stream.extend(frame::encode(kind, number, u64::from(*offset), payload));
        input = rest;
    }
    stream
}

/// Receives a stream in pieces of `piece_bytes` bytes, and answers each new frame.
fn hear(stream: &[u8], piece_bytes: usize) {
    let mut inbox = Inbox::default();
    let mut line = Line::new(ROOM_BYTES);
    for piece in stream.chunks(piece_bytes) {
        inbox.extend(piece);
        loop {
            let Ok(next) = inbox.next_frame() else { return };
            let Some(frame) = next else { break };
            let (number, before) = (frame.number, line.taken());
            match line.take(frame) {
                Ok(Taken::New(frame)) if frame.kind.is_numbered() => {
                    assert_eq!((number, line.taken()), (before, before + 1));
                    line.dealt_with();
                    if line.has_room() {
                        line.say(Kind::Event, 0, b"answer");
                    }
                }
                Ok(_) => assert_eq!(line.taken(), before),
                Err(_) => {
                    // Simulates a new connection, on which the peer claims to have received `number` frames.
                    let _ = line.reconnected(number);
                }
            }
            assert_eq!(line.is_settled(), line.held_bytes() == 0);
            assert!(line.held_bytes() < 2 * ROOM_BYTES);
        }
    }
}
