//! Commands on their way through the recorder, read by the consumer that the daemon uses. Runs under Miri, which checks
//! who may use a thread's recorder when.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gapii_abi::atom::{
    BLOB, Blob, EFFECT, FRAME_END, GAP, Gap, LEAVE, NUMBERED, OBSERVED_INLINE, OBSERVED_NONE,
    OBSERVED_NUMBER, SETUP, TIME, Time, TimeKind, observation_word, range_word,
};
use gapii_edges::Epoch;
use gapii_recorder::{Call, Entered, Host, Outlook, Part, Shared, Thread, observe};
use gapii_ringbuf::{
    Consumer, CounterMap, Header, Merger, ModeMap, Overflow, Reading, Segment, SegmentLayout,
    SegmentRing, SlotCounts,
};

/// The command of these tests.
const ID: u16 = 3;
/// Smallest ring.
const RING_BYTES: u64 = 4096;

/// What a process shares with a daemon; leaked, like a process' connection.
fn shared(slots: u32, ring_bytes: u64) -> &'static Shared {
    let (segment, _) = Segment::create(SegmentLayout::new(slots, ring_bytes).unwrap()).unwrap();
    let (counter, _) = CounterMap::create().unwrap();
    let shared = Shared::new(Arc::new(segment), counter, ModeMap::idle().unwrap()).unwrap();
    Box::leak(Box::new(shared))
}

/// A thread that has claimed slot 0, and the daemon's end of its ring.
fn claim(shared: &'static Shared) -> (&'static Thread, Consumer<SegmentRing>) {
    let slot = shared.segment.claim(7, [0; 16]).unwrap();
    let state = Box::leak(Box::new(MaybeUninit::zeroed())).as_mut_ptr();
    // SAFETY: zeros that stay, and the slot was just claimed.
    let thread = unsafe { Thread::claim(state, 7, shared, slot) }.unwrap();
    (thread, Consumer::new(SegmentRing::new(&shared.segment, slot).unwrap()))
}

/// Enters a thread by the slow path, and begins the present epoch in it.
fn begin_epoch(thread: &'static Thread, epoch: &Epoch, is_timed: bool) -> Entered {
    // SAFETY: the tests call this in the thread itself, outside a command.
    let (mut entered, epoch) = unsafe { thread.enter_slowly(epoch) }.unwrap();
    thread.begin_epoch(epoch);
    thread.set_ready(true, false);
    let is_gpu_timed = false;
    entered.begin_epoch(Part { epoch, order: 2, is_new_capture: true, is_timed, is_gpu_timed });
    entered
}

/// Begins a command by the fast path.
fn enter(thread: &'static Thread, epoch: &Epoch) -> Option<Call> {
    // SAFETY: the tests call this in the thread itself.
    unsafe { thread.enter(epoch) }.map(|entered| Call::new(entered, ID))
}

/// Records a command with one argument, and `read` as the memory that it reads. False if there is no room.
fn record(call: Call, argument: u64, read: &[u8]) -> bool {
    let mut reads = [observe::array(read.as_ptr(), read.len() as i64, 1)];
    // SAFETY: the fixed part is one word, which is written.
    let Some(entering) = (unsafe { call.reserve_observing(EFFECT, 8, &mut reads) }) else {
        return false;
    };
    // SAFETY: the payload begins with the fixed part.
    unsafe { entering.put_word(0, argument) };
    // SAFETY: the fixed part is written, and the reads are the same.
    unsafe { entering.publish_observing(8, &reads) }.finish();
    true
}

/// A record as the daemon finds it.
#[derive(Debug)]
struct Record {
    header: Header,
    /// The payload without its padding.
    payload: Vec<u8>,
}

impl Record {
    fn is(&self, id: u16, flags: u16) -> bool {
        (self.header.id(), self.header.flags() & flags) == (id, flags)
    }

    fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(*self.payload[index * 8..].first_chunk().unwrap())
    }
}

/// Takes all published records, and releases their room.
fn drain(consumer: &mut Consumer<SegmentRing>) -> Vec<Record> {
    let mut merger = Merger::new();
    let lane = merger.add(());
    let head = consumer.head_untrusted();
    consumer.drain_into(head, Reading::First, merger.batch_mut(lane).unwrap()).unwrap();
    let mut records = Vec::new();
    merger.merge(|emitted| {
        let mut bytes: &[u8] = emitted.bytes;
        while let Some(word) = bytes.first_chunk() {
            let header = Header(u64::from_le_bytes(*word));
            let payload = bytes[header.payload_offset()..header.len_untrusted() as usize].to_vec();
            records.push(Record { header, payload });
            bytes = &bytes[header.span_untrusted() as usize..];
        }
    });
    consumer.release(consumer.read_index());
    records
}

