//! Plays one input as a hostile application, and checks the consumer's results.
//!
//! ```text
//! input   0  first 1   u16 LE, in bytes, added to the head before reading 1 of round 1
//!         2  second 1  the same before reading 2
//!         4  first 2, second 2, first 3, second 3: rounds 2 and 3
//!        12  produced  u16 LE
//!        14  flags     1: dead after round 2; 2: add 2^63 to the head in round 3; 4: retire
//!        15  chunk     number of the following bytes that are new in each round
//!        16  bytes of the ring
//! ```
//!
//! The checks know the format of records, and do not depend on the consumer's implementation.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use gapii_ringbuf::{
    Consumer, Emitted, Header, Merger, Reading, Segment, SegmentLayout, SegmentRing,
};
use memmap2::{MmapOptions, MmapRaw};

const RING: u64 = 4096;
const HEAD_AT: u64 = 0;
const PRODUCED_AT: u64 = 16;
const STATE_AT: u64 = 64;

/// Runs `input`; panics if the consumer passes on a record that breaks a rule.
pub fn check(input: &[u8]) {
    let Some((script, bytes)) = input.split_first_chunk::<16>() else { return };
    let mut application = Application::new(script, bytes);
    let mut consumer = Consumer::new(application.ring());
    let mut merger = Merger::new();
    let lane = merger.add(());
    let mut seen = Seen::default();
    for round in 0..4 {
        for reading in [Reading::First, Reading::Second] {
            application.play(round, reading);
            let head = match application.is_dead(round) {
                true => consumer.head_of_dead_untrusted(),
                false => consumer.head_untrusted(),
            };
            let batch = merger.batch_mut(lane).expect("no lane is removed");
            let before = (consumer.refusal(), batch.len_bytes());
            let outcome = consumer.drain_into(head, reading, batch);
            assert_eq!(outcome.err(), consumer.refusal());
            assert!(batch.len_bytes() as u64 <= RING, "no more than the ring holds");
            if before.0.is_some() {
                assert_eq!((outcome.err(), batch.len_bytes()), before, "refused for ever");
            }
        }
        merger.merge(|emitted| seen.check(emitted, consumer.read_index()));
        consumer.release(seen.end_index);
        consumer.free_retired();
    }
    merger.merge(|emitted| seen.check(emitted, consumer.read_index()));
    assert!(merger.is_empty() && seen.records == consumer.consumed(), "all is emitted");
}

/// Records that were emitted so far.
#[derive(Default)]
struct Seen {
    stamp: u64,
    records: u64,
    end_index: u64,
}

impl Seen {
    fn check(&mut self, emitted: Emitted<'_, ()>, read_index: u64) {
        let mut bytes = emitted.bytes;
        let mut records = 0;
        self.stamp_is(emitted.stamp);
        while let Some(word) = bytes.first_chunk() {
            let header = Header(u64::from_le_bytes(*word));
            let len = header.len_untrusted() as usize;
            assert!(len >= header.payload_offset() && len as u64 <= RING / 4);
            assert!(header.id() < 0xFF10 && header.flags() < 128);
            if header.is_stamped() {
                let stamp = bytes[8..].first_chunk().expect("a stamped record has a stamp");
                self.stamp_is(u64::from_le_bytes(*stamp));
            }
            let span = header.span_untrusted() as usize;
            assert!(bytes[len..span].iter().all(|&byte| byte == 0), "padding is cleared");
            bytes = &bytes[span..];
            records += 1;
        }
        assert!(bytes.is_empty() && records == emitted.records && records > 0);
        assert!(emitted.end_index > self.end_index && emitted.end_index <= read_index);
        self.records += records;
        self.end_index = emitted.end_index;
    }

    fn stamp_is(&mut self, stamp: u64) {
        assert!(stamp >= self.stamp, "stamps do not fall");
        self.stamp = stamp;
    }
}

/// The hostile side: another mapping of the same memory.
struct Application<'a> {
    segment: Arc<Segment>,
    map: MmapRaw,
    script: &'a [u8; 16],
    bytes: &'a [u8],
    head: u64,
}

impl<'a> Application<'a> {
    fn new(script: &'a [u8; 16], bytes: &'a [u8]) -> Self {
        let layout = SegmentLayout::new(1, RING).expect("sizes are in range");
        let (segment, fd) = Segment::create(layout).expect("memfd works");
        let map = MmapOptions::new()
            .len(layout.segment_bytes() as usize)
            .map_raw(fd.as_raw_fd())
            .expect("the segment can be mapped");
        Self { segment: Arc::new(segment), map, script, bytes, head: 0 }
    }

    fn ring(&self) -> SegmentRing {
        SegmentRing::new(&self.segment, 0).expect("the slot exists")
    }

    fn is_dead(&self, round: usize) -> bool {
        self.script[14] & 1 != 0 && round >= 2
    }

    /// Moves the head and the other words as the script says, and rewrites the ring.
    fn play(&mut self, round: usize, reading: Reading) {
        let step = 2 * round + usize::from(reading == Reading::Second);
        let advance = match self.script[..12].as_chunks().0.get(step) {
            Some(&advance) => u16::from_le_bytes(advance).into(),
            None => 0,
        };
        let jump = u64::from(self.script[14] & 2 != 0 && step == 4) << 63;
        self.head = self.head.wrapping_add(advance).wrapping_add(jump);

        let layout = self.segment.layout();
        let skip = (step * usize::from(self.script[15])).min(self.bytes.len());
        let words = self.bytes[skip..].as_chunks().0;
        for (at, word) in (layout.ring_at(0)..layout.segment_bytes()).step_by(8).zip(words) {
            self.write(at, u64::from_le_bytes(*word));
        }
        let produced = u16::from_le_bytes([self.script[12], self.script[13]]);
        let state = if self.script[14] & 4 != 0 { 2 } else { 1 };
        self.write(layout.slot_at(0) + PRODUCED_AT, produced.into());
        self.write(layout.slot_at(0) + STATE_AT, state);
        self.write(layout.slot_at(0) + HEAD_AT, self.head);
    }

    fn write(&self, at: u64, word: u64) {
        assert!(at + 8 <= self.map.len() as u64);
        // SAFETY: within the mapping, as was just checked.
        let word_at = unsafe { self.map.as_mut_ptr().add(at as usize) };
        // SAFETY: as above; aligned to 8, and nothing else uses it now.
        unsafe { word_at.cast::<u64>().write(word) };
    }
}
