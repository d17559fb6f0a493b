//! Why a record cannot go into a stream. Its ring is then read no further, and its later records count as lost
//! (`refused`).

use gapii_trace::meta::MetaError;

use super::thread::THREADS_MAX;

/// Why a record cannot go into the stream. Its ring must be read no further.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Meta(#[from] MetaError),
    #[error("record {0:#06x} is only for the daemon to write")]
    DaemonOnly(u16),
    #[error("record {0:#06x} is of an unknown kind")]
    Unknown(u16),
    #[error("thread {tid} writes into the ring of thread {owner}")]
    OtherThread { owner: u32, tid: u32 },
    #[error("record {0:#06x} has a time, which only leave records of a timed capture have")]
    Timed(u16),
    #[error("a piece of {len} bytes at {offset} of {total} cannot be in the daemon's store")]
    Stored { total: u64, offset: u64, len: u64 },
    #[error("more bytes of the daemon's store are named than it can hold")]
    StoredTooOften,
    #[error("more than {THREADS_MAX} threads in one capture")]
    Threads,
}