/// Returns the bytes of the blob in these pieces.
fn bytes_of(pieces: &[Record]) -> Vec<u8> {
    assert!(pieces.iter().all(|piece| piece.is(BLOB, 0)), "{pieces:?}");
    pieces.iter().flat_map(|piece| piece.payload[Blob::LEN..].to_vec()).collect()
}

#[test]
fn command_is_in_the_ring_before_its_driver_call_and_its_result_behind_it() {
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, RING_BYTES));
    assert!(enter(thread, &epoch).is_none(), "nothing is recorded");
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    let mut reads = [observe::array([1_u8, 2, 3].as_ptr(), 3, 1)];
    let call = enter(thread, &epoch).unwrap();
    // SAFETY: the fixed part is one word, which is written.
    let entering = unsafe { call.reserve_observing(EFFECT, 8, &mut reads) }.unwrap();
    // SAFETY: the payload begins with the fixed part.
    unsafe { entering.put_word(0, 9_u32) };
    // SAFETY: the fixed part is written, and the reads are the same.
    let call = unsafe { entering.publish_observing(8, &reads) };
    let entered = drain(&mut consumer);
    assert!(entered.len() == 1 && entered[0].is(ID, EFFECT), "{entered:?}");
    assert_eq!((entered[0].word(0), entered[0].word(1)), (9, observation_word(OBSERVED_INLINE, 3)));
    assert_eq!(entered[0].payload[16..], [1, 2, 3, 0, 0, 0, 0, 0]);
    call.leave_result(ID, 0, 5_u32);
    let left = drain(&mut consumer);
    assert!(
        left.len() == 1 && left[0].is(ID, LEAVE) && left[0].payload == [5, 0, 0, 0],
        "{left:?}"
    );
}

#[test]
fn time_is_told_while_the_command_is_in_progress() {
    let epoch = Epoch::none();
    for is_timed in [false, true] {
        let (thread, mut consumer) = claim(shared(1, RING_BYTES));
        epoch.begin(17, 2);
        drop(begin_epoch(thread, &epoch, is_timed));
        // SAFETY: the command has no arguments.
        let entering = unsafe { enter(thread, &epoch).unwrap().reserve(EFFECT, 0) }.unwrap();
        // SAFETY: as above.
        let mut call = unsafe { entering.publish() };
        call.recorder().tell_time(Time::of_command(ID, 77));
        // The daemon takes a command with these records for one in flight.
        assert_eq!(consumer.finished_untrusted(), 0);
        call.leave_result(ID, FRAME_END, 5_u32);
        let [enter, time, leave] = &drain(&mut consumer)[..] else { panic!("three records") };
        assert!(enter.is(ID, EFFECT) && leave.is(ID, LEAVE | FRAME_END), "{leave:?}");
        let told = Time::of_command(ID, 77);
        assert!(time.is(TIME, 0) && time.payload == told.encode(), "{time:?}");
        assert_eq!(consumer.finished_untrusted(), consumer.read_index());
    }
}

#[test]
fn mark_says_when_it_is_called_ahead_of_its_enter_record_or_in_its_times() {
    let epoch = Epoch::none();
    for is_timed in [false, true] {
        let (thread, mut consumer) = claim(shared(1, RING_BYTES));
        epoch.begin(17, 2);
        drop(begin_epoch(thread, &epoch, is_timed));
        let before_ns = gapii_recorder::clock_ns();
        let mut call = enter(thread, &epoch).unwrap();
        call.recorder().tell_begin(ID);
        let after_ns = gapii_recorder::clock_ns();
        assert!(record(call, 9, &[]));
        let records = drain(&mut consumer);
        if is_timed {
            assert!(records.len() == 2 && records[1].header.is_timed(), "{records:?}");
            continue;
        }
        let [time, enter] = &records[..] else { panic!("{records:?}") };
        assert!(time.is(TIME, 0) && enter.is(ID, EFFECT), "{records:?}");
        let (time, _) = Time::decode(&time.payload).unwrap();
        assert!((before_ns..=after_ns).contains(&time.at_ns), "{time:?}");
        assert_eq!(time.command(), Some(ID));
    }
}

