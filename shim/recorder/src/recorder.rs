//! `Recorder`: writes the records of one thread's commands. If the ring has no room for a blob, an enter record that
//! needs it is dropped and counted, and a leave record is written without it. A leave record that finds no room is
//! dropped alone.
//!
//! A command has an enter record, written before the driver is called, and perhaps a leave record, written afterwards.
//! A record holds a fixed part (the arguments, or the result), the memory that the arguments lead to, and ranges of
//! memory that state leads to. Nothing here allocates, takes a lock or makes a system call, except where a ring is
//! full or memory may be unreadable.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, TIME, Time};
use gapii_ringbuf::Reservation;

use crate::blob::{BlobSender, Kept, Lost, Number, Source};
use crate::clock::clock_ns;
use crate::keeping::Keeping;
use crate::observe::Observation;
use crate::part::Part;
use crate::ranges::Ranges;
use crate::record::Writer;
use crate::scalar::{Scalar, word_of};
use crate::scratch::ScratchSlot;
use crate::shared::Shared;

/// The parameter of an observation that belongs to none.
const NO_PARAM: u8 = 255;

/// The recording half of a thread. All zeros: without a ring.
#[repr(C)]
pub struct Recorder {
    /// First, see [`Thread`](crate::Thread).
    writer: Writer,
    blobs: BlobSender,
    /// The ranges of memory that the present command reads or writes.
    ranges: Ranges,
    scratch: ScratchSlot,
}

impl Recorder {
    /// Returns a recorder whose writer is not attached yet.
    pub fn new(shared: &Shared) -> Self {
        Self {
            writer: Writer::detached(),
            blobs: BlobSender::new(shared),
            ranges: Ranges::default(),
            scratch: ScratchSlot::unmapped(),
        }
    }

    /// Returns a recorder that has no ring, and only [keeps](Keeping).
    pub fn without_ring() -> Self {
        Self {
            writer: Writer::detached(),
            blobs: BlobSender::without_ring(),
            ranges: Ranges::default(),
            scratch: ScratchSlot::unmapped(),
        }
    }

    /// Sets where commands go beside the ring. Between two commands.
    pub fn set_keeping(&mut self, keeping: Option<Keeping>) {
        self.blobs.set_all_slow(keeping.is_some());
        self.writer.set_keeping(keeping.map(Box::new));
    }

    /// Returns the thread's end of its ring.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Begins the thread's part of an epoch.
    pub fn begin_epoch(&mut self, part: Part) {
        self.writer.begin_epoch(part);
        self.blobs.begin_epoch(part.epoch);
    }

    /// From here on the thread writes a snapshot, whose commands are not timed. Returns whether the capture is timed.
    pub fn begin_describing(&mut self) -> bool {
        if let Some(shared) = self.writer.shared() {
            self.blobs.begin_describing(shared);
        }
        self.writer.suspend_timing()
    }

    /// From here on the thread writes records of commands. `is_timed` is what [`Recorder::begin_describing`] returned.
    pub fn end_describing(&mut self, is_timed: bool) {
        self.blobs.end_describing();
        self.writer.resume_timing(is_timed);
    }

    /// Writes a record that is not a command. The record is dropped and counted if there is no room.
    pub fn write_meta(&mut self, id: u16, payload: &[u8]) {
        self.writer.write_meta(id, payload);
    }

    /// Writes a time of the thread, also while a command is in progress.
    pub fn tell_time(&mut self, time: Time) {
        self.writer.write_between(TIME, &time.encode());
    }

    /// Writes that command `id` is called now, ahead of its enter record. In a timed capture the leave record says that.
    pub fn tell_begin(&mut self, id: u16) {
        if !self.writer.is_timed() {
            self.tell_time(Time::of_command(id, clock_ns()));
        }
    }

    /// Sets which command ends a frame with its next call, as the host counts it: its leave record says so. A command
    /// without a leave record gets one. Between two commands; `None` after the call, for a command that was not recorded.
    pub fn set_frame_end(&mut self, id: Option<u16>) {
        self.writer.set_frame_end(id);
    }

    /// Sets whether the thread's commands recreate state, so that their records say so. Between two commands.
    pub fn set_setup(&mut self, is_setup: bool) {
        self.writer.set_setup(is_setup);
    }

