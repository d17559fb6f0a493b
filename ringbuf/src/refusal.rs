//! Why a ring is not read any further.

use std::fmt;

/// What a producer did that no lawful producer does. The ring is never read again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Refusal {
    /// The head is below what was already read.
    HeadBackwards,
    /// The head is further ahead than the ring is long.
    HeadTooFar,
    /// The head is not a multiple of 8.
    HeadMisaligned,
    /// A record too short for its own header, longer than a record may be, or past the head; or
    /// padding that does not end with the lap.
    BadLength,
    /// A record that does not end in the lap it began in.
    SpansWrap,
    /// The first record of a thread has no stamp.
    FirstRecordUnstamped,
    /// A stamp below the one before it.
    StampDecreased,
    /// A flag that means nothing.
    ReservedFlags,
    /// An id that only the daemon writes.
    ReservedId,
}

impl Refusal {
    /// All reasons, in the order of [`RefusalCounts`].
    pub const ALL: [Self; 9] = [
        Self::HeadBackwards,
        Self::HeadTooFar,
        Self::HeadMisaligned,
        Self::BadLength,
        Self::SpansWrap,
        Self::FirstRecordUnstamped,
        Self::StampDecreased,
        Self::ReservedFlags,
        Self::ReservedId,
    ];

    /// The reason as reports name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeadBackwards => "head-backwards",
            Self::HeadTooFar => "head-too-far",
            Self::HeadMisaligned => "head-misaligned",
            Self::BadLength => "bad-length",
            Self::SpansWrap => "spans-wrap",
            Self::FirstRecordUnstamped => "first-record-unstamped",
            Self::StampDecreased => "stamp-decreased",
            Self::ReservedFlags => "reserved-flags",
            Self::ReservedId => "reserved-id",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ring refused: {}", self.name())
    }
}

impl std::error::Error for Refusal {}

/// How many rings were refused for each reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RefusalCounts([u64; Refusal::ALL.len()]);

impl RefusalCounts {
    /// Counts one refused ring.
    pub fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }

    /// Rings refused for this reason.
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Rings refused in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Reasons and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        Refusal::ALL.into_iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_counts_keep_reasons_apart() {
        let mut counts = RefusalCounts::default();
        for (index, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index);
            counts.count(refusal);
        }
        counts.count(Refusal::BadLength);
        assert_eq!((counts.of(Refusal::BadLength), counts.total()), (2, 10));
        assert!(counts.iter().all(|(refusal, count)| count == counts.of(refusal)));
    }
}
