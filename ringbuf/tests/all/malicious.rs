//! A producer that lies. Whatever it writes, the consumer reads nothing outside the producer's ring, keeps the
//! valid records before the lie, and refuses the ring with the right reason.

use std::os::fd::AsRawFd;

use crate::common::{Session, drain, drain_to, records_of, try_produce};
use gapii_ringbuf::record::{DAEMON_IDS_FIRST, PAD, STAMPED};
use gapii_ringbuf::{
    Batch, Consumer, Header, Reading, Refusal, RefusalCounts, Room, SegmentRing, SlotState,
};
use memmap2::{MmapOptions, MmapRaw};

const RING: u64 = 4096;

/// Writes any word of the segment, as the application can.
struct Intruder {
    map: MmapRaw,
    slot_at: u64,
    ring_at: u64,
}

impl Intruder {
    fn new(session: &Session, slot: u32) -> Self {
        let layout = session.segment.layout();
        let map = MmapOptions::new()
            .len(layout.segment_bytes() as usize)
            .map_raw(session.segment_fd.as_raw_fd())
            .expect("the segment can be mapped");
        Self { map, slot_at: layout.slot_at(slot), ring_at: layout.ring_at(slot) }
    }

    fn write(&self, at: u64, word: u64) {
        assert!(at + 8 <= self.map.len() as u64);
        // SAFETY: within the mapping, as was just checked.
        let word_at = unsafe { self.map.as_mut_ptr().add(at as usize) };
        // SAFETY: as above, and the tests write nowhere else meanwhile.
        unsafe { word_at.cast::<u64>().write_unaligned(word) };
    }

    fn set_head(&self, head: u64) {
        self.write(self.slot_at, head);
    }

    fn set_produced(&self, produced: u64) {
        self.write(self.slot_at + 16, produced);
    }

    fn set_state(&self, state: u32, tid: u32) {
        self.write(self.slot_at + 64, u64::from(state) | u64::from(tid) << 32);
    }

    fn set_word(&self, position: u64, word: u64) {
        self.write(self.ring_at + position, word);
    }

    fn set_record(&self, position: u64, id: u16, flags: u16, len: u32, stamp: u64) {
        self.set_word(position, Header::new(id, flags, len).0);
        self.set_word(position + 8, stamp);
    }
}

fn victim() -> (Session, Intruder, Consumer<SegmentRing>) {
    let session = Session::new(2, RING);
    let intruder = Intruder::new(&session, 0);
    let consumer = session.consumer(0);
    (session, intruder, consumer)
}

/// Lets `lie` write; then the ring must be refused, after `lawful` records, for this reason.
fn check(lie: impl Fn(&Intruder), lawful: u64, expected: Refusal) {
    let (session, intruder, mut consumer) = victim();
    lie(&intruder);
    let mut batch = Batch::default();
    let head = consumer.head_untrusted();
    let outcome = consumer.drain_into(head, Reading::First, &mut batch);
    assert_eq!((outcome, batch.len_records()), (Err(expected), lawful), "head {head:#x}");
    assert_eq!((consumer.refusal(), consumer.consumed()), (Some(expected), lawful));
    assert_eq!(records_of(batch).len() as u64, lawful, "what was lawful is whole");

    // For ever: also when the ring looks lawful again.
    intruder.set_record(0, 1, STAMPED, 16, 1);
    intruder.set_head(16);
    let mut batch = Batch::default();
    assert_eq!(consumer.drain_into(16, Reading::First, &mut batch), Err(expected));
    assert!(batch.is_empty());

    // The thread also learns that waiting is useless.
    intruder.set_state(0, 0);
    intruder.set_head(0);
    let (_, mut producer) = session.producer();
    assert_eq!(producer.make_room(8), Room::Never);
}

const LAWFUL: fn(&Intruder) = |intruder| intruder.set_record(0, 1, STAMPED, 16, 5);

