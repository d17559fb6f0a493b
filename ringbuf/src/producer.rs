//! Producer half of a ring: writes records and publishes them. Belongs to one thread. A record longer than a quarter of
//! the ring, at most 1 MiB, never fits; nor does any in a refused ring. A full ring is reported, and the caller
//! decides: `shim/recorder/src/record/writer.rs`. A wait is counted once per record. If the stamp counter is set back,
//! this ring's stamps still never fall, so only the order suffers, and the ring is not refused.
//!
//! The hot path is [`Producer::reserve`], [`Producer::publish`] and [`Producer::finish`]: no system call, no
//! allocation, no panic. Whatever the shared words say, the producer writes only inside its ring: the
//! position is masked, and no record crosses the end of a lap.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use crate::futex;
use crate::layout::{CounterPage, ModePage, Slot, record_len_max};
use crate::record::{HEADER_LEN, Header, PAD, RECORD_ALIGN};
use crate::storage::{MappedBytes, RingBytes};
use crate::sync::{Ordering, fence};

/// A stamp that the counter never reaches. While it is the last stamp, the next record carries its own stamp.
const NO_STAMP: u64 = u64::MAX;
/// Bytes that a stamp adds to a record.
const STAMP_LEN: u64 = 8;
/// Indices are below this limit, so that the sum of an index and a few ring lengths cannot overflow.
const INDEX_MAX: u64 = 1 << 62;

/// The producing half of one ring. All bytes zero is a valid value: detached, no room for anything.
///
/// Private memory of the process. It may lie in a page that `fork` wipes; the child's producer is then
/// detached.
#[repr(C)]
pub struct Producer<B: RingBytes = MappedBytes> {
    /// Index of the next record.
    write: u64,
    /// Ring index that a record may reach without another [`Self::make_room`].
    limit: u64,
    bytes: B,
    /// Ring size in bytes, minus one.
    mask: u64,
    /// The slot; null while the producer is on hold or detached.
    open: *const Slot,
    counter: *const CounterPage,
    mode: *const ModePage,
    /// Stamp of the last record, or [`NO_STAMP`].
    last_stamp: u64,
    /// The highest stamp in this ring. If a hostile application sets the counter back, the order suffers, but
    /// stamps in this ring still never fall, so the ring is not refused.
    floor: u64,
    /// `write + 1` as of the beginning of the last wait; 0 before the first wait.
    waited: u64,
    /// The slot does not count the waits.
    counts_no_waits: bool,
    slot: *const Slot,
    /// Value of `limit` after [`Self::resume`].
    held_limit: u64,
}

const _: () = assert!(size_of::<Producer>() <= 128);

/// Room for one record, not yet published.
#[derive(Clone, Copy, Debug)]
#[must_use = "a reservation that is not published is lost"]
pub struct Reservation {
    /// Place of the payload: aligned to 8 bytes, with the length that the header states. `NonNull`, so that
    /// `Option<Reservation>` is returned in registers; a handler would stall on a value that was just stored on
    /// its stack.
    pub payload: NonNull<u8>,
    /// Index just past the record.
    pub end: u64,
}

