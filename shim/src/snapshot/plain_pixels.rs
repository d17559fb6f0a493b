//! Reads of pixels for which the program's parameters of glPixelStore and glPixelTransfer are set aside.

use gapii_commands::constants::*;

use super::gl;

/// Parameters of glPixelTransferf.
pub const TRANSFERS: [u32; 14] = [
    GL_MAP_COLOR,
    GL_MAP_STENCIL,
    GL_INDEX_SHIFT,
    GL_INDEX_OFFSET,
    GL_RED_SCALE,
    GL_RED_BIAS,
    GL_GREEN_SCALE,
    GL_GREEN_BIAS,
    GL_BLUE_SCALE,
    GL_BLUE_BIAS,
    GL_ALPHA_SCALE,
    GL_ALPHA_BIAS,
    GL_DEPTH_SCALE,
    GL_DEPTH_BIAS,
];
/// Parameters of glPixelStore that tell where the driver writes pixels, with values for rows without gaps.
const PACK: [(u32, i32); 8] = [
    (GL_PACK_SWAP_BYTES, 0),
    (GL_PACK_LSB_FIRST, 0),
    (GL_PACK_ROW_LENGTH, 0),
    (GL_PACK_SKIP_ROWS, 0),
    (GL_PACK_SKIP_PIXELS, 0),
    (GL_PACK_SKIP_IMAGES, 0),
    (GL_PACK_IMAGE_HEIGHT, 0),
    (GL_PACK_ALIGNMENT, 1),
];

/// Has the driver leave pixels as they are, whatever the program has set for their transfer.
pub fn with_plain_transfer(ask: impl FnOnce()) {
    let set = |values: &[(u32, f32)]| {
        values.iter().for_each(|(name, value)| gl::pixel_transfer(*name, *value));
    };
    let is_scale = |name| {
        matches!(
            name,
            GL_RED_SCALE | GL_GREEN_SCALE | GL_BLUE_SCALE | GL_ALPHA_SCALE | GL_DEPTH_SCALE
        )
    };
    let [before, plain] = [false, true].map(|is_plain| {
        TRANSFERS.map(|name| match is_plain {
            true => (name, f32::from(u8::from(is_scale(name)))),
            false => (name, gl::floats::<1>(name)[0]),
        })
    });
    set(&plain);
    ask();
    set(&before);
}

/// Has the driver write to memory, row by row, whatever the program has set for reading pixels.
pub fn with_plain_packing(has: &impl Fn((u8, u8)) -> bool, ask: impl FnOnce()) {
    let before = PACK.map(|(name, _)| (name, gl::integer(name)));
    let bound = if has((2, 1)) { gl::integer(GL_PIXEL_PACK_BUFFER_BINDING) } else { 0 };
    PACK.iter().for_each(|(name, value)| gl::pixel_store(*name, *value));
    if bound != 0 {
        gl::bind_buffer(GL_PIXEL_PACK_BUFFER, 0);
    }
    ask();
    if bound != 0 {
        gl::bind_buffer(GL_PIXEL_PACK_BUFFER, bound.cast_unsigned());
    }
    before.iter().for_each(|(name, value)| gl::pixel_store(*name, *value));
}
