//! Blobs: memory that a trace holds once, and to which records refer by name. Computes names from bytes and never
//! believes a name. Readers assemble blobs up to 1 GiB, distinguish 2,097,152 of them, and follow 4,096 incomplete
//! ones; a piece that does not continue the thread's last one discards the incomplete blob.
//!
//! A name is a hash of the blob's bytes. Records refer to a blob by the number that its process gave to it, or, up to
//! format version 4, by its name. Reads no file.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use super::blob_name::{BlobName, NamePrefix, NotAPrefix};
pub use super::memory_totals::MemoryTotals;
use super::meta::Blob;

/// Longest blob that a reader assembles, in bytes.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Most blobs that a reader distinguishes in one trace.
pub const BLOBS_MAX: usize = 1 << 21;
/// Most blobs that are incomplete at one time.
const OPEN_MAX: usize = 1 << 12;

/// Where a blob is in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlobEntry {
    /// The blob's name.
    pub name: BlobName,
    /// Size of the blob, in bytes.
    pub size: u64,
    /// Index of the block in which the blob begins.
    pub block: u32,
    /// Offset of the record of the first piece in the content of that block, in bytes.
    pub offset: u32,
}

/// The number that a process gave to a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlobNumber {
    /// Index of the process in the trace.
    pub process: u32,
    /// The number.
    pub number: u64,
}

/// A source of the bytes of blobs.
pub trait BlobSource {
    /// Returns the name of the blob with this number; `None` if the source does not have it.
    fn name(&self, number: BlobNumber) -> Option<BlobName>;

    /// Returns the bytes of the blob with this name and this size in bytes; `None` if the source does not
    /// have all of them.
    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>>;
}

/// A source that has no blobs, for readers that have only the records.
pub struct NoBlobs;

impl BlobSource for NoBlobs {
    fn name(&self, _: BlobNumber) -> Option<BlobName> {
        None
    }

    fn bytes(&self, _: BlobName, _: u64) -> Option<Arc<Vec<u8>>> {
        None
    }
}

/// Finds the blobs in the records of a stream. Hashes their pieces and keeps none of the bytes.
#[derive(Default)]
pub struct Collector {
    /// The incomplete blob of each thread, by thread index.
    open: BTreeMap<u32, Box<Open>>,
    /// The name of each thread's last blob, until its number is known.
    whole: BTreeMap<u32, BlobName>,
}

/// An incomplete blob.
struct Open {
    block: u32,
    offset: u32,
    total: u64,
    so_far: u64,
    hasher: blake3::Hasher,
}

impl Collector {
    /// Takes the next piece of a thread; its record begins at byte `offset` of block `block`. Returns the
    /// blob if the piece completes it. A piece that does not continue the previous one discards the
    /// incomplete blob.
    pub fn piece(
        &mut self,
        thread: u32,
        (block, offset): (u32, u32),
        piece: &Blob<'_>,
    ) -> Option<BlobEntry> {
        if piece.offset == 0 {
            self.whole.remove(&thread);
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
        self.whole.insert(thread, name);
        Some(BlobEntry { name, size: open.total, block: open.block, offset: open.offset })
    }

    /// Returns the name of the thread's last blob, whose number follows it. `None` if that blob is not whole.
    pub fn numbered(&mut self, thread: u32) -> Option<BlobName> {
        self.whole.remove(&thread)
    }
}
