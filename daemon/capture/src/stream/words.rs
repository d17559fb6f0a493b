//! Words of validated records.

use gapii_abi::atom::{BLOB, Header, NUMBERED, SETUP};
use gapii_trace::meta::Meta;

use super::refusal::Refusal;

/// Returns the header of the record at byte `at`.
pub fn header_at(records: &[u8], at: usize) -> Header {
    Header(word_at(records, at))
}

/// Returns the little-endian word at byte `at`. Panics if the word is not completely there.
pub fn word_at(records: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&records[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Decodes a record that is not a command; `record` starts at its header.
pub fn decode(header: Header, record: &[u8]) -> Result<Meta<'_>, Refusal> {
    // The record was validated before: the length is within `record` and covers the stamp.
    let payload = &record[header.payload_offset()..header.len_untrusted() as usize];
    Ok(Meta::decode(header.id(), payload)?)
}

/// Returns whether the record is a piece of a blob that the store is to hold, or the number of such a blob.
pub fn is_for_store(header: Header) -> bool {
    matches!(header.id(), BLOB | NUMBERED) && header.flags() & SETUP != 0
}