/// One lawful record, then a header at 16 that is not.
fn check_second(header: Header, second_word: u64, head: u64, expected: Refusal) {
    let lie = |intruder: &Intruder| {
        LAWFUL(intruder);
        intruder.set_word(16, header.0);
        intruder.set_word(24, second_word);
        intruder.set_head(head);
    };
    check(lie, 1, expected);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn malicious_head_is_refused() {
    for head in [RING + 8, RING * 2, 1 << 40, !7, u64::MAX] {
        check(|intruder| intruder.set_head(head), 0, Refusal::HeadTooFar);
    }
    for head in [1, 7, 12, RING - 1] {
        check(|intruder| intruder.set_head(head), 0, Refusal::HeadMisaligned);
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn head_over_what_is_read_but_not_released_is_refused() {
    let (_session, intruder, mut consumer) = victim();
    LAWFUL(&intruder);
    intruder.set_head(16);
    assert_eq!(drain(&mut consumer).len(), 1);
    let mut batch = Batch::default();
    let outcome = consumer.drain_into(RING + 8, Reading::First, &mut batch);
    assert_eq!((outcome, batch.is_empty()), (Err(Refusal::HeadTooFar), true));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn head_that_goes_back_is_refused() {
    let (_session, intruder, mut consumer) = victim();
    LAWFUL(&intruder);
    intruder.set_head(16);
    assert_eq!(drain(&mut consumer).len(), 1);
    let mut batch = Batch::default();
    for head in [8, 0] {
        assert_eq!(
            consumer.drain_into(head, Reading::First, &mut batch),
            Err(Refusal::HeadBackwards)
        );
    }
    assert!(batch.is_empty());
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn malicious_length_is_refused() {
    let stamped = |len| Header::new(1, STAMPED, len);
    let plain = |len| Header::new(1, 0, len);
    for len in [0, 1, 7] {
        check_second(plain(len), 0, 64, Refusal::BadLength);
        check_second(stamped(len), 9, 64, Refusal::BadLength);
    }
    for len in [8, 15] {
        check_second(stamped(len), 9, 64, Refusal::BadLength);
    }
    for len in [49, 56, 1024] {
        check_second(plain(len), 0, 64, Refusal::BadLength);
    }
    for len in [1025, 4096, 1 << 20, 1 << 31, u32::MAX] {
        check_second(plain(len), 0, 64, Refusal::BadLength);
        check_second(plain(len), 0, RING, Refusal::BadLength);
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn record_that_spans_the_wrap_is_refused() {
    let lie = |intruder: &Intruder| {
        for position in [0, 1024, 2048] {
            intruder.set_record(position, 1, STAMPED, 1024, 5);
        }
        intruder.set_record(3072, 1, STAMPED, 1016, 5);
        intruder.set_record(4088, 1, 0, 16, 5);
        intruder.set_head(RING);
    };
    check(lie, 4, Refusal::SpansWrap);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn malicious_padding_is_refused() {
    check_second(Header::new(PAD, 0, 48), 0, 64, Refusal::BadLength);
    check_second(Header::new(PAD, 0, 4072), 0, RING, Refusal::BadLength);
    check_second(Header::new(PAD, 0, 4088), 0, RING, Refusal::BadLength);
    check_second(Header::new(PAD, STAMPED, 4080), 0, RING, Refusal::BadLength);
    check_second(Header::new(PAD, 0, 0), 0, RING, Refusal::BadLength);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn malicious_stamp_is_refused() {
    check_second(Header::new(1, STAMPED, 16), 4, 32, Refusal::StampDecreased);
    let unstamped = |intruder: &Intruder| {
        intruder.set_record(0, 1, 0, 16, 5);
        intruder.set_head(16);
    };
    check(unstamped, 0, Refusal::FirstRecordUnstamped);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn reserved_flags_and_ids_are_refused() {
    for flag in [256, 512, 1 << 15] {
        check_second(Header::new(1, flag, 8), 0, 24, Refusal::ReservedFlags);
    }
    for id in [DAEMON_IDS_FIRST, 0xFF14, 0xFFFE] {
        check_second(Header::new(id, 0, 8), 0, 24, Refusal::ReservedId);
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn slot_reused_without_a_stamp_is_refused() {
    let (session, intruder, mut consumer) = victim();
    let (_, mut producer) = session.producer();
    assert_eq!(try_produce(&mut producer, 1, 0, &[]), Room::Ready);
    producer.retire();
    drain(&mut consumer);
    consumer.release(16);
    assert!(consumer.free_retired());
    intruder.set_record(16, 1, 0, 8, 0);
    intruder.set_head(24);
    let mut batch = Batch::default();
    let outcome = consumer.drain_into(24, Reading::First, &mut batch);
    assert_eq!(outcome, Err(Refusal::FirstRecordUnstamped));
    assert!(!consumer.free_retired(), "a refused slot is never free again");
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn lying_count_adopts_nothing_unlawful() {
    let adopted = |position_16: (u16, u32), produced: u64| {
        let (_session, intruder, mut consumer) = victim();
        LAWFUL(&intruder);
        intruder.set_head(16);
        assert_eq!(drain(&mut consumer).len(), 1);
        intruder.set_record(16, position_16.0, 0, position_16.1, 0);
        intruder.set_produced(produced);
        let head = consumer.head_of_dead_untrusted();
        let mut batch = Batch::default();
        (consumer.drain_into(head, Reading::First, &mut batch), batch.len_records())
    };
    assert_eq!(adopted((7, 24), 2), (Ok(()), 1), "counted, not published");
    assert_eq!(adopted((7, 24), 1), (Ok(()), 0), "not counted");
    for produced in [0, 3, u64::MAX] {
        assert_eq!(adopted((7, 24), produced), (Ok(()), 0), "{produced} counted");
    }
    assert_eq!(adopted((7, 0), 2), (Ok(()), 0), "no length, no record");
    assert_eq!(adopted((7, 5), 2), (Err(Refusal::BadLength), 0));
    assert_eq!(adopted((7, u32::MAX), 2), (Err(Refusal::HeadTooFar), 0));
    assert_eq!(adopted((7, 2000), 2), (Err(Refusal::BadLength), 0));
    assert_eq!(adopted((0xFF20, 8), 2), (Err(Refusal::ReservedId), 0));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn record_that_was_counted_but_not_published_is_adopted() {
    let (session, intruder, mut consumer) = victim();
    let (_, mut producer) = session.producer();
    for id in 1..=3 {
        assert_eq!(try_produce(&mut producer, id, 0, &[9; 20]), Room::Ready);
    }
    let head = consumer.head_untrusted();
    intruder.set_head(head - 32);
    assert_eq!(consumer.head_of_dead_untrusted(), head - 32, "first what is published");
    assert_eq!(drain_to(&mut consumer, head - 32).len(), 2);
    assert_eq!(consumer.head_of_dead_untrusted(), head);
    let records = drain_to(&mut consumer, head);
    assert_eq!((records.len(), records[0].header.id()), (1, 3));
    assert_eq!(records[0].payload, [9; 20]);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn nonsense_state_frees_nothing_and_claims_nothing() {
    let (session, intruder, mut consumer) = victim();
    for state in [3, 17, u32::MAX] {
        intruder.set_state(state, 1);
        assert_eq!(session.segment.slot(0).expect("exists").state(), None);
        assert!(!consumer.free_retired());
        assert_eq!(session.segment.claim(1, [0; 16]), Some(1), "the other slot");
        session.segment.slot(1).expect("exists").retire();
        assert!(session.consumer(1).free_retired());
    }
    intruder.set_state(SlotState::Retired as u32, 1);
    assert!(consumer.free_retired());
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn producer_on_nonsense_words_stays_in_its_ring() {
    let (session, intruder, _) = victim();
    let mut producer = gapii_ringbuf::Producer::detached();
    for head in [4, 1 << 62, u64::MAX, !7] {
        intruder.set_head(head);
        // SAFETY: nothing else uses the slot, and the session outlives the producer.
        let attached =
            unsafe { producer.attach(&session.segment, 0, &session.counter, &session.mode) };
        assert!(!attached && !producer.is_attached(), "head {head:#x}");
    }
    intruder.set_head(64);
    let mut producer = session.attach(0);
    for release in [72, 1 << 50, u64::MAX] {
        intruder.write(intruder.slot_at + 128, release);
        assert_eq!(producer.make_room(8), Room::Full, "release {release:#x}");
    }
    intruder.write(intruder.slot_at + 128, 64);
    for _ in 0..8 {
        while try_produce(&mut producer, 1, 0, &[0xAB; 256]) == Room::Ready {}
        intruder.write(intruder.slot_at + 128, session.consumer(0).head_untrusted());
    }
    let other_ring = session.segment.layout().ring_at(1) as usize;
    // SAFETY: the first word of ring 1 is in the mapping.
    let word = unsafe { intruder.map.as_ptr().add(other_ring) };
    // SAFETY: as above, and nothing writes it.
    assert_eq!(unsafe { word.cast::<u64>().read() }, 0, "ring 1 was never touched");
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn refusals_are_counted_by_reason() {
    let mut counts = RefusalCounts::default();
    let (_session, intruder, mut consumer) = victim();
    intruder.set_head(3);
    if let Err(refusal) = consumer.drain_into(3, Reading::First, &mut Batch::default()) {
        counts.count(refusal);
    }
    assert_eq!((counts.of(Refusal::HeadMisaligned), counts.total()), (1, 1));
}