/// Answer of [`Producer::make_room`]: whether a record fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// It fits: call [`Producer::reserve`] again.
    Ready,
    /// It does not fit until the consumer releases space: wait, or drop the record.
    Full,
    /// It will never fit: the producer is detached, the ring was refused, or the record is too long.
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
            counts_no_waits: false,
            slot: std::ptr::null(),
            held_limit: 0,
        }
    }

    /// Attaches to a ring where the slot's last owner stopped; the first record will carry a stamp. False,
    /// and nothing changed, if the slot's head is misaligned or out of range.
    ///
    /// # Safety
    ///
    /// `bytes` are the `capacity_bytes` (a power of two) of the slot's ring; the caller has claimed the slot
    /// and is its only producer; ring, slot and both pages stay mapped until the producer is detached or
    /// never used again.
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
        // Relaxed: the consumer relies on it only once the process is dead.
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
            counts_no_waits: false,
            slot,
            held_limit: 0,
        };
        true
    }

    /// Detaches from the ring; the slot stays claimed.
    pub fn detach(&mut self) {
        *self = Self::detached_at(self.bytes);
    }

    /// Retires the slot and detaches from the ring.
    pub fn retire(&mut self) {
        if let Some(slot) = self.slot() {
            slot.retire();
        }
        self.detach();
    }

    /// Whether the producer has a ring.
    #[inline(always)]
    pub fn is_attached(&self) -> bool {
        !self.slot.is_null()
    }

    /// The slot, while attached.
    #[inline(always)]
    pub fn slot(&self) -> Option<&Slot> {
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
        unsafe { self.slot.as_ref() }
    }

    /// Longest payload that a record of this ring takes, in bytes; 0 while detached.
    pub fn payload_len_max(&self) -> u64 {
        record_len_max(self.mask + 1).saturating_sub(HEADER_LEN as u64 + STAMP_LEN)
    }

    /// Begins the owner's part of the capture that the order with this generation asked for, unless it has begun. The
    /// consumer passes over the records before it. The next record must carry a stamp: [`Self::forget_stamp`].
    pub fn begin_part(&mut self, generation: u64) {
        if let Some(slot) = self.slot() {
            slot.begin_part(generation, self.write);
        }
    }

    /// Generation that [`Self::begin_part`] was given last; 0 while detached.
    pub fn part_generation(&self) -> u64 {
        // Relaxed: this thread's own word.
        self.slot().map_or(0, |slot| slot.part_generation.load(Ordering::Relaxed))
    }

    /// Stamp of the last record of this ring; `None` before the first and after [`Self::forget_stamp`].
    pub fn last_stamp(&self) -> Option<u64> {
        (self.is_attached() && self.last_stamp != NO_STAMP).then_some(self.last_stamp)
    }

    /// Makes the next record carry its stamp: after a gap, and at the start of a capture.
    pub fn forget_stamp(&mut self) {
        self.last_stamp = NO_STAMP;
    }

    /// Makes the next [`Self::reserve`] fail, so that [`Self::make_room`] is called first.
    pub fn forget_room(&mut self) {
        (self.limit, self.held_limit) = (0, 0);
    }

    /// Makes [`Self::reserve`], [`Self::publish`] and [`Self::finish`] refuse until [`Self::resume`]. A
    /// caller that has extra work at each of them does it on the refusal path; callers without extra work pay
    /// nothing.
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

    /// Whether the producer is on hold. A detached producer is not.
    #[inline]
    pub fn is_on_hold(&self) -> bool {
        self.open.is_null() && !self.slot.is_null()
    }

    /// Takes a stamp, reserves room for one record, and writes its header. `header` states the length without
    /// a stamp word, and lacks [`STAMPED`](crate::record::STAMPED). `None` if no room is at hand (then call
    /// [`Self::make_room`]) or the producer is on hold; then nothing is reserved and no stamp is taken.
    ///
    /// # Safety
    ///
    /// The conditions of [`Self::attach_at`] still hold. `header` states a length of at least 8 bytes.
    #[inline(always)]
    pub unsafe fn reserve(&mut self, header: Header) -> Option<Reservation> {
        let (write, span) = (self.write, header.span_untrusted());
        // Room for a stamp is always required, because the counter is read only afterwards.
        if write + span + STAMP_LEN > self.limit {
            return none_at_hand();
        }
        // SAFETY: only `make_room` sets a limit above zero, while attached, and `detach` clears it.
        let counter = unsafe { &*self.counter };
        let (bytes, position) = (self.bytes, write & self.mask);
        bytes.expect_beyond(position);
        // Relaxed, here and in `next_stamp`: STAMP needs one variable's coherence and no more.
        if counter.stamp.load(Ordering::Relaxed) != self.last_stamp {
            let stamp = self.take_stamp(counter);
            // SAFETY: `limit` is within the lap and within the released bytes.
            unsafe { bytes.write_word(position, header.with_stamp().0) };
            // SAFETY: as above; the check above included room for the stamp.
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

    /// Cold path: another thread has advanced the counter. Kept out of line so that the uncontended path
    /// stays straight.
    #[cold]
    #[inline]
    fn take_stamp(&mut self, counter: &CounterPage) -> u64 {
        self.floor = counter.next_stamp().max(self.floor);
        self.last_stamp = self.floor;
        self.floor
    }

    /// Gives back a reservation for `header` that will not be published.
    pub fn give_back(&mut self, reservation: Reservation, header: Header) {
        // A stamp that it took is in no record, so the next record cannot refer to it.
        if reservation.end != self.write + header.span_untrusted() {
            self.forget_stamp();
        }
    }

    /// Publishes the record to the consumer. Never batched, because the driver is called next. False, and
    /// nothing published, while on hold or detached.
    ///
    /// # Safety
    ///
    /// `reservation` is this producer's last one, its payload is written, and nothing was published since.
    #[inline(always)]
    pub unsafe fn publish(&mut self, reservation: Reservation) -> bool {
        // In a child that was forked since the reservation the producer is detached, and publishes nothing.
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
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
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.open.as_ref() }) else { return refused() };
        self.publish_in(slot, reservation);
        // Relaxed: as in `finish`.
        slot.finished.store(reservation.end, Ordering::Relaxed);
        true
    }

    #[inline(always)]
    fn publish_in(&mut self, slot: &Slot, reservation: Reservation) {
        self.write = reservation.end;
        // Relaxed: only this producer writes it; a hostile writer could only make the count wrong.
        let produced = slot.produced.load(Ordering::Relaxed).wrapping_add(1);
        // ADOPT: pairs with the acquire in Consumer::head_of_dead_untrusted.
        slot.produced.store(produced, Ordering::Release);
        // PUBLISH: pairs with the acquire in Consumer::head_untrusted.
        slot.head.store(reservation.end, Ordering::Release);
    }

    /// Marks the command whose records are all published as returned from the driver. False, and nothing
    /// marked, while on hold or detached.
    #[inline(always)]
    pub fn finish(&self) -> bool {
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.open.as_ref() }) else { return refused() };
        // Relaxed: the consumer relies on it only once the process is dead, when every store is visible.
        slot.finished.store(self.write, Ordering::Relaxed);
        true
    }

    /// Looks for room for a record of `len` bytes (without a stamp word), after [`Self::reserve`] failed.
    /// Writes PAD up to the end of the lap if the record would cross it. Runs at least once per quarter of
    /// the ring, and rings the doorbell each time if the drain sleeps.
    #[cold]
    #[inline(never)]
    pub fn make_room(&mut self, len: u64) -> Room {
        self.ring_doorbell();
        let capacity = self.mask.wrapping_add(1);
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.slot.as_ref() }) else { return Room::Never };
        let need = len.next_multiple_of(RECORD_ALIGN as u64).saturating_add(STAMP_LEN);
        // Relaxed: a hint that avoids a useless wait.
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

    /// Has the slot not count waits from here on: this is no thread of the program.
    pub fn count_no_waits(&mut self) {
        self.counts_no_waits = true;
    }

    /// Whether the slot counts waits.
    pub fn counts_waits(&self) -> bool {
        !self.counts_no_waits
    }

    /// Waits for up to `timeout` until a record of `len` bytes (without a stamp word) fits. May return
    /// [`Room::Full`] early: the caller then checks its clock and whether the daemon is alive, and calls
    /// again. The slot counts the time, and several calls for one record as one wait. Changes `errno`.
    #[cold]
    #[inline(never)]
    pub fn wait_for_room(&mut self, len: u64, timeout: Duration) -> Room {
        let started = Instant::now();
        let begins = self.waited != self.write + 1;
        self.waited = self.write + 1;
        let room = self.sleep_for_room(len, timeout);
        if let Some(slot) = self.slot().filter(|_| !self.counts_no_waits) {
            slot.count_wait(begins.into(), started.elapsed().as_nanos() as u64);
        }
        room
    }

    fn sleep_for_room(&mut self, len: u64, timeout: Duration) -> Room {
        // SAFETY: null, or the slot that `attach_at` got; its caller keeps the slot mapped.
        let Some(slot) = (unsafe { self.slot.as_ref() }) else { return Room::Never };
        // Relaxed: the fence orders it.
        slot.waiting.store(1, Ordering::Relaxed);
        // WAIT: pairs with the fence in Consumer::release: the consumer sees `waiting`, or this thread sees
        // the new word.
        fence(Ordering::SeqCst);
        // WAIT: pairs with the release in Consumer::release, so that the index that `make_room` reads is at
        // least as new as the word. If the word is older than the index, the futex does not sleep.
        let word = slot.release_word.load(Ordering::Acquire);
        let mut room = self.make_room(len);
        if room == Room::Full {
            futex::wait(&slot.release_word, word, timeout);
            room = self.make_room(len);
        }
        // Relaxed: a superfluous wake-up does no harm.
        slot.waiting.store(0, Ordering::Relaxed);
        room
    }

    /// Wakes the drain if the mode page says that it sleeps. A wake-up may be missed; the drain sleeps for 20
    /// ms at most. Changes `errno` if it wakes the drain.
    pub fn ring_doorbell(&self) {
        // SAFETY: null, or the page that `attach_at` got; its caller keeps the page mapped.
        let Some(mode) = (unsafe { self.mode.as_ref() }) else { return };
        if !mode.drain_sleeps() {
            return;
        }
        // SAFETY: attached, since `mode` is set.
        let counter = unsafe { &*self.counter };
        counter.ring_doorbell();
    }
}

/// Result of [`Producer::reserve`] on hold, detached, or at the limit. `#[cold]`, so that the compiler places
/// the code that follows it out of line.
#[cold]
fn none_at_hand() -> Option<Reservation> {
    None
}

/// Result of publishing on hold or detached; `#[cold]` as above.
#[cold]
fn refused() -> bool {
    false
}
