//! Measures how long the driver takes for each command, in a capture that asks for it.
//!
//! Throughout such a capture the thread's producer is on hold. The producer therefore refuses each step of the fast
//! path (reserving room, publishing, ending the command), and the step comes here. A capture without timing pays
//! nothing. In a timed capture every command has a leave record.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, LEAVES, META_FIRST};
use gapii_ringbuf::Reservation;

use crate::process::clock_ns;
use crate::thread::Thread;

/// Bytes in front of a leave record's payload that hold the time.
pub const TIME_BYTES: u64 = 8;

/// The timing of a thread's present command. All zeros: no command.
#[derive(Default)]
pub struct Timing {
    /// An enter record is reserved and not published yet.
    is_entering: bool,
    /// The enter record is published, and no leave record is reserved yet.
    is_open: bool,
    has_returned: bool,
    id: u16,
    /// When the driver was called, on `CLOCK_MONOTONIC`.
    start_ns: u64,
    driver_ns: u64,
}

impl Timing {
    /// Returns the header that a command's record has in a timed capture. Headers of other records stay as they are.
    fn header(&mut self, header: Header) -> Header {
        let is_leave = header.flags() & LEAVE != 0;
        self.is_entering = false;
        if header.id() >= META_FIRST {
            return header;
        }
        if is_leave {
            self.is_open = false;
            return header.with_time();
        }
        (self.is_entering, self.id) = (true, header.id());
        header.with_flags(LEAVES)
    }

    /// Starts the clock if the published record is an enter record, because the driver is called next.
    fn published(&mut self) {
        if core::mem::take(&mut self.is_entering) {
            (self.is_open, self.has_returned) = (true, false);
            self.start_ns = clock_ns();
        }
    }

    fn returned(&mut self) {
        if self.is_open && !self.has_returned {
            self.driver_ns = clock_ns().saturating_sub(self.start_ns);
            self.has_returned = true;
        }
    }
}

impl Thread {
    /// Begins a capture, with timing or without.
    pub fn set_timed(&mut self, is_timed: bool) {
        self.timing = Timing::default();
        match is_timed {
            true => self.producer.hold(),
            false => self.producer.resume(),
        }
    }

    /// Runs `act` as if the capture were not timed.
    pub fn untimed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let is_timed = self.producer.is_on_hold();
        self.producer.resume();
        let done = act(self);
        if is_timed {
            self.producer.hold();
        }
        done
    }

    /// Reserves room for a record; a leave record has the time in it.
    ///
    /// # Safety
    /// As for [`Thread::reserve`].
    #[cold]
    pub unsafe fn reserve_timed(&mut self, header: Header) -> Option<Reservation> {
        let header = self.timing.header(header);
        // SAFETY: passed on.
        let mut record = self.untimed(|thread| unsafe { thread.reserve(header) })?;
        if header.is_timed() {
            // SAFETY: the header's length includes the time, which comes first; records are aligned to 8 bytes.
            unsafe { record.payload.cast::<u64>().write(self.timing.driver_ns) };
            // SAFETY: the payload that the caller asked for follows the time.
            record.payload = unsafe { record.payload.add(TIME_BYTES as usize) };
        }
        Some(record)
    }

    /// Publishes a record that the producer has refused because it is on hold. The clock starts last.
    ///
    /// # Safety
    /// As for [`Thread::publish`].
    #[cold]
    #[inline(never)]
    pub unsafe fn publish_timed(&mut self, record: Reservation) {
        // A producer that is not on hold here was wiped: this is a child that was forked meanwhile.
        if !self.producer.is_on_hold() {
            return;
        }
        // SAFETY: passed on.
        self.untimed(|thread| unsafe { thread.producer.publish(record) });
        self.timing.published();
    }

    /// Stops the clock: the driver has returned.
    #[cold]
    #[inline(never)]
    pub fn returned_timed(&mut self) {
        self.timing.returned();
    }

    /// Ends a command. A command without a leave record gets one that holds only the time.
    #[cold]
    #[inline(never)]
    pub fn finish_timed(&mut self) {
        if !self.producer.is_on_hold() {
            return;
        }
        self.timing.returned();
        if self.timing.is_open {
            let header = Header::new(self.timing.id, LEAVE, HEADER_LEN);
            // SAFETY: in the thread itself, inside the shim; there is no payload.
            if let Some(record) = unsafe { self.reserve_timed(header) } {
                // SAFETY: as above.
                unsafe { self.publish_timed(record) };
            }
        }
        self.untimed(|thread| thread.producer.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_records_are_timed_and_others_stay() {
        let mut timing = Timing::default();
        let meta = Header::new(META_FIRST, 0, 24);
        assert_eq!(timing.header(meta), meta);
        let enter = timing.header(Header::new(7, 4, 24));
        assert_eq!((enter.flags(), enter.len_untrusted()), (4 | LEAVES, 24));
        let leave = timing.header(Header::new(7, LEAVE, 12));
        assert!(leave.is_timed());
        assert_eq!((leave.flags() & LEAVE, leave.len_untrusted()), (LEAVE, 20));
    }

    #[test]
    fn clock_runs_from_the_enter_record_to_the_first_return() {
        let mut timing = Timing::default();
        timing.published();
        assert!(!timing.is_open);
        timing.header(Header::new(7, 0, 8));
        timing.published();
        timing.returned();
        let first = timing.driver_ns;
        assert!(timing.is_open && timing.has_returned);
        std::thread::sleep(std::time::Duration::from_millis(2));
        timing.returned();
        assert_eq!(timing.driver_ns, first);
        timing.header(Header::new(7, LEAVE, 8));
        assert!(!timing.is_open);
    }
}
