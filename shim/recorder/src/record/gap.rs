//! `GapBook`: counts the records that found no room, until a gap record in the ring reports them. A command counts as
//! lost with the record at which it takes effect: its enter record, or its leave record.

use gapii_abi::atom;
use gapii_abi::atom::{EFFECT, GapCause, HEADER_LEN, Header, LEAVE, META_FIRST};

use crate::clock::clock_ns;

/// Records that were dropped and that no gap record in the ring reports yet. All zeros: none.
pub struct GapBook {
    records: u64,
    calls: u64,
    bytes: u64,
    first_stamp: u64,
    start_ns: u64,
}

/// What one dropped record counts as.
pub struct Dropped {
    /// 1 for the record with which a command counts as lost, otherwise 0.
    pub calls: u64,
    /// Bytes that the record would have taken in the ring.
    pub bytes: u64,
}

impl GapBook {
    /// No record was dropped.
    pub const EMPTY: Self = Self { records: 0, calls: 0, bytes: 0, first_stamp: 0, start_ns: 0 };

    /// Counts a dropped record; `stamp` is the newest one that any thread has taken.
    pub fn add(&mut self, header: Header, stamp: u64) -> Dropped {
        // A command counts as lost with its enter record, or with its leave record if it takes effect there.
        let is_call = header.id() < META_FIRST && header.flags() & (LEAVE | EFFECT) != LEAVE;
        let dropped = Dropped { calls: u64::from(is_call), bytes: header.span_untrusted() };
        if self.is_empty() {
            (self.first_stamp, self.start_ns) = (stamp, clock_ns());
        }
        self.records += 1;
        self.calls += dropped.calls;
        self.bytes += dropped.bytes;
        dropped
    }

    /// Whether every dropped record is reported.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of ring space that the gap record takes; 0 if there is nothing to report.
    pub fn span(&self) -> u64 {
        if self.is_empty() { 0 } else { u64::from(HEADER_LEN) + 8 + atom::Gap::LEN as u64 }
    }

    /// Empties the book, and returns the payload of the gap record that reports what was in it.
    pub fn take(&mut self, last_stamp: u64, cause: GapCause) -> atom::Gap {
        let gap = core::mem::replace(self, Self::EMPTY);
        atom::Gap {
            records: gap.records,
            calls: gap.calls,
            bytes: gap.bytes,
            first_stamp: gap.first_stamp,
            last_stamp,
            start_ns: gap.start_ns,
            end_ns: clock_ns(),
            cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_counts_once_whichever_record_takes_effect() {
        let mut book = GapBook::EMPTY;
        let mut calls = |id, flags| book.add(Header::new(id, flags, 24), 5).calls;
        assert_eq!((calls(7, EFFECT), calls(7, LEAVE)), (1, 0));
        assert_eq!((calls(7, 0), calls(7, LEAVE | EFFECT)), (1, 1));
        assert_eq!(calls(META_FIRST, 0), 0);
    }

    #[test]
    fn report_has_the_sums_and_the_first_stamp_and_empties_the_book() {
        let mut book = GapBook::EMPTY;
        assert_eq!(book.span(), 0);
        book.add(Header::new(7, EFFECT, 24), 5);
        book.add(Header::new(7, EFFECT, 40), 9);
        assert_eq!(book.span(), u64::from(HEADER_LEN) + 8 + atom::Gap::LEN as u64);
        let gap = book.take(11, GapCause::Dropped);
        assert_eq!((gap.records, gap.calls, gap.first_stamp, gap.last_stamp), (2, 2, 5, 11));
        assert_eq!(gap.cause, GapCause::Dropped);
        let spans = Header::new(7, EFFECT, 24).span_untrusted()
            + Header::new(7, EFFECT, 40).span_untrusted();
        assert_eq!(gap.bytes, spans);
        assert!(gap.start_ns <= gap.end_ns && book.is_empty());
    }
}
