//! Formats to which a shader draws texels, so that `glReadPixels` returns them in the layout in which they are uploaded.

use gapii_commands::constants::{
    GL_FLOAT, GL_HALF_FLOAT, GL_INT, GL_R8, GL_R16F, GL_RED, GL_RG, GL_RG8, GL_RG16F, GL_RGBA,
    GL_RGBA_INTEGER, GL_RGBA8, GL_RGBA16F, GL_RGBA32F, GL_RGBA32I, GL_RGBA32UI, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT,
};

use super::formats::{Encode, Values};

/// A render target for texels, and the layout in which it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Canvas {
    pub format: u32,
    /// Type of the values that a shader writes.
    pub values: Values,
    /// Format and type of `glReadPixels`.
    pub read: (u32, u32),
    /// Bytes per pixel in that format and type.
    pub pixel_bytes: usize,
    /// Number of neighbouring texels of a row that one pixel holds.
    pub texels: i32,
    /// Whether every driver reads it in this format and type (OpenGL ES 3.2, 16.1.2).
    pub is_always_read: bool,
}

impl Canvas {
    /// A canvas of four components for any format with these values.
    pub fn of(values: Values) -> Self {
        let (format, read, pixel_bytes) = match values {
            Values::Bytes => (GL_RGBA8, (GL_RGBA, GL_UNSIGNED_BYTE), 4),
            Values::Floats => (GL_RGBA32F, (GL_RGBA, GL_FLOAT), 16),
            Values::Ints => (GL_RGBA32I, (GL_RGBA_INTEGER, GL_INT), 16),
            Values::Uints => (GL_RGBA32UI, (GL_RGBA_INTEGER, GL_UNSIGNED_INT), 16),
        };
        Self { format, values, read, pixel_bytes, texels: 1, is_always_read: true }
    }

    /// A canvas that is read in the layout of an upload; a fourth component may follow three. The cost is per pixel, so
    /// small texels share a pixel if `width` is divisible by their number.
    pub fn as_uploaded(take: &[usize], how: Encode, width: i32) -> Option<Self> {
        let (formats, kind, values, bytes) = match how {
            Encode::Unorm8 => ([GL_R8, GL_RG8, GL_RGBA8], GL_UNSIGNED_BYTE, Values::Bytes, 1),
            Encode::Half => ([GL_R16F, GL_RG16F, GL_RGBA16F], GL_HALF_FLOAT, Values::Floats, 2),
            _ => return None,
        };
        let [one, two, four] = formats;
        let texels = match take.len() {
            1 if width % 4 == 0 => 4,
            2 if width % 2 == 0 => 2,
            _ => 1,
        };
        let (format, read, components) = match take.len() * texels {
            1 => (one, GL_RED, 1),
            2 => (two, GL_RG, 2),
            _ => (four, GL_RGBA, 4),
        };
        let (read, pixel_bytes) = ((read, kind), components * bytes);
        let is_always_read = read == (GL_RGBA, GL_UNSIGNED_BYTE);
        Some(Self { format, values, read, pixel_bytes, texels: texels as i32, is_always_read })
    }

    /// Appends the pixels that were read to `out`, with this number of components per texel.
    pub fn append(&self, read: &[u8], components: usize, out: &mut Vec<u8>) {
        if components == 3 {
            without_last(read, self.pixel_bytes, out)
        } else {
            out.extend_from_slice(read)
        }
    }
}

/// Appends pixels of four components, which have `pixel_bytes` bytes, without their last component.
pub fn without_last(read: &[u8], pixel_bytes: usize, out: &mut Vec<u8>) {
    match pixel_bytes {
        4 => out.extend(read.as_chunks::<4>().0.iter().flat_map(first::<4, 3>)),
        8 => out.extend(read.as_chunks::<8>().0.iter().flat_map(first::<8, 6>)),
        _ => out.extend(read.as_chunks::<16>().0.iter().flat_map(first::<16, 12>)),
    }
}

fn first<const ALL: usize, const LEN: usize>(pixel: &[u8; ALL]) -> [u8; LEN] {
    pixel.first_chunk().copied().unwrap_or([0; LEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_texels_share_a_pixel_where_rows_can_be_divided() {
        let texels = |take: &[usize], how, width| {
            let canvas = Canvas::as_uploaded(take, how, width).expect("it is drawn as uploaded");
            (canvas.texels, canvas.pixel_bytes)
        };
        assert_eq!(texels(&[0], Encode::Unorm8, 64), (4, 4));
        assert_eq!(texels(&[0], Encode::Unorm8, 66), (1, 1));
        assert_eq!(texels(&[0, 3], Encode::Unorm8, 66), (2, 4));
        assert_eq!(texels(&[0, 1, 2], Encode::Half, 64), (1, 8));
        assert_eq!(Canvas::as_uploaded(&[0], Encode::Srgb8, 64), None);
    }

    #[test]
    fn last_component_is_left_out() {
        let mut out = vec![9];
        without_last(&[1, 2, 3, 4, 5, 6, 7, 8], 4, &mut out);
        assert_eq!(out, [9, 1, 2, 3, 5, 6, 7]);
        out.clear();
        without_last(&[1, 2, 3, 4, 5, 6, 7, 8], 8, &mut out);
        assert_eq!(out, [1, 2, 3, 4, 5, 6]);
    }
}
