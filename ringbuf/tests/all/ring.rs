//! One ring, both halves in one thread: records that fit, that wait and that are stamped.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use crate::common::{Session, drain, parse, produce_checked, try_produce, wait_until};
use gapii_ringbuf::layout::record_len_max;
use gapii_ringbuf::{Header, Producer, Room, SlotState};

const RING: u64 = 4096;
/// Some 130 laps of the ring; Miri, which is a thousand times slower, makes some four.
const RECORDS: u64 = if cfg!(miri) { 300 } else { 10_000 };

#[test]
fn zeroed_producer_is_detached_and_harmless() {
    // SAFETY: all zero is a value of the type, as its documentation promises.
    let mut producer: Producer = unsafe { std::mem::zeroed() };
    assert!(!producer.is_attached());
    // SAFETY: nothing is attached, and the header is whole.
    assert!(unsafe { producer.reserve(Header::new(1, 0, 8)) }.is_none());
    assert_eq!(producer.make_room(8), Room::Never);
    assert_eq!(producer.wait_for_room(8, Duration::MAX), Room::Never);
    producer.finish();
    producer.retire();
    assert_eq!((producer.last_stamp(), producer.payload_len_max()), (None, 0));
}

#[test]
fn records_come_out_as_they_went_in_over_many_laps() {
    let session = Session::new(2, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    let mut expected = 0;
    for seq in 0..RECORDS {
        if produce_checked(&mut producer, seq) == Room::Full {
            for record in drain(&mut consumer) {
                assert_eq!(record.seq_checked(), expected);
                expected += 1;
            }
            consumer.release(consumer.read_index());
            assert_eq!(produce_checked(&mut producer, seq), Room::Ready);
        }
    }
    expected += drain(&mut consumer).len() as u64;
    assert_eq!(expected, RECORDS);
    assert_eq!(consumer.consumed(), RECORDS);
    let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
    assert_eq!((counts.produced, counts.dropped_records), (RECORDS, 0));
}

#[test]
fn full_ring_has_no_room_until_it_is_released() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    while try_produce(&mut producer, 1, 0, &[0; 500]) == Room::Ready {}
    assert_eq!(producer.make_room(508), Room::Full);
    let head = consumer.head_untrusted();
    drain(&mut consumer);
    assert_eq!(producer.make_room(508), Room::Full, "read is not released");
    consumer.release(head);
    assert_eq!(producer.make_room(508), Room::Ready);
    assert!(head <= RING, "a full ring holds no more than it has room for");
}

#[test]
fn producer_never_runs_into_what_is_not_released() {
    for begun in 0..8 {
        let session = Session::new(1, RING);
        let (slot, mut producer) = session.producer();
        let mut consumer = session.consumer(slot);
        for _ in 0..=begun {
            assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
        }
        drain(&mut consumer);
        consumer.release(consumer.read_index());
        while try_produce(&mut producer, 1, 0, &[]) == Room::Ready {
            producer.forget_stamp();
        }
        let ahead = consumer.head_untrusted() - consumer.released_index();
        assert!((RING - 16..=RING).contains(&ahead), "{ahead} bytes ahead");
        assert!(drain(&mut consumer).len() > 200);
    }
}

#[test]
fn release_outside_what_was_read_is_taken_as_the_nearest_that_is() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    consumer.release(u64::MAX);
    assert_eq!(consumer.released_index(), 0);
    drain(&mut consumer);
    consumer.release(u64::MAX);
    assert_eq!(consumer.released_index(), 16);
    consumer.release(0);
    assert_eq!(consumer.released_index(), 16);
}

#[test]
fn producer_on_hold_refuses_and_goes_on_where_it_was() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    producer.hold();
    producer.hold();
    assert!(producer.is_on_hold() && producer.is_attached() && !producer.finish());
    // SAFETY: attached as `Session::producer` says; the header claims 8 bytes.
    assert!(unsafe { producer.reserve(Header::new(2, 0, 8)) }.is_none());
    producer.resume();
    // SAFETY: as above; the room that was at hand before is at hand again.
    let room = unsafe { producer.reserve(Header::new(2, 0, 8)) }.expect("there is room");
    producer.hold();
    // SAFETY: the last reservation, which has no payload.
    assert!(!unsafe { producer.publish(room) });
    // SAFETY: as above.
    assert!(!unsafe { producer.publish_last(room) });
    assert_eq!(drain(&mut consumer).len(), 1);
    producer.resume();
    // SAFETY: as above.
    assert!(unsafe { producer.publish(room) } && producer.finish());
    assert_eq!(drain(&mut consumer)[0].header.id(), 2);
    producer.detach();
    producer.hold();
    assert!(!producer.is_on_hold());
}

#[test]
fn last_record_of_a_command_is_published_and_finished() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    assert_eq!(consumer.finished_untrusted(), 0);
    // SAFETY: attached as `Session::producer` says; the header claims 8 bytes.
    let last = unsafe { producer.reserve(Header::new(1, 2, 8)) }.expect("there is room");
    // SAFETY: the last reservation, which has no payload.
    assert!(unsafe { producer.publish_last(last) });
    assert_eq!(consumer.finished_untrusted(), consumer.head_untrusted());
    assert_eq!(drain(&mut consumer).len(), 2);
    let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
    assert_eq!((counts.produced, consumer.consumed()), (2, 2));
}

