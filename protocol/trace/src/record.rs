//! Splits the bytes of a block into records. Believes no length: a record that is shorter than its header, longer than
//! 1 MiB, past the block's end, or padding is an error, and nothing behind it is read.

use gapii_abi::atom::{Header, PAD, RECORD_LEN_MAX};

/// Where a record and its parts are in a block, in bytes from the block's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// The record's header word.
    pub header: Header,
    /// Start of the header word.
    pub start: usize,
    /// Start of the payload.
    pub payload_start: usize,
    /// End of the payload.
    pub payload_end: usize,
    /// Start of the next record.
    pub next: usize,
    /// The stamp that the record carries, if it has one.
    pub stamp: Option<u64>,
    /// The driver's time in nanoseconds that the record carries, if it has one.
    pub driver_ns: Option<u64>,
    /// When the driver was called, in nanoseconds of `CLOCK_MONOTONIC`, if the record says it.
    pub begin_ns: Option<u64>,
}

/// A record and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The header word.
    pub header: Header,
    /// Start of the record in its block, in bytes.
    pub start: usize,
    /// The stamp that the record carries, if it has one.
    pub stamp: Option<u64>,
    /// The driver's time in nanoseconds that the record carries, if it has one.
    pub driver_ns: Option<u64>,
    /// When the driver was called, in nanoseconds of `CLOCK_MONOTONIC`, if the record says it.
    pub begin_ns: Option<u64>,
    /// The payload, without padding.
    pub payload: &'a [u8],
}

/// Why the bytes of a block are not records. `at` is the offset of the bad record in the block, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// The block ends inside of a header word.
    #[error("{left} bytes at byte {at} of the block are too few for a record")]
    Cut {
        /// Offset of the record.
        at: usize,
        /// Bytes up to the block's end.
        left: usize,
    },
    /// The record is shorter than its own header.
    #[error("record of {len} bytes at byte {at} of the block is shorter than its header")]
    Short {
        /// Offset of the record.
        at: usize,
        /// Length by its header word, in bytes.
        len: u32,
    },
    /// The record goes past the end of the block.
    #[error("record of {len} bytes at byte {at} of the block goes past the {left} that are left")]
    PastEnd {
        /// Offset of the record.
        at: usize,
        /// Length by its header word, in bytes.
        len: u32,
        /// Bytes up to the block's end.
        left: usize,
    },
    /// The record is longer than any record may be.
    #[error("record of {len} bytes at byte {at} of the block exceeds the limit")]
    TooLong {
        /// Offset of the record.
        at: usize,
        /// Length by its header word, in bytes.
        len: u32,
    },
    /// The record is the padding of a ring, which does not belong in a block.
    #[error("padding of a ring at byte {at} of the block")]
    Padding {
        /// Offset of the record.
        at: usize,
    },
}

/// Locates the record at byte `at` of a block's `bytes`.
///
/// # Errors
/// [`RecordError`] if no whole record is there, also at the end of `bytes`.
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
        driver_ns: match (header.is_timed(), header.is_begun()) {
            (false, _) => None,
            (true, false) => word(payload_offset - 8),
            (true, true) => word(payload_offset - 16),
        },
        begin_ns: if header.is_begun() { word(payload_offset - 8) } else { None },
    })
}

/// Iterates over the records of a block; ends after the first error.
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    /// Iterates over the records in the content of a block.
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
            begin_ns: record.begin_ns,
            payload: &self.bytes[record.payload_start..record.payload_end],
        }))
    }
}
