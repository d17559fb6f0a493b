//! Models of stamping and merging: a record of a thread that was told of another record comes after that record.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod support;

use gapii_ringbuf::layout::{CounterPage, ModePage, SegmentHeader};
use gapii_ringbuf::model::ModelRing;
use gapii_ringbuf::sync::{AtomicU32, Ordering};
use gapii_ringbuf::{Consumer, LaneId, Merger, Reading, Room};
use loom::sync::Arc;
use loom::thread;
use support::{Movable, Turnstile, bounds, ids_of, model, produce};

/// More than any of the models writes.
const CAPACITY: u64 = 128;

struct Ring {
    ring: Arc<ModelRing>,
    consumer: Consumer<Arc<ModelRing>>,
    lane: LaneId,
}

/// What the drain reads, and how often.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// The number of used slots and then the heads, both twice.
    TwoReadings,
    /// Wrong: the second reading covers only the slots that the first one found used.
    SlotsReadOnce,
    /// Wrong: emits all that one reading holds.
    AllOfOneReading,
}

struct Drain {
    rule: Rule,
    turnstile: Arc<Turnstile>,
    header: Arc<SegmentHeader>,
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
        let header = Arc::new(SegmentHeader::modelled());
        Self { rule, turnstile: Arc::default(), header, merger, rings, order: Vec::new() }
    }

    fn slots_used(&self) -> u32 {
        self.turnstile.pass();
        self.header.slots_used(2)
    }

    fn heads(&self, slots_used: u32) -> [u64; 2] {
        [0, 1].map(|index: usize| {
            let Ring { consumer, .. } = &self.rings[index];
            if index as u32 >= slots_used {
                return consumer.read_index();
            }
            self.turnstile.pass();
            consumer.head_untrusted()
        })
    }

    fn round(&mut self) {
        let slots_used = self.slots_used();
        let first = self.heads(slots_used);
        let second = match self.rule {
            Rule::TwoReadings => self.heads(self.slots_used()),
            Rule::SlotsReadOnce => self.heads(slots_used),
            Rule::AllOfOneReading => first,
        };
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
        let claim = |at| at == index as u32 && ring.slot().claim(1, [0; 16]);
        assert_eq!(drain.header.claim(2, claim), Some(index as u32));
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

/// Ring 0's thread checks whether it was told, and writes 12 if so, 11 if not. The other thread claims slot 1, which no
/// thread has used before, writes 1, and tells.
fn told_by_the_first_user_of_a_slot(rule: Rule) {
    let counter = Arc::new(CounterPage::modelled());
    let mode = Arc::new(ModePage::modelled());
    let flag = Arc::new(AtomicU32::new(0));
    let mut drain = Drain::new(rule);
    let ring = &drain.rings[0].ring;
    assert_eq!(drain.header.claim(2, |_| ring.slot().claim(1, [0; 16])), Some(0));
    let told = Movable(ring.producer(&counter, &mode));

    let (turnstile, shared) = (Arc::clone(&drain.turnstile), Arc::clone(&flag));
    let (header, ring) = (Arc::clone(&drain.header), Arc::clone(&drain.rings[1].ring));
    let pages = (Arc::clone(&counter), Arc::clone(&mode));
    let teller = thread::spawn(move || {
        turnstile.pass();
        let claimed = header.claim(2, |index| index == 1 && ring.slot().claim(2, [0; 16]));
        assert_eq!(claimed, Some(1));
        let mut producer = ring.producer(&pages.0, &pages.1);
        turnstile.pass();
        assert_eq!(produce(&mut producer, 1), Room::Ready);
        turnstile.pass();
        shared.store(1, Ordering::Release);
    });
    let turnstile = Arc::clone(&drain.turnstile);
    let told = thread::spawn(move || {
        let mut producer = told.take();
        turnstile.pass();
        let told = flag.load(Ordering::Acquire) == 1;
        turnstile.pass();
        assert_eq!(produce(&mut producer, if told { 12 } else { 11 }), Room::Ready);
    });
    drain.round();
    teller.join().expect("no thread panics");
    told.join().expect("no thread panics");
    drain.round();

    let order = &drain.order;
    assert_eq!(order.len(), 2, "every record is emitted once: {order:?}");
    if let Some(told) = drain.place(12) {
        assert!(drain.place(1) < Some(told), "the teller comes first: {order:?}");
    }
}

#[test]
fn told_thread_comes_after_a_teller_that_is_the_first_user_of_its_slot() {
    model(3, 1_000, || told_by_the_first_user_of_a_slot(Rule::TwoReadings));
}

#[test]
#[should_panic(expected = "the teller comes first")]
fn told_thread_overtakes_the_first_user_of_a_slot_when_used_slots_are_read_once() {
    model(3, 1, || told_by_the_first_user_of_a_slot(Rule::SlotsReadOnce));
}

#[test]
fn told_thread_comes_after_its_teller_in_the_merged_order() {
    let (preemptions, at_least) = bounds((2, 10_000), (3, 100_000));
    model(preemptions, at_least, || teller_and_told(Rule::TwoReadings));
}

#[test]
#[should_panic(expected = "the teller comes first")]
fn told_thread_overtakes_its_teller_when_heads_are_read_once() {
    model(2, 1, || teller_and_told(Rule::AllOfOneReading));
}
