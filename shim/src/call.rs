//! One recorded command, from its call to its return: the path that all handlers share.
//!
//! [`Call::begin`] decides whether the command is recorded. Then the memory that it reads is looked at, and then the
//! enter record is reserved. Nothing here allocates, takes a lock, or makes a system call, except where a ring is
//! full or memory may be unreadable. A handler that gets no [`Call`] passes the command straight to the driver.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE};
use gapii_ringbuf::Reservation;

use crate::blobs::{Kept, Lost};
use crate::capture::EPOCH;
use crate::observe::Observation;
use crate::scalar::Scalar;
use crate::thread::Thread;
use crate::tls::words;
use crate::tracking::Touches;

/// A command that will be recorded, before its enter record is reserved.
#[must_use = "a command that is begun goes on with its enter record"]
pub struct Call {
    thread: &'static mut Thread,
    id: u16,
}

/// An enter record that is being written.
pub struct Entering {
    thread: &'static mut Thread,
    record: Reservation,
}

/// A command that the driver is executing.
pub struct InFlight {
    thread: &'static mut Thread,
}

impl Call {
    /// Takes the thread for command `id`. `None` if the command is not recorded; the caller then passes it to the
    /// driver.
    ///
    /// # Safety
    /// Called by a handler in a thread of the program. The handler reserves the enter record next.
    #[inline(always)]
    pub unsafe fn begin(id: u16) -> Option<Call> {
        // SAFETY: the caller is a handler.
        let thread = unsafe { begin(id) }?;
        Some(Call { thread, id })
    }

    /// Begins command `id` in a thread that is inside the shim already. The shim itself makes this command, not the
    /// program.
    ///
    /// # Safety
    /// Only in the thread itself, while no other call of it is in progress.
    pub unsafe fn inside(thread: *mut Thread, id: u16) -> Call {
        // SAFETY: the thread's own state, which stays mapped, and which no other call uses.
        Call { thread: unsafe { &mut *thread }, id }
    }

    /// Continues after an enter record that was written in another way.
    pub fn in_flight(self) -> InFlight {
        InFlight { thread: self.thread }
    }

    /// Returns the thread, for records that must be in its ring before the enter record.
    pub fn thread(&mut self) -> &mut Thread {
        self.thread
    }

    /// Reserves an enter record without observations. `None` if there is no room; the caller then passes the command
    /// to the driver.
    ///
    /// # Safety
    /// The handler writes `payload_bytes` bytes. No ranges were named.
    #[inline(always)]
    pub unsafe fn reserve(self, flags: u16, payload_bytes: u32) -> Option<Entering> {
        let header = Header::new(self.id, flags, HEADER_LEN + payload_bytes);
        // SAFETY: `begin` gave the thread to this call.
        let Some(record) = (unsafe { self.thread.reserve(header) }) else {
            end(self.thread);
            return None;
        };
        Some(Entering { thread: self.thread, record })
    }

    /// Does the same as [`Call::reserve`], with room for a fixed part of `fixed_bytes`, the observations, and the
    /// ranges that were named.
    ///
    /// # Safety
    /// The handler writes `fixed_bytes` bytes.
    #[inline(always)]
    pub unsafe fn reserve_observing<const N: usize>(
        self,
        flags: u16,
        fixed_bytes: u32,
        reads: &mut [Observation; N],
    ) -> Option<Entering> {
        if is_plain(self.thread, reads) {
            // SAFETY: passed on.
            unsafe { self.reserve(flags, payload_span(fixed_bytes, reads) as u32) }
        } else {
            // SAFETY: passed on.
            unsafe { self.reserve_large(flags, fixed_bytes, reads) }
        }
    }

    /// Sends the blobs among the observations and ranges first, and then reserves the enter record.
    #[inline(never)]
    unsafe fn reserve_large(
        self,
        flags: u16,
        fixed_bytes: u32,
        reads: &mut [Observation],
    ) -> Option<Entering> {
        // SAFETY: the thread is inside the shim.
        match unsafe { look(self.thread, fixed_bytes, reads) } {
            // SAFETY: passed on.
            Ok(payload_bytes) => unsafe { self.reserve(flags, payload_bytes as u32) },
            Err(Lost) => {
                self.thread.forget_ranges();
                self.thread.lose(Header::new(self.id, flags, HEADER_LEN + fixed_bytes));
                end(self.thread);
                None
            }
        }
    }
}

impl Entering {
    /// Clears the word at `offset`, which the arguments do not fill completely.
    ///
    /// # Safety
    /// `offset` is a multiple of 8 inside the reserved payload.
    #[inline(always)]
    pub unsafe fn clear(&self, offset: usize) {
        // SAFETY: inside the reserved payload.
        let at = unsafe { self.record.payload.add(offset) };
        // SAFETY: payloads are aligned to 8 bytes and reserved in whole words.
        unsafe { at.cast::<u64>().write(0) };
    }

