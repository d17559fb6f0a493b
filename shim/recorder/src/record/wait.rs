//! `WaitBook`: the wait for room that no TIME in the ring tells yet. Several waits in vain before there is room are told as
//! one, with the begin of the first and the time of all.

use gapii_abi::atom::{HEADER_LEN, Time, TimeKind};

/// Bytes of ring space that a TIME takes, with a stamp.
pub const TOLD_BYTES: u64 = HEADER_LEN as u64 + 8 + Time::LEN as u64;

/// A wait that is not told yet. All zeros: none.
pub struct WaitBook {
    begin_ns: u64,
    duration_ns: u64,
}

impl WaitBook {
    /// Nothing is left to tell.
    pub const EMPTY: Self = Self { begin_ns: 0, duration_ns: 0 };

    /// Notes a wait, by `CLOCK_MONOTONIC` in nanoseconds.
    pub fn add(&mut self, begin_ns: u64, end_ns: u64) {
        if self.is_empty() {
            self.begin_ns = begin_ns;
        }
        self.duration_ns = self.duration_ns.saturating_add(end_ns.saturating_sub(begin_ns));
    }

    /// Whether nothing is left to tell.
    pub fn is_empty(&self) -> bool {
        self.begin_ns == 0
    }

    /// Empties the book, and returns the record that tells what was in it.
    pub fn take(&mut self) -> Time {
        let Self { begin_ns, duration_ns } = core::mem::replace(self, Self::EMPTY);
        Time { at_ns: begin_ns, kind: TimeKind::Wait, function: 0, duration_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_before_there_is_room_are_told_as_one() {
        let mut book = WaitBook::EMPTY;
        assert!(book.is_empty());
        book.add(100, 130);
        book.add(200, 205);
        assert!(!book.is_empty());
        let told = Time { at_ns: 100, kind: TimeKind::Wait, function: 0, duration_ns: 35 };
        assert_eq!(book.take(), told);
        assert!(book.is_empty());
        book.add(300, 299);
        assert_eq!(book.take().duration_ns, 0);
    }
}
