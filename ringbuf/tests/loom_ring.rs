//! Models of one ring: published records are whole, reused space was released, no thread sleeps for ever, and a slot
//! passes from thread to thread.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod support;

use std::time::Duration;

use gapii_ringbuf::layout::{CounterPage, ModePage, SegmentHeader};
use gapii_ringbuf::model::{ModelBytes, ModelRing};
use gapii_ringbuf::{
    Batch, Consumer, Merger, Mode, ModeSettings, Overflow, Producer, Reading, Room,
};
use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::thread;
use support::{Movable, Turnstile, bounds, ids_of, model, produce};

/// Four stamped records, eight that are not, and then the lap is over.
const CAPACITY: u64 = 64;

fn pages() -> (Arc<CounterPage>, Arc<ModePage>) {
    (Arc::new(CounterPage::modelled()), Arc::new(ModePage::modelled()))
}

/// Drains all that is published, releases it, and returns the ids.
fn consume(consumer: &mut Consumer<Arc<ModelRing>>) -> Vec<u16> {
    let mut merger = Merger::new();
    let lane = merger.add(());
    let batch: &mut Batch = merger.batch_mut(lane).expect("the lane was just added");
    let head = consumer.head_untrusted();
    consumer.drain_into(head, Reading::First, batch).expect("the producer is lawful");
    let mut ids = Vec::new();
    merger.merge(|emitted| ids.extend(ids_of(emitted.bytes)));
    let read = consumer.read_index();
    consumer.release(read);
    ids
}

/// A ring whose next record is two records before the end of the lap, all consumed.
fn ring_near_lap_end(
    counter: &CounterPage,
    mode: &ModePage,
) -> (Arc<ModelRing>, Producer<ModelBytes>, Consumer<Arc<ModelRing>>) {
    let ring = ModelRing::new(CAPACITY);
    assert!(ring.slot().claim(1, [0; 16]));
    let mut producer = ring.producer(counter, mode);
    let mut consumer = Consumer::new(Arc::clone(&ring));
    for _ in 0..4 {
        assert_eq!(produce(&mut producer, 0), Room::Ready);
    }
    assert_eq!(consume(&mut consumer).len(), 4);
    (ring, producer, consumer)
}

#[test]
fn published_records_are_whole_and_in_order_while_room_is_reused() {
    model(3, 500, || {
        let (counter, mode) = pages();
        let (ring, mut producer, mut consumer) = ring_near_lap_end(&counter, &mode);
        for id in 1..=5 {
            assert_eq!(produce(&mut producer, id), Room::Ready);
        }
        let producer = Movable(producer);
        let turnstile = Arc::new(Turnstile::default());
        let passed = Arc::clone(&turnstile);
        let writer = thread::spawn(move || {
            let mut producer = producer.take();
            let mut write = |id: &u16| {
                passed.pass();
                produce(&mut producer, *id) == Room::Ready
            };
            (6..=9).take_while(|id| write(id)).count()
        });
        let mut ids = Vec::new();
        for _ in 0..2 {
            turnstile.pass();
            ids.extend(consume(&mut consumer));
        }
        let written = writer.join().expect("the writer does not panic");
        ids.extend(consume(&mut consumer));
        assert_eq!(ids, (1..=5 + written as u16).collect::<Vec<_>>());
        assert_eq!(ring.slot().counts_untrusted().produced, consumer.consumed());
        assert_eq!(consumer.finished_untrusted(), consumer.read_index());
        drop((counter, mode));
    });
}