    /// Writes one argument to its place in the fixed part.
    ///
    /// # Safety
    /// `offset` and the value's size lie inside the reserved payload.
    #[inline(always)]
    pub unsafe fn put<T: Scalar>(&self, offset: usize, value: T) {
        // SAFETY: inside the reserved payload.
        let at = unsafe { self.record.payload.add(offset) };
        // SAFETY: as above; only the payload as a whole is aligned, to 8 bytes.
        unsafe { at.cast::<T>().write_unaligned(value) };
    }

    /// Writes an argument that shares its word with no other, and clears the rest of the word.
    ///
    /// # Safety
    /// As for [`Entering::put`]; `offset` is a multiple of 8.
    #[inline(always)]
    pub unsafe fn put_word<T: Scalar>(&self, offset: usize, value: T) {
        // SAFETY: inside the reserved payload.
        let at = unsafe { self.record.payload.add(offset) };
        // SAFETY: payloads are aligned to 8 bytes and reserved in whole words.
        unsafe { at.cast::<u64>().write(word_of(value)) };
    }

    /// Publishes the enter record. From here on the record survives whatever happens in the driver.
    ///
    /// # Safety
    /// The whole payload was written.
    #[inline(always)]
    pub unsafe fn publish(self) -> InFlight {
        // SAFETY: the record is this thread's last reservation, and written.
        unsafe { self.thread.publish(self.record) };
        InFlight { thread: self.thread }
    }

    /// Writes the observations and ranges after the fixed part, and publishes the record.
    ///
    /// # Safety
    /// As for [`Entering::publish`]; `reads` are those passed to [`Call::reserve_observing`].
    #[inline(always)]
    pub unsafe fn publish_observing<const N: usize>(
        self,
        fixed_bytes: usize,
        reads: &[Observation; N],
    ) -> InFlight {
        // SAFETY: the payload was reserved with room for these observations.
        unsafe {
            write_observations(self.thread, self.record.payload.as_ptr(), fixed_bytes, reads)
        };
        // SAFETY: now the whole payload is written.
        unsafe { self.publish() }
    }
}

impl InFlight {
    /// Notes that the driver has returned, if more is to be done before [`Self::finish`] or [`Self::leave`].
    #[inline(always)]
    pub fn returned(&mut self) {
        self.thread.returned();
    }

    /// Ends a command that has no leave record, after the driver has returned.
    ///
    /// # Safety
    /// Only in the thread that entered.
    #[inline(always)]
    pub unsafe fn finish(self) {
        self.thread.finish();
        end(self.thread);
    }

    /// Writes the leave record: the result, and the memory that the driver wrote. To be called after
    /// [`Self::returned`].
    ///
    /// # Safety
    /// Only in the thread that entered.
    #[inline(always)]
    pub unsafe fn leave<R: Scalar, const N: usize>(
        self,
        id: u16,
        flags: u16,
        result: R,
        writes: &mut [Observation; N],
    ) {
        let fixed_bytes = size_of::<R>() as u32;
        let payload_bytes = match is_plain(self.thread, writes) {
            true => payload_span(fixed_bytes, writes),
            // SAFETY: the thread is inside the shim.
            false => unsafe { look_or_not(self.thread, fixed_bytes, writes) },
        };
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + payload_bytes as u32);
        // SAFETY: this call has had the thread since `begin`.
        if let Some(record) = unsafe { self.thread.reserve(header) } {
            if !size_of::<R>().is_multiple_of(8) {
                // SAFETY: payloads are reserved in whole words.
                unsafe { record.payload.cast::<u64>().write(0) };
            }
            // SAFETY: the payload begins with room for the result.
            unsafe { record.payload.cast::<R>().write_unaligned(result) };
            // SAFETY: room for the observations follows.
            let payload = record.payload.as_ptr();
            // SAFETY: as above.
            unsafe { write_observations(self.thread, payload, fixed_bytes as usize, writes) };
            // SAFETY: the payload is whole.
            unsafe { self.thread.publish(record) };
        }
        // SAFETY: the command is over.
        unsafe { self.finish() };
    }

    /// Writes the leave record of a command whose only output is its result.
    ///
    /// # Safety
    /// Only in the thread that entered. No ranges were named since, and [`Self::returned`] was not called.
    #[inline(always)]
    pub unsafe fn leave_result<R: Scalar>(self, id: u16, flags: u16, result: R) {
        let word = word_of(result);
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + size_of::<R>() as u32);
        // SAFETY: the producer is this thread's.
        let Some(record) = (unsafe { self.thread.producer.reserve(header) }) else {
            // SAFETY: passed on.
            return unsafe { self.leave_slowly(header, word) };
        };
        if size_of::<R>() > 0 {
            // SAFETY: the payload is the result, and payloads are reserved in whole words.
            unsafe { record.payload.cast::<u64>().write(word) };
        }
        // SAFETY: the record is this thread's last reservation, and written.
        unsafe { self.thread.publish_last(record) };
        end(self.thread);
    }

    /// Does the same if the ring has no room at hand, or if the driver's time is measured.
    #[cold]
    #[inline(never)]
    unsafe fn leave_slowly(mut self, header: Header, result: u64) {
        self.returned();
        // SAFETY: this call has had the thread since `begin`.
        if let Some(record) = unsafe { self.thread.reserve(header) } {
            if header.len_untrusted() > HEADER_LEN {
                // SAFETY: the payload is the result, and payloads are reserved in whole words.
                unsafe { record.payload.cast::<u64>().write(result) };
            }
            // SAFETY: the payload is whole.
            unsafe { self.thread.publish(record) };
        }
        // SAFETY: the command is over.
        unsafe { self.finish() };
    }
}

