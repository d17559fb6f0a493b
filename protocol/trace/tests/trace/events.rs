//! Events beside the commands: holds, waits, gaps, keyframes and times without a daemon.

use gapii_abi::atom::{self, EFFECT, EndReason, GapCause, SETUP, TimeKind};
use gapii_trace::event::{Event, EventKind};

use crate::describe::*;
use crate::writer::{Writer, open};

fn clear(w: &mut Writer, thread: u32) {
    w.command(thread, CLEAR, None, &Payload::new().u32(0x4100));
}

fn time(w: &mut Writer, thread: u32, kind: TimeKind, at_ns: u64, duration_ns: u64) {
    let time = atom::Time { at_ns, kind, function: 0, duration_ns };
    w.record(thread, atom::TIME, 0, None, &time.encode());
}

fn snapshot(w: &mut Writer, thread: u32, held_us: u32) {
    w.record(thread, atom::SNAPSHOT, 0, None, &atom::Snapshot { len: 0, held_us }.encode());
}

fn events(mut w: Writer) -> Vec<Event> {
    w.end(EndReason::Stop, Vec::new());
    let mut reader = open(&w.finish());
    let mut commands = reader.commands().unwrap().with_events();
    let mut events = Vec::new();
    while commands.advance().unwrap() {
        events.extend(commands.drain_events());
    }
    events.extend(commands.drain_events());
    events
}

#[test]
fn events_have_their_thread_place_and_time() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    w.record(a, CLEAR, EFFECT | SETUP, None, &Payload::new().u32(0x4100).0);
    time(&mut w, a, TimeKind::Hold, 100, 7_500);
    clear(&mut w, b);
    snapshot(&mut w, a, 7);
    w.swap_at(a, 5, 700);
    time(&mut w, b, TimeKind::Wait, 800, 90);
    w.gap(b, 3, 2, 100);
    w.record(a, atom::KEYFRAME, 0, None, &atom::Keyframe { frame: 1, at_ns: 900 }.encode());
    clear(&mut w, b);
    let event = |kind, thread, frame, seq, begin_ns, duration_ns| Event {
        kind,
        thread: Some(thread),
        process: Some(process),
        frame,
        seq,
        begin_ns: Some(begin_ns),
        duration_ns,
    };
    let gap = EventKind::Gap { calls: 2, cause: GapCause::Dropped };
    assert_eq!(
        events(w),
        [
            event(EventKind::Hold, a, 0, 1, 100, Some(7_500)),
            event(EventKind::Wait, b, 1, 3, 800, Some(90)),
            event(gap, b, 1, 3, 3, Some(1)),
            event(EventKind::Keyframe, a, 1, 3, 900, None),
        ]
    );
}

#[test]
fn events_of_an_older_trace_lack_the_times_that_it_lacks() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let a = w.thread(process, 10, 1);
    snapshot(&mut w, a, 7);
    snapshot(&mut w, a, 0);
    w.record(a, atom::KEYFRAME, 0, None, &atom::Keyframe { frame: 1, at_ns: 0 }.encode()[..8]);
    let seam = atom::Seam { from_ns: 50, to_ns: 80, processes: 1, absent: 0 };
    w.record(a, atom::SEAM, 0, None, &seam.encode());
    let found = events(w);
    let told: Vec<_> =
        found.iter().map(|it| (it.kind.name(), it.thread, it.begin_ns, it.duration_ns)).collect();
    assert_eq!(
        told,
        [
            ("hold", Some(a), None, Some(7_000)),
            ("keyframe", Some(a), None, None),
            ("no_daemon", None, Some(50), Some(30)),
        ]
    );
}
