//! What remote clients did, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection is turned away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Its address has failed too often.
    Attempts,
    /// There are too many.
    Busy,
    /// It does not speak TLS.
    PlainText,
    /// Its certificate has expired, or somebody else has signed it.
    Certificate,
    /// TLS came to nothing for another reason.
    Tls,
    /// It is not in the list, or its token is wrong.
    Credentials,
    /// It took too long.
    Timeout,
    /// What it says is not understood.
    Message,
    Version,
    /// The link that it wants to go on with is not there.
    Resume,
}

impl Refusal {
    const ALL: [(Self, &'static str); 10] = [
        (Self::Attempts, "attempts"),
        (Self::Busy, "busy"),
        (Self::Certificate, "certificate"),
        (Self::Credentials, "credentials"),
        (Self::Message, "message"),
        (Self::PlainText, "plain_text"),
        (Self::Resume, "resume"),
        (Self::Timeout, "timeout"),
        (Self::Tls, "tls"),
        (Self::Version, "version"),
    ];

    fn index(self) -> usize {
        Self::ALL.iter().position(|(known, _)| *known == self).unwrap_or(0)
    }
}

/// Sums since the daemon started, and what is held now. Relaxed, all: numbers for people.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections that were brought to a link.
    pub connections: AtomicU64,
    /// Of these, to one that went on.
    pub resumed: AtomicU64,
    /// Connections that were lost in the middle.
    pub lost: AtomicU64,
    /// Links whose client did not come back in time.
    pub given_up: AtomicU64,
    /// Bytes of outputs that were taken for clients.
    pub output_bytes: AtomicU64,
    /// Bytes that are held until they are acknowledged, of all links.
    held_bytes: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Counters {
    pub fn refuse(&self, why: Refusal) {
        self.refused[why.index()].fetch_add(1, Ordering::Relaxed);
    }

    /// How many were turned away, by the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = |(why, name): (Refusal, &'static str)| {
            (name, self.refused[why.index()].load(Ordering::Relaxed))
        };
        Refusal::ALL.into_iter().map(counted)
    }

    /// An output of so many bytes was taken.
    pub fn output(&self, bytes: u64) {
        self.output_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What a link holds has changed.
    pub fn held(&self, before: usize, after: usize) {
        // Wrapping: of all links together it is never below 0.
        self.held_bytes.fetch_add((after as u64).wrapping_sub(before as u64), Ordering::Relaxed);
    }

    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

/// One more.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_their_reason() {
        let counters = Counters::default();
        counters.refuse(Refusal::Version);
        counters.refuse(Refusal::Attempts);
        counters.refuse(Refusal::Attempts);
        let counted: Vec<_> = counters.refused().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [("attempts", 2), ("version", 1)]);
    }

    #[test]
    fn held_bytes_are_the_sum_over_links() {
        let counters = Counters::default();
        counters.held(0, 100);
        counters.held(0, 50);
        counters.held(100, 20);
        assert_eq!(counters.held_bytes(), 70);
    }
}