#[test]
fn record_longer_than_a_quarter_of_the_ring_never_fits() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let longest = producer.payload_len_max();
    assert_eq!(longest, record_len_max(RING) - 16);
    let payload = vec![7; longest as usize + 1];
    assert_eq!(try_produce(&mut producer, 1, 0, &payload), Room::Never);
    assert_eq!(producer.make_room(u64::MAX / 2), Room::Never);
    assert_eq!(try_produce(&mut producer, 1, 0, &payload[1..]), Room::Ready);
    assert_eq!(drain(&mut session.consumer(slot))[0].payload, payload[1..]);
}

#[test]
fn thread_alone_stamps_once_and_again_when_another_has_stamped() {
    let session = Session::new(2, RING);
    let [(slot, mut one), (_, mut other)] = [session.producer(), session.producer()];
    for _ in 0..3 {
        assert_eq!(try_produce(&mut one, 1, 0, &[]), Room::Ready);
    }
    assert_eq!(try_produce(&mut other, 2, 0, &[]), Room::Ready);
    assert_eq!(try_produce(&mut one, 1, 0, &[]), Room::Ready);
    one.forget_stamp();
    assert_eq!(one.last_stamp(), None);
    assert_eq!(try_produce(&mut one, 1, 0, &[]), Room::Ready);
    let stamps: Vec<_> =
        drain(&mut session.consumer(slot)).iter().map(|record| record.stamp).collect();
    assert_eq!(stamps, [Some(1), None, None, Some(3), Some(4)]);
    assert_eq!((one.last_stamp(), session.counter.newest_stamp()), (Some(4), 4));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn counter_that_is_set_back_costs_no_ring() {
    let session = Session::new(2, RING);
    let [(slot, mut one), (_, mut other)] = [session.producer(), session.producer()];
    let mut consumer = session.consumer(slot);
    for _ in 0..3 {
        assert_eq!(try_produce(&mut other, 2, 0, &[]), Room::Ready);
        assert_eq!(try_produce(&mut one, 1, 0, &[]), Room::Ready);
    }
    session.set_counter(0);
    assert_eq!(try_produce(&mut one, 1, 0, &[]), Room::Ready);
    let stamps: Vec<_> = drain(&mut consumer).iter().map(|record| record.stamp).collect();
    assert_eq!(stamps, [Some(2), Some(4), Some(6), Some(6)]);
    // The slot's next thread is not affected.
    one.retire();
    consumer.release(consumer.read_index());
    assert!(consumer.free_retired());
    let (again, mut next) = session.producer();
    assert_eq!(again, slot);
    assert_eq!(try_produce(&mut next, 1, 0, &[]), Room::Ready);
    assert_eq!(drain(&mut consumer)[0].stamp, Some(2));
}

#[test]
fn no_room_takes_no_stamp() {
    let session = Session::new(1, RING);
    let (_, mut producer) = session.producer();
    while try_produce(&mut producer, 1, 0, &[0; 100]) == Room::Ready {
        session.counter.next_stamp();
    }
    let before = session.counter.newest_stamp();
    assert_eq!(try_produce(&mut producer, 1, 0, &[0; 100]), Room::Full);
    assert_eq!(session.counter.newest_stamp(), before);
}

#[test]
fn finished_index_tells_the_command_in_flight() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    producer.finish();
    assert_eq!(consumer.finished_untrusted(), consumer.head_untrusted());
    assert_eq!(try_produce(&mut producer, 2, 0, &[]), Room::Ready);
    drain(&mut consumer);
    assert!(consumer.finished_untrusted() < consumer.read_index());
    producer.finish();
    assert_eq!(consumer.finished_untrusted(), consumer.read_index());
}

/// Memory of a session's segment in bytes.
fn memory_bytes(session: &Session) -> u64 {
    let file = session.segment_fd.try_clone().expect("a descriptor");
    std::fs::File::from(file).metadata().expect("it is a file").blocks() * 512
}

