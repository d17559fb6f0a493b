//! Numbers of blobs. A process gives each number once, whatever daemons and captures come and go.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;

/// Number of a blob, from 1.
pub type Number = u64;

static NEXT: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(1));

/// Returns a number that this process has not given to a blob. A forked child goes on counting where its parent was: it
/// is another process in the trace.
pub fn next() -> Number {
    // Relaxed: each addition gives another number, and nothing else depends on it.
    NEXT.fetch_add(1, Relaxed)
}
