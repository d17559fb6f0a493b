//! Shared parts of the tests on real segments: a session, and records that can be told from garbage.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gapii_ringbuf::{
    Batch, Consumer, CounterMap, Header, ModeWriter, Producer, Reading, Reservation, Room, Segment,
    SegmentLayout, SegmentRing,
};

/// The daemon's memory and consumers for one process.
pub struct Session {
    pub segment: Arc<Segment>,
    pub segment_fd: OwnedFd,
    pub counter: CounterMap,
    counter_file: File,
    pub mode: ModeWriter,
}

impl Session {
    pub fn new(slot_count: u32, ring_bytes: u64) -> Self {
        let layout = SegmentLayout::new(slot_count, ring_bytes).expect("sizes are in range");
        let (segment, segment_fd) = Segment::create(layout).expect("memfd_create works");
        let (counter, counter_fd) = CounterMap::create().expect("memfd_create works");
        let (mode, _) = ModeWriter::create().expect("memfd_create works");
        let counter_file = File::from(counter_fd);
        Self { segment: Arc::new(segment), segment_fd, counter, counter_file, mode }
    }

    /// Claims a slot and attaches to it; the producer is not used after the session.
    pub fn producer(&self) -> (u32, Producer) {
        let index = self.segment.claim(1, *b"producer\0\0\0\0\0\0\0\0").expect("a slot is free");
        (index, self.attach(index))
    }

    pub fn attach(&self, index: u32) -> Producer {
        let mut producer = Producer::detached();
        // SAFETY: the slot is the caller's, and the session outlives the producer.
        let attached = unsafe { producer.attach(&self.segment, index, &self.counter, &self.mode) };
        assert!(attached, "the slot's indices are in order");
        producer
    }

    /// Sets the counter, which no application may do.
    pub fn set_counter(&self, stamp: u64) {
        self.counter_file.write_all_at(&stamp.to_le_bytes(), 0).expect("it can be written to");
    }

    pub fn consumer(&self, index: u32) -> Consumer<SegmentRing> {
        Consumer::new(SegmentRing::new(&self.segment, index).expect("the slot exists"))
    }

    /// A session whose segment holds what this one's holds now.
    pub fn copy(&self) -> Self {
        let copy =
            Self::new(self.segment.layout().slot_count(), self.segment.layout().ring_bytes());
        let [from, to] = [self, &copy]
            .map(|session| File::from(session.segment_fd.try_clone().expect("a descriptor")));
        let mut bytes = vec![0; from.metadata().expect("it is a file").len() as usize];
        from.read_exact_at(&mut bytes, 0).expect("it can be read");
        to.write_all_at(&bytes, 0).expect("it can be written to");
        copy
    }

    /// A second mapping of the segment, as the application's.
    pub fn map_again(&self) -> Segment {
        Segment::map(self.segment_fd.as_fd(), self.segment.layout()).expect("it is our own")
    }
}

/// Writes a record whose payload is `payload`; allocates nothing.
pub fn try_produce(producer: &mut Producer, id: u16, flags: u16, payload: &[u8]) -> Room {
    let header = Header::new(id, flags, 8 + payload.len() as u32);
    try_produce_by(Producer::publish, producer, header, payload)
}

/// Like [`try_produce`], for a command's last record.
pub fn try_produce_last(producer: &mut Producer, id: u16, payload: &[u8]) -> Room {
    let header = Header::new(id, 0, 8 + payload.len() as u32);
    try_produce_by(Producer::publish_last, producer, header, payload)
}

fn try_produce_by(
    publish: unsafe fn(&mut Producer, Reservation) -> bool,
    producer: &mut Producer,
    header: Header,
    payload: &[u8],
) -> Room {
    // SAFETY: `Session::attach` keeps the promises that this needs.
    if let Some(reservation) = unsafe { producer.reserve(header) } {
        // SAFETY: the reservation is as long as the header said.
        unsafe { reservation.payload.as_ptr().copy_from(payload.as_ptr(), payload.len()) };
        // SAFETY: the last reservation, written.
        unsafe { publish(producer, reservation) };
        return Room::Ready;
    }
    match producer.make_room(header.len_untrusted().into()) {
        Room::Ready => try_produce_by(publish, producer, header, payload),
        other => other,
    }
}

/// Record `seq` of the checked kind: its length and every byte follow from `seq`.
pub fn produce_checked(producer: &mut Producer, seq: u64) -> Room {
    let mut payload = [0; 88];
    let payload = fill_checked(&mut payload, seq);
    try_produce(producer, (seq % 1000) as u16, 0, payload)
}

fn fill_checked(payload: &mut [u8; 88], seq: u64) -> &[u8] {
    let len = 8 + (seq.wrapping_mul(0x9E37_79B9) >> 7) as usize % 80;
    payload[..8].copy_from_slice(&seq.to_le_bytes());
    payload[8..len].fill(seq as u8);
    &payload[..len]
}

/// One record of a batch or of what a merge emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub header: Header,
    pub stamp: Option<u64>,
    pub payload: Vec<u8>,
}

impl Record {
    /// Returns the number of the checked record; panics if the record is not a checked one.
    pub fn seq_checked(&self) -> u64 {
        let seq = u64::from_le_bytes(*self.payload.first_chunk().expect("8 bytes at least"));
        let mut expected = [0; 88];
        assert_eq!(self.payload, fill_checked(&mut expected, seq), "record {seq}");
        assert_eq!(u64::from(self.header.id()), seq % 1000);
        seq
    }
}

/// Takes whole records apart; panics where they are not.
pub fn parse(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let header = Header(word(bytes));
        let len = header.len_untrusted() as usize;
        let stamp = header.is_stamped().then(|| word(&bytes[8..]));
        let payload = bytes[header.payload_offset()..len].to_vec();
        let (padding, rest) = bytes[len..].split_at(header.span_untrusted() as usize - len);
        assert!(padding.iter().all(|&byte| byte == 0), "padding is cleared");
        records.push(Record { header, stamp, payload });
        bytes = rest;
    }
    records
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("a whole word"))
}

/// Drains the published records, and returns them.
pub fn drain(consumer: &mut Consumer<SegmentRing>) -> Vec<Record> {
    let head = consumer.head_untrusted();
    drain_to(consumer, head)
}

pub fn drain_to(consumer: &mut Consumer<SegmentRing>, head: u64) -> Vec<Record> {
    let mut batch = Batch::default();
    consumer.drain_into(head, Reading::First, &mut batch).expect("a lawful producer");
    records_of(batch)
}

/// The records of one batch.
pub fn records_of(batch: Batch) -> Vec<Record> {
    let mut merger = gapii_ringbuf::Merger::new();
    let lane = merger.add(());
    *merger.batch_mut(lane).expect("the lane was just added") = batch;
    let mut records = Vec::new();
    merger.merge(|emitted| records.extend(parse(emitted.bytes)));
    records
}

/// Tries `done` until it is; panics after ten seconds.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// Numbers that are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
