//! The word before each observation: its size (48 bits), the kind of data that follows, and the parameter of a range.
//! Memory that could not be read, or found no room, has kind 0 and its size, and no bytes; 255 stands for no parameter.
//!
//! ```text
//!  63     56 55       48 47                      0
//! +---------+-----------+------------------------+
//! |  kind   | param + 1 |  size in bytes         |
//! +---------+-----------+------------------------+
//! ```

/// Kind 0: no data follows. A size of 0 means that there was nothing to observe. Any other size is the number of
/// bytes that could not be read, or for which there was no room.
pub const OBSERVED_NONE: u8 = 0;
/// Kind 1: the bytes follow, padded to 8.
pub const OBSERVED_INLINE: u8 = 1;
/// Kind 3, up to format version 4: the name of a blob follows. Its bytes are in earlier BLOB records.
pub const OBSERVED_BLOB: u8 = 3;
/// Kind 4: the number of a blob follows, in a word. Its bytes are in earlier BLOB records of the process, behind which a
/// NUMBERED record states the number.
pub const OBSERVED_NUMBER: u8 = 4;
/// Length of a blob's name, in bytes. The name is the beginning of the BLAKE3 hash of the blob's bytes.
pub const BLOB_NAME_LEN: usize = 16;

/// Returns the word before the observation in a slot. `size` is in bytes; its lower 48 bits are used.
#[inline(always)]
pub const fn observation_word(kind: u8, size: u64) -> u64 {
    size & ((1 << 48) - 1) | (kind as u64) << 56
}

/// Returns the word before a range of parameter `param`; 255 stands for no parameter.
#[inline(always)]
pub const fn range_word(kind: u8, param: u8, size: u64) -> u64 {
    observation_word(kind, size) | (param.wrapping_add(1) as u64) << 48
}
