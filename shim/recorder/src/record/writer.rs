//! `Writer`: a thread's end of its ring. Reserves room for records and publishes them. If the ring is full, the writer
//! waits or drops the record, as the [`Host`] decides; with every byte that the daemon releases the wait begins anew. A
//! thread that waits when the capture is stopped leaves it, and its record is not counted as lost.
//! It reports dropped records by a gap record as soon as there is room again, before any other record, and a wait by a
//! TIME ahead of the record that waited.
//!
//! In a timed capture the thread's producer is on hold throughout. The producer therefore refuses each step of the
//! fast path (reserving room, publishing, ending the command), and the step takes the slow path here, which measures
//! the driver's time. A capture without timing pays nothing. A command that ends a frame by the capture's rule
//! takes the same path, and so does a set-up command that a replay plays.

use core::ptr;
use std::time::Instant;

use gapii_abi::atom::{
    FRAME_END, GAP, GPU_TIMES, Gap, GapCause, HEADER_LEN, Header, META_FIRST, SETUP, TIME, Time,
};
use gapii_ringbuf::{Overflow, Producer, Reservation, Room, Slot};

use super::gap::GapBook;
use super::timing::{TIME_BYTES, Timing};
use super::wait::{TOLD_BYTES, WaitBook};
use crate::clock::clock_ns;
use crate::errno::ErrnoGuard;
use crate::host::{Host, Outlook};
use crate::keeping::Keeping;
use crate::part::Part;
use crate::program::pages;
use crate::shared::Shared;

/// A thread's end of its ring. All zeros: no ring.
#[repr(C)]
pub struct Writer {
    producer: Producer,
    /// Null without a ring.
    shared: *const Shared,
    gap: GapBook,
    waited: WaitBook,
    timing: Timing,
    /// Where commands go beside the ring, if they do.
    keeping: Option<Box<Keeping>>,
    /// The thread's commands recreate state.
    is_setup: bool,
}

/// How a wait for room ended.
enum Wait {
    /// There is room.
    Ready,
    /// The record is lost.
    Vain,
    /// The capture was stopped before there was room: the record is none of the capture's.
    Stopped,
}

impl Writer {
    /// A writer without a ring.
    pub fn detached() -> Self {
        Self {
            producer: Producer::detached(),
            shared: ptr::null(),
            gap: GapBook::EMPTY,
            waited: WaitBook::EMPTY,
            timing: Timing::default(),
            keeping: None,
            is_setup: false,
        }
    }

    /// Attaches to the ring of slot `slot`. False if that is impossible.
    ///
    /// # Safety
    /// The caller has claimed the slot, and is its only producer.
    pub unsafe fn attach(&mut self, shared: &'static Shared, slot: u32) -> bool {
        self.shared = shared;
        // SAFETY: the caller's duty; `shared` stays mapped.
        unsafe { self.producer.attach(&shared.segment, slot, &shared.counter, &shared.mode) }
    }

    /// See [`Producer::count_no_waits`].
    pub fn count_no_waits(&mut self) {
        self.producer.count_no_waits();
    }

    /// Gives the ring up: the thread ends.
    pub fn retire(&mut self) {
        self.producer.retire();
    }

