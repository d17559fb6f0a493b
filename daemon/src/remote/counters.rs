//! Counters of remote clients, for the metrics: connections, resumed and lost ones, clients that did not come back,
//! bytes held, and refused connections by one of ten reasons (`Refusal`).

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The peer's address has failed too often.
    Attempts,
    /// There are too many clients or connections.
    Busy,
    /// The peer does not use TLS.
    PlainText,
    /// The peer's certificate has expired, or another authority has signed it.
    Certificate,
    /// TLS failed for another reason.
    Tls,
    /// The peer is not in the list, or its token is wrong.
    Credentials,
    /// The peer took too long.
    Timeout,
    /// The peer sent an unknown message.
    Message,
    Version,
    /// The link that the peer wants to resume does not exist.
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

/// Sums since the daemon started, and bytes that are held now. Relaxed, all: numbers for people.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections that were brought to a link.
    pub connections: AtomicU64,
    /// Those of them that resumed a link.
    pub resumed: AtomicU64,
    /// Connections that were lost.
    pub lost: AtomicU64,
    /// Links whose client did not come back in time.
    pub given_up: AtomicU64,
    /// Bytes of outputs for remote clients.
    pub output_bytes: AtomicU64,
    /// Bytes that are held until they are acknowledged, for all links.
    held_bytes: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Counters {
    /// Counts a refused connection.
    pub fn refuse(&self, why: Refusal) {
        self.refused[why.index()].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of refused connections by reason.
    pub fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = |(why, name): (Refusal, &'static str)| {
            (name, self.refused[why.index()].load(Ordering::Relaxed))
        };
        Refusal::ALL.into_iter().map(counted)
    }

    /// Counts an output of `bytes` bytes.
    pub fn output(&self, bytes: u64) {
        self.output_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a change of the bytes that a link holds.
    pub fn held(&self, before: usize, after: usize) {
        // Wrapping: the sum over all links is never below 0.
        self.held_bytes.fetch_add((after as u64).wrapping_sub(before as u64), Ordering::Relaxed);
    }

    /// Returns the number of bytes that are held for all links.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

/// Adds one to a counter.
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
