//! The vertices that indices refer to: the lowest and the highest. The index that restarts a primitive is left out while
//! primitive restart is enabled. Client memory is read in pieces of 8 KiB (`PIECE_BYTES`); indices that
//! cannot be read refer to no vertices.

use super::formats::index_bytes;
use crate::Memory;

/// The lowest and the highest of several indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The lowest index.
    pub lowest: u32,
    /// The highest index.
    pub highest: u32,
}

/// The indices of a draw that a buffer holds.
pub(super) enum IndexBytes {
    /// The indices.
    Known(Vec<u8>),
    /// The draw is an error, or the buffer ends before the last index: the driver reads nothing defined.
    Outside,
    /// The driver has the indices and lets nobody read them.
    Unknown,
}

/// Size in bytes of one read; a multiple of the size of every index type.
const PIECE_BYTES: usize = 8192;

/// Returns the index that restarts a primitive, if its bits are all set: the highest of the type.
pub fn highest(ty: u32) -> u32 {
    match index_bytes(ty) {
        1 => u32::from(u8::MAX),
        2 => u32::from(u16::MAX),
        _ => u32::MAX,
    }
}

/// Returns the bounds of `count` indices in client memory, without those that equal `restart`. `None` if `count` is 0, or if the indices cannot be read.
pub fn in_memory<M: Memory + ?Sized>(
    memory: &M,
    address: u64,
    count: u64,
    ty: u32,
    restart: Option<u32>,
) -> Option<Bounds> {
    let mut piece = [0; PIECE_BYTES];
    let mut left = count.checked_mul(index_bytes(ty))?;
    let mut at = address;
    let mut scan = Scan::new(ty, restart);
    while left > 0 {
        let piece = piece.get_mut(..left.min(PIECE_BYTES as u64) as usize)?;
        if !memory.read(at, piece) {
            return None;
        }
        scan.add(piece);
        at = at.wrapping_add(piece.len() as u64);
        left -= piece.len() as u64;
    }
    scan.bounds()
}

/// Returns the bounds of the indices that `bytes` hold, without those that equal `restart`.
pub fn in_bytes(bytes: &[u8], ty: u32, restart: Option<u32>) -> Option<Bounds> {
    let mut scan = Scan::new(ty, restart);
    scan.add(bytes);
    scan.bounds()
}

struct Scan {
    bytes: u64,
    /// The restart index, which refers to no vertex.
    skipped: Option<u32>,
    lowest: u32,
    highest: u32,
}

impl Scan {
    fn new(ty: u32, restart: Option<u32>) -> Self {
        Self { bytes: index_bytes(ty), skipped: restart, lowest: u32::MAX, highest: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self.bytes {
            1 => self.add_all(bytes.iter().map(|byte| u32::from(*byte))),
            2 => {
                let (indices, _) = bytes.as_chunks();
                self.add_all(indices.iter().map(|index| u32::from(u16::from_le_bytes(*index))));
            }
            4 => {
                let (indices, _) = bytes.as_chunks();
                self.add_all(indices.iter().map(|index| u32::from_le_bytes(*index)));
            }
            _ => {}
        }
    }

    fn add_all(&mut self, indices: impl Iterator<Item = u32>) {
        let (mut lowest, mut highest) = (self.lowest, self.highest);
        match self.skipped {
            None => indices.for_each(|index| {
                lowest = lowest.min(index);
                highest = highest.max(index);
            }),
            Some(skipped) => indices.filter(|index| *index != skipped).for_each(|index| {
                lowest = lowest.min(index);
                highest = highest.max(index);
            }),
        }
        (self.lowest, self.highest) = (lowest, highest);
    }

    fn bounds(&self) -> Option<Bounds> {
        (self.lowest <= self.highest)
            .then_some(Bounds { lowest: self.lowest, highest: self.highest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Bytes;
    use gapii_commands::constants::*;

    #[test]
    fn bounds_exclude_the_restart_index_only_if_restart_is_enabled() {
        let check = |bytes: &[u8], ty, restart: bool, expected: Option<(u32, u32)>| {
            let restart_index = restart.then(|| highest(ty));
            let found = in_bytes(bytes, ty, restart_index);
            let bounds = found.map(|found| (found.lowest, found.highest));
            assert_eq!(bounds, expected, "{bytes:?} {ty:#x} {restart}");
        };
        check(&[3, 1, 2], GL_UNSIGNED_BYTE, false, Some((1, 3)));
        check(&[3, 255, 2], GL_UNSIGNED_BYTE, false, Some((2, 255)));
        check(&[3, 255, 2], GL_UNSIGNED_BYTE, true, Some((2, 3)));
        check(&[255, 255], GL_UNSIGNED_BYTE, true, None);
        check(&[0xFF, 0xFF, 7, 0, 255, 0], GL_UNSIGNED_SHORT, true, Some((7, 255)));
        check(&[0xFF, 0xFF, 7, 0], GL_UNSIGNED_SHORT, false, Some((7, 0xFFFF)));
        check(
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0],
            GL_UNSIGNED_INT,
            true,
            Some((0xFFFF, 0xFFFF)),
        );
        check(&[0xFF; 4], GL_UNSIGNED_INT, false, Some((u32::MAX, u32::MAX)));
        check(&[0xFF; 4], GL_UNSIGNED_INT, true, None);
        check(&[], GL_UNSIGNED_SHORT, false, None);
        check(&[1, 2, 3, 4], GL_FLOAT, false, None);
        let bounds = in_bytes(&[9, 3, 7, 9], GL_UNSIGNED_BYTE, Some(9));
        assert_eq!(bounds, Some(Bounds { lowest: 3, highest: 7 }));
    }

    #[test]
    fn indices_in_memory_are_read_in_pieces() {
        let count = 3 * PIECE_BYTES as u64;
        let indices: Vec<u8> =
            (0..count).flat_map(|index| ((index + 5) as u16).to_le_bytes()).collect();
        let memory = Bytes(0x1000, indices);
        let bounds = in_memory(&memory, 0x1000, count, GL_UNSIGNED_SHORT, None);
        assert_eq!(bounds, Some(Bounds { lowest: 5, highest: count as u32 + 4 }));
        assert_eq!(in_memory(&memory, 0x1000, count + 1, GL_UNSIGNED_SHORT, None), None);
        assert_eq!(in_memory(&memory, 0x1000, 0, GL_UNSIGNED_SHORT, None), None);
        assert_eq!(in_memory(&memory, 0x1000, u64::MAX, GL_UNSIGNED_INT, None), None);
    }
}
