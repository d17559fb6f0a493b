//! Uploads and read-backs of pixels. The driver's own pixel parameters determine how much memory they touch; more than
//! replay provides skips the command. An image without recorded pixels that is too large for that is defined with null,
//! so that the driver rejects the size itself.

use crate::call::Call;
use crate::skip::Skip;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_PACK_ALIGNMENT, GL_PACK_IMAGE_HEIGHT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_IMAGES,
    GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS, GL_PIXEL_PACK_BUFFER_BINDING,
    GL_PIXEL_UNPACK_BUFFER_BINDING, GL_UNPACK_ALIGNMENT, GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS,
};

/// Layout of pixels in memory, from the driver's pixel parameters.
#[derive(Clone, Copy, Default, Debug)]
struct Layout {
    alignment: u32,
    /// Pixels from one row to the next; 0: as many as a row has.
    row_length: u32,
    /// Rows from one image to the next; 0: as many as an image has.
    image_height: u32,
    skip_pixels: u32,
    skip_rows: u32,
    skip_images: u32,
}

impl Layout {
    fn of_uploads(call: &mut Call<'_, '_>) -> Self {
        let facts = call.parts.facts(call.scopes);
        let ask = |exists: bool, name| if exists { call.parts.integer(name) } else { 0 };
        Self {
            alignment: ask(true, GL_UNPACK_ALIGNMENT),
            row_length: ask(facts.has_unpack_subimage, GL_UNPACK_ROW_LENGTH),
            image_height: ask(facts.has((3, 0), (1, 2)), GL_UNPACK_IMAGE_HEIGHT),
            skip_pixels: ask(facts.has_unpack_subimage, GL_UNPACK_SKIP_PIXELS),
            skip_rows: ask(facts.has_unpack_subimage, GL_UNPACK_SKIP_ROWS),
            skip_images: ask(facts.has((3, 0), (1, 2)), GL_UNPACK_SKIP_IMAGES),
        }
    }

    fn of_read_backs(call: &mut Call<'_, '_>) -> Self {
        let facts = call.parts.facts(call.scopes);
        let ask = |exists: bool, name| if exists { call.parts.integer(name) } else { 0 };
        Self {
            alignment: ask(true, GL_PACK_ALIGNMENT),
            row_length: ask(facts.has_pack_subimage, GL_PACK_ROW_LENGTH),
            skip_pixels: ask(facts.has_pack_subimage, GL_PACK_SKIP_PIXELS),
            skip_rows: ask(facts.has_pack_subimage, GL_PACK_SKIP_ROWS),
            image_height: ask(!facts.is_es, GL_PACK_IMAGE_HEIGHT),
            skip_images: ask(!facts.is_es, GL_PACK_SKIP_IMAGES),
        }
    }

    /// Upper bound of the bytes from the pointer to the end of the last pixel.
    fn bytes(&self, [width, height, depth]: [i32; 3], pixel: u64) -> i64 {
        let positive = |number: i32| u64::try_from(number).unwrap_or(0);
        let or = |number: u32, default: i32| match number {
            0 => positive(default),
            number => u64::from(number),
        };
        let alignment = u64::from(self.alignment.clamp(1, 8));
        let row = or(self.row_length, width).saturating_mul(pixel);
        let row = row.div_ceil(alignment).saturating_mul(alignment);
        let image = or(self.image_height, height).saturating_mul(row);
        let images = u64::from(self.skip_images).saturating_add(positive(depth));
        let rows = u64::from(self.skip_rows).saturating_add(positive(height));
        let pixels = u64::from(self.skip_pixels).saturating_add(positive(width));
        let before = image.saturating_mul(images.saturating_sub(1));
        let last = rows.saturating_mul(row).saturating_add(pixels.saturating_mul(pixel));
        i64::try_from(before.saturating_add(last)).unwrap_or(i64::MAX)
    }
}

/// Upper bound of the bytes of one pixel of any type.
const PIXEL_BYTES_MAX: u64 = 16;

