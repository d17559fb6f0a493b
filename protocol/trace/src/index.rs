//! The index of a trace file: where each block is, in which block each frame ends, and where blobs begin. At most 256
//! MiB. A file without an index, or with one that does not fit its blocks, is read from its beginning instead; an index
//! without a list of blobs makes readers search the blocks.

use serde::{Deserialize, Serialize, Serializer};

use super::blob_name::BlobName;
use super::blobs::{BlobEntry, BlobNumber};
use super::columns::{self, Row};
use super::frame::{FrameError, FrameKind, decode_frame, encode_frame, has_packed_blocks};

/// Longest index frame that a reader accepts, in bytes.
pub const INDEX_FRAME_BYTES_MAX: usize = 256 << 20;

/// The body of the index frame.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TraceIndex {
    /// All blocks, in order.
    #[serde(deserialize_with = "columns::deserialize")]
    pub blocks: Vec<BlockEntry>,
    /// All ends of frames, in the order of the stream.
    #[serde(default, deserialize_with = "columns::deserialize")]
    pub frame_ends: Vec<FrameEnd>,
    /// The blobs by name, each where it begins first; `None` if there are too many to list.
    #[serde(default, with = "entry_bytes", skip_serializing_if = "Option::is_none")]
    pub blobs: Option<Vec<BlobEntry>>,
    /// The numbers that processes gave to these blobs, ascending; `None` without [`Self::blobs`], and up to format
    /// version 4.
    #[serde(default, with = "number_bytes", skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Vec<NumberEntry>>,
}

/// The body of the index frame from format version 10 on: the lists of blocks and of ends of frames are columns.
#[derive(Serialize)]
struct Columns<'a> {
    #[serde(serialize_with = "as_bytes")]
    blocks: Vec<u8>,
    #[serde(serialize_with = "as_bytes")]
    frame_ends: Vec<u8>,
    #[serde(serialize_with = "entry_bytes::serialize", skip_serializing_if = "Option::is_none")]
    blobs: &'a Option<Vec<BlobEntry>>,
    #[serde(serialize_with = "number_bytes::serialize", skip_serializing_if = "Option::is_none")]
    numbers: &'a Option<Vec<NumberEntry>>,
}

fn as_bytes<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

impl Row for BlockEntry {
    fn numbers(&self) -> [u64; 5] {
        let Self { file_offset, compressed_len, raw_len, first_seq, seqs } = *self;
        [file_offset, compressed_len.into(), raw_len.into(), first_seq, seqs.into()]
    }

    fn of([file_offset, compressed_len, raw_len, first_seq, seqs]: [u64; 5]) -> Option<Self> {
        Some(Self {
            file_offset,
            compressed_len: compressed_len.try_into().ok()?,
            raw_len: raw_len.try_into().ok()?,
            first_seq,
            seqs: seqs.try_into().ok()?,
        })
    }
}

/// A command or a time that is not known is 0, and others are one higher.
impl Row for FrameEnd {
    fn numbers(&self) -> [u64; 5] {
        let known = |number: Option<u64>| number.map_or(0, |number| number.wrapping_add(1));
        let Self { process, frame, block, seq, time_ns } = *self;
        [process.into(), frame, block.into(), known(seq), known(time_ns)]
    }

    fn of([process, frame, block, seq, time_ns]: [u64; 5]) -> Option<Self> {
        let (process, block) = (process.try_into().ok()?, block.try_into().ok()?);
        let (seq, time_ns) = (seq.checked_sub(1), time_ns.checked_sub(1));
        Some(Self { process, frame, block, seq, time_ns })
    }
}

/// The number of a blob, and the blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumberEntry {
    /// The number.
    pub number: BlobNumber,
    /// Index of the blob in [`TraceIndex::blobs`].
    pub blob: u32,
}

/// Where a block is and what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BlockEntry {
    /// Offset of the block's zstd frame from the file's start, in bytes.
    pub file_offset: u64,
    /// Length of the zstd frame, in bytes.
    pub compressed_len: u32,
    /// Length of the records, in bytes.
    pub raw_len: u32,
    /// Commands that took effect before the block.
    pub first_seq: u64,
    /// Commands that take effect in the block.
    pub seqs: u32,
}

/// The end of a frame: a successful swap returned, or a submit that counts as a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FrameEnd {
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame, from 0.
    pub frame: u64,
    /// Index of the block in [`TraceIndex::blocks`].
    pub block: u32,
    /// Number of the command that ended the frame; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When the command returned, in nanoseconds of `CLOCK_MONOTONIC`; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
}

