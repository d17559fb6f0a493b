//! A consumer in the place of another, and a mode page in the place of another.

use std::os::fd::AsFd;

use crate::common::{Random, Session, drain, produce_checked};
use gapii_ringbuf::{
    CaptureId, Joined, Mode, ModeMap, ModeSettings, ModeWriter, Room, SlotCounts, Standing,
    StoreTerms,
};

const RING: u64 = 4096;
/// Miri is a thousand times slower.
const TAKEOVERS: u64 = if cfg!(miri) { 10 } else { 500 };

#[test]
fn records_come_out_once_whichever_consumer_takes_them() {
    let session = Session::new(2, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    let mut random = Random(0x5EED);
    let (mut produced, mut expected) = (0, 0);
    for _ in 0..TAKEOVERS {
        while random.below(40) != 0 && produce_checked(&mut producer, produced) == Room::Ready {
            produced += 1;
        }
        let records = drain(&mut consumer);
        for record in &records {
            assert_eq!(record.seq_checked(), expected);
            expected += 1;
        }
        let stamp = records.iter().filter_map(|record| record.stamp).next_back().unwrap_or(0);
        // When another consumer comes, the read records may be released completely, in part, or not at all.
        let (read, released) = (consumer.read_index(), consumer.released_index());
        consumer.release(released + ((read - released) * random.below(9) / 64 * 8));
        let index = read;
        let standing =
            Standing { index, records: expected, stamp, goes_on: true, ..Standing::default() };
        consumer = session.consumer(slot);
        assert!(consumer.go_on(standing));
        assert_eq!((consumer.read_index(), consumer.released_index()), (index, index));
    }
    assert!(produced > 2 * TAKEOVERS, "{produced}");
    assert_eq!(expected + drain(&mut consumer).len() as u64, produced);
    assert_eq!(consumer.consumed(), produced);
}

#[test]
fn place_that_cannot_be_is_refused() {
    let session = Session::new(1, RING);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    (0..9).for_each(|seq| assert_eq!(produce_checked(&mut producer, seq), Room::Ready));
    drain(&mut consumer);
    consumer.release(consumer.read_index());
    let released = consumer.released_index();
    for index in [0, released - 8, released + 4, released + RING + 8, u64::MAX, u64::MAX - 7] {
        let mut next = session.consumer(slot);
        assert!(!next.go_on(Standing { index, ..Standing::default() }), "{index}");
        assert!(next.refusal().is_some());
    }
    // The ring will contradict a place ahead of the head.
    let mut next = session.consumer(slot);
    assert!(next.go_on(Standing { index: released + 8, ..Standing::default() }));
    let head = next.head_untrusted();
    let drained = next.drain_into(head, gapii_ringbuf::Reading::First, &mut Default::default());
    assert!(drained.is_err());
}

#[test]
fn counts_that_were_noted_are_read_back() {
    let session = Session::new(1, RING);
    let slot = session.segment.slot(0).expect("exists");
    assert_eq!(slot.begun_untrusted(), SlotCounts::default());
    let counts = SlotCounts {
        produced: 1,
        waits: 2,
        wait_ns: 3,
        dropped_records: 4,
        dropped_calls: 5,
        dropped_bytes: 6,
    };
    slot.note_begun(counts);
    assert_eq!(slot.begun_untrusted(), counts);
    let joined = Joined { index: 7, produced: 8 };
    slot.note_joined(joined);
    assert_eq!((slot.joined_untrusted(), slot.begun_untrusted()), (joined, counts));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn page_in_the_place_of_another_says_the_same_and_then_its_own() {
    let (mut old, old_fd) = ModeWriter::create().expect("memfd works");
    let id = CaptureId { session: *b"0123456789abcdef", number: 7 };
    let terms = StoreTerms { number: 3, end: 5 };
    old.raise_blob_epoch();
    old.set_store(terms);
    old.set_capture(id);
    old.set_takers(3);
    old.set_frame_rule(b"glFlush\0");
    let settings = ModeSettings { mode: Mode::Capturing, frames: 9, ..ModeSettings::default() };
    let generation = old.set(settings);
    old.lift_frame_limit();
    let reader = ModeMap::map(old_fd.as_fd()).expect("our own page");

    let (mut new, new_fd, told) = ModeWriter::create_like(&reader).expect("memfd works");
    assert_eq!(told, settings);
    reader.replace(new_fd.as_fd()).expect("a page");
    assert_eq!(reader.settings(), Some((generation, settings)));
    assert_eq!((reader.blob_epoch(), reader.store(), reader.capture()), (1, terms, id));
    assert!(reader.frame_rule(generation).expect("nobody writes").starts_with(b"glFlush\0\0"));
    assert_eq!((reader.takers(), reader.has_no_frame_limit(generation)), (3, true));
    let later = new.set(ModeSettings::default());
    assert_eq!(reader.settings(), Some((later, ModeSettings::default())));
    assert!(later > generation);
    old.set(settings);
    assert_eq!(reader.generation(), later, "nobody hears of the old one");
    // A memory file that is not a mode page does not replace one.
    assert!(reader.replace(session_fd().as_fd()).is_err());
    assert_eq!(reader.generation(), later);
}

fn session_fd() -> std::os::fd::OwnedFd {
    Session::new(1, RING).segment_fd
}
