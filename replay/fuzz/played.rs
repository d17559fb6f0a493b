//! Common to the fuzzer and the test of its corpus: plays one input.

use std::io::Cursor;

use gapii_replay::verify::Verifier;
use gapii_replay::{Limits, Options, Quiet, replay};
use gapii_trace::TraceReader;

use crate::fake_driver::{self, FakeDriver};
use crate::script;

/// Plays the commands that `input` encodes. Whatever they are, playing has to end and to stay
/// within memory.
pub fn check(input: &[u8]) {
    fake_driver::reset();
    let mut reader = TraceReader::open(Cursor::new(script::trace(input))).expect("a whole header");
    let limits = Limits { input_bytes: 64 << 20, output_bytes: 64 << 20, ..Limits::default() };
    let options = Options { limits, verify: Verifier::on(), ..Options::default() };
    // An error is as good as a replay.
    let _ = replay(&mut reader, &FakeDriver, options, &mut Quiet);
}
