//! A trace with what happens beside commands, for the exports of timelines.

use gapii_abi::atom::{self, EndReason, TimeKind};
use gapii_export::timeline::{Exporter, Mark, Timeline};

use crate::describe::{CLEAR, Payload};
use crate::writer::{Writer, open};

/// Exports a trace of a thread that was held, waited, and marked places, with a keyframe.
pub fn export<T: Timeline>(mut exporter: Exporter<'_, T>) -> T::Output {
    let mut w = Writer::new();
    let process = w.process(1, "gears");
    let a = w.thread(process, 10, 1);
    let told = |w: &mut Writer, kind, at_ns, duration_ns| {
        let time = atom::Time { at_ns, kind, function: 0, duration_ns };
        w.record(a, atom::TIME, 0, None, &time.encode());
    };
    told(&mut w, TimeKind::Wait, 1010, 20);
    told(&mut w, TimeKind::Hold, 1000, 50);
    w.record(a, atom::KEYFRAME, 0, None, &atom::Keyframe { frame: 0, at_ns: 1100 }.encode());
    // The last one has no time.
    for at_ns in [1200, 1210, 1220, 1230, 1240, 0] {
        if at_ns != 0 {
            w.time(a, at_ns);
        }
        w.command(a, CLEAR, None, &Payload::new().u32(0x4100));
    }
    w.end(EndReason::Stop, Vec::new());
    let mut marks = [
        Mark::End,
        Mark::Begin("shadows"),
        Mark::Moment("here"),
        Mark::Begin(""),
        Mark::End,
        Mark::End,
    ]
    .into_iter();
    let mut reader = open(&w.finish());
    let mut commands = reader.commands().unwrap().with_events();
    while commands.advance().unwrap() {
        let happened: Vec<_> = commands.drain_events().collect();
        let tracker = commands.assembler().tracker();
        for event in happened {
            exporter.happened(&event, tracker).unwrap();
        }
        exporter.mark(&commands.command(), tracker, marks.next().unwrap()).unwrap();
    }
    exporter.finish().unwrap().0
}
