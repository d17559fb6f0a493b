//! Read-back of the surface that is current for drawing. No picture if another surface is current for reading, if it
//! has more than 1 GiB of pixels (`PICTURE_BYTES_MAX`), or if a setting that affects the read-back cannot be put aside.
//! The context's state is restored, and no GL error is left.

use gapii_commands::constants;
use gapii_commands::constants::{GL_RGBA, GL_UNSIGNED_BYTE};
use gapii_state::read_back::Aside;

use super::gl::Gl;
use super::picture::Picture;
use crate::driver::Driver;
use crate::skip::Skip;

const EGL_HEIGHT: i32 = constants::EGL_HEIGHT as i32;
const EGL_WIDTH: i32 = constants::EGL_WIDTH as i32;
const EGL_DRAW: i32 = constants::EGL_DRAW as i32;
const EGL_READ: i32 = constants::EGL_READ as i32;

/// Largest size of a picture, in bytes.
pub const PICTURE_BYTES_MAX: u64 = 1 << 30;

/// Reads the back buffer. Restores the context's state, and causes no GL error.
pub fn read(driver: &Driver) -> Result<Picture, Skip> {
    let gl = Gl::current(driver)?;
    let [width, height] = draw_size(&gl)?;
    let aside = Aside::put(&gl)
        .ok_or_else(|| Skip::from("state that affects a read-back can't be reset"))?;
    let picture = read_pixels(&gl, width, height);
    drop(aside);
    picture
}

/// Width and height of the surface that is current for drawing. Fails if another surface is current
/// for reading.
pub fn draw_size(gl: &Gl<'_>) -> Result<[u32; 2], Skip> {
    // SAFETY: takes no pointer.
    let display = unsafe { gl.egl_current_display() }?;
    // SAFETY: takes no pointer.
    let surface = unsafe { gl.egl_current_surface(EGL_DRAW) }?;
    // SAFETY: takes no pointer.
    let for_reading = unsafe { gl.egl_current_surface(EGL_READ) }?;
    if surface.is_null() {
        return Err(Skip::from("no surface is current"));
    }
    if surface != for_reading {
        return Err(Skip::from("another surface is current for reading than for drawing"));
    }
    let mut size = [0; 2];
    for (name, number) in [EGL_WIDTH, EGL_HEIGHT].into_iter().zip(&mut size) {
        let mut value = 0i32;
        // SAFETY: room for one number.
        let done = unsafe { gl.egl_query_surface(display, surface, name, &raw mut value) }?;
        *number = match done {
            0 => return Err(Skip::from("the driver does not tell the size of the surface")),
            _ => u32::try_from(value).unwrap_or(0),
        };
    }
    Ok(size)
}

/// Reads the lower left `width` by `height` pixels of the framebuffer bound for reading. The caller
/// holds an `Aside`.
pub fn read_pixels(gl: &Gl<'_>, width: u32, height: u32) -> Result<Picture, Skip> {
    let mut rgba = room(width, height, 4)?;
    let [columns, rows] = [width, height].map(|number| number as i32);
    let out = rgba.as_mut_ptr();
    // SAFETY: room for four bytes per pixel. The driver writes no more, since `Aside` has reset the
    // pixel parameters.
    unsafe { gl.read_pixels(0, 0, columns, rows, GL_RGBA, GL_UNSIGNED_BYTE, out) }?;
    Ok(Picture { width, height, rgba })
}

/// Zeroed room for a picture of this size. Fails if it has no pixels or exceeds
/// `PICTURE_BYTES_MAX`.
pub fn room(width: u32, height: u32, pixel_bytes: u64) -> Result<Vec<u8>, Skip> {
    let bytes = u64::from(width) * u64::from(height);
    let bytes = bytes.checked_mul(pixel_bytes).filter(|bytes| *bytes <= PICTURE_BYTES_MAX);
    match bytes {
        None => Err(Skip::from(format!("{width} x {height} pixels are too many for a picture"))),
        Some(0) => Err(Skip::from("the surface has no pixels")),
        Some(bytes) => Ok(vec![0; bytes as usize]),
    }
}
