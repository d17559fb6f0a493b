//! Names of blobs: the first 16 bytes of their BLAKE3 hash.

/// Name of a blob: the 16 bytes that stand in a trace, as two words.
pub type Name = [u64; 2];

/// Returns a blob's name: the first 16 bytes of its hash, as two words.
pub fn name_words(hash: &blake3::Hash) -> Name {
    let [low, high, ..] = hash.as_bytes().as_chunks::<8>().0 else { return [0; 2] };
    [u64::from_le_bytes(*low), u64::from_le_bytes(*high)]
}

/// Returns the 16 bytes of a blob's name.
pub fn name_bytes([low, high]: Name) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_beginning_of_the_hash() {
        let [low, high] = name_words(&blake3::hash(b""));
        let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
        assert_eq!(
            bytes,
            [
                0xAF, 0x13, 0x49, 0xB9, 0xF5, 0xF9, 0xA1, 0xA6, 0xA0, 0x40, 0x4D, 0xEA, 0x36, 0xDC,
                0xC9, 0x49
            ]
        );
        assert_eq!(name_bytes([low, high]).as_slice(), bytes);
    }
}
