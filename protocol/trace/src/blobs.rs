//! Blobs: memory that a trace holds once and refers to by name; and what a stream's records say of
//! memory in all.
//!
//! Names are hashes, so a blob is what its bytes are: nothing here believes a name that it has not
//! computed. Reads no file.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use super::blob_name::{BlobName, NamePrefix, NotAPrefix};
pub use super::memory_totals::MemoryTotals;
use super::meta::Blob;

/// Longest blob that a reader puts together, in bytes.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Most blobs that are told apart in one trace.
pub const BLOBS_MAX: usize = 1 << 21;
/// Most blobs of which a part has come.
const OPEN_MAX: usize = 1 << 12;

/// Where a blob is in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlobEntry {
    pub name: BlobName,
    /// In bytes.
    pub size: u64,
    /// The block in which it begins.
    pub block: u32,
    /// Byte of that block's content where the record of its first piece begins.
    pub offset: u32,
}

/// Gives the bytes of blobs.
pub trait BlobSource {
    /// The bytes of that name, of which there are `size`. `None`: they are not there, or not whole.
    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>>;
}

/// A trace of which only the records are at hand.
pub struct NoBlobs;

impl BlobSource for NoBlobs {
    fn bytes(&self, _: BlobName, _: u64) -> Option<Arc<Vec<u8>>> {
        None
    }
}

/// Finds the blobs among the records of a stream. Holds no bytes of them.
#[derive(Default)]
pub struct Collector {
    /// By thread.
    open: BTreeMap<u32, Box<Open>>,
}

/// A blob of which a part has come.
struct Open {
    block: u32,
    offset: u32,
    total: u64,
    so_far: u64,
    hasher: blake3::Hasher,
}

impl Collector {
    /// Takes the next piece of a thread, whose record begins at byte `offset` of block `block`.
    /// Returns the blob that it completes. A piece that does not continue the one before ends it.
    pub fn piece(
        &mut self,
        thread: u32,
        (block, offset): (u32, u32),
        piece: &Blob<'_>,
    ) -> Option<BlobEntry> {
        if piece.offset == 0 {
            if self.open.len() >= OPEN_MAX && !self.open.contains_key(&thread) {
                return None;
            }
            let (total, hasher) = (piece.total, blake3::Hasher::new());
            let open = Open { block, offset, total, so_far: 0, hasher };
            self.open.insert(thread, Box::new(open));
        }
        let open = self.open.get_mut(&thread)?;
        let end = open.so_far.saturating_add(piece.bytes.len() as u64);
        if open.so_far != piece.offset || open.total != piece.total || end > open.total {
            self.open.remove(&thread);
            return None;
        }
        open.hasher.update(piece.bytes);
        open.so_far = end;
        if end < open.total {
            return None;
        }
        let open = self.open.remove(&thread)?;
        let name = BlobName::of_hash(&open.hasher.finalize());
        Some(BlobEntry { name, size: open.total, block: open.block, offset: open.offset })
    }
}