#[test]
#[cfg_attr(miri, ignore = "needs memory files")]
fn memory_of_a_ring_is_returned_when_its_owners_have_written_much() {
    const OWNER_BYTES: u64 = 8 << 10;
    /// Pages of the header, of slots, and of a ring in which a record ends behind its first page.
    const REST_BYTES: u64 = 128 << 10;
    let session = Session::new(257, 1 << 20);
    let slots: Vec<_> = (0..257).map(|_| session.producer().0).collect();
    let check = |slot: u32, kept_max: u64, freed_max: u64| {
        let before = memory_bytes(&session);
        let mut consumer = session.consumer(slot);
        let (mut most, mut returns) = (0, 0);
        for owner in 0..200_u64 {
            let mut producer = session.attach(slot);
            let begin = consumer.read_index();
            while consumer.head_untrusted() < begin + OWNER_BYTES {
                let room = try_produce(&mut producer, 1, 0, &[owner as u8; 1000]);
                assert_eq!(room, Room::Ready);
            }
            producer.retire();
            let written = memory_bytes(&session);
            let records = drain(&mut consumer);
            assert!(records.iter().all(|record| record.payload == [owner as u8; 1000]));
            consumer.release(consumer.read_index());
            assert!(consumer.free_retired());
            let kept = memory_bytes(&session);
            returns += u32::from(kept < written);
            most = most.max(kept.saturating_sub(before));
            assert_eq!(session.segment.claim(1, [0; 16]), Some(slot));
        }
        println!("slot {slot}: {most} bytes at most, returned {returns} times");
        assert!(most <= kept_max + REST_BYTES, "slot {slot}: {most} bytes");
        assert!(u64::from(returns) >= 200 * OWNER_BYTES / freed_max, "{returns} times");
    };
    check(slots[0], 256 << 10, 300 << 10);
    check(slots[256], 16 << 10, 24 << 10);
}

#[test]
fn retired_slot_is_freed_when_all_is_released_and_goes_on_where_it_was() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    assert_eq!(session.segment.claim(2, [0; 16]), None, "the only slot is taken");
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    assert!(!consumer.free_retired(), "its thread still has it");
    producer.retire();
    assert!(!producer.is_attached());
    assert!(!consumer.free_retired(), "a record is not read");
    drain(&mut consumer);
    assert!(!consumer.free_retired(), "it is not released");
    consumer.release(consumer.read_index());
    assert!(consumer.free_retired());
    assert_eq!(consumer.slot().state(), Some(SlotState::Free));

    assert_eq!(session.segment.claim(77, *b"second\0\0\0\0\0\0\0\0\0\0"), Some(slot));
    assert_eq!(consumer.slot().tid_untrusted(), 77);
    assert_eq!(&consumer.slot().name_untrusted()[..7], b"second\0");
    let mut second = session.attach(slot);
    assert_eq!(try_produce(&mut second, 2, 0, &[]), Room::Ready);
    let records = drain(&mut consumer);
    assert_eq!((records.len(), records[0].stamp), (1, Some(2)));
    assert_eq!(consumer.consumed(), 2);
}

#[test]
fn dropped_records_are_counted_beside_the_written_ones() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    producer.slot().expect("attached").count_dropped(3, 2, 100);
    producer.slot().expect("attached").count_dropped(1, 1, 20);
    let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
    assert_eq!(
        (counts.produced, counts.dropped_records, counts.dropped_calls, counts.dropped_bytes),
        (1, 4, 3, 120)
    );
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn waiting_producer_goes_on_when_room_is_released() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    while try_produce(&mut producer, 1, 0, &[0; 100]) == Room::Ready {}
    producer.detach();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut producer = session.attach(slot);
            let room = producer.wait_for_room(108, Duration::from_secs(60));
            (room, try_produce(&mut producer, 2, 0, &[0; 100]))
        });
        drain(&mut consumer);
        // Not before it waits, so that a wake is needed; if it never says so, that is the failure.
        let waiting = session.map_again();
        wait_until("the producer waits", || is_waiting(&waiting, slot));
        consumer.release(consumer.read_index());
        let room = waiter.join().expect("the waiter does not panic");
        assert_eq!(room, (Room::Ready, Room::Ready));
    });
    let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
    assert!(counts.waits == 1 && counts.wait_ns > 0, "{counts:?}");
}

#[test]
fn wait_for_room_ends_when_its_time_is_over() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    while try_produce(&mut producer, 1, 0, &[0; 100]) == Room::Ready {}
    for _ in 0..3 {
        assert_eq!(producer.wait_for_room(108, Duration::from_millis(1)), Room::Full);
    }
    let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
    assert!(counts.waits == 1 && counts.wait_ns >= 3_000_000, "one wait in three: {counts:?}");
}

/// The flag is a private word of the slot; its place is part of the layout.
fn is_waiting(segment: &gapii_ringbuf::Segment, slot: u32) -> bool {
    let slot = segment.slot(slot).expect("exists") as *const gapii_ringbuf::Slot;
    // SAFETY: offset 192 of a slot is its `waiting` word, an atomic; the segment is mapped.
    let waiting = unsafe { slot.byte_add(192) };
    // SAFETY: as above.
    let waiting = unsafe { &*waiting.cast::<gapii_ringbuf::sync::AtomicU32>() };
    waiting.load(gapii_ringbuf::sync::Ordering::Relaxed) != 0
}

#[test]
fn padding_bytes_are_cleared_in_the_copy() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    for _ in 0..200 {
        assert_eq!(try_produce(&mut producer, 1, 0, &[0xFF; 61]), Room::Ready);
        for record in drain(&mut consumer) {
            assert_eq!(record.payload, [0xFF; 61]);
        }
        consumer.release(consumer.read_index());
    }
    assert!(parse(&[]).is_empty());
}