/// The memory that a command reads. It is looked at when [`Call::reserve_observing`] reserves the enter record.
impl Touches for Call {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.thread.add_range(param, address, len);
    }

    fn apart(&mut self) {
        self.thread.ranges.set_apart();
    }
}

/// The memory that a command wrote. It is looked at when the leave record is written.
impl Touches for InFlight {
    fn range(&mut self, param: u8, address: u64, len: u64) {
        self.thread.add_range(param, address, len);
    }

    fn apart(&mut self) {
        self.thread.ranges.set_apart();
    }
}

/// Takes the thread for one command. From then on, commands that are called from inside go straight to the driver.
#[inline(always)]
unsafe fn begin(id: u16) -> Option<&'static mut Thread> {
    let words = words();
    // SAFETY: this thread's own words.
    let thread = unsafe { (*words).thread };
    // SAFETY: null, or a state that stays mapped and that this thread alone changes.
    let Some(thread) = (unsafe { thread.as_mut() }) else {
        // SAFETY: in a thread of the program, outside the fast path.
        return unsafe { crate::thread::begin_slowly(id) };
    };
    // OUTSIDE, in Gate::enter.
    if !thread.gate().enter(&EPOCH) {
        // SAFETY: as above.
        return unsafe { crate::thread::begin_slowly(id) };
    }
    Some(thread)
}

/// Opens the thread's gate again.
#[inline(always)]
fn end(thread: &mut Thread) {
    thread.gate().leave(thread.idle);
}

/// Returns a word that begins with the value and ends with zeros.
#[inline(always)]
fn word_of<T: Scalar>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= size_of::<u64>()) };
    let mut word = 0;
    // SAFETY: the value is no longer than the word.
    unsafe { (&raw mut word).cast::<T>().write_unaligned(value) };
    word
}

/// Whether all observations can be copied into the record as they are, and there are no ranges.
#[inline(always)]
fn is_plain(thread: &Thread, observations: &[Observation]) -> bool {
    let is_plain = |seen: &Observation| seen.is_small(thread.blob_min_bytes) && seen.is_known();
    observations.iter().all(is_plain) && !thread.has_ranges()
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

/// Decides how observations are kept, sends blobs, and stages ranges. Returns the size of the payload.
unsafe fn look(
    thread: &mut Thread,
    fixed_bytes: u32,
    observations: &mut [Observation],
) -> Result<u64, Lost> {
    for seen in observations.iter_mut() {
        let is_thought_whole = !seen.is_unrecorded();
        // SAFETY: passed on.
        unsafe { look_at(thread, seen) }?;
        if is_thought_whole && seen.is_unrecorded() && seen.cut_to_readable() {
            // SAFETY: passed on.
            unsafe { look_at(thread, seen) }?;
        }
    }
    let payload_bytes = payload_span(fixed_bytes, observations);
    match thread.has_ranges() {
        // SAFETY: the thread is inside the shim.
        true => unsafe { thread.stage_ranges(payload_bytes) },
        false => Ok(payload_bytes),
    }
}

/// Decides how one observation is kept, and sends it if it is a blob.
///
/// # Safety
/// The thread is inside the shim.
unsafe fn look_at(thread: &mut Thread, seen: &mut Observation) -> Result<(), Lost> {
    if !seen.is_readable(thread.blob_min_bytes) {
        seen.set_kept(Kept::Unrecorded);
    } else if !seen.is_small(thread.blob_min_bytes) {
        // SAFETY: the thread is inside the shim; copying the observation reports whether it is readable.
        seen.set_kept(unsafe { thread.keep(seen) }?);
    }
    Ok(())
}

/// Does the same as [`look`]. If there is no room for a blob, the observations that needed one are marked as missing.
#[inline(never)]
unsafe fn look_or_not(
    thread: &mut Thread,
    fixed_bytes: u32,
    observations: &mut [Observation],
) -> u64 {
    // SAFETY: passed on.
    unsafe { look(thread, fixed_bytes, observations) }.unwrap_or_else(|Lost| {
        thread.forget_ranges();
        for seen in observations.iter_mut() {
            let min = thread.blob_min_bytes;
            if !seen.is_small(min) || !seen.is_readable(min) {
                seen.set_kept(Kept::Unrecorded);
            }
        }
        payload_span(fixed_bytes, observations)
    })
}

#[inline(always)]
unsafe fn write_observations(
    thread: &mut Thread,
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
    if thread.has_ranges() {
        // SAFETY: the reservation has room for the staged ranges, after the observations.
        unsafe { thread.write_ranges(out) };
    }
}
