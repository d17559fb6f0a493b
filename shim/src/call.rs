//! One recorded command, from its enter record to its return: the path every handler shares.
//!
//! No allocation, no lock, no system call unless a ring is full. A handler that gets no [`Call`]
//! hands the command straight to the driver.

use core::sync::atomic::{Ordering::Relaxed, compiler_fence};

use gapii_protocol::atom::{CHUNK, HEADER_LEN, Header, LEAVE};
use gapii_ringbuf::Reservation;

use crate::capture::EPOCH;
use crate::observe::Observation;
use crate::scalar::Scalar;
use crate::thread::Thread;
use crate::tls::words;

/// Records up to this payload size are written without looking for chunks, in bytes.
const SMALL_PAYLOAD_BYTES: u64 = 4096;

/// An enter record that is being written.
pub struct Call {
    thread: *mut Thread,
    record: Reservation,
}

/// A command that is with the driver.
pub struct InFlight {
    thread: *mut Thread,
}

impl Call {
    /// Starts the enter record of command `id`. `None`: nothing is recorded, pass the command on.
    ///
    /// # Safety
    /// Called by a handler in the program's thread, with `payload_bytes` that the handler fills.
    #[inline(always)]
    pub unsafe fn enter(id: u16, flags: u16, payload_bytes: u32) -> Option<Call> {
        // SAFETY: the words of this thread, see `begin`.
        let thread = unsafe { begin(id) }?;
        // SAFETY: `begin` gave the thread to this call.
        unsafe { Call::reserve(thread, id, flags, payload_bytes) }
    }

    /// As [`Call::enter`], with room for a fixed part of `fixed_bytes` and the observations.
    ///
    /// # Safety
    /// As for [`Call::enter`]; the observations are readable.
    #[inline(always)]
    pub unsafe fn enter_observing<const N: usize>(
        id: u16,
        flags: u16,
        fixed_bytes: u32,
        reads: &[Observation; N],
    ) -> Option<Call> {
        let payload_bytes = payload_span(fixed_bytes, reads, u64::MAX);
        if payload_bytes <= SMALL_PAYLOAD_BYTES {
            // SAFETY: passed on.
            unsafe { Call::enter(id, flags, payload_bytes as u32) }
        } else {
            // SAFETY: passed on.
            unsafe { Call::enter_large(id, flags, fixed_bytes, reads) }
        }
    }

    /// Sends what is too large for one record ahead, then starts the enter record.
    #[cold]
    #[inline(never)]
    unsafe fn enter_large(
        id: u16,
        flags: u16,
        fixed_bytes: u32,
        reads: &[Observation],
    ) -> Option<Call> {
        // SAFETY: the words of this thread.
        let thread = unsafe { begin(id) }?;
        // SAFETY: `begin` gave the thread to this call.
        if !unsafe { send_chunks(thread, reads) } {
            // SAFETY: as above.
            unsafe { end(thread) };
            return None;
        }
        // SAFETY: as above.
        let inline_max = unsafe { (*thread).inline_max_bytes };
        let payload_bytes = payload_span(fixed_bytes, reads, inline_max);
        // SAFETY: as above.
        unsafe { Call::reserve(thread, id, flags, payload_bytes as u32) }
    }

    #[inline(always)]
    unsafe fn reserve(
        thread: *mut Thread,
        id: u16,
        flags: u16,
        payload_bytes: u32,
    ) -> Option<Call> {
        let header = Header::new(id, flags, HEADER_LEN + payload_bytes);
        // SAFETY: `begin` gave the thread to this call.
        match unsafe { (*thread).reserve(header) } {
            Some(record) => Some(Call { thread, record }),
            None => {
                // SAFETY: as above; the call is not recorded.
                unsafe { end(thread) };
                None
            }
        }
    }

    /// Writes one argument at its place in the fixed part.
    ///
    /// # Safety
    /// `offset` and the value's size lie inside the payload that was asked for.
    #[inline(always)]
    pub unsafe fn put<T: Scalar>(&self, offset: usize, value: T) {
        // SAFETY: inside the reserved payload.
        let at = unsafe { self.record.payload.add(offset) };
        // SAFETY: as above; records are only 8-aligned as a whole.
        unsafe { at.cast::<T>().write_unaligned(value) };
    }

    /// Publishes the enter record. From here on it survives whatever the driver does.
    ///
    /// # Safety
    /// The whole payload was written.
    #[inline(always)]
    pub unsafe fn publish(self) -> InFlight {
        // SAFETY: this call has the thread since `begin`.
        unsafe { (*self.thread).producer.publish(self.record) };
        InFlight { thread: self.thread }
    }

    /// Writes the observations behind the fixed part and publishes.
    ///
    /// # Safety
    /// As for [`Call::publish`]; `reads` are those given to [`Call::enter_observing`].
    #[inline(always)]
    pub unsafe fn publish_observing<const N: usize>(
        self,
        fixed_bytes: usize,
        reads: &[Observation; N],
    ) -> InFlight {
        // SAFETY: the payload was asked for with room for these observations.
        unsafe { write_observations(self.thread, self.record.payload, fixed_bytes, reads) };
        // SAFETY: now the whole payload is written.
        unsafe { self.publish() }
    }
}

