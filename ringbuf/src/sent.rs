//! The two sides of SENT: a thread that sends contents for the daemon's store remembers them only if the daemon, when the
//! next capture begins, is bound to see that they were sent. Rule (K) in docs/memory-model.md needs it.

use crate::layout::{ModePage, SegmentHeader};
use crate::sync::{Ordering, fence};

impl ModePage {
    /// Whether the settings are still those of `generation`. If so, a daemon that gives other settings and then calls
    /// [`SegmentHeader::sent_untrusted`] sees all counts that this thread has changed before.
    pub fn is_still(&self, generation: u64) -> bool {
        // SENT: pairs with the fence in SegmentHeader::sent_untrusted: this thread sees the new generation, or the
        // daemon sees its counts.
        fence(Ordering::SeqCst);
        // Relaxed: the fence orders it.
        self.generation.load(Ordering::Relaxed) == generation
    }
}

impl SegmentHeader {
    /// Returns `stored_bytes` and `unstored_bytes`. For the daemon, after it has told the process to stop.
    pub fn sent_untrusted(&self) -> [u64; 2] {
        // SENT: pairs with the fence in ModePage::is_still.
        fence(Ordering::SeqCst);
        // Relaxed, both: the fence orders them.
        [&self.stored_bytes, &self.unstored_bytes].map(|word| word.load(Ordering::Relaxed))
    }
}
