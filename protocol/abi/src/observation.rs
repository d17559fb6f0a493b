//! The word ahead of an observation: its size, what follows, and the parameter that a range belongs to.
//!
//! ```text
//!  63     56 55       48 47                      0
//! +---------+-----------+------------------------+
//! |  kind   | param + 1 |  size in bytes         |
//! +---------+-----------+------------------------+
//! ```

/// Kind 0: no data follows. Size 0: there was nothing to observe; else that many bytes were not readable, or
/// there was no room for them.
pub const OBSERVED_NONE: u8 = 0;
/// Kind 1: the bytes follow, padded to 8.
pub const OBSERVED_INLINE: u8 = 1;
/// Kind 3: the name of a blob follows. Its bytes came in BLOB records before.
pub const OBSERVED_BLOB: u8 = 3;
/// Length of a blob's name in bytes: the first of the BLAKE3 hash of the blob's bytes.
pub const BLOB_NAME_LEN: usize = 16;

/// The word ahead of a slot's observation. `size` is in bytes, and its lower 48 bits are used.
#[inline(always)]
pub const fn observation_word(kind: u8, size: u64) -> u64 {
    size & ((1 << 48) - 1) | (kind as u64) << 56
}

/// The word ahead of a range of parameter `param`; 255 stands for no parameter.
#[inline(always)]
pub const fn range_word(kind: u8, param: u8, size: u64) -> u64 {
    observation_word(kind, size) | (param.wrapping_add(1) as u64) << 48
}
