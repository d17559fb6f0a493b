//! A block of the stream, before compression.

use std::sync::Arc;

use gapii_abi::atom::{self, SETUP};
use gapii_trace::Untrusted;
use gapii_trace::footer::GapEntry;
use gapii_trace::index::FrameEnd;

use super::ring::RingKey;
use super::thread::ThreadLabel;
use super::words::{header_at, is_for_store, word_at};
use crate::store::Store;

/// A finished block, and facts that are needed without reading it.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub raw: Vec<u8>,
    /// Number of commands that took effect before the block, and in it.
    pub first_seq: u64,
    pub seqs: u32,
    /// Number of records of each thread in the block.
    pub records: Vec<(u32, u64)>,
    /// Ends of frames, as in the trace's index, except that `block` is 0.
    pub frame_ends: Vec<FrameEnd>,
    /// The records that hold memory, in order.
    pub memory: Vec<Memory>,
    /// Bytes that some of these records only name and that are filled in later; see [`fill`](crate::fill).
    pub unfilled_bytes: usize,
    pub threads: Vec<ThreadLabel>,
    /// Gaps that the block's records state.
    pub gaps: Vec<GapEntry>,
    /// The block's first record of an application is a keyframe.
    pub is_keyframe: bool,
    /// The longest time that a thread was held for a snapshot, in microseconds, and the state that the snapshot
    /// leaves out.
    pub held_us: u64,
    pub missing: Vec<Untrusted>,
    /// Ring space below the index may be reused once the block is safe.
    pub releases: Vec<(RingKey, u64)>,
}

/// A record of a block that holds memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub thread: u32,
    /// Index of the thread's process.
    pub process: u32,
    /// Offset of the record in the block.
    pub at: u32,
    /// The store that has the named contents, or that is to hold the piece, and the store's number.
    pub store: Option<(Arc<Store>, u64)>,
}

impl Block {
    /// Removes data that is addressed to a store from the records that hold memory, from `first_memory` on,
    /// because traces have no stores.
    pub(super) fn strip_stores(&mut self, first_memory: usize) {
        for memory in &self.memory[first_memory..] {
            let at = memory.at as usize;
            let header = header_at(&self.raw, at);
            if !is_for_store(header) {
                continue;
            }
            let plain = header.without_flags(SETUP);
            self.raw[at..at + 8].copy_from_slice(&plain.0.to_le_bytes());
            if header.id() == atom::BLOB {
                let total_at = at + header.payload_offset();
                let (total, _) = atom::of_store(word_at(&self.raw, total_at));
                self.raw[total_at..total_at + 8].copy_from_slice(&total.to_le_bytes());
            }
        }
    }
}
