//! Models of stamping and merging: a record of a thread that was told of another record comes after that record.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod support;

use gapii_ringbuf::layout::{CounterPage, ModePage};
use gapii_ringbuf::model::ModelRing;
use gapii_ringbuf::sync::{AtomicU32, Ordering};
use gapii_ringbuf::{Consumer, LaneId, Merger, Reading, Room};
use loom::sync::Arc;
use loom::thread;
use support::{Movable, Turnstile, ids_of, model, produce};

/// More than any of the models writes.
const CAPACITY: u64 = 128;

struct Ring {
    ring: Arc<ModelRing>,
    consumer: Consumer<Arc<ModelRing>>,
    lane: LaneId,
}

/// The number of times that the drain reads the heads.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    TwoReadings,
    /// Wrong: emits all that one reading holds.
    AllOfOneReading,
}

struct Drain {
    rule: Rule,
    turnstile: Arc<Turnstile>,
    merger: Merger<usize>,
    rings: [Ring; 2],
    order: Vec<u16>,
}

impl Drain {
    fn new(rule: Rule) -> Self {
        let mut merger = Merger::new();
        let rings = [0, 1].map(|name| {
            let ring = ModelRing::new(CAPACITY);
            Ring { consumer: Consumer::new(Arc::clone(&ring)), ring, lane: merger.add(name) }
        });
        Self { rule, turnstile: Arc::default(), merger, rings, order: Vec::new() }
    }

    fn heads(&self) -> [u64; 2] {
        [0, 1].map(|index: usize| {
            self.turnstile.pass();
            self.rings[index].consumer.head_untrusted()
        })
    }

    fn round(&mut self) {
        let first = self.heads();
        let second = if self.rule == Rule::TwoReadings { self.heads() } else { first };
        for (ring, heads) in self.rings.iter_mut().zip(first.into_iter().zip(second)) {
            let batch = self.merger.batch_mut(ring.lane).expect("no lane is removed");
            ring.consumer.drain_into(heads.0, Reading::First, batch).expect("a lawful producer");
            ring.consumer.drain_into(heads.1, Reading::Second, batch).expect("a lawful producer");
        }
        let order = &mut self.order;
        self.merger.merge(|emitted| order.extend(ids_of(emitted.bytes)));
    }

    fn place(&self, id: u16) -> Option<usize> {
        self.order.iter().position(|&found| found == id)
    }
}

/// Ring 0's thread writes 1, tells, writes 2. Ring 1's thread writes 10, checks whether it was told, and writes
/// 12 if so, 11 if not. With its first record the second thread has an open run: a record that it writes when
/// told may carry a stamp from before.
fn teller_and_told(rule: Rule) {
    let counter = Arc::new(CounterPage::modelled());
    let mode = Arc::new(ModePage::modelled());
    let flag = Arc::new(AtomicU32::new(0));
    let mut drain = Drain::new(rule);
    let [tellers, tolds] = [0, 1].map(|index: usize| {
        let ring = &drain.rings[index].ring;
        assert!(ring.slot().claim(1, [0; 16]));
        Movable(ring.producer(&counter, &mode))
    });

    let (turnstile, shared) = (Arc::clone(&drain.turnstile), Arc::clone(&flag));
    let teller = thread::spawn(move || {
        let mut producer = tellers.take();
        turnstile.pass();
        assert_eq!(produce(&mut producer, 1), Room::Ready);
        turnstile.pass();
        shared.store(1, Ordering::Release);
        turnstile.pass();
        assert_eq!(produce(&mut producer, 2), Room::Ready);
    });
    let turnstile = Arc::clone(&drain.turnstile);
    let told = thread::spawn(move || {
        let mut producer = tolds.take();
        turnstile.pass();
        assert_eq!(produce(&mut producer, 10), Room::Ready);
        turnstile.pass();
        let told = flag.load(Ordering::Acquire) == 1;
        assert_eq!(produce(&mut producer, if told { 12 } else { 11 }), Room::Ready);
    });
    drain.round();
    teller.join().expect("no thread panics");
    told.join().expect("no thread panics");
    drain.round();

    let order = &drain.order;
    assert_eq!(order.len(), 4, "every record is emitted once: {order:?}");
    let own = |ids: &[u16]| order.iter().copied().filter(|id| ids.contains(id)).collect::<Vec<_>>();
    assert_eq!(own(&[1, 2]), [1, 2]);
    let after = own(&[10, 11, 12]);
    assert!(after == [10, 11] || after == [10, 12], "one thread's order: {order:?}");
    if let Some(told) = drain.place(12) {
        assert!(drain.place(1) < Some(told), "the teller comes first: {order:?}");
    }
}

#[test]
fn told_thread_comes_after_its_teller_in_the_merged_order() {
    model(3, 100_000, || teller_and_told(Rule::TwoReadings));
}

#[test]
#[should_panic(expected = "the teller comes first")]
fn told_thread_overtakes_its_teller_when_heads_are_read_once() {
    model(3, 1, || teller_and_told(Rule::AllOfOneReading));
}