impl FrameEnd {
    /// Returns false if `self`, of an index, contradicts `found` in the stream. The index need not know command and time.
    pub(crate) fn agrees_with(&self, found: &Self) -> bool {
        let known = Self {
            seq: found.seq.filter(|_| self.seq.is_some()),
            time_ns: found.time_ns.filter(|_| self.time_ns.is_some()),
            ..*found
        };
        *self == known
    }
}

/// Why an index or a footer is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// The frame around it is invalid.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The body is not valid MessagePack of this type.
    #[error("{kind} body: {why}")]
    MessagePack {
        /// `index` or `footer`.
        kind: &'static str,
        /// The decoder's error.
        why: String,
    },
}

impl TraceIndex {
    /// Appends a block.
    pub fn push_block(&mut self, entry: BlockEntry) {
        self.blocks.push(entry);
    }

    /// Appends the end of a frame. It is in the block which is pushed next, whatever its `block` says.
    pub fn push_frame_end(&mut self, end: FrameEnd) {
        let block = self.blocks.len() as u32;
        self.frame_ends.push(FrameEnd { block, ..end });
    }

    /// Sets the list of blobs, given in the order of the stream, and their numbers.
    pub fn list_blobs(
        &mut self,
        mut blobs: Vec<BlobEntry>,
        numbers: impl IntoIterator<Item = (BlobNumber, BlobName)>,
    ) {
        blobs.sort_by_key(|entry| entry.name);
        blobs.dedup_by_key(|entry| entry.name);
        let listed = |(number, name)| {
            let at = blobs.binary_search_by_key(&name, |entry: &BlobEntry| entry.name).ok()?;
            Some(NumberEntry { number, blob: at as u32 })
        };
        let mut numbers: Vec<_> = numbers.into_iter().filter_map(listed).collect();
        numbers.sort_by_key(|entry| entry.number);
        numbers.dedup_by_key(|entry| entry.number);
        (self.blobs, self.numbers) = (Some(blobs), Some(numbers));
    }

    /// Returns the whole frame, for a trace of format version `version`. If it would exceed [`INDEX_FRAME_BYTES_MAX`],
    /// commands and times of the ends of frames are left out.
    pub fn encode(&mut self, version: u32) -> Vec<u8> {
        let mut frame = self.encode_whole(version);
        if frame.len() > INDEX_FRAME_BYTES_MAX {
            self.frame_ends.iter_mut().for_each(|end| (end.seq, end.time_ns) = (None, None));
            frame = self.encode_whole(version);
        }
        frame
    }

    fn encode_whole(&self, version: u32) -> Vec<u8> {
        let body = match self.columns().filter(|_| has_packed_blocks(version)) {
            Some(columns) => rmp_serde::to_vec_named(&columns),
            None => rmp_serde::to_vec_named(self),
        };
        let body = body.expect("an index has no unserializable value");
        encode_frame(FrameKind::Index, version, &body, None)
    }

    /// `None` if a list is too long for columns.
    fn columns(&self) -> Option<Columns<'_>> {
        let Self { blocks, frame_ends, blobs, numbers } = self;
        let (blocks, frame_ends) = (columns::encode(blocks)?, columns::encode(frame_ends)?);
        Some(Columns { blocks, frame_ends, blobs, numbers })
    }

    /// Returns the index whose frame fills `frame`.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn decode(frame: &[u8]) -> Result<Self, TableError> {
        decode_table(FrameKind::Index, frame)
    }
}

/// Returns the MessagePack body of the index or footer whose frame fills `frame`.
pub(crate) fn decode_table<'a, T: Deserialize<'a>>(
    kind: FrameKind,
    frame: &'a [u8],
) -> Result<T, TableError> {
    let body = decode_frame(kind, frame)?;
    rmp_serde::from_slice(body)
        .map_err(|error| TableError::MessagePack { kind: kind.name(), why: error.to_string() })
}

/// The blobs of an index as one byte string: 32 bytes per blob, sorted by name, without duplicates.
pub(super) mod entry_bytes {
    use gapii_abi::atom::BLOB_NAME_LEN;
    use serde::{Deserializer, Serializer};

    use super::fixed_bytes;
    use crate::blob_name::BlobName;
    use crate::blobs::BlobEntry;

    /// Bytes of an entry.
    pub const ENTRY_LEN: usize = BLOB_NAME_LEN + 16;

