//! How long the driver takes, in a capture that asks for it: where the steps of every command go.
//!
//! The thread's producer is on hold throughout such a capture. So each step of the fast path is
//! refused (room for a record, publishing it, the command's end) and comes here, and a capture that
//! is not timed pays for none of this. Every command has a leave record then.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, LEAVES, META_FIRST};
use gapii_ringbuf::Reservation;

use crate::process::clock_ns;
use crate::thread::Thread;

/// Bytes that a leave record has for the time, before its payload.
pub const TIME_BYTES: u64 = 8;

/// A thread's command, as far as its time goes. All zero: there is none.
#[derive(Default)]
pub struct Timing {
    /// An enter record is reserved.
    is_entering: bool,
    /// The driver has the command, or has returned and there is no leave record yet.
    is_open: bool,
    has_returned: bool,
    id: u16,
    /// On `CLOCK_MONOTONIC`.
    start_ns: u64,
    driver_ns: u64,
}

impl Timing {
    /// The header of a command's record as it is in a timed capture; other records stay as they are.
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

    /// A record is published; if it is one of entering, the driver comes next.
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
    /// Begins a capture, which is timed or is not.
    pub fn set_timed(&mut self, is_timed: bool) {
        self.timing = Timing::default();
        match is_timed {
            true => self.producer.hold(),
            false => self.producer.resume(),
        }
    }

    /// Does what no step of a timed capture has to do with: as if the capture were not timed.
    pub fn untimed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let is_timed = self.producer.is_on_hold();
        self.producer.resume();
        let done = act(self);
        if is_timed {
            self.producer.hold();
        }
        done
    }

    /// Room for a record, with the time in it if it is a leave record.
    ///
    /// # Safety
    /// As for [`Thread::reserve`].
    #[cold]
    pub unsafe fn reserve_timed(&mut self, header: Header) -> Option<Reservation> {
        let header = self.timing.header(header);
        // SAFETY: passed on.
        let mut record = self.untimed(|thread| unsafe { thread.reserve(header) })?;
        if header.is_timed() {
            // SAFETY: the header has room for the time, at its end; records are 8-aligned.
            unsafe { record.payload.cast::<u64>().write(self.timing.driver_ns) };
            // SAFETY: what the caller asked for comes behind it.
            record.payload = unsafe { record.payload.add(TIME_BYTES as usize) };
        }
        Some(record)
    }

    /// Publishes a record that the producer has refused. The clock starts last of all.
    ///
    /// # Safety
    /// As for [`Thread::publish`].
    #[cold]
    #[inline(never)]
    pub unsafe fn publish_timed(&mut self, record: Reservation) {
        // A child that was forked meanwhile is detached.
        if !self.producer.is_on_hold() {
            return;
        }
        // SAFETY: passed on.
        self.untimed(|thread| unsafe { thread.producer.publish(record) });
        self.timing.published();
    }

    /// The driver has returned: the clock stops.
    #[cold]
    #[inline(never)]
    pub fn returned_timed(&mut self) {
        self.timing.returned();
    }

    /// Ends a command; one that has no leave record yet gets one for the time alone.
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
