//! The segment: what lies where in the memory that an application shares with its daemon.
//!
//! ```text
//! 0          SegmentHeader                     one page
//! 4096       Slot 0, Slot 1, ...               256 bytes each
//! rings_at   ring 0, ring 1, ...               ring_bytes each, a power of two
//! ```
//!
//! ```text
//! Slot          word             written by        read by
//!   0  line 0   head             producer          consumer     PUBLISH
//!   8           finished         producer          consumer
//!  16           produced         producer          consumer     ADOPT
//!  64  line 1   state            both (CAS)        both         CLAIM
//!  68           tid              producer          consumer
//!  72           name             producer          consumer
//!  88           waits            producer          consumer
//!  96           wait_ns          producer          consumer
//! 104           dropped_records  producer          consumer
//! 112           dropped_calls    producer          consumer
//! 120           dropped_bytes    producer          consumer
//! 128  line 2   release          consumer          producer     RELEASE
//! 136           release_word     consumer          producer     futex
//! 140           refused          consumer          producer
//! 144           begun            consumer          the next daemon
//! 192  line 3   waiting          producer          consumer
//! 200           joined           consumer          the next daemon
//! ```
//!
//! Every word is an atomic and the whole segment is writable by the application, so a word says
//! only what its writer wanted it to say. docs/memory-model.md names the edges.

use crate::record::RECORD_LEN_MAX;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// First word of a segment: `GAPIISEG`.
pub const SEGMENT_MAGIC: u64 = u64::from_le_bytes(*b"GAPIISEG");
/// The layout described here.
pub const SEGMENT_VERSION: u32 = 1;
/// Slots in a segment unless the daemon is told otherwise.
pub const SLOT_COUNT_DEFAULT: u32 = 256;
/// Bytes in a ring unless the daemon is told otherwise: 4 MiB.
pub const RING_BYTES_DEFAULT: u64 = 4 << 20;
/// Most slots in a segment.
pub const SLOT_COUNT_MAX: u32 = 1 << 16;
/// Smallest ring, in bytes.
pub const RING_BYTES_MIN: u64 = 4096;
/// Largest ring, in bytes.
pub const RING_BYTES_MAX: u64 = 1 << 30;

/// Where the slot table starts.
const SLOTS_AT: u64 = 4096;
/// The rings start at a multiple of this, a page on every machine.
const RINGS_ALIGN: u64 = 1 << 16;
/// Bytes a slot takes in the table.
const SLOT_BYTES: u64 = 256;

/// Longest record a ring of `ring_bytes` takes, stamp included.
#[inline(always)]
pub const fn record_len_max(ring_bytes: u64) -> u64 {
    let quarter = ring_bytes / 4;
    if quarter < RECORD_LEN_MAX as u64 { quarter } else { RECORD_LEN_MAX as u64 }
}

/// The sizes of a segment, checked. Both sides keep their own copy and never ask the memory again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentLayout {
    slot_count: u32,
    ring_bytes: u64,
}

impl SegmentLayout {
    /// `None` unless `slot_count` is 1 to [`SLOT_COUNT_MAX`] and `ring_bytes` a power of two from
    /// [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`].
    pub const fn new(slot_count: u32, ring_bytes: u64) -> Option<Self> {
        let slots_fit = slot_count >= 1 && slot_count <= SLOT_COUNT_MAX;
        let ring_fits = ring_bytes >= RING_BYTES_MIN && ring_bytes <= RING_BYTES_MAX;
        if slots_fit && ring_fits && ring_bytes.is_power_of_two() {
            Some(Self { slot_count, ring_bytes })
        } else {
            None
        }
    }

    /// Slots in the table.
    pub const fn slot_count(self) -> u32 {
        self.slot_count
    }

    /// Bytes in each ring.
    pub const fn ring_bytes(self) -> u64 {
        self.ring_bytes
    }

    /// Bytes in the whole segment.
    pub const fn segment_bytes(self) -> u64 {
        self.rings_at() + self.slot_count as u64 * self.ring_bytes
    }

    /// Offset of slot `index`, which is below [`Self::slot_count`].
    pub const fn slot_at(self, index: u32) -> u64 {
        SLOTS_AT + index as u64 * SLOT_BYTES
    }

    /// Offset of ring `index`, which is below [`Self::slot_count`].
    pub const fn ring_at(self, index: u32) -> u64 {
        self.rings_at() + index as u64 * self.ring_bytes
    }

