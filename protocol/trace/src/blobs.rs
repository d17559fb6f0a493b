//! Blobs: memory that a trace holds once and refers to by name; and what a stream's records say of
//! memory in all.
//!
//! Names are hashes, so a blob is what its bytes are: nothing here believes a name that it has not
//! computed. Reads no file.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::description::{Function, Kind, Observed};
use super::meta::Blob;
use super::value::{Observation, Observations};
use gapii_abi::atom::{BLOB_NAME_LEN, Frame, Header, LEAVE};

/// Longest blob that a reader puts together, in bytes.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Most blobs that are told apart in one trace.
pub const BLOBS_MAX: usize = 1 << 21;
/// Most blobs of which a part has come.
const OPEN_MAX: usize = 1 << 12;

/// The first 16 bytes of the BLAKE3 hash of a blob's bytes. Written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobName(pub [u8; BLOB_NAME_LEN]);

/// The first digits of a blob's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePrefix(String);

/// Text that is not the beginning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a hash is 1 to 32 hexadecimal digits")]
pub struct NotAPrefix;

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

/// What the records of a stream say of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryTotals {
    /// Blobs in the stream, and their bytes. One that came twice counts twice.
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Observations and frames that are blobs, and their bytes.
    pub references: u64,
    pub referenced_bytes: u64,
    /// Bytes of all observations, and of frames that are blobs.
    pub observed_bytes: u64,
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

impl BlobName {
    /// The name of a blob of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_hash(&blake3::hash(bytes))
    }

    fn of_hash(hash: &blake3::Hash) -> Self {
        Self(std::array::from_fn(|i| hash.as_bytes()[i]))
    }
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for BlobName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl NamePrefix {
    /// Whether a name begins with it.
    pub fn begins(&self, name: BlobName) -> bool {
        name.to_string().starts_with(&self.0)
    }
}

impl fmt::Display for NamePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for NamePrefix {
    type Err = NotAPrefix;

    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        let digits = (1..=2 * BLOB_NAME_LEN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits { Ok(Self(text.to_ascii_lowercase())) } else { Err(NotAPrefix) }
    }
}

impl MemoryTotals {
    /// Bytes of references that are not in the stream because their blob is there once.
    pub fn saved_bytes(&self) -> u64 {
        self.referenced_bytes.saturating_sub(self.blob_bytes)
    }

    /// Counts what a command's record observed, and gives `refer` the blobs it refers to.
    pub fn command(
        &mut self,
        function: &Function,
        header: Header,
        payload: &[u8],
        mut refer: impl FnMut(BlobName, u64),
    ) {
        let is_leave = header.flags() & LEAVE != 0;
        each_observation(function, is_leave, payload, |seen| match seen {
            Observation::Bytes(bytes) => self.observe(bytes.len() as u64),
            Observation::Blob { name, size } => {
                self.observe(size);
                self.references += 1;
                self.referenced_bytes = self.referenced_bytes.saturating_add(size);
                refer(name, size);
            }
            Observation::None | Observation::Unrecorded { .. } | Observation::Missing { .. } => {}
        });
    }

    /// Counts a frame that was read back, if its pixels are a blob.
    pub fn frame(&mut self, frame: &Frame) {
        if frame.has_pixels() {
            self.observe(frame.size());
            self.references += 1;
            self.referenced_bytes = self.referenced_bytes.saturating_add(frame.size());
        }
    }

    /// Counts what was counted elsewhere too.
    pub fn add(&mut self, other: &Self) {
        self.blobs += other.blobs;
        self.blob_bytes = self.blob_bytes.saturating_add(other.blob_bytes);
        self.references += other.references;
        self.referenced_bytes = self.referenced_bytes.saturating_add(other.referenced_bytes);
        self.observed_bytes = self.observed_bytes.saturating_add(other.observed_bytes);
    }

    /// Counts a blob that is whole.
    pub fn blob(&mut self, size: u64) {
        self.blobs += 1;
        self.blob_bytes = self.blob_bytes.saturating_add(size);
    }

    fn observe(&mut self, size: u64) {
        self.observed_bytes = self.observed_bytes.saturating_add(size);
    }
}

/// All observations of a record, slots and ranges.
fn each_observation<'a>(
    function: &Function,
    is_leave: bool,
    payload: &'a [u8],
    mut take: impl FnMut(Observation<'a>),
) {
    let fixed_len = match is_leave {
        true => function.result_len(),
        false => function.fixed_len as usize,
    };
    if payload.len() <= fixed_len.next_multiple_of(8) {
        return;
    }
    let mut seen = Observations::new(payload, fixed_len);
    for _ in 0..slots(function, is_leave) {
        take(seen.slot());
    }
    seen.ranges().for_each(|range| take(range.observation));
}

/// How many slots the records of a command have.
pub(super) fn slots(function: &Function, is_leave: bool) -> usize {
    let direction = if is_leave { Observed::Out } else { Observed::In };
    let params = function.params.iter().filter(|param| param.observed == direction).count();
    params + usize::from(is_leave && function.result.kind == Kind::String)
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

/// The blobs of an index as one byte string: 32 bytes for each, by name. A name is there once.
pub(super) mod entry_bytes {
    use serde::de::{Deserializer, Error, Visitor};

    use super::{BLOB_NAME_LEN, BlobEntry, BlobName, Serializer, fmt};

    const ENTRY_LEN: usize = BLOB_NAME_LEN + 16;

    pub fn serialize<S: Serializer>(
        entries: &Option<Vec<BlobEntry>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let Some(entries) = entries else { return to.serialize_none() };
        let mut bytes = Vec::with_capacity(entries.len() * ENTRY_LEN);
        for entry in entries {
            bytes.extend_from_slice(&entry.name.0);
            bytes.extend_from_slice(&entry.size.to_le_bytes());
            bytes.extend_from_slice(&entry.block.to_le_bytes());
            bytes.extend_from_slice(&entry.offset.to_le_bytes());
        }
        to.serialize_bytes(&bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<BlobEntry>>, D::Error> {
        from.deserialize_option(Entries)
    }

    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Option<Vec<BlobEntry>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a byte string of {ENTRY_LEN} bytes for each blob")
        }

        fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_bytes(self)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            let (entries, rest) = bytes.as_chunks::<ENTRY_LEN>();
            if !rest.is_empty() {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            Ok(Some(entries.iter().map(entry).collect()))
        }
    }

    fn entry(bytes: &[u8; ENTRY_LEN]) -> BlobEntry {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        BlobEntry {
            name: BlobName(std::array::from_fn(|i| bytes[i])),
            size: u64::from(word(16)) | u64::from(word(20)) << 32,
            block: word(24),
            offset: word(28),
        }
    }
}
