//! Extents: how much of the memory at an address a command touches.

/// Number of fields of a region: x, y, z, width, height, depth.
pub const REGION_WORDS: usize = 6;

/// Extent of the memory at an address that a command uses, now or when its list is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Only the address matters: it names an allocation, or nothing.
    Address,
    /// At most this number of bytes is read or written.
    Bytes(u64),
    /// Rows within the first `bytes` bytes; the first row begins at `first`.
    Rows { bytes: u64, first: u64, rows: Rows },
    /// The extent is not in the command: an image's size, or a count that only devices see.
    Allocation,
}

/// Rows of bytes. The memory begins with the first row. All values are in bytes, except `height` in
/// rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    width: u64,
    height: u64,
    pitch: u64,
    slice_pitch: u64,
}

impl Rows {
    /// The bytes of the rows, without those between them.
    pub fn of(&self, bytes: &[u8]) -> Vec<u8> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        let slices = match self.slice_pitch {
            0 => bytes.chunks(usize::MAX),
            pitch => bytes.chunks(size(pitch)),
        };
        let rows = slices.flat_map(|it| it.chunks(size(self.pitch)).take(size(self.height)));
        rows.flat_map(|row| &row[..row.len().min(size(self.width))]).copied().collect()
    }
}

/// Extent of a region: memory up to its last byte, with its rows.
pub fn region_rows(region: [u32; REGION_WORDS], (pitch, slice_pitch): (u64, u64)) -> Extent {
    let [x, y, z, width, height, depth] = region.map(u64::from);
    let place = |y: u64, z: u64| {
        let slices = z.saturating_mul(slice_pitch);
        x.saturating_add(y.saturating_mul(pitch)).saturating_add(slices)
    };
    // A two-dimensional region has depth 0 or 1.
    let last = place(y + height.max(1) - 1, z + depth.max(1) - 1);
    let rows = Rows { width, height: height.max(1), pitch: pitch.max(width), slice_pitch };
    Extent::Rows { bytes: last.saturating_add(width), first: place(y, z), rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_ends_with_its_last_byte() {
        let check = |region, pitches, expected: (u64, u64)| {
            let Extent::Rows { bytes, first, .. } = region_rows(region, pitches) else {
                panic!("no rows of {region:?}");
            };
            assert_eq!((bytes, first), expected, "{region:?}");
        };
        check([0, 0, 0, 4, 1, 1], (16, 64), (4, 0));
        check([2, 1, 0, 4, 3, 0], (16, 64), (3 * 16 + 6, 18));
        check([0, 0, 1, 4, 2, 2], (16, 64), (2 * 64 + 16 + 4, 64));
        check([u32::MAX; 6], (u64::MAX, u64::MAX), (u64::MAX, u64::MAX));
    }

    #[test]
    fn bytes_between_rows_do_not_count() {
        let bytes: Vec<u8> = (0..20).collect();
        let of = |height, slice_pitch| Rows { width: 2, height, pitch: 4, slice_pitch }.of(&bytes);
        assert_eq!(of(5, 0), [0, 1, 4, 5, 8, 9, 12, 13, 16, 17]);
        assert_eq!(of(1, 12), [0, 1, 12, 13]);
        assert_eq!(of(0, 0), [0, 1]);
    }
}
