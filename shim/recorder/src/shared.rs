//! `Shared`: what the recording threads of a process have in common: rings, pages, tables of blobs, and the sizes of
//! blobs, which are smaller in small rings. Until a process is set ([`Host`]), a thread with a full ring drops records.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gapii_ringbuf::{CounterMap, ModeMap, Overflow, Segment};

use crate::blob::{BLOB_MIN_BYTES, Known, PIECE_BYTES, Stored, Terms};
use crate::host::{Host, Outlook};

/// The memory that a process shares with its daemon, and the tables of blobs that the process has sent.
pub struct Shared {
    /// The slots and rings.
    pub segment: Arc<Segment>,
    /// The page with the counter and the doorbell.
    pub counter: CounterMap,
    /// The mode page, in which the daemon states what to do.
    pub mode: ModeMap,
    /// The blobs sent in the running capture.
    pub known: Known,
    /// The blobs that the daemon's store has.
    stored: Stored,
    /// Observations of this size or more are blobs, in bytes.
    pub blob_min_bytes: u64,
    /// The most bytes of a blob that one record holds.
    pub piece_bytes: u64,
    host: OnceLock<&'static dyn Host>,
}

impl Shared {
    /// Takes the memory that a daemon sent. `None` if there is no memory for the tables.
    pub fn new(segment: Arc<Segment>, counter: CounterMap, mode: ModeMap) -> Option<Self> {
        let ring_bytes = segment.layout().ring_bytes();
        Some(Self {
            segment,
            counter,
            mode,
            known: Known::map()?,
            stored: Stored::map()?,
            blob_min_bytes: BLOB_MIN_BYTES.min(ring_bytes / 64),
            piece_bytes: PIECE_BYTES.min(ring_bytes / 16),
            host: OnceLock::new(),
        })
    }

    /// Sets the process that decides what threads do when their rings are full. The first call counts.
    pub fn set_host(&self, host: &'static dyn Host) {
        let _ = self.host.set(host);
    }

    /// Returns the process that decides what threads do when their rings are full. Without one they drop records.
    pub fn host(&self) -> &'static dyn Host {
        self.host.get().copied().unwrap_or(&NoHost)
    }

    /// Returns the present terms of the daemon's store: what it has, and how much more it takes.
    pub fn stored_terms(&self) -> Terms<'_> {
        self.stored.terms(&self.mode, self.segment.header())
    }
}

/// Stands in for the process until there is one: nobody waits.
struct NoHost;

impl Host for NoHost {
    fn overflow(&self) -> Overflow {
        Overflow::Drop
    }

    fn look_around(&self) -> Duration {
        Duration::ZERO
    }

    fn outlook(&self, _stalled: Duration) -> Outlook {
        Outlook::Drops
    }

    fn leave_capture(&self) {}
}