#[test]
fn reused_room_was_released_and_the_waiter_is_woken() {
    model(3, 500, || {
        let (counter, mode) = pages();
        let (_ring, mut producer, mut consumer) = ring_near_lap_end(&counter, &mode);
        let mut filled = 0;
        while produce(&mut producer, 9) == Room::Ready {
            filled += 1;
        }
        let producer = Movable(producer);
        let turnstile = Arc::new(Turnstile::default());
        let passed = Arc::clone(&turnstile);
        let writer = thread::spawn(move || {
            let mut producer = producer.take();
            passed.pass();
            // A wake that gets lost is a deadlock here: the modelled futex has no timeout.
            while producer.wait_for_room(8, Duration::MAX) == Room::Full {}
            assert_eq!(produce(&mut producer, 1), Room::Ready);
        });
        let mut batch = Batch::default();
        let head = consumer.head_untrusted();
        consumer.drain_into(head, Reading::First, &mut batch).expect("the producer is lawful");
        let halfway = consumer.released_index() + 16;
        for index in [halfway, head] {
            turnstile.pass();
            consumer.release(index);
        }
        writer.join().expect("the writer does not panic");
        assert!(filled > 0);
        assert_eq!(consume(&mut consumer), [1]);
        drop((counter, mode));
    });
}

#[test]
fn slot_passes_from_thread_to_thread_with_its_indices() {
    model(2, 500, || {
        let (counter, mode) = pages();
        let ring = ModelRing::new(CAPACITY);
        let mut consumer = Consumer::new(Arc::clone(&ring));
        let turnstile = Arc::new(Turnstile::default());
        let threads = [1, 2].map(|id| {
            let (ring, counter, mode) =
                (Arc::clone(&ring), Arc::clone(&counter), Arc::clone(&mode));
            let turnstile = Arc::clone(&turnstile);
            thread::spawn(move || {
                turnstile.pass();
                if !ring.slot().claim(u32::from(id), [0; 16]) {
                    return false;
                }
                let mut producer = ring.producer(&counter, &mode);
                assert_eq!(produce(&mut producer, id), Room::Ready);
                turnstile.pass();
                producer.retire();
                true
            })
        });
        turnstile.pass();
        let mut ids = consume(&mut consumer);
        turnstile.pass();
        consumer.free_retired();
        let claimed = threads.map(|thread| thread.join().expect("no thread panics"));
        ids.extend(consume(&mut consumer));
        consumer.free_retired();
        assert_eq!(ids.len(), claimed.iter().filter(|&&claimed| claimed).count());
        assert!(!ids.is_empty(), "one of the two finds the slot free");
        assert!(ring.slot().claim(3, [0; 16]), "and in the end it is free");
        assert_eq!(ring.slot().counts_untrusted().produced, consumer.consumed());
    });
}

#[test]
fn search_that_knows_of_a_freed_slot_finds_it() {
    model(3, 10, || {
        let (counter, mode) = pages();
        let ring = ModelRing::new(CAPACITY);
        let header = Arc::new(SegmentHeader::modelled());
        let claim = |header: &SegmentHeader, ring: &ModelRing, id| {
            header.claim(1, |_| ring.slot().claim(id, [0; 16]))
        };
        assert_eq!(claim(&header, &ring, 1), Some(0));
        assert!(header.is_full(1));
        ring.producer(&counter, &mode).retire();
        let turnstile = Arc::new(Turnstile::default());
        let searcher = {
            let (header, ring) = (Arc::clone(&header), Arc::clone(&ring));
            let turnstile = Arc::clone(&turnstile);
            thread::spawn(move || {
                turnstile.pass();
                claim(&header, &ring, 2)
            })
        };
        let mut consumer = Consumer::new(Arc::clone(&ring));
        turnstile.pass();
        assert!(consumer.free_retired());
        turnstile.pass();
        header.note_freed(0);
        let found = searcher.join().expect("the searcher does not panic");
        assert_eq!(found.or_else(|| claim(&header, &ring, 3)), Some(0), "the slot is lost");
    });
}

