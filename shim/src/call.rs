//! One recorded command, from its enter record to its return: the path every handler shares.
//!
//! No allocation, no lock, no system call unless a ring is full. A handler that gets no [`Call`]
//! hands the command straight to the driver.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::compiler_fence;

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
    thread: &'static mut Thread,
    record: Reservation,
}

/// A command that is with the driver.
pub struct InFlight {
    thread: &'static mut Thread,
}

impl Call {
    /// Starts the enter record of command `id`. `None`: nothing is recorded, pass the command on.
    ///
    /// # Safety
    /// Called by a handler in the program's thread, with `payload_bytes` that the handler fills.
    #[inline(always)]
    pub unsafe fn enter(id: u16, flags: u16, payload_bytes: u32) -> Option<Call> {
        // SAFETY: the caller is a handler.
        let thread = unsafe { begin(id) }?;
        // SAFETY: passed on.
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
        // SAFETY: the caller is a handler.
        let thread = unsafe { begin(id) }?;
        // SAFETY: the observations are readable, as the caller says.
        if !unsafe { send_chunks(thread, reads) } {
            end(thread);
            return None;
        }
        let payload_bytes = payload_span(fixed_bytes, reads, thread.inline_max_bytes);
        // SAFETY: passed on.
        unsafe { Call::reserve(thread, id, flags, payload_bytes as u32) }
    }

    #[inline(always)]
    unsafe fn reserve(
        thread: &'static mut Thread,
        id: u16,
        flags: u16,
        payload_bytes: u32,
    ) -> Option<Call> {
        let header = Header::new(id, flags, HEADER_LEN + payload_bytes);
        // SAFETY: `begin` gave the thread to this call.
        let Some(record) = (unsafe { thread.reserve(header) }) else {
            end(thread);
            return None;
        };
        Some(Call { thread, record })
    }

    /// Clears the word at `offset`, which the arguments do not fill.
    ///
    /// # Safety
    /// `offset` is a multiple of 8 inside the payload that was asked for.
    #[inline(always)]
    pub unsafe fn clear(&self, offset: usize) {
        // SAFETY: inside the reserved payload.
        let at = unsafe { self.record.payload.add(offset) };
        // SAFETY: payloads are 8-aligned, and reserved in whole words.
        unsafe { at.cast::<u64>().write(0) };
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
        // SAFETY: the record is this thread's last reservation, and written.
        unsafe { self.thread.producer.publish(self.record) };
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
        self.thread.producer.finish();
        end(self.thread);
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
        let fixed_bytes = size_of::<R>() as u32;
        if N > 0 {
            // SAFETY: the observations are readable. Should their chunks find no room, the command
            // says that they are missing.
            unsafe { send_chunks(self.thread, writes) };
        }
        let payload_bytes = payload_span(fixed_bytes, writes, self.thread.inline_max_bytes);
        let header = Header::new(id, flags | LEAVE, HEADER_LEN + payload_bytes as u32);
        // SAFETY: this call has the thread since `begin`.
        if let Some(record) = unsafe { self.thread.reserve(header) } {
            if !size_of::<R>().is_multiple_of(8) {
                // SAFETY: payloads are reserved in whole words.
                unsafe { record.payload.cast::<u64>().write(0) };
            }
            // SAFETY: the payload begins with room for the result.
            unsafe { record.payload.cast::<R>().write_unaligned(result) };
            // SAFETY: then room for the observations.
            unsafe {
                write_observations(self.thread, record.payload, fixed_bytes as usize, writes)
            };
            // SAFETY: the payload is whole.
            unsafe { self.thread.producer.publish(record) };
        }
        // SAFETY: the command is over.
        unsafe { self.finish() };
    }
}

/// Takes the thread for one command: afterwards, commands that come from inside go straight on.
#[inline(always)]
unsafe fn begin(id: u16) -> Option<&'static mut Thread> {
    let words = words();
    // SAFETY: this thread's own words.
    let thread = unsafe { (*words).thread };
    // SAFETY: null, or a state that stays mapped and that this thread alone changes.
    let Some(thread) = (unsafe { thread.as_mut() }).filter(|thread| is_ready(thread)) else {
        // SAFETY: in the program's thread, outside the fast path.
        return unsafe { crate::thread::begin_slowly(id) };
    };
    thread.set_ready(0);
    // A signal handler that interrupts below must find the thread taken.
    compiler_fence(SeqCst);
    Some(thread)
}

#[inline(always)]
fn is_ready(thread: &Thread) -> bool {
    thread.ready() == EPOCH.load(Relaxed)
}

/// Gives the thread back.
#[inline(always)]
fn end(thread: &mut Thread) {
    compiler_fence(SeqCst);
    thread.set_ready(thread.idle);
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
    thread: &Thread,
    payload: *mut u8,
    fixed_bytes: usize,
    observations: &[Observation],
) {
    // SAFETY: observations follow the padded fixed part.
    let mut out = unsafe { payload.add((fixed_bytes + 7) & !7) };
    for seen in observations {
        // SAFETY: the reservation has each observation's span.
        out = unsafe { seen.write(out, thread.inline_max_bytes) };
    }
}

/// Writes the chunks of every observation that is too large for its record. False: some found no
/// room, and the command can't be recorded.
#[inline(never)]
unsafe fn send_chunks(thread: &mut Thread, observations: &[Observation]) -> bool {
    let chunk_bytes = thread.inline_max_bytes;
    for seen in observations.iter().filter(|seen| seen.size() > chunk_bytes) {
        let mut from = 0;
        while from < seen.size() {
            let len = chunk_bytes.min(seen.size() - from);
            let header = Header::new(CHUNK, 0, HEADER_LEN + 16 + len as u32);
            // SAFETY: the thread was taken by `begin`.
            let Some(record) = (unsafe { thread.reserve(header) }) else { return false };
            // SAFETY: the payload begins with two words.
            unsafe { record.payload.cast::<[u64; 2]>().write([seen.size(), from]) };
            // SAFETY: the payload goes on behind them.
            let bytes = unsafe { record.payload.add(16) };
            // SAFETY: `len` bytes are reserved there and lie inside the observation.
            unsafe { seen.copy(from, len, bytes) };
            // SAFETY: the payload is whole.
            unsafe { thread.producer.publish(record) };
            from += len;
        }
    }
    true
}