    /// Turns memory into a blob. If the ring has no room for it, or the memory is not readable, the answer is
    /// [`Kept::Unrecorded`].
    ///
    /// # Safety
    /// The source is readable, or its `copy` reports that it is not.
    pub unsafe fn keep(&mut self, source: &impl Source) -> Kept {
        // SAFETY: passed on.
        unsafe { self.try_keep(source) }.unwrap_or(Kept::Unrecorded)
    }

    /// Names `len` bytes at `address`, which need not be readable, for the next record. `param` is the index of the
    /// parameter that they belong to, or 255 for none.
    pub fn add_range(&mut self, param: u8, address: u64, len: u64) {
        self.ranges.add(&mut self.scratch, param, address, len);
    }

    /// Names memory of the program at `address`, of which the shim has a copy, for the next record.
    pub fn add_copied_range(&mut self, param: u8, address: u64, copy: &[u8]) {
        self.ranges.add_copy(&mut self.scratch, param, address, copy);
    }

    /// Names `len` bytes at `address` for the next record, which are a blob of this number that is still to be sent: see
    /// [`Recorder::send_owed`].
    pub fn add_owed_range(&mut self, param: u8, address: u64, len: u64, number: Number) {
        self.ranges.add_owed(&mut self.scratch, param, address, len, number);
    }

    /// Sends a blob of a snapshot that records refer to by `number` already. Returns false if the ring has no room for it.
    pub fn send_owed(&mut self, bytes: &[u8], number: Number) -> bool {
        let Self { blobs, writer, scratch, .. } = self;
        let Some(scratch) = scratch.get() else { return false };
        blobs.send_owed(writer, &mut scratch.piece, bytes, number).is_ok()
    }

    /// From here on the thread is one of the shim's own: the program does not wait where it waits.
    pub fn count_no_waits(&mut self) {
        self.writer.count_no_waits();
    }

    /// Names memory from `address` on for the next record, of which the record will say that its extent is not known.
    pub fn add_unknown_range(&mut self, param: u8, address: u64) {
        self.ranges.add_unknown(&mut self.scratch, param, address);
    }

    /// Keeps the next range from being joined to the one before.
    pub fn set_range_apart(&mut self) {
        self.ranges.set_apart();
    }

    /// Releases the thread's working memory, and its slot: the thread ends.
    pub fn retire(&mut self) {
        self.scratch.unmap();
        self.writer.retire();
    }

    /// Reserves the enter record of command `id`, without observations.
    ///
    /// # Safety
    /// The caller writes `payload_bytes` bytes before it publishes the record. No ranges were named.
    #[inline(always)]
    pub unsafe fn reserve(
        &mut self,
        id: u16,
        flags: u16,
        payload_bytes: u32,
    ) -> Option<Reservation> {
        // SAFETY: passed on.
        unsafe { self.writer.reserve(Header::new(id, flags, HEADER_LEN + payload_bytes)) }
    }

    /// Does the same as [`Recorder::reserve`], with room for a fixed part of `fixed_bytes`, the observations, and the
    /// ranges that were named. Sends the blobs among them first.
    ///
    /// # Safety
    /// The caller writes `fixed_bytes` bytes, and then calls [`Recorder::publish_observing`].
    #[inline(always)]
    pub unsafe fn reserve_observing<const N: usize>(
        &mut self,
        id: u16,
        flags: u16,
        fixed_bytes: u32,
        reads: &mut [Observation; N],
    ) -> Option<Reservation> {
        if self.are_plain(reads) {
            // SAFETY: passed on.
            unsafe { self.reserve(id, flags, payload_span(fixed_bytes, reads) as u32) }
        } else {
            // SAFETY: passed on.
            unsafe { self.reserve_large(id, flags, fixed_bytes, reads) }
        }
    }

    /// Publishes an enter record without observations. From here on it survives whatever happens in the driver.
    ///
    /// # Safety
    /// `record` is the last reservation, and its payload is written.
    #[inline(always)]
    pub unsafe fn publish(&mut self, record: Reservation) {
        // SAFETY: passed on.
        unsafe { self.writer.publish(record) };
    }

    /// Writes the observations and ranges after the fixed part, and publishes the record.
    ///
    /// # Safety
    /// As for [`Recorder::publish`]; `reads` are those passed to [`Recorder::reserve_observing`].
    #[inline(always)]
    pub unsafe fn publish_observing<const N: usize>(
        &mut self,
        record: Reservation,
        fixed_bytes: usize,
        reads: &[Observation; N],
    ) {
        // SAFETY: the payload was reserved with room for these observations.
        unsafe { self.write_observations(record.payload.as_ptr(), fixed_bytes, reads) };
        // SAFETY: now the whole payload is written.
        unsafe { self.publish(record) };
    }