    /// Writes the entries as one byte string, or nil.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        entries: &Option<Vec<BlobEntry>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        fixed_bytes::serialize(entries, to, |entry, bytes: &mut [u8; ENTRY_LEN]| {
            bytes[..16].copy_from_slice(&entry.name.0);
            bytes[16..24].copy_from_slice(&entry.size.to_le_bytes());
            bytes[24..28].copy_from_slice(&entry.block.to_le_bytes());
            bytes[28..].copy_from_slice(&entry.offset.to_le_bytes());
        })
    }

    /// Reads the entries from a byte string, or nil.
    ///
    /// # Errors
    /// The deserializer's, or that the length is not a multiple of an entry's.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<BlobEntry>>, D::Error> {
        fixed_bytes::deserialize(from, entry)
    }

    /// Returns the entry that `bytes` are.
    pub fn entry(bytes: &[u8; ENTRY_LEN]) -> BlobEntry {
        BlobEntry {
            name: BlobName(std::array::from_fn(|i| bytes[i])),
            size: fixed_bytes::u64_at(bytes, 16),
            block: fixed_bytes::u32_at(bytes, 24),
            offset: fixed_bytes::u32_at(bytes, 28),
        }
    }
}

/// The numbers of an index as one byte string: 16 bytes per number, ascending.
pub(super) mod number_bytes {
    use serde::{Deserializer, Serializer};

    use super::{NumberEntry, fixed_bytes};
    use crate::blobs::BlobNumber;

    /// Bytes of an entry.
    pub const ENTRY_LEN: usize = 16;

    /// Writes the entries as one byte string, or nil.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        entries: &Option<Vec<NumberEntry>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        fixed_bytes::serialize(entries, to, |entry, bytes: &mut [u8; ENTRY_LEN]| {
            bytes[..4].copy_from_slice(&entry.number.process.to_le_bytes());
            bytes[4..8].copy_from_slice(&entry.blob.to_le_bytes());
            bytes[8..].copy_from_slice(&entry.number.number.to_le_bytes());
        })
    }

    /// Reads the entries from a byte string, or nil.
    ///
    /// # Errors
    /// The deserializer's, or that the length is not a multiple of an entry's.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<NumberEntry>>, D::Error> {
        fixed_bytes::deserialize(from, entry)
    }

    /// Returns the entry that `bytes` are.
    pub fn entry(bytes: &[u8; ENTRY_LEN]) -> NumberEntry {
        NumberEntry {
            number: BlobNumber {
                process: fixed_bytes::u32_at(bytes, 0),
                number: fixed_bytes::u64_at(bytes, 8),
            },
            blob: fixed_bytes::u32_at(bytes, 4),
        }
    }
}

/// Lists of entries of a fixed length as one byte string.
mod fixed_bytes {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::Serializer;
    use serde::de::{Deserializer, Error, Visitor};

    /// Writes the entries as one byte string, or nil.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer, T, const N: usize>(
        entries: &Option<Vec<T>>,
        to: S,
        put: impl Fn(&T, &mut [u8; N]),
    ) -> Result<S::Ok, S::Error> {
        let Some(entries) = entries else { return to.serialize_none() };
        let mut all = Vec::with_capacity(entries.len() * N);
        for entry in entries {
            let mut bytes = [0; N];
            put(entry, &mut bytes);
            all.extend_from_slice(&bytes);
        }
        to.serialize_bytes(&all)
    }

    /// Reads the entries from a byte string, or nil.
    ///
    /// # Errors
    /// The deserializer's, or that the length is not a multiple of an entry's.
    pub fn deserialize<'de, D: Deserializer<'de>, T, const N: usize>(
        from: D,
        take: impl Fn(&[u8; N]) -> T,
    ) -> Result<Option<Vec<T>>, D::Error> {
        from.deserialize_option(Entries { take, entry: PhantomData })
    }

    /// Returns the little-endian number at byte `at`, which must be there.
    pub fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
    }

    /// Returns the little-endian number at byte `at`, which must be there.
    pub fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
    }

    struct Entries<F, T, const N: usize> {
        take: F,
        entry: PhantomData<T>,
    }

    impl<'de, F: Fn(&[u8; N]) -> T, T, const N: usize> Visitor<'de> for Entries<F, T, N> {
        type Value = Option<Vec<T>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a byte string of {N} bytes for each entry")
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
            let (entries, rest) = bytes.as_chunks::<N>();
            if !rest.is_empty() {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            Ok(Some(entries.iter().map(self.take).collect()))
        }
    }
}
