//! When a trace was recorded, and for how long.

use gapii_abi::atom::EndReason;
use gapii_trace::frame::KEPT_VERSION;
use gapii_trace::header::KeptFrom;
use gapii_trace::{Recorded, TraceHeader};

use crate::describe::*;
use crate::writer::{Writer, header, open};

const STARTED_UNIX_NS: u64 = 1_700_000_000_000_000_000;

/// A trace with a block at 0, 1,000, 2,000 and 3,000 ns; the last one has no command.
fn written(header: &TraceHeader) -> Writer {
    let mut w = Writer::with_header(header.encode().unwrap());
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    for _ in 0..3 {
        w.command(thread, CLEAR, None, &Payload::new().u32(0));
        w.end_block();
    }
    w.footer.started_unix_ns = STARTED_UNIX_NS;
    w.footer.ended_unix_ns = STARTED_UNIX_NS + 50_000;
    w
}

fn finish(mut w: Writer) -> Vec<u8> {
    w.end(EndReason::Stop, Vec::new());
    w.finish()
}

#[track_caller]
fn check(file: &[u8], lead_ns: u64, duration_ns: u64, is_least: bool) {
    let recorded = Recorded::of(&mut open(file)).unwrap();
    let began_unix_ns = Some(STARTED_UNIX_NS + lead_ns);
    assert_eq!(recorded, Recorded { began_unix_ns, duration_ns: Some(duration_ns), is_least });
}

#[test]
fn trace_lasts_from_its_first_record_to_the_end_of_the_capture() {
    // The blocks begin 5,000 ns before the header's time, which counts as no time at all.
    check(&finish(written(&header())), 0, 50_000, false);
    let unstated = TraceHeader { started_ns: 0, ..header() };
    check(&finish(written(&unstated)), 0, 50_000, false);
}

#[test]
fn clock_that_was_set_back_makes_no_trace_shorter() {
    let mut w = written(&header());
    w.footer.ended_unix_ns = STARTED_UNIX_NS - 7_000_000;
    w.footer.set_back_ns = 7_000_100;
    check(&finish(w), 0, 100, false);
}

#[test]
fn cut_and_saved_traces_last_at_least_until_their_last_block_with_commands() {
    check(&written(&header()).file, 0, 2_000, true);
    let kept = Some(KeptFrom { is_keyframe: true, ..KeptFrom::default() });
    let saved = TraceHeader { version: KEPT_VERSION, kept, ..header() };
    check(&finish(written(&saved)), 0, 2_000, true);
}

#[test]
fn trace_without_blocks_has_no_times() {
    let file = header().encode().unwrap();
    assert_eq!(Recorded::of(&mut open(&file)).unwrap(), Recorded::default());
}
