//! Pictures, and their PNG form: RGB if every pixel is opaque, else RGBA. Two pictures of different sizes are not
//! compared.

use schemars::JsonSchema;
use std::io::{self, BufRead, Seek, Write};

/// A frame: the index of its process in the trace, and its number within the process.
pub type FrameOf = (u32, u64);

/// Pixels in RGBA, one byte per channel, rows from the bottom up, as drivers return them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// The picture with alpha set to 255.
    pub fn opaque(mut self) -> Self {
        self.rgba.chunks_exact_mut(4).for_each(|pixel| pixel[3] = u8::MAX);
        self
    }

    /// Rows from the top down, four bytes per pixel.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rgba.chunks_exact((4 * self.width as usize).max(1)).rev()
    }

    /// Writes the picture as PNG: RGB if every pixel is opaque, else RGBA.
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let is_opaque = self.rgba.chunks_exact(4).all(|pixel| pixel[3] == u8::MAX);
        let mut bytes = Vec::with_capacity(self.rgba.len());
        for row in self.rows() {
            match is_opaque {
                true => row.chunks_exact(4).for_each(|pixel| bytes.extend_from_slice(&pixel[..3])),
                false => bytes.extend_from_slice(row),
            }
        }
        let color = if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba };
        write_png(out, self.width, self.height, color, png::BitDepth::Eight, &bytes)
    }
}

/// Difference of two pictures of the same size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, JsonSchema)]
pub struct PixelDifference {
    /// Number of pixels that differ.
    pub pixels: u64,
    /// Number of pixels of a picture.
    pub of: u64,
    /// Largest difference of a channel, 0 to 255.
    pub largest: u8,
}

impl Picture {
    /// Reads a PNG that [`Picture::write_png`] wrote.
    pub fn read_png(input: impl BufRead + Seek) -> io::Result<Self> {
        let mut decoder = png::Decoder::new(input);
        decoder.set_transformations(png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let mut samples = vec![0; reader.output_buffer_size().ok_or_else(too_large)?];
        let info = reader.next_frame(&mut samples)?;
        let rows = samples.chunks_exact((4 * info.width as usize).max(1));
        let rgba = rows.rev().flatten().copied().collect();
        Ok(Self { width: info.width, height: info.height, rgba })
    }

    /// Difference of two pictures; `None` if their sizes differ.
    pub fn difference(&self, other: &Self) -> Option<PixelDifference> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let of = self.rgba.len() as u64 / 4;
        let mut found = PixelDifference { of, ..PixelDifference::default() };
        for (a, b) in self.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)) {
            let largest = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
            found.pixels += u64::from(largest > 0);
            found.largest = found.largest.max(largest);
        }
        Some(found)
    }
}

/// Writes samples as PNG, rows from the top down.
pub fn write_png(
    out: impl Write,
    width: u32,
    height: u32,
    color: png::ColorType,
    depth: png::BitDepth,
    samples: &[u8],
) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(samples)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Width, height and samples of a PNG.
    pub fn decoded(bytes: &[u8]) -> (u32, u32, png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut samples).unwrap();
        (info.width, info.height, info.color_type, samples)
    }

    #[test]
    fn png_begins_at_the_top() {
        let rgba = vec![1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 255];
        let picture = Picture { width: 2, height: 2, rgba };
        let mut file = Vec::new();
        picture.write_png(&mut file).unwrap();
        let expected = vec![7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6];
        assert_eq!(decoded(&file), (2, 2, png::ColorType::Rgb, expected));
    }

    #[test]
    fn png_is_read_as_it_was_written() {
        for alpha in [255, 9] {
            let rgba = (0..24).map(|at| if at % 4 == 3 { alpha } else { at }).collect();
            let picture = Picture { width: 2, height: 3, rgba };
            let mut file = Vec::new();
            picture.write_png(&mut file).unwrap();
            assert_eq!(Picture::read_png(io::Cursor::new(file)).unwrap(), picture);
        }
    }

    #[test]
    fn difference_counts_pixels_and_has_the_largest_of_a_channel() {
        let picture = |rgba: [u8; 8]| Picture { width: 2, height: 1, rgba: rgba.to_vec() };
        let a = picture([1, 2, 3, 255, 4, 5, 6, 255]);
        assert_eq!(a.difference(&a), Some(PixelDifference { pixels: 0, of: 2, largest: 0 }));
        let b = picture([1, 2, 3, 255, 4, 15, 3, 255]);
        assert_eq!(a.difference(&b), Some(PixelDifference { pixels: 1, of: 2, largest: 10 }));
        assert_eq!(a.difference(&Picture { width: 1, height: 2, ..b }), None);
    }

    #[test]
    fn alpha_is_kept_where_there_is_some() {
        let picture = Picture { width: 1, height: 1, rgba: vec![1, 2, 3, 4] };
        let mut file = Vec::new();
        picture.write_png(&mut file).unwrap();
        assert_eq!(decoded(&file), (1, 1, png::ColorType::Rgba, vec![1, 2, 3, 4]));
        let mut file = Vec::new();
        picture.opaque().write_png(&mut file).unwrap();
        assert_eq!(decoded(&file), (1, 1, png::ColorType::Rgb, vec![1, 2, 3]));
    }
}
