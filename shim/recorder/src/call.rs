//! One recorded command, from its call to its return: the steps that all handlers share. Once its enter record is
//! published, the command survives whatever happens in the driver. A handler that gets `None`, because nothing is
//! recorded or there is no room, passes the command straight to the driver.
//!
//! [`Call`] is a command that will be recorded, [`Entering`] its enter record that is being written, and [`InFlight`]
//! the command while the driver executes it. Each step takes the one before, and the thread's gate opens when the last
//! is dropped. A handler that gets `None` passes the command straight to the driver.

use gapii_ringbuf::Reservation;

use crate::observe::Observation;
use crate::recorder::Recorder;
use crate::scalar::{Scalar, word_of};
use crate::thread::Entered;

/// A command that will be recorded, before its enter record is reserved.
#[must_use = "a command that is begun goes on with its enter record"]
pub struct Call {
    entered: Entered,
    id: u16,
}

/// An enter record that is being written.
pub struct Entering {
    entered: Entered,
    record: Reservation,
}

/// A command that the driver is executing.
pub struct InFlight {
    entered: Entered,
}

impl Call {
    /// Begins command `id` in the thread that was entered.
    #[inline(always)]
    pub fn new(entered: Entered, id: u16) -> Call {
        Call { entered, id }
    }

    /// Continues after an enter record that was written in another way.
    pub fn in_flight(self) -> InFlight {
        InFlight { entered: self.entered }
    }

    /// Returns the recorder, for records that must be in the ring before the enter record, and for the memory that the
    /// command reads.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.entered
    }

    /// Reserves an enter record without observations. `None` if there is no room.
    ///
    /// # Safety
    /// The handler writes `payload_bytes` bytes. No ranges were named.
    #[inline(always)]
    pub unsafe fn reserve(mut self, flags: u16, payload_bytes: u32) -> Option<Entering> {
        // SAFETY: passed on.
        let record = unsafe { self.entered.reserve(self.id, flags, payload_bytes) }?;
        Some(Entering { entered: self.entered, record })
    }

    /// Does the same as [`Call::reserve`], with room for a fixed part of `fixed_bytes`, the observations, and the
    /// ranges that were named.
    ///
    /// # Safety
    /// The handler writes `fixed_bytes` bytes, and calls [`Entering::publish_observing`].
    #[inline(always)]
    pub unsafe fn reserve_observing<const N: usize>(
        mut self,
        flags: u16,
        fixed_bytes: u32,
        reads: &mut [Observation; N],
    ) -> Option<Entering> {
        // SAFETY: passed on.
        let record = unsafe { self.entered.reserve_observing(self.id, flags, fixed_bytes, reads) }?;
        Some(Entering { entered: self.entered, record })
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
    pub unsafe fn publish(mut self) -> InFlight {
        // SAFETY: the record is this thread's last reservation, and written.
        unsafe { self.entered.publish(self.record) };
        InFlight { entered: self.entered }
    }

    /// Writes the observations and ranges after the fixed part, and publishes the record.
    ///
    /// # Safety
    /// As for [`Entering::publish`]; `reads` are those passed to [`Call::reserve_observing`].
    #[inline(always)]
    pub unsafe fn publish_observing<const N: usize>(
        mut self,
        fixed_bytes: usize,
        reads: &[Observation; N],
    ) -> InFlight {
        // SAFETY: passed on.
        unsafe { self.entered.publish_observing(self.record, fixed_bytes, reads) };
        InFlight { entered: self.entered }
    }
}

impl InFlight {
    /// Returns the recorder, for the memory that the command wrote.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.entered
    }

    /// Notes that the driver has returned, if more is to be done before [`Self::finish`] or [`Self::leave`].
    #[inline(always)]
    pub fn returned(&mut self) {
        self.entered.returned();
    }

    /// Ends a command that has no leave record, after the driver has returned.
    #[inline(always)]
    pub fn finish(mut self) {
        self.entered.finish();
    }

    /// Writes the leave record: the result, and the memory that the driver wrote. To be called after
    /// [`Self::returned`].
    #[inline(always)]
    pub fn leave<R: Scalar, const N: usize>(
        mut self,
        id: u16,
        flags: u16,
        result: R,
        writes: &mut [Observation; N],
    ) {
        self.entered.leave(id, flags, result, writes);
    }

    /// Writes the leave record of a command whose only output is its result. No ranges were named since, and
    /// [`Self::returned`] was not called.
    #[inline(always)]
    pub fn leave_result<R: Scalar>(mut self, id: u16, flags: u16, result: R) {
        self.entered.leave_result(id, flags, result);
    }
}
