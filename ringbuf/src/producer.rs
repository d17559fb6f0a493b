//! Producer half of a ring: writes records and publishes them, one thread alone.
//!
//! The hot path is [`Producer::reserve`], [`Producer::publish`] and [`Producer::finish`]: no system
//! call, no allocation, no panic. It believes nothing that would let it write outside its ring: the
//! position is masked and no record crosses the end of a lap, whatever the shared words say.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use crate::futex;
use crate::layout::{Slot, record_len_max};
use crate::pages::{CounterPage, ModePage};
use crate::record::{HEADER_LEN, Header, PAD, RECORD_ALIGN};
use crate::storage::{MappedBytes, RingBytes};
use crate::sync::{Ordering, fence};

/// A stamp that the counter never takes: with it as the last stamp, the next record says its own.
const NO_STAMP: u64 = u64::MAX;
/// Bytes a stamp adds to a record.
const STAMP_LEN: u64 = 8;
/// Indices are below this, so that sums of an index and a few ring lengths do not overflow.
const INDEX_MAX: u64 = 1 << 62;

/// The producing half of one ring. All bytes zero is a valid value: detached, no room for anything.
///
/// Plain private memory: it may lie in a page that `fork` wipes, and then a child is detached.
#[repr(C)]
pub struct Producer<B: RingBytes = MappedBytes> {
    /// Index of the next record.
    write: u64,
    /// Index that a record may reach without asking again.
    limit: u64,
    bytes: B,
    /// Ring size less one.
    mask: u64,
    /// The slot, or null while the producer is on hold.
    open: *const Slot,
    counter: *const CounterPage,
    mode: *const ModePage,
    /// Stamp of the last record, or [`NO_STAMP`].
    last_stamp: u64,
    /// The highest stamp said. The counter goes back only if somebody who may write to it lies, and then
    /// it costs the order, and not the ring.
    floor: u64,
    /// One more than `write` was when the last wait began; 0 before the first.
    waited: u64,
    slot: *const Slot,
    /// What `limit` is to be when the producer is no longer on hold.
    held_limit: u64,
}

const _: () = assert!(size_of::<Producer>() <= 128);

/// Room for one record, not yet published.
#[derive(Clone, Copy, Debug)]
#[must_use = "a reservation that is not published is lost"]
pub struct Reservation {
    /// Where the payload goes; aligned to 8, and as long as the header said. Never null, so that what may
    /// be no reservation is returned in registers: a handler waits for what it has just put on its stack.
    pub payload: NonNull<u8>,
    /// Index just past the record.
    pub end: u64,
}

/// Whether a record fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// It fits: reserve again.
    Ready,
    /// Not before the consumer releases some: wait, or drop it.
    Full,
    /// Never: the producer is detached, the ring was refused, or the record is too long.
    Never,
}

impl Producer {
    /// A producer without a ring: all bytes zero.
    pub const fn detached() -> Self {
        Self::detached_at(MappedBytes(std::ptr::null_mut()))
    }
}

impl<B: RingBytes> Producer<B> {
    /// A producer without a ring.
    pub const fn detached_at(bytes: B) -> Self {
        Self {
            write: 0,
            limit: 0,
            bytes,
            mask: 0,
            open: std::ptr::null(),
            counter: std::ptr::null(),
            mode: std::ptr::null(),
            last_stamp: 0,
            floor: 0,
            waited: 0,
            slot: std::ptr::null(),
            held_limit: 0,
        }
    }