#[test]
fn consumer_passes_over_what_follows_an_earlier_order() {
    const OLD: u16 = 1;
    const NEW: u16 = 2;
    model(3, 100, || {
        let (counter, mode) = pages();
        let ring = ModelRing::new(CAPACITY);
        assert!(ring.slot().claim(1, [0; 16]));
        let mut producer = ring.producer(&counter, &mode);
        producer.begin_part(2);
        assert_eq!(produce(&mut producer, OLD), Room::Ready);
        let turnstile = Arc::new(Turnstile::default());
        let writer = {
            let (producer, turnstile) = (Movable(producer), Arc::clone(&turnstile));
            thread::spawn(move || {
                let mut producer = producer.take();
                turnstile.pass();
                producer.begin_part(4);
                producer.forget_stamp();
                turnstile.pass();
                assert_eq!(produce(&mut producer, NEW), Room::Ready);
            })
        };
        let mut consumer = Consumer::new(Arc::clone(&ring));
        let mut has_begun = false;
        let mut read = || {
            if !has_begun {
                let head = consumer.head_untrusted();
                has_begun = consumer.pass_to_part(4, head).expect("the producer is lawful");
                if !has_begun {
                    assert_eq!(consumer.read_index(), head);
                    return Vec::new();
                }
            }
            consume(&mut consumer)
        };
        let mut ids = Vec::new();
        for _ in 0..2 {
            turnstile.pass();
            ids.extend(read());
        }
        writer.join().expect("the writer does not panic");
        ids.extend(read());
        assert_eq!(ids, [NEW]);
        drop((counter, mode));
    });
}

#[test]
fn what_a_thread_remembers_to_have_sent_is_counted_by_the_next_capture() {
    model(3, 20, || {
        let (header, mode) = (Arc::new(SegmentHeader::modelled()), Arc::new(ModePage::modelled()));
        let order = mode.publish_modelled(ModeSettings::default());
        let turnstile = Arc::new(Turnstile::default());
        let sender = {
            let (header, mode) = (Arc::clone(&header), Arc::clone(&mode));
            let turnstile = Arc::clone(&turnstile);
            thread::spawn(move || {
                turnstile.pass();
                header.stored_bytes.fetch_add(1, Ordering::Relaxed);
                turnstile.pass();
                mode.is_still(order)
            })
        };
        turnstile.pass();
        mode.publish_modelled(ModeSettings::default());
        turnstile.pass();
        let [sent, _] = header.sent_untrusted();
        let remembers = sender.join().expect("the sender does not panic");
        assert!(!remembers || sent == 1);
    });
}

#[test]
fn settings_are_of_one_moment() {
    // One of the two writes is beside the reader, or both in the long form, which takes minutes.
    let (preemptions, at_least) = bounds((1, 500), (2, 2_000));
    let both_beside = preemptions > 1;
    model(preemptions, at_least, move || {
        let mode = Arc::new(ModePage::modelled());
        let written = |value: u64| ModeSettings {
            mode: Mode::Capturing,
            overflow: Overflow::Wait,
            frames: value,
            skip_frames: value,
            stall_ns: value,
            observe_frames: value as u32,
            observe_pixels: false,
            times_driver: false,
            times_gpu: false,
            keyframe_every: 0,
            counts_submits: false,
            at_any_command: false,
            attach_bytes: 0,
        };
        let turnstile = Arc::new(Turnstile::default());
        let writer = {
            let (mode, turnstile) = (Arc::clone(&mode), Arc::clone(&turnstile));
            if !both_beside {
                assert_eq!(mode.publish_modelled(written(1)), 2);
            }
            thread::spawn(move || {
                if both_beside {
                    turnstile.pass();
                    assert_eq!(mode.publish_modelled(written(1)), 2);
                }
                turnstile.pass();
                assert_eq!(mode.publish_modelled(written(2)), 4);
            })
        };
        turnstile.pass();
        if let Some((generation, settings)) = mode.settings().filter(|&(now, _)| now > 0) {
            let value = generation / 2;
            assert_eq!(
                (settings.frames, settings.skip_frames, settings.stall_ns),
                (value, value, value)
            );
        }
        writer.join().expect("the writer does not panic");
        assert_eq!(mode.settings(), Some((4, written(2))));
    });
}
