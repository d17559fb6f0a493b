//! Why the consumer refused a ring: nine reasons, with their names in reports and a counter of each.

use std::fmt;

/// The rule that a producer broke. The ring is never read again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Refusal {
    /// The head is below the index that was already read.
    HeadBackwards,
    /// The head is further ahead of `release` than the ring is long.
    HeadTooFar,
    /// The head is not a multiple of 8.
    HeadMisaligned,
    /// A record is shorter than its header, longer than the limit, or ends past the head; or a PAD does not
    /// end with the lap.
    BadLength,
    /// A record does not end in the lap in which it began.
    SpansWrap,
    /// The first record of an owner has no stamp.
    FirstRecordUnstamped,
    /// A stamp is below the one before it.
    StampDecreased,
    /// A record has a reserved flag.
    ReservedFlags,
    /// A record has an id that only the daemon writes.
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

    /// Name of the reason in reports.
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

/// Number of rings refused for each reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RefusalCounts([u64; Refusal::ALL.len()]);

impl RefusalCounts {
    /// Counts one refused ring.
    pub fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }

    /// Number of rings refused for this reason.
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Number of rings refused for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All reasons with their counts.
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