    /// Goes on where the slot's last owner stopped; the first record will be stamped. False, and
    /// detached as before, if the slot's indices are nonsense.
    ///
    /// # Safety
    ///
    /// `bytes` are the `capacity_bytes` (a power of two) of the slot's ring; the caller has claimed
    /// the slot and is its only producer; ring, slot and both pages stay mapped until the producer
    /// is detached or never used again.
    pub unsafe fn attach_at(
        &mut self,
        bytes: B,
        capacity_bytes: u64,
        slot: &Slot,
        counter: &CounterPage,
        mode: &ModePage,
    ) -> bool {
        // Relaxed: CLAIM has ordered the last owner's stores before ours.
        let write = slot.head.load(Ordering::Relaxed);
        if write >= INDEX_MAX || !write.is_multiple_of(RECORD_ALIGN as u64) {
            return false;
        }
        // Relaxed: the consumer looks at it when the process is gone.
        slot.finished.store(write, Ordering::Relaxed);
        *self = Self {
            write,
            limit: 0,
            bytes,
            mask: capacity_bytes - 1,
            open: slot,
            counter,
            mode,
            last_stamp: NO_STAMP,
            floor: 0,
            waited: 0,
            slot,
            held_limit: 0,
        };
        true
    }

    /// Leaves the ring; the slot stays claimed.
    pub fn detach(&mut self) {
        *self = Self::detached_at(self.bytes);
    }

    /// Leaves the ring and gives the slot back.
    pub fn retire(&mut self) {
        if let Some(slot) = self.slot() {
            slot.retire();
        }
        self.detach();
    }

    /// Whether there is a ring.
    #[inline(always)]
    pub fn is_attached(&self) -> bool {
        !self.slot.is_null()
    }

    /// The slot, while attached.
    #[inline(always)]
    pub fn slot(&self) -> Option<&Slot> {
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        unsafe { self.slot.as_ref() }
    }

    /// Longest payload a record of this ring takes; 0 while detached.
    pub fn payload_len_max(&self) -> u64 {
        record_len_max(self.mask + 1).saturating_sub(HEADER_LEN as u64 + STAMP_LEN)
    }

    /// Stamp of the last record of this ring; `None` before the first and after
    /// [`Self::forget_stamp`].
    pub fn last_stamp(&self) -> Option<u64> {
        (self.is_attached() && self.last_stamp != NO_STAMP).then_some(self.last_stamp)
    }

    /// Makes the next record say its stamp, newest or not: after a gap, at the start of a capture.
    pub fn forget_stamp(&mut self) {
        self.last_stamp = NO_STAMP;
    }

    /// Makes the next [`Self::reserve`] miss, so that [`Self::make_room`] decides first.
    pub fn forget_room(&mut self) {
        (self.limit, self.held_limit) = (0, 0);
    }

    /// Makes [`Self::reserve`], [`Self::publish`] and [`Self::finish`] refuse until
    /// [`Self::resume`]: whoever has more to do at each of them does so where they are refused, and
    /// all others do not pay for it.
    #[inline]
    pub fn hold(&mut self) {
        if !self.is_on_hold() {
            (self.limit, self.held_limit) = (0, self.limit);
            self.open = std::ptr::null();
        }
    }

    /// Ends what [`Self::hold`] began.
    #[inline]
    pub fn resume(&mut self) {
        if self.is_on_hold() {
            self.limit = self.held_limit;
            self.open = self.slot;
        }
    }

    /// Whether the producer is on hold; one that is detached is not.
    #[inline]
    pub fn is_on_hold(&self) -> bool {
        self.open.is_null() && !self.slot.is_null()
    }