#[test]
fn command_from_inside_a_command_is_not_recorded() {
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, RING_BYTES));
    epoch.begin(17, 2);
    let mut entered = begin_epoch(thread, &epoch, false);
    assert!(thread.is_inside() && enter(thread, &epoch).is_none());
    // SAFETY: in the thread itself.
    assert!(unsafe { thread.enter_between_commands() }.is_none());
    // What the outer command does afterwards is not disturbed.
    entered.write_meta(GAP, &[0; 8]);
    drop(entered);
    assert!(!thread.is_inside());
    assert!(record(enter(thread, &epoch).unwrap(), 1, &[]));
    assert_eq!(drain(&mut consumer).len(), 2);
}

#[test]
fn next_epoch_and_special_ready_words_send_commands_to_the_slow_path() {
    let epoch = Epoch::none();
    let (thread, _) = claim(shared(1, RING_BYTES));
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    assert!(enter(thread, &epoch).is_some());
    thread.set_own(true);
    assert!(thread.records_gl() && enter(thread, &epoch).is_none());
    thread.set_own(false);
    assert!(enter(thread, &epoch).is_some());
    thread.set_watches(true);
    thread.set_own(false);
    assert!(thread.records_gl() && enter(thread, &epoch).is_none());
    thread.set_watches(false);
    thread.set_own(false);
    assert!(enter(thread, &epoch).is_some());
    epoch.begin(18, 2);
    assert!(enter(thread, &epoch).is_none());
    let entered = begin_epoch(thread, &epoch, false);
    thread.set_ready(false, false);
    drop(entered);
    assert!(!thread.records_gl() && enter(thread, &epoch).is_none());
    epoch.end();
    // SAFETY: in the thread itself, outside a command.
    assert!(unsafe { thread.enter_slowly(&epoch) }.is_none());
    assert!(!thread.is_inside(), "a thread that finds no capture is outside again");
}

#[test]
fn records_without_room_are_counted_and_reported_by_one_gap() {
    let epoch = Epoch::none();
    let shared = shared(1, RING_BYTES);
    let (thread, mut consumer) = claim(shared);
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    let written = (0..).take_while(|at| record(enter(thread, &epoch).unwrap(), *at, &[])).count();
    assert!(written > 50, "{written}");
    assert!(!record(enter(thread, &epoch).unwrap(), 0, &[]));
    assert_eq!(drain(&mut consumer).len(), written);
    assert!(record(enter(thread, &epoch).unwrap(), 77, &[]));
    let after = drain(&mut consumer);
    assert!(after.len() == 2 && after[0].is(GAP, 0) && after[1].word(0) == 77, "{after:?}");
    let (gap, _) = Gap::decode(&after[0].payload).unwrap();
    assert_eq!((gap.records, gap.calls), (2, 2));
    let counts = shared.segment.slot(0).unwrap().counts_untrusted();
    assert_eq!((counts.produced, counts.dropped_records), (written as u64 + 2, 2));
}

#[test]
fn memory_that_was_sent_is_referred_to_and_ranges_stand_behind_observations() {
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, 1 << 16));
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    let large: Vec<u8> = (0..=255).cycle().take(1500).collect();
    let mut number = 0;
    for round in 0..2 {
        let mut call = enter(thread, &epoch).unwrap();
        let (at, len) = (large.as_ptr() as u64, large.len() as u64);
        call.recorder().add_range(2, at, 10);
        call.recorder().add_range(2, at + 10, 6);
        call.recorder().set_range_apart();
        call.recorder().add_range(2, at + 16, 4);
        call.recorder().add_unknown_range(255, at + 20);
        call.recorder().add_range(255, at + 20, 4);
        assert!(record(call, 1, &large));
        let records = drain(&mut consumer);
        let (command, before) = records.split_last().unwrap();
        if round == 0 {
            let (numbered, pieces) = before.split_last().unwrap();
            assert!(numbered.is(NUMBERED, 0), "{numbered:?}");
            number = numbered.word(0);
            assert_eq!(bytes_of(pieces), large);
        } else {
            assert_eq!(before.len(), 0);
        }
        assert_eq!(command.word(1), observation_word(OBSERVED_NUMBER, len));
        assert_eq!(command.word(2), number);
        assert_eq!([command.word(3), command.word(4)], [at, range_word(OBSERVED_INLINE, 2, 16)]);
        let third = [command.word(7), command.word(8)];
        assert_eq!(third, [at + 16, range_word(OBSERVED_INLINE, 2, 4)]);
        let of_unknown_extent = [command.word(10), command.word(11)];
        assert_eq!(of_unknown_extent, [at + 20, range_word(OBSERVED_NONE, 255, 0)]);
        let last = [command.word(12), command.word(13)];
        assert_eq!(last, [at + 20, range_word(OBSERVED_INLINE, 255, 4)]);
    }
}

