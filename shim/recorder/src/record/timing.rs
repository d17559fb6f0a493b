//! `Timing`: measures when the driver is called for each command and how long it takes, in a capture that asks for it. In such a capture
//! every command has a leave record; a command without a result or output gets one that holds the times alone. Commands
//! of a snapshot are not timed.

use gapii_abi::atom::{HEADER_LEN, Header, LEAVE, LEAVES, META_FIRST};

use crate::clock::clock_ns;

/// Bytes in front of a leave record's payload that hold the times.
pub const TIME_BYTES: u64 = 16;

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
    pub fn header(&mut self, header: Header) -> Header {
        let is_leave = header.flags() & LEAVE != 0;
        self.is_entering = false;
        if header.id() >= META_FIRST {
            return header;
        }
        if is_leave {
            self.is_open = false;
            return header.with_times();
        }
        (self.is_entering, self.id) = (true, header.id());
        header.with_flags(LEAVES)
    }

    /// Starts the clock if the published record is an enter record, because the driver is called next.
    pub fn published(&mut self) {
        if core::mem::take(&mut self.is_entering) {
            (self.is_open, self.has_returned) = (true, false);
            self.start_ns = clock_ns();
        }
    }

    /// Stops the clock when the driver returns for the first time.
    pub fn returned(&mut self) {
        if self.is_open && !self.has_returned {
            self.driver_ns = clock_ns().saturating_sub(self.start_ns);
            self.has_returned = true;
        }
    }

    /// Returns the words of a leave record: the time that the driver took for the present command, and when it was
    /// called; in nanoseconds.
    pub fn words(&self) -> [u64; 2] {
        [self.driver_ns, self.start_ns]
    }

    /// Returns the header of a leave record that holds only the time, if the present command has no leave record yet.
    pub fn missing_leave(&self) -> Option<Header> {
        self.is_open.then(|| Header::new(self.id, LEAVE, HEADER_LEN))
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
        assert_eq!((leave.flags() & LEAVE, leave.len_untrusted()), (LEAVE, 28));
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