    /// Takes a stamp and room for one record, and writes its header. `header` has the length without
    /// a stamp word, and not [`STAMPED`](crate::record::STAMPED). `None` if there is no room at
    /// hand, which [`Self::make_room`] knows more of, or on hold. Nothing is taken then, no stamp
    /// either.
    ///
    /// # Safety
    ///
    /// What [`Self::attach_at`] asked for still holds. `header` claims at least 8 bytes.
    #[inline(always)]
    pub unsafe fn reserve(&mut self, header: Header) -> Option<Reservation> {
        let (write, span) = (self.write, header.span_untrusted());
        // Room for the stamp is asked for before the counter says whether there will be one.
        if write + span + STAMP_LEN > self.limit {
            return none_at_hand();
        }
        // SAFETY: a limit above zero is set by `make_room`, attached, and cleared by `detach`.
        let counter = unsafe { &*self.counter };
        let (bytes, position) = (self.bytes, write & self.mask);
        bytes.expect_beyond(position);
        // Relaxed, here and in `next_stamp`: STAMP needs one variable's coherence and no more.
        if counter.stamp.load(Ordering::Relaxed) != self.last_stamp {
            let stamp = self.take_stamp(counter);
            // SAFETY: `limit` is within the lap and within what was released.
            unsafe { bytes.write_word(position, header.with_stamp().0) };
            // SAFETY: as above; room for the stamp was asked for.
            unsafe { bytes.write_word(position + HEADER_LEN as u64, stamp) };
            // SAFETY: as above.
            let payload = unsafe { bytes.payload(position + HEADER_LEN as u64 + STAMP_LEN) };
            return Some(Reservation { payload, end: write + span + STAMP_LEN });
        }
        // SAFETY: as above.
        unsafe { bytes.write_word(position, header.0) };
        // SAFETY: a record is at least 8 bytes long, so its end is within the ring too.
        let payload = unsafe { bytes.payload(position + HEADER_LEN as u64) };
        Some(Reservation { payload, end: write + span })
    }

    /// Of a thread that is not alone; one that is has its code in one piece.
    #[cold]
    #[inline]
    fn take_stamp(&mut self, counter: &CounterPage) -> u64 {
        self.floor = counter.next_stamp().max(self.floor);
        self.last_stamp = self.floor;
        self.floor
    }