#[test]
fn blob_that_is_known_leaves_no_stamp_unused() {
    let epoch = Epoch::none();
    let shared = shared(2, 1 << 16);
    let ((first, mut of_first), (second, mut of_second)) = (claim(shared), claim(shared));
    epoch.begin(17, 2);
    drop(begin_epoch(first, &epoch, false));
    drop(begin_epoch(second, &epoch, false));
    let large = [7; 600];
    assert!(record(enter(first, &epoch).unwrap(), 1, &large));
    assert_eq!(drain(&mut of_first).len(), 3);
    for round in 0..3 {
        // The other thread takes stamps, so the first one needs its own for its next record.
        assert!(record(enter(second, &epoch).unwrap(), round, &[]));
        drain(&mut of_second);
        assert!(record(enter(first, &epoch).unwrap(), round, &large));
        let records = drain(&mut of_first);
        assert!(records.len() == 1 && records[0].is(ID, EFFECT), "{records:?}");
        assert!(records[0].header.is_stamped());
    }
}

#[test]
fn long_blobs_are_looked_up_until_many_in_a_row_were_new() {
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, RING_BYTES));
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    let mut send = |byte: u8| {
        // Three pieces in so small a ring.
        let long = [byte; 600];
        assert!(record(enter(thread, &epoch).unwrap(), 1, &long));
        let records = drain(&mut consumer);
        let (command, before) = records.split_last().unwrap();
        let number = command.word(2);
        let Some((numbered, pieces)) = before.split_last() else { return (number, false) };
        assert!(pieces.len() == 3 && numbered.is(NUMBERED, 0) && numbered.word(0) == number);
        assert_eq!(bytes_of(pieces), long);
        (number, true)
    };
    let (first, is_sent) = send(0);
    assert!(is_sent);
    assert_eq!(send(0), (first, false));
    let sent: Vec<_> = (1..=8).map(&mut send).collect();
    assert!(sent.iter().all(|(number, is_sent)| *is_sent && *number > first));
    // It is sent without a look, and found to be known then.
    let (again, is_sent) = send(0);
    assert!(is_sent && again > first);
    assert!(!send(0).1);
}

#[test]
fn owed_blob_has_the_number_by_which_an_earlier_record_refers_to_it() {
    const NUMBER: u64 = 77;
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, RING_BYTES));
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, false));
    let bytes = [5; 200];
    let mut call = enter(thread, &epoch).unwrap();
    call.recorder().add_owed_range(2, 0x5000, bytes.len() as u64, NUMBER);
    assert!(record(call, 1, &[]));
    let referring = drain(&mut consumer);
    assert!(referring.len() == 1 && referring[0].is(ID, EFFECT), "{referring:?}");
    let range = [0x5000, range_word(OBSERVED_NUMBER, 2, bytes.len() as u64), NUMBER];
    let words = referring[0].payload.len() / 8;
    assert_eq!([3, 2, 1].map(|back| referring[0].word(words - back)), range);

    let mut call = enter(thread, &epoch).unwrap();
    assert!(call.recorder().send_owed(&bytes, NUMBER));
    call.in_flight().finish();
    let sent = drain(&mut consumer);
    let (numbered, pieces) = sent.split_last().unwrap();
    assert!(numbered.is(NUMBERED, 0) && numbered.word(0) == NUMBER, "{numbered:?}");
    let sent: Vec<u8> =
        pieces.iter().flat_map(|piece| piece.payload[Blob::LEN..].to_vec()).collect();
    assert_eq!(sent, bytes);
    // From here on other records refer to it, too.
    assert!(record(enter(thread, &epoch).unwrap(), 1, &bytes));
    let again = drain(&mut consumer);
    assert!(again.len() == 1 && again[0].payload.ends_with(&NUMBER.to_le_bytes()), "{again:?}");
}

