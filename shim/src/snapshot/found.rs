//! Contents of a buffer whose name was deleted, of which each of its holders may lead to a part.

use core::ops::Range;

use gapii_commands::constants::GL_ARRAY_BUFFER;

use super::buffer_writes::{self, Way};
use super::emit::Emitter;

/// Bytes of a buffer that were found, at their places.
#[derive(Default)]
pub struct Found {
    /// 0 where nothing was found.
    pub bytes: Vec<u8>,
    /// For each byte, whether it was found.
    are_found: Vec<bool>,
}

/// The place of `len` bytes from `start` on in a buffer of `size` bytes, as far as it has them; 0 for all from there on.
pub fn place(size: usize, start: usize, len: usize) -> Range<usize> {
    let start = start.min(size);
    let end = if len == 0 { size } else { start.saturating_add(len).min(size) };
    start..end
}

impl Found {
    /// Nothing of a buffer of this size.
    pub fn nothing(size: usize) -> Self {
        Self { bytes: vec![0; size], are_found: vec![false; size] }
    }

    /// All bytes of a buffer.
    pub fn all(bytes: Vec<u8>) -> Self {
        let are_found = vec![true; bytes.len()];
        Self { bytes, are_found }
    }

    /// `None` if the place is outside of the buffer.
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> Option<()> {
        let place = at..at + bytes.len();
        self.bytes.get_mut(place.clone())?.copy_from_slice(bytes);
        self.are_found.get_mut(place)?.fill(true);
        Some(())
    }

    /// Whether all bytes were found.
    pub fn is_whole(&self) -> bool {
        self.are_found.iter().all(|is_found| *is_found)
    }

    /// Writes what was found to the buffer that is bound to `GL_ARRAY_BUFFER` in the replay.
    pub fn describe(&self, emitter: &mut Emitter, way: Way) {
        for (at, piece) in self.pieces() {
            buffer_writes::write(emitter, way, GL_ARRAY_BUFFER, at, piece);
        }
    }

    /// The pieces that were found, each with the offset of its first byte.
    fn pieces(&self) -> Vec<(usize, &[u8])> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for run in self.are_found.chunk_by(|one, next| one == next) {
            if run.first() == Some(&true) {
                pieces.extend(self.bytes.get(at..at + run.len()).map(|piece| (at, piece)));
            }
            at += run.len();
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_bytes_make_pieces() {
        let mut found = Found::nothing(8);
        assert_eq!(found.put(1, &[1, 2]), Some(()));
        assert_eq!(found.put(3, &[3]), Some(()));
        assert_eq!(found.put(7, &[7]), Some(()));
        assert_eq!(found.put(7, &[7, 8]), None);
        assert_eq!(found.pieces(), [(1, &[1, 2, 3][..]), (7, &[7])]);
        assert!(!found.is_whole());
        assert!(Found::all(vec![1, 2]).is_whole());
    }
}
