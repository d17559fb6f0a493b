//! Reads any bytes, arriving in any pieces, as messages of a client and as messages of the daemon.

#![no_main]

use std::fmt::Debug;

use gapii_control::{Event, FrameBuffer, Request};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|input: &[u8]| {
    let Some((piece_bytes, stream)) = input.split_first() else { return };
    let at_once = bodies(stream, stream.len().max(1));
    assert_eq!(bodies(stream, usize::from(*piece_bytes).max(1)), at_once);
    // Also without a length, so that the fuzzer need not find a valid one.
    for body in at_once.iter().map(Vec::as_slice).chain([stream]) {
        check::<Request>(body);
        check::<Event>(body);
    }
});

/// Returns the message bodies of a stream that arrives in pieces of `piece_bytes` bytes.
fn bodies(stream: &[u8], piece_bytes: usize) -> Vec<Vec<u8>> {
    let mut buffer = FrameBuffer::default();
    let mut bodies = Vec::new();
    for piece in stream.chunks(piece_bytes) {
        buffer.extend(piece);
        loop {
            match buffer.next_body() {
                Ok(Some(body)) => bodies.push(body),
                Ok(None) => break,
                Err(_) => return bodies,
            }
        }
    }
    bodies
}

/// A message that can be read is the same after it is written and read again.
fn check<T: DeserializeOwned + Serialize + Debug>(body: &[u8]) {
    let Ok(message) = gapii_control::decode::<T>(body) else { return };
    let Ok(frame) = gapii_control::encode(&message) else { return };
    let again: Option<T> = gapii_control::read_message(&mut &frame[..]).expect("our own words");
    assert_eq!(format!("{again:?}"), format!("{:?}", Some(message)));
}