#[test]
fn timed_command_has_a_leave_record_with_its_time() {
    let epoch = Epoch::none();
    let (thread, mut consumer) = claim(shared(1, RING_BYTES));
    epoch.begin(17, 2);
    drop(begin_epoch(thread, &epoch, true));
    assert!(record(enter(thread, &epoch).unwrap(), 1, &[]));
    let records = drain(&mut consumer);
    assert!(records.len() == 2 && records[1].is(ID, LEAVE), "{records:?}");
    assert!(records[1].header.is_timed() && !records[0].header.is_timed());
    // A record that is no command has no time.
    let mut call = enter(thread, &epoch).unwrap();
    call.recorder().write_meta(GAP, &[0; 8]);
    call.in_flight().finish();
    let records = drain(&mut consumer);
    assert!(records.len() == 1 && !records[0].header.is_timed(), "{records:?}");
}

/// A process in which frames end: this many of them belong to the capture.
struct Counting(AtomicU64);

impl Host for Counting {
    fn overflow(&self) -> Overflow {
        Overflow::Drop
    }

    fn look_around(&self) -> Duration {
        Duration::ZERO
    }

    fn outlook(&self, _stalled: Duration) -> Outlook {
        Outlook::Waits
    }

    fn leave_capture(&self) {}

    fn frame_ended(&self) -> Option<u64> {
        let left = self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        left.ok().map(|_| 77)
    }
}

#[test]
fn command_that_ends_a_frame_has_a_leave_record_behind_the_time() {
    for is_timed in [false, true] {
        let epoch = Epoch::none();
        let shared = shared(1, RING_BYTES);
        let (thread, mut consumer) = claim(shared);
        shared.set_host(Box::leak(Box::new(Counting(AtomicU64::new(2)))));
        epoch.begin(17, 2);
        drop(begin_epoch(thread, &epoch, is_timed));
        let end_frame_at = |id| {
            enter(thread, &epoch).unwrap().recorder().set_frame_end(id);
        };
        end_frame_at(Some(ID));
        assert!(record(enter(thread, &epoch).unwrap(), 1, &[]));
        let records = drain(&mut consumer);
        assert!(records.len() == 3 && records[1].is(TIME, 0), "{records:?}");
        assert_eq!(Time::decode(&records[1].payload).unwrap().0, Time::of_command(ID, 77));
        assert!(records[2].is(ID, LEAVE | FRAME_END), "{records:?}");
        assert_eq!(records[2].header.is_timed(), is_timed, "{records:?}");
        // The next one ends no frame, and takes the fast path again.
        assert!(record(enter(thread, &epoch).unwrap(), 2, &[]));
        let records = drain(&mut consumer);
        assert_eq!(records.len(), if is_timed { 2 } else { 1 }, "{records:?}");
        // A command with a result has one leave record.
        end_frame_at(Some(ID));
        // SAFETY: the fixed part is one word, which is written.
        let entering = unsafe { enter(thread, &epoch).unwrap().reserve(EFFECT, 8) }.unwrap();
        // SAFETY: the payload is the fixed part.
        unsafe { entering.put_word(0, 3_u64) };
        // SAFETY: the payload is written.
        unsafe { entering.publish() }.leave_result(ID, 0, 9_u32);
        let records = drain(&mut consumer);
        assert!(records.len() == 3 && records[2].is(ID, LEAVE | FRAME_END), "{records:?}");
        assert!(records[2].payload.ends_with(&9_u32.to_le_bytes()), "{records:?}");
        // The capture has all of its frames: the command has a leave record that ends none.
        end_frame_at(Some(ID));
        assert!(record(enter(thread, &epoch).unwrap(), 4, &[]));
        let records = drain(&mut consumer);
        assert!(records.iter().all(|it| !it.is(ID, FRAME_END) && !it.is(TIME, 0)), "{records:?}");
        // Another command than the one that was named, and one that takes back the name.
        end_frame_at(Some(ID + 1));
        end_frame_at(None);
        assert!(record(enter(thread, &epoch).unwrap(), 5, &[]));
        let records = drain(&mut consumer);
        assert_eq!(records.len(), if is_timed { 2 } else { 1 }, "{records:?}");
    }
}