/// Upper bound of the bytes of one pixel of type `ty`.
fn pixel_bytes(ty: u32) -> u64 {
    match ty {
        constants::GL_BYTE | constants::GL_UNSIGNED_BYTE => 4,
        constants::GL_SHORT
        | constants::GL_UNSIGNED_SHORT
        | constants::GL_HALF_FLOAT
        | constants::GL_HALF_FLOAT_OES => 8,
        constants::GL_UNSIGNED_SHORT_4_4_4_4
        | constants::GL_UNSIGNED_SHORT_5_5_5_1
        | constants::GL_UNSIGNED_SHORT_5_6_5
        | constants::GL_UNSIGNED_SHORT_4_4_4_4_REV_EXT
        | constants::GL_UNSIGNED_SHORT_1_5_5_5_REV_EXT => 2,
        constants::GL_UNSIGNED_INT_2_10_10_10_REV
        | constants::GL_UNSIGNED_INT_10F_11F_11F_REV
        | constants::GL_UNSIGNED_INT_5_9_9_9_REV
        | constants::GL_UNSIGNED_INT_24_8 => 4,
        constants::GL_FLOAT_32_UNSIGNED_INT_24_8_REV => 8,
        _ => PIXEL_BYTES_MAX,
    }
}

/// How much memory the driver touches for pixels.
pub enum Need {
    /// Width, height and depth in pixels, and the type of a pixel.
    Pixels([i64; 3], i64),
    Bytes(i64),
    /// What only the trace tells.
    Recorded,
}

impl Need {
    /// As a number of bytes; 0 if it is unknown.
    fn bytes(&self, layout: impl FnOnce() -> Layout) -> i64 {
        match *self {
            Self::Pixels(size, ty) => {
                let pixel = u32::try_from(ty).map_or(PIXEL_BYTES_MAX, pixel_bytes);
                layout().bytes(size.map(|number| i32::try_from(number).unwrap_or(0)), pixel)
            }
            Self::Bytes(bytes) => bytes,
            Self::Recorded => 0,
        }
    }
}

impl Call<'_, '_> {
    /// Pixels that a command uploads, or an offset while a pixel unpack buffer is bound. Null stays null.
    pub fn upload<T>(&mut self, index: usize, need: Need) -> Result<*const T, Skip> {
        if self.bits(index) == 0 {
            return Ok(std::ptr::null());
        }
        let need = need.bytes(|| Layout::of_uploads(self));
        self.input_or_offset(index, GL_PIXEL_UNPACK_BUFFER_BINDING, need)
    }

    /// The same for a command that defines an image. If the size exceeds what replay provides and no pixels were
    /// observed, the driver gets null and rejects the size itself.
    pub fn upload_or_null<T>(&mut self, index: usize, need: Need) -> Result<*const T, Skip> {
        let is_observed = self.parts.memory.is_observed(self.bits(index));
        match self.upload(index, need) {
            Err(_) if !is_observed => Ok(std::ptr::null()),
            pixels => pixels,
        }
    }

    /// Room for pixels that the driver writes, or an offset while a pixel pack buffer is bound.
    pub fn download<T>(&mut self, index: usize, need: Need) -> Result<*mut T, Skip> {
        let need = need.bytes(|| Layout::of_read_backs(self));
        self.room_or_offset(index, GL_PIXEL_PACK_BUFFER_BINDING, need)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixel_extent_follows_the_drivers_parameters() {
        let packed = Layout { alignment: 4, ..Layout::default() };
        let apart = Layout { row_length: 10, skip_rows: 2, skip_pixels: 3, ..packed };
        for (layout, size, pixel, at_least) in [
            (packed, [3, 2, 1], 3, 12 + 9),
            (packed, [0, 0, 0], 4, 0),
            (packed, [-1, 5, 1], 4, 0),
            (apart, [4, 2, 1], 4, 3 * 40 + 7 * 4),
        ] {
            let bytes = layout.bytes(size, pixel);
            assert!(bytes >= at_least && bytes <= at_least + 256, "{size:?}: {bytes}");
        }
    }

    #[test]
    fn parameters_of_any_size_do_not_overflow() {
        let all = Layout {
            alignment: u32::MAX,
            row_length: u32::MAX,
            image_height: u32::MAX,
            skip_pixels: u32::MAX,
            skip_rows: u32::MAX,
            skip_images: u32::MAX,
        };
        assert_eq!(all.bytes([i32::MAX; 3], 16), i64::MAX);
    }
}