    /// Notes that the driver has returned.
    #[inline(always)]
    pub fn returned(&mut self) {
        self.writer.returned();
    }

    /// Notes that the command is over.
    #[inline(always)]
    pub fn finish(&mut self) {
        self.writer.finish();
    }

    /// Writes the leave record, with the result and the memory that the driver wrote, and ends the command.
    #[inline(always)]
    pub fn leave<R: Scalar, const N: usize>(
        &mut self,
        id: u16,
        flags: u16,
        result: R,
        writes: &mut [Observation; N],
    ) {
        let fixed_bytes = size_of::<R>() as u32;
        let payload_bytes = match self.are_plain(writes) {
            true => payload_span(fixed_bytes, writes),
            false => self.look_or_not(fixed_bytes, writes),
        };
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + payload_bytes as u32);
        // SAFETY: the payload is written below.
        if let Some(record) = unsafe { self.writer.reserve(header) } {
            if !size_of::<R>().is_multiple_of(8) {
                // SAFETY: payloads are reserved in whole words.
                unsafe { record.payload.cast::<u64>().write(0) };
            }
            // SAFETY: the payload begins with room for the result.
            unsafe { record.payload.cast::<R>().write_unaligned(result) };
            // SAFETY: room for the observations follows.
            let payload = record.payload.as_ptr();
            // SAFETY: as above.
            unsafe { self.write_observations(payload, fixed_bytes as usize, writes) };
            // SAFETY: the payload is whole.
            unsafe { self.writer.publish(record) };
        }
        self.finish();
    }

    /// Does the same for a command whose only output is its result. No ranges were named.
    #[inline(always)]
    pub fn leave_result<R: Scalar>(&mut self, id: u16, flags: u16, result: R) {
        let word = word_of(result);
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + size_of::<R>() as u32);
        // SAFETY: the payload is written below.
        let Some(record) = (unsafe { self.writer.reserve_at_once(header) }) else {
            return self.leave_slowly(header, word);
        };
        if size_of::<R>() > 0 {
            // SAFETY: the payload is the result, and payloads are reserved in whole words.
            unsafe { record.payload.cast::<u64>().write(word) };
        }
        // SAFETY: the record is this thread's last reservation, and written.
        unsafe { self.writer.publish_last(record) };
    }

    /// Does the same if the ring has no room at hand, or if the driver's time is measured.
    #[cold]
    #[inline(never)]
    fn leave_slowly(&mut self, header: Header, result: u64) {
        self.returned();
        // SAFETY: the payload is written below.
        if let Some(record) = unsafe { self.writer.reserve(header) } {
            if header.len_untrusted() > HEADER_LEN {
                // SAFETY: the payload is the result, and payloads are reserved in whole words.
                unsafe { record.payload.cast::<u64>().write(result) };
            }
            // SAFETY: the payload is whole.
            unsafe { self.writer.publish(record) };
        }
        self.finish();
    }

    /// Sends the blobs among the observations and ranges first, and then reserves the enter record.
    #[inline(never)]
    unsafe fn reserve_large(
        &mut self,
        id: u16,
        flags: u16,
        fixed_bytes: u32,
        reads: &mut [Observation],
    ) -> Option<Reservation> {
        self.keep_memory(fixed_bytes, reads);
        match self.look(fixed_bytes, reads) {
            // SAFETY: passed on.
            Ok(payload_bytes) => unsafe { self.reserve(id, flags, payload_bytes as u32) },
            Err(Lost) => {
                self.ranges.forget();
                self.writer.lose(Header::new(id, flags, HEADER_LEN + fixed_bytes));
                None
            }
        }
    }

    /// Gives the observations and ranges to the host's keeper, if there is one. A thread without a ring then forgets them.
    fn keep_memory(&mut self, fixed_bytes: u32, reads: &mut [Observation]) {
        let Self { writer, ranges, scratch, .. } = self;
        let Some(keeping) = writer.keeping() else { return };
        for seen in reads.iter() {
            let (address, bytes) = seen.memory().unwrap_or_default();
            keeping.memory(fixed_bytes, true, NO_PARAM, address, bytes);
        }
        ranges.each(scratch, |param, address, bytes| {
            keeping.memory(fixed_bytes, false, param, address, bytes);
        });
        self.forget_without_ring(reads);
    }

    /// In a thread without a ring: no record has the observations and the ranges.
    fn forget_without_ring(&mut self, observations: &mut [Observation]) {
        if self.writer.shared().is_none() {
            observations.iter_mut().for_each(|seen| seen.set_kept(Kept::Unrecorded));
            self.ranges.forget();
        }
    }

    /// Whether all observations can be copied into the record as they are, and there are no ranges.
    #[inline(always)]
    fn are_plain(&self, observations: &[Observation]) -> bool {
        let min = self.blobs.plain_below();
        let is_plain = |seen: &Observation| seen.is_small(min) && seen.is_known();
        observations.iter().all(is_plain) && self.ranges.is_empty()
    }

    /// Decides how observations are kept, sends blobs, and stages ranges. Returns the size of the payload.
    fn look(&mut self, fixed_bytes: u32, observations: &mut [Observation]) -> Result<u64, Lost> {
        for seen in observations.iter_mut() {
            let is_thought_whole = !seen.is_unrecorded();
            self.look_at(seen)?;
            if is_thought_whole && seen.is_unrecorded() && seen.cut_to_readable() {
                self.look_at(seen)?;
            }
        }
        let payload_bytes = payload_span(fixed_bytes, observations);
        if self.ranges.is_empty() {
            return Ok(payload_bytes);
        }
        let Self { blobs, writer, ranges, scratch } = self;
        ranges.stage(scratch, blobs, writer, payload_bytes)
    }

    /// Decides how one observation is kept, and sends it if it is a blob.
    fn look_at(&mut self, seen: &mut Observation) -> Result<(), Lost> {
        let min = self.blobs.min_bytes();
        if !seen.is_readable(min) {
            seen.set_kept(Kept::Unrecorded);
        } else if !seen.is_small(min) {
            // SAFETY: copying the observation reports whether it is readable.
            let kept = unsafe { self.try_keep(seen) }?;
            seen.set_kept(kept);
        }
        Ok(())
    }

    /// Does the same as [`Self::look`]. If there is no room for a blob, the observations that needed one are marked as
    /// missing.
    #[inline(never)]
    fn look_or_not(&mut self, fixed_bytes: u32, observations: &mut [Observation]) -> u64 {
        self.forget_without_ring(observations);
        self.look(fixed_bytes, observations).unwrap_or_else(|Lost| {
            self.ranges.forget();
            for seen in observations.iter_mut() {
                let min = self.blobs.min_bytes();
                if !seen.is_small(min) || !seen.is_readable(min) {
                    seen.set_kept(Kept::Unrecorded);
                }
            }
            payload_span(fixed_bytes, observations)
        })
    }

    /// # Safety
    /// As for [`BlobSender::keep`].
    unsafe fn try_keep(&mut self, source: &impl Source) -> Result<Kept, Lost> {
        let Self { blobs, writer, scratch, .. } = self;
        let Some(scratch) = scratch.get() else { return Ok(Kept::Unrecorded) };
        // SAFETY: passed on.
        unsafe { blobs.keep(writer, &mut scratch.piece, source) }
    }

    /// # Safety
    /// `payload` has room for the padded fixed part, the observations' spans, and the staged ranges.
    #[inline(always)]
    unsafe fn write_observations(
        &mut self,
        payload: *mut u8,
        fixed_bytes: usize,
        observations: &[Observation],
    ) {
        // SAFETY: observations follow the padded fixed part.
        let mut out = unsafe { payload.add((fixed_bytes + 7) & !7) };
        for seen in observations {
            // SAFETY: the reservation has each observation's span.
            out = unsafe { seen.write(out) };
        }
        if !self.ranges.is_empty() {
            let Self { ranges, scratch, .. } = self;
            // SAFETY: the reservation has room for the staged ranges, after the observations.
            unsafe { ranges.write(scratch, out) };
        }
    }
}

/// Returns the size of a payload: the fixed part, padded if observations follow, and the observations.
#[inline(always)]
fn payload_span(fixed_bytes: u32, observations: &[Observation]) -> u64 {
    if observations.is_empty() {
        return u64::from(fixed_bytes);
    }
    let fixed = (u64::from(fixed_bytes) + 7) & !7;
    observations.iter().fold(fixed, |sum, seen| sum + seen.span())
}