    const fn rings_at(self) -> u64 {
        self.slot_at(self.slot_count).next_multiple_of(RINGS_ALIGN)
    }
}

impl Default for SegmentLayout {
    fn default() -> Self {
        Self { slot_count: SLOT_COUNT_DEFAULT, ring_bytes: RING_BYTES_DEFAULT }
    }
}

/// First page of a segment. The sizes are written by the daemon before anyone else has the memory;
/// the counters are the application's, and plain claims to the daemon.
#[repr(C)]
pub struct SegmentHeader {
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU32,
    pub(crate) slot_count: AtomicU32,
    pub(crate) ring_bytes: AtomicU64,
    reserved: [u64; 5],
    /// Frames ended so far in this process.
    pub frames: AtomicU64,
    /// Generation of the mode page whose capture has put its hooks back.
    pub ended_generation: AtomicU64,
    /// Calls made from inside the shim, handed straight to the driver.
    pub reentrant_calls: AtomicU64,
    /// Calls that were not recorded because no slot was free for their thread.
    pub unslotted_calls: AtomicU64,
    /// Contexts that the process has.
    pub contexts: AtomicU64,
    /// Bytes of blobs that were sent for the daemon's store, ever: counted before the first is sent.
    pub stored_bytes: AtomicU64,
    /// Bytes of blobs that would have been, had there been room.
    pub unstored_bytes: AtomicU64,
    /// Nanoseconds of the longest frame that has ended since the daemon took the number away.
    pub longest_frame_ns: AtomicU64,
    /// The consumer's: [`Self::unslotted_calls`] when the process' part of a capture began.
    pub begun_unslotted_calls: AtomicU64,
    /// Bits of the APIs that the process has called so far.
    pub apis: AtomicU64,
}

/// Who has a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SlotState {
    /// Nobody; a thread may claim it.
    Free = 0,
    /// A thread publishes into it.
    Active = 1,
    /// Its thread is gone; the consumer frees it once all is released.
    Retired = 2,
}

impl SlotState {
    const fn of_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Free),
            1 => Some(Self::Active),
            2 => Some(Self::Retired),
            _ => None,
        }
    }
}

/// One ring's words: see the table at the top of this file for who writes which.
#[repr(C, align(64))]
pub struct Slot {
    pub(crate) head: AtomicU64,
    pub(crate) finished: AtomicU64,
    pub(crate) produced: AtomicU64,
    line_0: [u64; 5],
    pub(crate) state: AtomicU32,
    tid: AtomicU32,
    name: [AtomicU64; 2],
    pub(crate) waits: AtomicU64,
    pub(crate) wait_ns: AtomicU64,
    pub(crate) dropped_records: AtomicU64,
    pub(crate) dropped_calls: AtomicU64,
    pub(crate) dropped_bytes: AtomicU64,
    pub(crate) release: AtomicU64,
    pub(crate) release_word: AtomicU32,
    pub(crate) refused: AtomicU32,
    begun: [AtomicU64; 6],
    pub(crate) waiting: AtomicU32,
    joined: [AtomicU64; 2],
    line_3: [u64; 5],
}

/// Where a ring was when its process joined a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Joined {
    /// Ring index of the first record that could be in the capture.
    pub index: u64,
    /// Records below it, ever.
    pub produced: u64,
}

/// What a producer says it has done through a slot, over all threads that ever had it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlotCounts {
    /// Records written into the ring, padding not counted.
    pub produced: u64,
    /// Times a thread waited for room.
    pub waits: u64,
    /// Nanoseconds those waits took.
    pub wait_ns: u64,
    /// Records that were not written.
    pub dropped_records: u64,
    /// Commands that were not written.
    pub dropped_calls: u64,
    /// Bytes those records would have taken.
    pub dropped_bytes: u64,
}

impl Slot {
    /// Takes the slot for the calling thread, if it is free.
    pub fn claim(&self, tid: u32, name: [u8; 16]) -> bool {
        let (free, active) = (SlotState::Free as u32, SlotState::Active as u32);
        // Relaxed: only spares other threads' slots the exchange, which would take their line away.
        if self.state.load(Ordering::Relaxed) != free {
            return false;
        }
        // CLAIM: pairs with the release in Consumer::free_retired, so that the last owner's indices are
        // seen here. Relaxed on failure: nothing was learnt.
        let claimed =
            self.state.compare_exchange(free, active, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return false;
        }
        let (low, high) = name.split_at(8);
        // Relaxed: names are for people, and the thread's first record says them again.
        self.tid.store(tid, Ordering::Relaxed);
        for (word, half) in self.name.iter().zip([low, high]) {
            let half = half.try_into().unwrap_or_default();
            word.store(u64::from_le_bytes(half), Ordering::Relaxed);
        }
        true
    }