#[test]
fn command_that_recreates_state_says_so_and_its_blobs_do_not() {
    for is_timed in [false, true] {
        let epoch = Epoch::none();
        let (thread, mut consumer) = claim(shared(1, RING_BYTES));
        epoch.begin(17, 2);
        drop(begin_epoch(thread, &epoch, is_timed));
        let set_setup = |is_setup| {
            enter(thread, &epoch).unwrap().recorder().set_setup(is_setup);
        };
        set_setup(true);
        // Another part of the capture changes nothing.
        drop(begin_epoch(thread, &epoch, is_timed));
        assert!(record(enter(thread, &epoch).unwrap(), 1, &[7; 1000]));
        let records = drain(&mut consumer);
        let (commands, blobs): (Vec<_>, Vec<_>) =
            records.iter().partition(|it| it.header.id() == ID);
        assert!(!blobs.is_empty() && blobs.iter().all(|it| !it.is(it.header.id(), SETUP)));
        assert_eq!(commands.len(), if is_timed { 2 } else { 1 }, "{records:?}");
        assert!(commands.iter().all(|it| it.is(ID, SETUP)), "{records:?}");
        set_setup(false);
        assert!(record(enter(thread, &epoch).unwrap(), 2, &[]));
        let records = drain(&mut consumer);
        assert_eq!(records.len(), if is_timed { 2 } else { 1 }, "{records:?}");
        assert!(records.iter().all(|it| !it.is(ID, SETUP)), "{records:?}");
    }
}

/// A process whose daemon takes what is in the ring when a thread waits.
struct Releasing(Mutex<(Consumer<SegmentRing>, Vec<Record>)>);

impl Host for Releasing {
    fn overflow(&self) -> Overflow {
        Overflow::Wait
    }

    fn look_around(&self) -> Duration {
        Duration::ZERO
    }

    fn outlook(&self, _stalled: Duration) -> Outlook {
        let (consumer, records) = &mut *self.0.lock().unwrap();
        records.extend(drain(consumer));
        Outlook::Waits
    }

    fn leave_capture(&self) {}
}