    /// Lets the consumer see the record. Never batched: the driver is called after this. False, and
    /// nothing is seen, on hold or detached.
    ///
    /// # Safety
    ///
    /// `reservation` is this producer's last one, its payload is written, and nothing was published
    /// since.
    #[inline(always)]
    pub unsafe fn publish(&mut self, reservation: Reservation) -> bool {
        // A fork between the two detached us, if at all: a child does not publish.
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.open.as_ref() }) else { return refused() };
        self.publish_in(slot, reservation);
        true
    }

    /// [`Self::publish`] and [`Self::finish`] of a command's last record.
    ///
    /// # Safety
    ///
    /// As for [`Self::publish`].
    #[inline(always)]
    pub unsafe fn publish_last(&mut self, reservation: Reservation) -> bool {
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.open.as_ref() }) else { return refused() };
        self.publish_in(slot, reservation);
        // Relaxed: as in `finish`.
        slot.finished.store(reservation.end, Ordering::Relaxed);
        true
    }

    #[inline(always)]
    fn publish_in(&mut self, slot: &Slot, reservation: Reservation) {
        self.write = reservation.end;
        // Relaxed: nobody else writes it, and if somebody does, it is a wrong count.
        let produced = slot.produced.load(Ordering::Relaxed).wrapping_add(1);
        // ADOPT: pairs with the acquire in Consumer::head_of_dead_untrusted.
        slot.produced.store(produced, Ordering::Release);
        // PUBLISH: pairs with the acquire in Consumer::head_untrusted.
        slot.head.store(reservation.end, Ordering::Release);
    }

    /// Says that the driver has returned from the command whose records are all published. False,
    /// and nothing is said, on hold or detached.
    #[inline(always)]
    pub fn finish(&self) -> bool {
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.open.as_ref() }) else { return refused() };
        // Relaxed: read when the process is gone, and then everything is seen.
        slot.finished.store(self.write, Ordering::Relaxed);
        true
    }

    /// Looks for room for a record of `len` bytes without a stamp word, after [`Self::reserve`]
    /// found none at hand. Pads to the end of the lap where the record would cross it. Runs at least
    /// once for every quarter of the ring, and then rings the doorbell if the drain sleeps.
    #[cold]
    #[inline(never)]
    pub fn make_room(&mut self, len: u64) -> Room {
        self.ring_doorbell();
        let capacity = self.mask.wrapping_add(1);
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.slot.as_ref() }) else { return Room::Never };
        let need = len.next_multiple_of(RECORD_ALIGN as u64).saturating_add(STAMP_LEN);
        // Relaxed: a hint that saves a wait.
        if need > record_len_max(capacity) || slot.refused.load(Ordering::Relaxed) != 0 {
            return Room::Never;
        }
        // RELEASE: pairs with the release in Consumer::release.
        let release = slot.release.load(Ordering::Acquire);
        let Some(used) = self.write.checked_sub(release) else { return Room::Full };
        let lap_left = capacity - (self.write & self.mask);
        let pad = if need > lap_left { lap_left } else { 0 };
        if used + pad + need > capacity {
            return Room::Full;
        }
        if pad > 0 {
            let header = Header::new(PAD, 0, pad as u32);
            // SAFETY: the whole rest of the lap is released: `used + pad` is within the ring.
            unsafe { self.bytes.write_word(self.write & self.mask, header.0) };
            self.write += pad;
            // PUBLISH: pairs with the acquire in Consumer::head_untrusted.
            slot.head.store(self.write, Ordering::Release);
        }
        let lap_end = (self.write | self.mask) + 1;
        let quarter = self.write + need.max(capacity / 4);
        self.limit = (release + capacity).min(lap_end).min(quarter);
        Room::Ready
    }

    /// Waits until a record of `len` bytes without a stamp word fits, for `timeout` at most. May
    /// return [`Room::Full`] early: the caller looks at its clock, and whether the daemon still
    /// lives, and calls again. The time is counted in the slot, and calls for one record as one
    /// wait. Changes `errno`.
    #[cold]
    #[inline(never)]
    pub fn wait_for_room(&mut self, len: u64, timeout: Duration) -> Room {
        let started = Instant::now();
        let begins = self.waited != self.write + 1;
        self.waited = self.write + 1;
        let room = self.sleep_for_room(len, timeout);
        if let Some(slot) = self.slot() {
            slot.count_wait(begins.into(), started.elapsed().as_nanos() as u64);
        }
        room
    }

    fn sleep_for_room(&mut self, len: u64, timeout: Duration) -> Room {
        // SAFETY: null, or what `attach_at` was given; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.slot.as_ref() }) else { return Room::Never };
        // Relaxed: the fence orders it.
        slot.waiting.store(1, Ordering::Relaxed);
        // WAIT: pairs with the fence in Consumer::release: it sees that we wait, or we its word.
        fence(Ordering::SeqCst);
        // WAIT: pairs with the release in Consumer::release, so that the index we look at next is at
        // least as new as the word; if the word is the older, the futex does not sleep.
        let word = slot.release_word.load(Ordering::Acquire);
        let mut room = self.make_room(len);
        if room == Room::Full {
            futex::wait(&slot.release_word, word, timeout);
            room = self.make_room(len);
        }
        // Relaxed: a wake too many does no harm.
        slot.waiting.store(0, Ordering::Relaxed);
        room
    }

    /// Wakes the drain if it says that it sleeps. May miss it; the drain sleeps 20 ms at most.
    /// Changes `errno` when it does wake it.
    pub fn ring_doorbell(&self) {
        // SAFETY: null, or what `attach_at` was given; its caller keeps the page mapped.
        let Some(mode) = (unsafe { self.mode.as_ref() }) else { return };
        if !mode.drain_sleeps() {
            return;
        }
        // SAFETY: attached, since `mode` is set.
        let counter = unsafe { &*self.counter };
        counter.ring_doorbell();
    }
}

/// Of a producer that is on hold, detached, or at its limit. The compiler lays out what comes of it apart.
#[cold]
fn none_at_hand() -> Option<Reservation> {
    None
}

/// Of a producer that is on hold or detached; as above.
#[cold]
fn refused() -> bool {
    false
}
