//! `MergeError`: why traces that belong together can't be merged, as their records show.

use std::io;

use gapii_trace::block::EncodeError;
use gapii_trace::reader::BlockError;

/// Why traces cannot be merged. Traces are numbered in the order in which they were given.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A block of a trace can't be read.
    #[error("{error}")]
    Read {
        /// The trace.
        trace: usize,
        /// The error.
        error: BlockError,
    },
    /// A record of a trace contradicts those before it.
    #[error("block {block}: {why}")]
    Record {
        /// The trace.
        trace: usize,
        /// Index of the block.
        block: usize,
        /// The contradiction.
        why: String,
    },
    /// Stamps of the two traces are not of one counter.
    #[error("their stamps are not of one counter")]
    Counters {
        /// The traces.
        traces: [usize; 2],
    },
    /// Both traces have the process at the same time, and one of them lacks records of it.
    #[error("records of process {pid} were lost")]
    Lossy {
        /// The trace.
        trace: usize,
        /// The process.
        pid: u32,
    },
    /// Both traces have the thread at the same time, and their commands differ.
    #[error("commands of thread {tid} differ at stamp {stamp}")]
    Differ {
        /// The traces.
        traces: [usize; 2],
        /// The thread.
        tid: u32,
        /// The stamp of the first record that differs.
        stamp: u64,
    },
    /// A block or the header can't be compressed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The output does not take the trace.
    #[error(transparent)]
    Write(io::Error),
}