impl InFlight {
    /// The driver has returned and there is nothing to tell.
    ///
    /// # Safety
    /// In the thread that entered.
    #[inline(always)]
    pub unsafe fn finish(self) {
        // SAFETY: this call has the thread since `begin`.
        unsafe { (*self.thread).producer.finish() };
        // SAFETY: as above.
        unsafe { end(self.thread) };
    }

    /// Writes the leave record: what the driver returned and wrote.
    ///
    /// # Safety
    /// In the thread that entered; the observations are readable.
    #[inline(always)]
    pub unsafe fn leave<R: Scalar, const N: usize>(
        self,
        id: u16,
        flags: u16,
        result: R,
        writes: &[Observation; N],
    ) {
        let thread = self.thread;
        let fixed_bytes = size_of::<R>() as u32;
        // SAFETY: this call has the thread since `begin`.
        let inline_max = unsafe { (*thread).inline_max_bytes };
        let payload_bytes = payload_span(fixed_bytes, writes, inline_max);
        if N > 0 {
            // SAFETY: as above. Chunks that found no room are missing from a command that says so.
            unsafe { send_chunks(thread, writes) };
        }
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + payload_bytes as u32);
        // SAFETY: as above.
        if let Some(record) = unsafe { (*thread).reserve(header) } {
            // SAFETY: the payload begins with room for the result.
            unsafe { record.payload.cast::<R>().write_unaligned(result) };
            // SAFETY: then room for the observations.
            unsafe { write_observations(thread, record.payload, fixed_bytes as usize, writes) };
            // SAFETY: the payload is whole.
            unsafe { (*thread).producer.publish(record) };
        }
        // SAFETY: the command is over.
        unsafe { self.finish() };
    }
}

/// Takes the thread for one command: afterwards, commands that come from inside go straight on.
#[inline(always)]
unsafe fn begin(id: u16) -> Option<*mut Thread> {
    // SAFETY: this thread's own words.
    let thread = unsafe { (*words()).thread };
    // SAFETY: a thread state stays mapped once the words point to it.
    if thread.is_null() || unsafe { (*thread).ready() } != EPOCH.load(Relaxed) {
        // SAFETY: in the program's thread, outside the fast path.
        return unsafe { crate::thread::begin_slowly(id) };
    }
    // SAFETY: as above.
    unsafe { (*thread).set_ready(0) };
    // A signal handler that interrupts below must find the thread taken.
    compiler_fence(std::sync::atomic::Ordering::SeqCst);
    Some(thread)
}

/// Gives the thread back.
#[inline(always)]
unsafe fn end(thread: *mut Thread) {
    compiler_fence(std::sync::atomic::Ordering::SeqCst);
    // SAFETY: the thread was taken by `begin`.
    let idle = unsafe { (*thread).idle };
    // SAFETY: as above.
    unsafe { (*thread).set_ready(idle) };
}

/// Bytes of a payload: the fixed part, padded when observations follow, and they.
#[inline(always)]
fn payload_span(fixed_bytes: u32, observations: &[Observation], inline_max_bytes: u64) -> u64 {
    if observations.is_empty() {
        return u64::from(fixed_bytes);
    }
    let fixed = (u64::from(fixed_bytes) + 7) & !7;
    observations.iter().fold(fixed, |sum, seen| sum.saturating_add(seen.span(inline_max_bytes)))
}

#[inline(always)]
unsafe fn write_observations(
    thread: *mut Thread,
    payload: *mut u8,
    fixed_bytes: usize,
    observations: &[Observation],
) {
    // SAFETY: the thread was taken by `begin`.
    let inline_max = unsafe { (*thread).inline_max_bytes };
    // SAFETY: observations follow the padded fixed part.
    let mut out = unsafe { payload.add((fixed_bytes + 7) & !7) };
    for seen in observations {
        // SAFETY: the reservation has each observation's span.
        out = unsafe { seen.write(out, inline_max) };
    }
}

/// Writes the chunks of every observation that is too large for its record. False: some found no
/// room, and the command can't be recorded.
#[inline(never)]
unsafe fn send_chunks(thread: *mut Thread, observations: &[Observation]) -> bool {
    // SAFETY: the thread was taken by `begin`.
    let inline_max = unsafe { (*thread).inline_max_bytes };
    for seen in observations {
        if seen.size() <= inline_max {
            continue;
        }
        let mut from = 0;
        while from < seen.size() {
            let len = inline_max.min(seen.size() - from);
            let header = Header::new(CHUNK, 0, HEADER_LEN + 16 + len as u32);
            // SAFETY: as above.
            let Some(record) = (unsafe { (*thread).reserve(header) }) else { return false };
            let words = record.payload.cast::<u64>();
            // SAFETY: the payload begins with two words.
            unsafe { words.write(seen.size()) };
            // SAFETY: as above.
            unsafe { words.add(1).write(from) };
            // SAFETY: then `len` bytes, which lie inside the observation.
            unsafe { seen.copy(from, len, record.payload.add(16)) };
            // SAFETY: the payload is whole.
            unsafe { (*thread).producer.publish(record) };
            from += len;
        }
    }
    true
}