    /// Gives the slot back after the thread's last record. Only its owner may call this.
    pub fn retire(&self) {
        // CLAIM: pairs with the acquire in Consumer::free_retired, so that the consumer sees the last head.
        self.state.store(SlotState::Retired as u32, Ordering::Release);
    }

    /// Who has the slot; `None` if the word is none of the three.
    pub fn state(&self) -> Option<SlotState> {
        // CLAIM: pairs with the release in Slot::retire.
        SlotState::of_word(self.state.load(Ordering::Acquire))
    }

    /// Thread id of the last claimant, as it says.
    pub fn tid_untrusted(&self) -> u32 {
        // Relaxed: for people only.
        self.tid.load(Ordering::Relaxed)
    }

    /// Name of the last claimant, as it says: NUL-padded, any bytes.
    pub fn name_untrusted(&self) -> [u8; 16] {
        let mut name = [0; 16];
        for (half, word) in name.chunks_exact_mut(8).zip(&self.name) {
            // Relaxed: for people only.
            half.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        name
    }

    /// What the producer says it did.
    pub fn counts_untrusted(&self) -> SlotCounts {
        // Relaxed: six independent counters, final once the process is gone.
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        SlotCounts {
            produced: read(&self.produced),
            waits: read(&self.waits),
            wait_ns: read(&self.wait_ns),
            dropped_records: read(&self.dropped_records),
            dropped_calls: read(&self.dropped_calls),
            dropped_bytes: read(&self.dropped_bytes),
        }
    }

    /// Bytes that were ever written into the ring, as the producer says, padding included.
    pub fn written_untrusted(&self) -> u64 {
        // Relaxed: a number for people; who reads records asks the consumer.
        self.head.load(Ordering::Relaxed)
    }

    /// What the counts were when the present owner's part of a capture began, as the memory says: a note
    /// of the consumer's to one that takes its place.
    pub fn begun_untrusted(&self) -> SlotCounts {
        // Relaxed: numbers on their own, written by a daemon that is gone.
        let [produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes] =
            self.begun.each_ref().map(|word| word.load(Ordering::Relaxed));
        SlotCounts { produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes }
    }

    /// Notes them. Only the slot's consumer may call this.
    pub fn note_begun(&self, counts: SlotCounts) {
        let SlotCounts { produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes } =
            counts;
        let counts = [produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes];
        for (word, count) in self.begun.iter().zip(counts) {
            // Relaxed: as above.
            word.store(count, Ordering::Relaxed);
        }
    }

    /// Where the ring was when its process joined a capture, as the memory says: a note as above.
    pub fn joined_untrusted(&self) -> Joined {
        // Relaxed: as above.
        let [index, produced] = self.joined.each_ref().map(|word| word.load(Ordering::Relaxed));
        Joined { index, produced }
    }

    /// Notes it. Only the slot's consumer may call this.
    pub fn note_joined(&self, Joined { index, produced }: Joined) {
        for (word, value) in self.joined.iter().zip([index, produced]) {
            // Relaxed: as above. Seldom: the line is the producer's when it waits.
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Index below which the consumer says that ring space is free again.
    pub fn released_untrusted(&self) -> u64 {
        // Relaxed: tells a waiter that there is progress; make_room takes the edge.
        self.release.load(Ordering::Relaxed)
    }

    /// Counts what the owner did not write. Only the slot's owner may call this.
    pub fn count_dropped(&self, records: u64, calls: u64, bytes: u64) {
        add(&self.dropped_records, records);
        add(&self.dropped_calls, calls);
        add(&self.dropped_bytes, bytes);
    }

    /// Counts time the owner waited for room. Only the slot's owner may call this.
    pub(crate) fn count_wait(&self, waits: u64, ns: u64) {
        add(&self.waits, waits);
        add(&self.wait_ns, ns);
    }
}

/// Adds to a counter that has one writer: no locked instruction is needed.
fn add(counter: &AtomicU64, amount: u64) {
    // Relaxed: the caller is the only writer, and readers want a number, not an order.
    let sum = counter.load(Ordering::Relaxed).wrapping_add(amount);
    counter.store(sum, Ordering::Relaxed);
}

#[cfg(loom)]
impl Default for Slot {
    fn default() -> Self {
        Self {
            head: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            produced: AtomicU64::new(0),
            line_0: [0; 5],
            state: AtomicU32::new(0),
            tid: AtomicU32::new(0),
            name: [AtomicU64::new(0), AtomicU64::new(0)],
            waits: AtomicU64::new(0),
            wait_ns: AtomicU64::new(0),
            dropped_records: AtomicU64::new(0),
            dropped_calls: AtomicU64::new(0),
            dropped_bytes: AtomicU64::new(0),
            release: AtomicU64::new(0),
            release_word: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            begun: std::array::from_fn(|_| AtomicU64::new(0)),
            waiting: AtomicU32::new(0),
            joined: std::array::from_fn(|_| AtomicU64::new(0)),
            line_3: [0; 5],
        }
    }
}

#[cfg(not(loom))]
const _: () = {
    use std::mem::{align_of, offset_of, size_of};
    assert!(size_of::<Slot>() as u64 == SLOT_BYTES && align_of::<Slot>() == 64);
    assert!(offset_of!(Slot, head) == 0);
    assert!(offset_of!(Slot, finished) == 8);
    assert!(offset_of!(Slot, produced) == 16);
    assert!(offset_of!(Slot, state) == 64);
    assert!(offset_of!(Slot, tid) == 68);
    assert!(offset_of!(Slot, name) == 72);
    assert!(offset_of!(Slot, waits) == 88);
    assert!(offset_of!(Slot, wait_ns) == 96);
    assert!(offset_of!(Slot, dropped_records) == 104);
    assert!(offset_of!(Slot, dropped_calls) == 112);
    assert!(offset_of!(Slot, dropped_bytes) == 120);
    assert!(offset_of!(Slot, release) == 128);
    assert!(offset_of!(Slot, release_word) == 136);
    assert!(offset_of!(Slot, refused) == 140);
    assert!(offset_of!(Slot, begun) == 144);
    assert!(offset_of!(Slot, waiting) == 192);
    assert!(offset_of!(Slot, joined) == 200);
    assert!(offset_of!(SegmentHeader, magic) == 0);
    assert!(offset_of!(SegmentHeader, version) == 8);
    assert!(offset_of!(SegmentHeader, slot_count) == 12);
    assert!(offset_of!(SegmentHeader, ring_bytes) == 16);
    assert!(offset_of!(SegmentHeader, frames) == 64);
    assert!(offset_of!(SegmentHeader, ended_generation) == 72);
    assert!(offset_of!(SegmentHeader, reentrant_calls) == 80);
    assert!(offset_of!(SegmentHeader, unslotted_calls) == 88);
    assert!(offset_of!(SegmentHeader, contexts) == 96);
    assert!(offset_of!(SegmentHeader, stored_bytes) == 104);
    assert!(offset_of!(SegmentHeader, unstored_bytes) == 112);
    assert!(offset_of!(SegmentHeader, longest_frame_ns) == 120);
    assert!(offset_of!(SegmentHeader, begun_unslotted_calls) == 128);
    assert!(offset_of!(SegmentHeader, apis) == 136);
    assert!(size_of::<SegmentHeader>() as u64 <= SLOTS_AT);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn layout_of_bad_sizes_is_refused() {
        for (slots, ring) in [
            (0, 4096),
            (SLOT_COUNT_MAX + 1, 4096),
            (1, 2048),
            (1, 4096 + 8),
            (1, 0),
            (1, 2 << 30),
            (u32::MAX, u64::MAX),
        ] {
            assert_eq!(SegmentLayout::new(slots, ring), None, "{slots} slots of {ring} bytes");
        }
    }

    #[test]
    fn layout_places_rings_after_slots_without_overlap() {
        for (slots, ring) in [(1, 4096), (3, 8192), (256, 4 << 20), (SLOT_COUNT_MAX, 1 << 30)] {
            let layout = SegmentLayout::new(slots, ring).expect("sizes are in range");
            assert!(layout.ring_at(0) >= layout.slot_at(slots));
            assert_eq!(layout.ring_at(0) % RINGS_ALIGN, 0);
            assert_eq!(layout.ring_at(slots), layout.segment_bytes());
        }
    }
}