/// Records 1,000 commands through a ring that has no room for them, and returns the records and what the thread counted.
fn recorded_through_a_small_ring(
    begin: impl Fn(&'static Thread, &Epoch),
) -> (Vec<Record>, SlotCounts) {
    let epoch = Epoch::none();
    let shared = shared(1, RING_BYTES);
    let (thread, consumer) = claim(shared);
    let host = Box::leak(Box::new(Releasing(Mutex::new((consumer, Vec::new())))));
    shared.set_host(host);
    epoch.begin(17, 2);
    begin(thread, &epoch);
    assert!((0..1000).all(|at| record(enter(thread, &epoch).unwrap(), at, &[])));
    let (consumer, records) = &mut *host.0.lock().unwrap();
    records.extend(drain(consumer));
    let counts = shared.segment.slot(0).unwrap().counts_untrusted();
    (std::mem::take(records), counts)
}

#[test]
#[cfg_attr(miri, ignore = "waits by a system call")]
fn waits_are_told_ahead_of_the_records_that_waited() {
    let begun_ns = gapii_recorder::clock_ns();
    for is_timed in [false, true] {
        let begin = |thread, epoch: &Epoch| drop(begin_epoch(thread, epoch, is_timed));
        let (records, counts) = recorded_through_a_small_ring(begin);
        let now_ns = gapii_recorder::clock_ns();
        let commands = records.iter().filter(|record| record.is(ID, EFFECT));
        assert!(commands.map(|record| record.word(0)).eq(0..1000));
        let told = |record: &Record| Time::decode(&record.payload).unwrap().0;
        let times: Vec<Time> = records.iter().filter(|it| it.is(TIME, 0)).map(told).collect();
        assert!(counts.waits > 3 && times.len() as u64 == counts.waits, "{counts:?} {times:?}");
        let mut last_ns = begun_ns;
        for time in &times {
            assert_eq!(time.kind, TimeKind::Wait);
            let end_ns = time.at_ns + time.duration_ns;
            assert!(last_ns <= time.at_ns && end_ns <= now_ns, "{time:?}");
            last_ns = end_ns;
        }
        // The ring counts the sleeps alone.
        let told_ns: u64 = times.iter().map(|time| time.duration_ns).sum();
        assert!(told_ns >= counts.wait_ns, "{told_ns} {counts:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "waits by a system call")]
fn thread_of_the_shim_tells_no_waits() {
    let begin = |thread, epoch: &Epoch| {
        let mut entered = begin_epoch(thread, epoch, false);
        entered.count_no_waits();
    };
    let (records, counts) = recorded_through_a_small_ring(begin);
    assert_eq!((records.len(), counts.waits), (1000, 0));
}

/// Three threads record, and a fourth looks at their gates all the while.
#[test]
fn threads_record_beside_each_other_while_another_looks_at_their_gates() {
    const COMMANDS: u64 = if cfg!(miri) { 20 } else { 2000 };
    let epoch = Epoch::none();
    epoch.begin(17, 2);
    let shared = shared(3, 1 << 18);
    let threads: Vec<_> = (0..3).map(|_| claim(shared)).collect();
    let looked: Vec<&'static Thread> = threads.iter().map(|(thread, _)| *thread).collect();
    let is_over = AtomicBool::new(false);
    let large = [7; 600];
    thread::scope(|scope| {
        let (epoch, is_over, large) = (&epoch, &is_over, &large);
        let work = threads.into_iter().map(|(thread, mut consumer)| {
            scope.spawn(move || {
                drop(begin_epoch(thread, epoch, false));
                for at in 0..COMMANDS {
                    assert!(record(enter(thread, epoch).unwrap(), at, large));
                }
                let records = drain(&mut consumer);
                let commands = records.iter().filter(|record| record.is(ID, EFFECT));
                assert!(commands.map(|record| record.word(0)).eq(0..COMMANDS));
            })
        });
        let work: Vec<_> = work.collect();
        scope.spawn(move || {
            while !is_over.load(Relaxed) {
                let outside = looked.iter().filter(|thread| thread.is_outside()).count();
                assert!(outside <= looked.len());
                thread::yield_now();
            }
        });
        work.into_iter().for_each(|worker| worker.join().unwrap());
        is_over.store(true, Relaxed);
    });
}

#[test]
fn state_that_a_fork_has_wiped_records_nothing() {
    let epoch = Epoch::none();
    epoch.begin(17, 2);
    let state: &MaybeUninit<Thread> = Box::leak(Box::new(MaybeUninit::zeroed()));
    // SAFETY: all zeros is a valid state.
    let thread: &'static Thread = unsafe { state.assume_init_ref() };
    assert!(!thread.is_claimed() && !thread.is_inside());
    assert!(enter(thread, &epoch).is_none());
    thread.set_own(true);
    assert!(enter(thread, &epoch).is_none());
}

/// Prints the time of a command with a leave record: alone, with a TIME ahead of the leave record as at the end of a frame,
/// as a mark, and with the times of `--timing`. The figures are in docs/benchmarks.md.
#[test]
#[ignore = "measures, and checks nothing"]
fn print_costs_of_times() {
    const COMMANDS: u64 = 100_000;
    for (name, is_timed, is_mark, tells) in [
        ("plain", false, false, false),
        ("with a TIME", false, false, true),
        ("a mark", false, true, false),
        ("timed", true, false, false),
        ("a timed mark", true, true, false),
    ] {
        let epoch = Epoch::none();
        let (thread, mut consumer) = claim(shared(1, 64 << 20));
        epoch.begin(17, 2);
        drop(begin_epoch(thread, &epoch, is_timed));
        let mut best = Duration::MAX;
        for _ in 0..60 {
            let start = Instant::now();
            for argument in 0..COMMANDS {
                let mut call = enter(thread, &epoch).unwrap();
                if is_mark {
                    call.recorder().tell_begin(ID);
                }
                // SAFETY: the fixed part is one word, which is written.
                let entering = unsafe { call.reserve(EFFECT, 8) }.unwrap();
                // SAFETY: the payload is the fixed part.
                unsafe { entering.put_word(0, argument) };
                // SAFETY: the payload is written.
                let mut call = unsafe { entering.publish() };
                if tells {
                    call.recorder().tell_time(Time::of_command(ID, argument));
                }
                call.leave_result(ID, 0, 1_u32);
            }
            best = best.min(start.elapsed());
            drain(&mut consumer);
        }
        println!("{name}: {:.1} ns a command", best.as_nanos() as f64 / COMMANDS as f64);
    }
}
