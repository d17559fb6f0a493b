//! Operations of both sides on the words of a `Slot`: claim and retire it, read its owner's claims, leave notes. A slot
//! that is not free cannot be claimed. All values that an owner writes are claims, for accounts and reports; a state
//! that is none of the three values reads as no state.
//!
//! The layout and the meaning of each word are in [`crate::layout`]; `head` and `release` are moved by
//! [`Producer`](crate::Producer) and [`Consumer`](crate::Consumer).

use crate::layout::{Joined, Slot, SlotCounts, SlotState};
#[cfg(loom)]
use crate::sync::AtomicU32;
use crate::sync::{AtomicU64, Ordering};

impl Slot {
    /// Claims the slot for the calling thread. False, and nothing changed, if it is not free.
    pub fn claim(&self, tid: u32, name: [u8; 16]) -> bool {
        let (free, active) = (SlotState::Free as u32, SlotState::Active as u32);
        // Relaxed: only avoids the exchange on other threads' slots, which would take away their cache line.
        if self.state.load(Ordering::Relaxed) != free {
            return false;
        }
        // CLAIM: pairs with the release in Consumer::free_retired, so that this thread sees the last owner's
        // indices. Relaxed on failure: nothing was learnt.
        let claimed =
            self.state.compare_exchange(free, active, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return false;
        }
        let (low, high) = name.split_at(8);
        // Relaxed: names are for reports; the thread's first record repeats them.
        self.tid.store(tid, Ordering::Relaxed);
        for (word, half) in self.name.iter().zip([low, high]) {
            let half = half.try_into().unwrap_or_default();
            word.store(u64::from_le_bytes(half), Ordering::Relaxed);
        }
        true
    }

    /// Gives the slot back after the thread's last record. Only the slot's owner may call this.
    pub fn retire(&self) {
        // CLAIM: pairs with the acquire in Consumer::free_retired, so that the consumer sees the last head.
        self.state.store(SlotState::Retired as u32, Ordering::Release);
    }

    /// The slot's state; `None` if the word is not one of the three values.
    pub fn state(&self) -> Option<SlotState> {
        // CLAIM: pairs with the release in Slot::retire.
        SlotState::of_word(self.state.load(Ordering::Acquire))
    }

    /// Kernel thread id of the last owner, as the owner claims it.
    pub fn tid_untrusted(&self) -> u32 {
        // Relaxed: for reports only.
        self.tid.load(Ordering::Relaxed)
    }

    /// Name of the last owner, as the owner claims it: any bytes, padded with NUL.
    pub fn name_untrusted(&self) -> [u8; 16] {
        let mut name = [0; 16];
        for (half, word) in name.chunks_exact_mut(8).zip(&self.name) {
            // Relaxed: for reports only.
            half.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        name
    }

    /// The counts that the producers claim, over all owners of the slot.
    pub fn counts_untrusted(&self) -> SlotCounts {
        // Relaxed: six independent counters, final once the process is dead.
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

    /// Bytes ever written into the ring, PAD included, as the producer claims.
    pub fn written_untrusted(&self) -> u64 {
        // Relaxed: a number for reports; records are read through the consumer.
        self.head.load(Ordering::Relaxed)
    }

    /// The counts at the time when the present owner's part of a capture began: the note of a dead daemon's
    /// consumer.
    pub fn begun_untrusted(&self) -> SlotCounts {
        // Relaxed: numbers on their own, written by a daemon that is dead.
        let [produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes] =
            self.begun.each_ref().map(|word| word.load(Ordering::Relaxed));
        SlotCounts { produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes }
    }

    /// Writes the note for [`Self::begun_untrusted`]. Only the slot's consumer may call this.
    pub fn note_begun(&self, counts: SlotCounts) {
        let SlotCounts { produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes } =
            counts;
        let counts = [produced, waits, wait_ns, dropped_records, dropped_calls, dropped_bytes];
        for (word, count) in self.begun.iter().zip(counts) {
            // Relaxed: as in `begun_untrusted`.
            word.store(count, Ordering::Relaxed);
        }
    }

    /// Returns the ring's place when its process joined a capture: the note of a dead daemon's consumer.
    pub fn joined_untrusted(&self) -> Joined {
        // Relaxed: as in `begun_untrusted`.
        let [index, produced] = self.joined.each_ref().map(|word| word.load(Ordering::Relaxed));
        Joined { index, produced }
    }

    /// Writes the note for [`Self::joined_untrusted`]. Only the slot's consumer may call this.
    pub fn note_joined(&self, Joined { index, produced }: Joined) {
        for (word, value) in self.joined.iter().zip([index, produced]) {
            // Relaxed: as in `begun_untrusted`. Rare: the producer writes the same cache line when it waits.
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Notes that the records from ring index `index` on follow the order to record with this generation. Only the
    /// slot's owner may call this, before the first of these records.
    pub(crate) fn begin_part(&self, generation: u64, index: u64) {
        // Relaxed: this thread's own word, or an earlier owner's, which CLAIM orders.
        if self.part_generation.load(Ordering::Relaxed) != generation {
            // Relaxed: ordered by the release that follows.
            self.part_index.store(index, Ordering::Relaxed);
            // PART: pairs with the acquire in `part_untrusted`.
            self.part_generation.store(generation, Ordering::Release);
        }
    }

    /// Returns the ring index from which on records follow the order to record with this generation, as the owner
    /// claims. `None` if there is none below the head that was loaded before this call.
    pub(crate) fn part_untrusted(&self, generation: u64) -> Option<u64> {
        // PART: pairs with the release in `begin_part`.
        let is_it = self.part_generation.load(Ordering::Acquire) == generation;
        // Relaxed: ordered by the acquire before.
        is_it.then(|| self.part_index.load(Ordering::Relaxed))
    }

    /// Ring index below which the producer may overwrite, as the consumer wrote it.
    pub fn released_untrusted(&self) -> u64 {
        // Relaxed: only shows a waiter that there is progress; Producer::make_room takes the edge RELEASE.
        self.release.load(Ordering::Relaxed)
    }

    /// Counts records that were not written. Only the slot's owner may call this.
    pub fn count_dropped(&self, records: u64, calls: u64, bytes: u64) {
        add(&self.dropped_records, records);
        add(&self.dropped_calls, calls);
        add(&self.dropped_bytes, bytes);
    }

    /// Counts waits for room, and their time. Only the slot's owner may call this.
    pub(crate) fn count_wait(&self, waits: u64, ns: u64) {
        add(&self.waits, waits);
        add(&self.wait_ns, ns);
    }
}

/// Adds to a counter with one writer, without a locked instruction.
fn add(counter: &AtomicU64, amount: u64) {
    // Relaxed: the caller is the only writer, and readers need a number and no order.
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
            part_index: AtomicU64::new(0),
            part_generation: AtomicU64::new(0),
            line_3: [0; 3],
        }
    }
}
