//! Pixels of a read-back, without the bytes between rows and the pixels outside of the surface, which are not compared.

/// A rectangle of pixels in memory.
pub(super) struct Pixels {
    /// Column of the first pixel.
    pub(super) x: i64,
    /// Row of the first pixel.
    pub(super) y: i64,
    /// Bytes per pixel.
    pub(super) texel: usize,
    /// Bytes of a row's pixels.
    pub(super) row: usize,
    /// Bytes from one row to the next.
    pub(super) stride: usize,
    /// Width and height of the surface or framebuffer object that is read, if known.
    pub(super) size: Option<(i64, i64)>,
}

impl Pixels {
    /// Pixels of an image of a texture, by the bytes of a row's pixels and the bytes from one row to the next. All of them are
    /// written.
    pub(super) fn of_image((row, stride): (u64, u64)) -> Option<Self> {
        let (row, stride) = (usize::try_from(row).ok()?, usize::try_from(stride).ok()?);
        let is_known = row > 0 && stride > 0;
        is_known.then_some(Self { x: 0, y: 0, texel: row, row, stride, size: None })
    }

    /// Pixels within the first `len` bytes of `bytes`, which begin with a row. Leaves out the bytes
    /// between rows, and pixels outside the surface or framebuffer object.
    pub(super) fn written(&self, bytes: &[u8], len: usize) -> Vec<u8> {
        let bytes = &bytes[..len.min(bytes.len())];
        let mut written = Vec::with_capacity(bytes.len());
        for (y, row) in (self.y..).zip(bytes.chunks(self.stride)) {
            let texels = row[..self.row.min(row.len())].chunks(self.texel);
            for (x, texel) in (self.x..).zip(texels) {
                let ends_before = self.size.is_none_or(|(width, height)| x < width && y < height);
                if x >= 0 && y >= 0 && ends_before {
                    written.extend_from_slice(texel);
                }
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_between_rows_and_outside_of_the_framebuffer_do_not_count() {
        let pixels = |x, y, size| Pixels { x, y, texel: 1, row: 3, stride: 4, size };
        let bytes: Vec<u8> = (0..11).collect();
        assert_eq!(pixels(0, 0, None).written(&bytes, 11), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        assert_eq!(pixels(-1, -1, None).written(&bytes, 11), [5, 6, 9, 10]);
        assert_eq!(pixels(0, 0, Some((1, 2))).written(&bytes, 11), [0, 4]);
    }
}
