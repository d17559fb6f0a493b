//! Uploads and read-backs of pixels. The driver's own pixel parameters determine how much memory they touch; more than
//! replay provides skips the command. An image without recorded pixels that is too large for that is defined with null,
//! so that the driver rejects the size itself.

use std::ffi::c_void;

use crate::call::Call;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{
    GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS,
    GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_UNPACK_ALIGNMENT,
    GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_SKIP_ROWS,
};
use gapii_commands::{constants, ids};

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
            image_height: ask(facts.version >= (3, 0), GL_UNPACK_IMAGE_HEIGHT),
            skip_pixels: ask(facts.has_unpack_subimage, GL_UNPACK_SKIP_PIXELS),
            skip_rows: ask(facts.has_unpack_subimage, GL_UNPACK_SKIP_ROWS),
            skip_images: ask(facts.version >= (3, 0), GL_UNPACK_SKIP_IMAGES),
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
            ..Self::default()
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
        _ => 16,
    }
}

/// Pixels for a command that defines an image. If their size exceeds what replay provides and none
/// were observed, the driver gets null and rejects the size itself.
fn define(
    call: &mut Call<'_, '_>,
    index: usize,
    size: [i32; 3],
    ty: u32,
) -> Result<*const c_void, Skip> {
    let is_observed = call.parts.memory.is_observed(call.bits(index));
    match upload(call, index, size, ty) {
        Err(_) if !is_observed => Ok(std::ptr::null()),
        pixels => pixels,
    }
}

/// Pixels for a command that uploads them.
fn upload(
    call: &mut Call<'_, '_>,
    index: usize,
    size: [i32; 3],
    ty: u32,
) -> Result<*const c_void, Skip> {
    if call.bits(index) == 0 {
        return Ok(std::ptr::null());
    }
    let need = Layout::of_uploads(call).bytes(size, pixel_bytes(ty));
    call.input_or_offset(index, GL_PIXEL_UNPACK_BUFFER_BINDING, need)
}

/// Plays `glTexImage2D`.
pub fn glTexImage2D(call: &mut Call<'_, '_>) -> Outcome {
    let (target, level, internal) = (call.u32(0), call.i32(1), call.i32(2));
    let (width, height, border) = (call.i32(3), call.i32(4), call.i32(5));
    let (format, ty) = (call.u32(6), call.u32(7));
    let pixels = define(call, 8, [width, height, 1], ty)?;
    let driver: unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void) =
        unsafe { call.driver(ids::GL_TEX_IMAGE2D) }?;
    unsafe { driver(target, level, internal, width, height, border, format, ty, pixels) };
    call.returned(None);
    Ok(())
}

/// Plays `glTexImage3D`.
pub fn glTexImage3D(call: &mut Call<'_, '_>) -> Outcome {
    let (target, level, internal) = (call.u32(0), call.i32(1), call.i32(2));
    let (width, height, depth, border) = (call.i32(3), call.i32(4), call.i32(5), call.i32(6));
    let (format, ty) = (call.u32(7), call.u32(8));
    let pixels = define(call, 9, [width, height, depth], ty)?;
    let driver: unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(target, level, internal, width, height, depth, border, format, ty, pixels) };
    call.returned(None);
    Ok(())
}

/// Plays `glTexImage3DOES`.
pub fn glTexImage3DOES(call: &mut Call<'_, '_>) -> Outcome {
    glTexImage3D(call)
}

/// Plays `glTexSubImage2D`.
pub fn glTexSubImage2D(call: &mut Call<'_, '_>) -> Outcome {
    let (target, level, x, y) = (call.u32(0), call.i32(1), call.i32(2), call.i32(3));
    let (width, height) = (call.i32(4), call.i32(5));
    let (format, ty) = (call.u32(6), call.u32(7));
    let pixels = upload(call, 8, [width, height, 1], ty)?;
    let driver: unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void) =
        unsafe { call.driver(ids::GL_TEX_SUB_IMAGE2D) }?;
    unsafe { driver(target, level, x, y, width, height, format, ty, pixels) };
    call.returned(None);
    Ok(())
}

/// Plays `glTexSubImage3D`.
pub fn glTexSubImage3D(call: &mut Call<'_, '_>) -> Outcome {
    let (target, level) = (call.u32(0), call.i32(1));
    let (x, y, z) = (call.i32(2), call.i32(3), call.i32(4));
    let (width, height, depth) = (call.i32(5), call.i32(6), call.i32(7));
    let (format, ty) = (call.u32(8), call.u32(9));
    let pixels = upload(call, 10, [width, height, depth], ty)?;
    type Upload =
        unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    let driver: Upload = unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(target, level, x, y, z, width, height, depth, format, ty, pixels) };
    call.returned(None);
    Ok(())
}

/// Plays `glTexSubImage3DOES`.
pub fn glTexSubImage3DOES(call: &mut Call<'_, '_>) -> Outcome {
    glTexSubImage3D(call)
}

/// Plays `glReadPixels`.
pub fn glReadPixels(call: &mut Call<'_, '_>) -> Outcome {
    let (x, y, width, height) = (call.i32(0), call.i32(1), call.i32(2), call.i32(3));
    let (format, ty) = (call.u32(4), call.u32(5));
    let pixels = download(call, 6, [width, height, 1], ty)?;
    let driver: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, *mut c_void) =
        unsafe { call.driver(ids::GL_READ_PIXELS) }?;
    unsafe { driver(x, y, width, height, format, ty, pixels) };
    call.returned(None);
    Ok(())
}

/// Plays `glReadnPixels` and its extensions' forms.
pub fn glReadnPixels(call: &mut Call<'_, '_>) -> Outcome {
    let (x, y, width, height) = (call.i32(0), call.i32(1), call.i32(2), call.i32(3));
    let (format, ty, size) = (call.u32(4), call.u32(5), call.i32(6));
    let pixels = download(call, 7, [width, height, 1], ty)?;
    let driver: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, i32, *mut c_void) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(x, y, width, height, format, ty, size, pixels) };
    call.returned(None);
    Ok(())
}

/// Room for pixels that the driver writes.
fn download(
    call: &mut Call<'_, '_>,
    index: usize,
    size: [i32; 3],
    ty: u32,
) -> Result<*mut c_void, Skip> {
    let need = Layout::of_read_backs(call).bytes(size, pixel_bytes(ty));
    let need = u64::try_from(need).unwrap_or(0);
    call.output_or_offset(index, GL_PIXEL_PACK_BUFFER_BINDING, need)
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