    /// Returns what the thread shares with its process. `None` without a ring.
    pub fn shared(&self) -> Option<&'static Shared> {
        // SAFETY: null, or what `attach` was given.
        unsafe { self.shared.as_ref() }
    }

    /// Begins an epoch: the next record gets a stamp of its own, and the driver is timed or not.
    pub fn begin_epoch(&mut self, part: Part) {
        if part.is_new_capture {
            (self.gap, self.waited) = (GapBook::EMPTY, WaitBook::EMPTY);
        }
        self.producer.begin_part(part.order);
        self.producer.forget_stamp();
        let frame_end = self.timing.frame_end();
        self.timing = Timing::new(part.is_timed, part.is_gpu_timed);
        self.timing.set_frame_end(frame_end);
        self.hold_or_resume();
    }

    /// Returns the generation of the order to record that the thread follows.
    pub fn order(&self) -> u64 {
        self.producer.part_generation()
    }

    /// Makes the next record carry a stamp of its own, rather than the one before plus one.
    pub fn forget_stamp(&mut self) {
        self.producer.forget_stamp();
    }

    /// Returns whether the driver is timed.
    #[inline(always)]
    pub fn is_timed(&self) -> bool {
        self.producer.is_on_hold() && self.timing.is_timed()
    }

    /// Sets which command ends a frame with its next call, as the host counts it. Between two commands.
    pub fn set_frame_end(&mut self, id: Option<u16>) {
        self.timing.set_frame_end(id);
        self.hold_or_resume();
    }

    /// Sets whether the thread's commands recreate state, so that their records say so. Between two commands.
    pub fn set_setup(&mut self, is_setup: bool) {
        self.is_setup = is_setup;
        self.hold_or_resume();
    }

    /// Sets where commands go beside the ring. Between two commands.
    pub fn set_keeping(&mut self, keeping: Option<Box<Keeping>>) {
        self.keeping = keeping;
        self.hold_or_resume();
    }

    /// Returns where commands go beside the ring, if they do.
    pub fn keeping(&mut self) -> Option<&mut Keeping> {
        self.keeping.as_deref_mut()
    }

    /// Returns the most bytes that a record's payload can have.
    pub fn payload_len_max(&self) -> u64 {
        self.producer.payload_len_max()
    }

    /// Reserves room for one record, with a stamp if the record needs one. Waits or drops the record if the ring is
    /// full.
    ///
    /// # Safety
    /// The payload must be written before the record is published.
    #[inline(always)]
    pub unsafe fn reserve(&mut self, header: Header) -> Option<Reservation> {
        // SAFETY: passed on.
        match unsafe { self.producer.reserve(header) } {
            Some(record) => Some(record),
            // SAFETY: passed on.
            None => unsafe { self.reserve_slowly(header) },
        }
    }

    /// Reserves room for one record if the ring has it at hand and the capture is not timed.
    ///
    /// # Safety
    /// As for [`Writer::reserve`].
    #[inline(always)]
    pub unsafe fn reserve_at_once(&mut self, header: Header) -> Option<Reservation> {
        // SAFETY: passed on.
        unsafe { self.producer.reserve(header) }
    }

    /// Gives back the last reservation, which was made for `header` and will not be published.
    pub fn give_back(&mut self, record: Reservation, header: Header) {
        self.producer.give_back(record, header);
    }

    /// Publishes a record: from here on the daemon can read it.
    ///
    /// # Safety
    /// `record` is the last reservation that this writer returned, and its payload is written.
    #[inline(always)]
    pub unsafe fn publish(&mut self, record: Reservation) {
        // SAFETY: passed on.
        if !unsafe { self.producer.publish(record) } {
            // SAFETY: passed on.
            unsafe { self.publish_timed(record) };
        }
    }

    /// Does [`Writer::publish`] and [`Writer::finish`] for the last record of a command.
    ///
    /// # Safety
    /// As for [`Writer::publish`].
    #[inline(always)]
    pub unsafe fn publish_last(&mut self, record: Reservation) {
        // SAFETY: passed on.
        if !unsafe { self.producer.publish_last(record) } {
            // SAFETY: passed on.
            unsafe { self.publish_timed(record) };
            self.finish_timed();
        }
    }

    /// Notes that the driver has returned.
    #[inline(always)]
    pub fn returned(&mut self) {
        if self.producer.is_on_hold() {
            self.returned_timed();
        }
    }

    /// Notes that the command is over. All of its records must have been published.
    #[inline(always)]
    pub fn finish(&mut self) {
        if !self.producer.finish() {
            self.finish_timed();
        }
    }

    /// Writes a record that is not a command. The record is dropped and counted if there is no room.
    pub fn write_meta(&mut self, id: u16, payload: &[u8]) {
        self.untimed(|writer| {
            writer.write_untimed(id, payload);
            writer.producer.finish();
        });
    }

    /// Does the same while a command is in progress: the slot does not say that the command has returned.
    pub fn write_between(&mut self, id: u16, payload: &[u8]) {
        self.untimed(|writer| writer.write_untimed(id, payload));
    }

    /// Counts a record that is not written because a record that must come before it was lost.
    #[cold]
    pub fn lose(&mut self, header: Header) {
        if let Some(shared) = self.shared() {
            self.leave_out(header, shared.counter.newest_stamp());
        }
    }

    /// Stops timing until [`Writer::resume_timing`]. Returns whether the capture is timed.
    pub fn suspend_timing(&mut self) -> bool {
        let is_timed = self.producer.is_on_hold();
        self.producer.resume();
        is_timed
    }

    /// Continues as it was before [`Writer::suspend_timing`], which returned `is_timed`.
    pub fn resume_timing(&mut self, is_timed: bool) {
        if is_timed {
            self.producer.hold();
        }
    }

    fn write_untimed(&mut self, id: u16, payload: &[u8]) {
        let header = Header::new(id, 0, HEADER_LEN + payload.len() as u32);
        // SAFETY: the payload is written below.
        let Some(record) = (unsafe { self.reserve(header) }) else { return };
        #[expect(clippy::disallowed_methods, reason = "both ranges are the shim's own")]
        // SAFETY: as many bytes are reserved, in memory that is not the payload's.
        unsafe {
            ptr::copy_nonoverlapping(payload.as_ptr(), record.payload.as_ptr(), payload.len())
        };
        // SAFETY: the payload is whole.
        unsafe { self.producer.publish(record) };
    }

    #[cold]
    #[inline(never)]
    unsafe fn reserve_slowly(&mut self, header: Header) -> Option<Reservation> {
        if self.producer.is_on_hold() {
            // SAFETY: passed on.
            return unsafe { self.reserve_timed(header) };
        }
        if let Some(keeping) = self.keeping.as_deref_mut().filter(|_| self.shared.is_null()) {
            let _errno = ErrnoGuard::save();
            keeping.note(header);
            return Some(keeping.room(header));
        }
        let _errno = ErrnoGuard::save();
        pages::forget();
        let shared = self.shared()?;
        let mut span = header.span_untrusted() + self.gap.span();
        let mut has_room_to_tell = !self.waited.is_empty() && self.may_add_told_wait(span);
        span += if has_room_to_tell { TOLD_BYTES } else { 0 };
        let wait = match self.producer.make_room(span) {
            Room::Full => {
                if !has_room_to_tell && self.may_add_told_wait(span) {
                    (has_room_to_tell, span) = (true, span + TOLD_BYTES);
                }
                self.wait(shared.host(), span)
            }
            Room::Ready => Wait::Ready,
            Room::Never => Wait::Vain,
        };
        match wait {
            Wait::Ready => {}
            Wait::Vain => {
                self.leave_out(header, shared.counter.newest_stamp());
                return None;
            }
            Wait::Stopped => {
                self.producer.forget_room();
                return None;
            }
        }
        if !self.gap.is_empty() {
            // SAFETY: there is room for the gap record and the other.
            unsafe { self.tell_gap(shared) };
        }
        if has_room_to_tell && !self.waited.is_empty() {
            // SAFETY: there is room for this record, too.
            unsafe { self.tell_wait() };
        }
        // SAFETY: passed on.
        unsafe { self.producer.reserve(header) }
    }

    /// Whether the ring can have room for records of `span` bytes and a told wait at once. The shim's own threads tell none.
    fn may_add_told_wait(&self, span: u64) -> bool {
        self.producer.counts_waits()
            && span + TOLD_BYTES <= self.producer.payload_len_max() + u64::from(HEADER_LEN)
    }

    /// Waits until the daemon has released room for `span` bytes. The wait is in vain if the capture drops records
    /// instead, if the daemon is gone, or if it has released nothing for as long as the capture allows; in the last
    /// two cases the process has left the capture.
    fn wait(&mut self, host: &dyn Host, span: u64) -> Wait {
        if host.overflow() == Overflow::Drop {
            return Wait::Vain;
        }
        let begin_ns = clock_ns();
        let wait = self.wait_until_over(host, span);
        if self.producer.counts_waits() {
            self.waited.add(begin_ns, clock_ns());
        }
        wait
    }

    fn wait_until_over(&mut self, host: &dyn Host, span: u64) -> Wait {
        let mut progress = Instant::now();
        let mut released = self.released();
        loop {
            match self.producer.wait_for_room(span, host.look_around()) {
                Room::Full => {}
                Room::Ready => return Wait::Ready,
                Room::Never => return Wait::Vain,
            }
            if self.released() != released {
                (released, progress) = (self.released(), Instant::now());
            }
            match host.outlook(progress.elapsed()) {
                Outlook::Waits => {}
                Outlook::GoesOn => progress = Instant::now(),
                // From here on records that find no room are dropped, until another daemon releases some.
                Outlook::Drops => return Wait::Vain,
                Outlook::Over => {
                    host.leave_capture();
                    return Wait::Vain;
                }
                Outlook::Stopped => {
                    host.leave_capture();
                    return Wait::Stopped;
                }
            }
        }
    }

    fn released(&self) -> u64 {
        self.producer.slot().map_or(0, Slot::released_untrusted)
    }

    /// Counts a record as dropped.
    fn leave_out(&mut self, header: Header, stamp: u64) {
        let dropped = self.gap.add(header, stamp);
        if let Some(slot) = self.producer.slot() {
            slot.count_dropped(1, dropped.calls, dropped.bytes);
        }
        // A shorter record must not find room before the gap is reported.
        self.producer.forget_room();
    }

    /// Writes the gap record.
    ///
    /// # Safety
    /// The ring has room for it at hand.
    unsafe fn tell_gap(&mut self, shared: &Shared) {
        let header = Header::new(GAP, 0, HEADER_LEN + Gap::LEN as u32);
        // SAFETY: the payload is written below.
        let Some(record) = (unsafe { self.producer.reserve(header) }) else { return };
        // A capture that waits for room drops records only where the wait was in vain.
        let cause = match shared.host().overflow() {
            Overflow::Drop => GapCause::Dropped,
            Overflow::Wait => GapCause::Stalled,
        };
        let payload = self.gap.take(shared.counter.newest_stamp(), cause);
        // SAFETY: the reserved payload has this length.
        unsafe { record.payload.cast().write(payload.encode()) };
        // SAFETY: the payload is whole.
        unsafe { self.producer.publish(record) };
        self.producer.forget_stamp();
    }

    /// Writes the record that tells the last wait.
    ///
    /// # Safety
    /// The ring has room for it at hand.
    unsafe fn tell_wait(&mut self) {
        let header = Header::new(TIME, 0, HEADER_LEN + Time::LEN as u32);
        // SAFETY: the payload is written below.
        let Some(record) = (unsafe { self.producer.reserve(header) }) else { return };
        let payload = self.waited.take().encode();
        // SAFETY: the reserved payload has this length.
        unsafe { record.payload.cast().write(payload) };
        // SAFETY: the payload is whole.
        unsafe { self.producer.publish(record) };
    }

    fn hold_or_resume(&mut self) {
        match self.timing.has_work() || self.keeping.is_some() || self.is_setup {
            true => self.producer.hold(),
            false => self.producer.resume(),
        }
    }

    /// Runs `act` as if the capture were not timed.
    fn untimed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let is_timed = self.suspend_timing();
        let done = act(self);
        self.resume_timing(is_timed);
        done
    }

    /// Reserves room for a record; a leave record has the times in it.
    ///
    /// # Safety
    /// As for [`Writer::reserve`].
    #[cold]
    unsafe fn reserve_timed(&mut self, header: Header) -> Option<Reservation> {
        let mut header = self.timing.header(header);
        if self.timing.takes_frame_end(header) && self.tell_frame_end(header.id()) {
            header = header.with_flags(FRAME_END);
        }
        if self.is_setup && header.id() < META_FIRST {
            header = header.with_flags(SETUP);
        }
        if let Some(keeping) = &mut self.keeping {
            keeping.note(header);
        }
        // SAFETY: passed on.
        let mut record = self.untimed(|writer| unsafe { writer.reserve(header) })?;
        if header.is_timed() {
            // SAFETY: the header's length includes the times, which come first; records are aligned to 8 bytes.
            unsafe { record.payload.cast::<[u64; 2]>().write(self.timing.words()) };
            // SAFETY: the payload that the caller asked for follows the times.
            record.payload = unsafe { record.payload.add(TIME_BYTES as usize) };
        }
        Some(record)
    }

    /// Publishes a record that the producer has refused because it is on hold. The clock starts last.
    ///
    /// # Safety
    /// As for [`Writer::publish`].
    #[cold]
    #[inline(never)]
    unsafe fn publish_timed(&mut self, record: Reservation) {
        if let Some(keeping) = &mut self.keeping {
            let _errno = ErrnoGuard::save();
            // SAFETY: the record's payload is written.
            unsafe { keeping.publish(record.payload) };
        }
        // A producer that is not on hold here has no ring, or was wiped: this is a child that was forked meanwhile.
        if !self.producer.is_on_hold() {
            return;
        }
        let entered = self.timing.wants_arguments().map(|words| {
            // SAFETY: the record has these words behind its header, and they are written.
            let words =
                unsafe { core::slice::from_raw_parts(record.payload.as_ptr().cast(), words) };
            self.timing.enter(words)
        });
        // SAFETY: passed on.
        self.untimed(|writer| unsafe { writer.producer.publish(record) });
        if let Some(command) = entered {
            self.with_host(|host, tell| host.before_driver(&command, tell));
        }
        self.timing.published();
    }

    /// Stops the clock: the driver has returned.
    #[cold]
    #[inline(never)]
    fn returned_timed(&mut self) {
        if let Some(command) = self.timing.returned() {
            self.with_host(|host, tell| host.after_driver(&command, tell));
        }
    }

    /// Calls the host, which may have times on the GPU to tell between the records of the present command.
    fn with_host(&mut self, call: impl FnOnce(&dyn Host, &mut dyn FnMut(&[u8]))) {
        let Some(shared) = self.shared() else { return };
        let _errno = ErrnoGuard::save();
        call(shared.host(), &mut |payload| self.write_between(GPU_TIMES, payload));
    }

    /// Ends a command. A command without a leave record gets one that holds the times, or nothing.
    #[cold]
    #[inline(never)]
    fn finish_timed(&mut self) {
        if !self.producer.is_on_hold() {
            return;
        }
        self.returned_timed();
        if let Some(header) = self.timing.missing_leave() {
            // SAFETY: there is no payload.
            if let Some(record) = unsafe { self.reserve_timed(header) } {
                // SAFETY: as above.
                unsafe { self.publish_timed(record) };
            }
        }
        self.untimed(|writer| writer.producer.finish());
        self.hold_or_resume();
    }

    /// Has the host count a frame that command `id` ends, and writes when it ended. Returns whether the frame belongs to the
    /// capture.
    fn tell_frame_end(&mut self, id: u16) -> bool {
        let _errno = ErrnoGuard::save();
        let Some(ended_ns) = self.shared().and_then(|shared| shared.host().frame_ended()) else {
            return false;
        };
        self.write_between(TIME, &Time::of_command(id, ended_ns).encode());
        true
    }
}
