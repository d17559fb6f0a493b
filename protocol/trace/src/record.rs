//! Records in the bytes of a block, one after the other.
//!
//! Believes no length: a record that does not fit is an error, and nothing after it is read.

use gapii_abi::atom::{Header, PAD, RECORD_LEN_MAX};

/// Where a record and its parts are in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    pub header: Header,
    /// Of the header word, in bytes from the block's start.
    pub start: usize,
    pub payload_start: usize,
    pub payload_end: usize,
    /// Start of the record after it.
    pub next: usize,
    /// The stamp it carries, if it carries one.
    pub stamp: Option<u64>,
    /// The time in the driver that it carries, if it carries one.
    pub driver_ns: Option<u64>,
}

/// A record and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    pub header: Header,
    /// In bytes from the block's start.
    pub start: usize,
    pub stamp: Option<u64>,
    /// How long the driver took, where the record says it.
    pub driver_ns: Option<u64>,
    pub payload: &'a [u8],
}

/// Why the bytes of a block are not records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{left} bytes at byte {at} of the block are too few for a record")]
    Cut { at: usize, left: usize },
    #[error("record of {len} bytes at byte {at} of the block is shorter than its header")]
    Short { at: usize, len: u32 },
    #[error("record of {len} bytes at byte {at} of the block goes past the {left} that are left")]
    PastEnd { at: usize, len: u32, left: usize },
    #[error("record of {len} bytes at byte {at} of the block exceeds the limit")]
    TooLong { at: usize, len: u32 },
    #[error("padding of a ring at byte {at} of the block")]
    Padding { at: usize },
}

/// The record at byte `at` of a block's `bytes`, which must not be their end.
#[inline]
pub fn locate(bytes: &[u8], at: usize) -> Result<Located, RecordError> {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some(word) = rest.first_chunk::<8>() else {
        return Err(RecordError::Cut { at, left: rest.len() });
    };
    let header = Header(u64::from_le_bytes(*word));
    let len = header.len_untrusted();
    let payload_offset = header.payload_offset();
    if (len as usize) < payload_offset {
        return Err(RecordError::Short { at, len });
    }
    if len > RECORD_LEN_MAX {
        return Err(RecordError::TooLong { at, len });
    }
    let span = header.span_untrusted() as usize;
    if span > rest.len() {
        return Err(RecordError::PastEnd { at, len, left: rest.len() });
    }
    if header.id() == PAD {
        return Err(RecordError::Padding { at });
    }
    let word = |at: usize| rest[at..].first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
    Ok(Located {
        header,
        start: at,
        payload_start: at + payload_offset,
        payload_end: at + len as usize,
        next: at + span,
        stamp: if header.is_stamped() { word(8) } else { None },
        driver_ns: if header.is_timed() { word(payload_offset - 8) } else { None },
    })
}

/// The records of a block; ends after the first error.
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    /// The records in the content of a block.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let located = locate(self.bytes, self.at);
        self.at = located.as_ref().map_or(self.bytes.len(), |record| record.next);
        Some(located.map(|record| Record {
            header: record.header,
            start: record.start,
            stamp: record.stamp,
            driver_ns: record.driver_ns,
            payload: &self.bytes[record.payload_start..record.payload_end],
        }))
    }
}
