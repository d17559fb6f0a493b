//! Sizes: memory of `BLOB_MIN_BYTES` (512 bytes, or 1/64 of a ring if that is less) or more becomes a blob; one record
//! holds up to `PIECE_BYTES` of a blob (64 KiB, or 1/16 of a ring if that is less).

/// Observations of this size or more are blobs, in bytes; fewer if rings are small.
pub const BLOB_MIN_BYTES: u64 = 512;
/// Bytes of a blob that one record holds; fewer if rings are small.
pub const PIECE_BYTES: u64 = 64 << 10;

/// Buffer in which a piece of a blob is hashed and from which it is sent.
pub type Piece = [u64; PIECE_BYTES as usize / 8];
